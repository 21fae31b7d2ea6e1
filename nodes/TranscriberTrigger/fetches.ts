import { inTime } from '../shared/webhook/inTime';

export const FETCHES = {
	/** How long a fetched result is kept for the next repeat of its delivery, in ms. */
	keepMs: 10 * 60_000,
	/** The most results kept. Each may hold a whole transcript. */
	most: 10,
};

interface Fetch<T> {
	work: Promise<T>;
	startedAt: number;
}

/**
 * Results being fetched for deliveries. If a fetch takes longer than the service waits for an
 * answer, the fetch goes on, and the next repeat of the delivery uses it.
 */
export class Fetches<T> {
	private readonly underWay = new Map<string, Fetch<T>>();

	/** The outcome of `start`, or of an earlier fetch for the same `place`. Rejects at `deadline`. */
	async take(place: string, start: () => Promise<T>, deadline: number): Promise<T> {
		const fetch = this.underWay.get(place) ?? this.begin(place, start);
		const done = await inTime(fetch.work, deadline);
		this.drop(place, fetch);
		return done;
	}

	private begin(place: string, start: () => Promise<T>): Fetch<T> {
		const fetch = { work: start(), startedAt: Date.now() };
		for (const [key, known] of this.underWay) {
			const isOld = Date.now() - known.startedAt >= FETCHES.keepMs;
			if (isOld || this.underWay.size >= FETCHES.most) this.underWay.delete(key);
		}
		this.underWay.set(place, fetch);
		// The next repeat of the delivery starts a new fetch.
		fetch.work.catch(() => this.drop(place, fetch));
		return fetch;
	}

	private drop(place: string, fetch: Fetch<T>): void {
		if (this.underWay.get(place) === fetch) this.underWay.delete(place);
	}
}
