import { decidedBy } from '../shared/webhook/answerInTime';

export const FETCHES = {
	/**
	 * How long a fetched result is kept for the next repeat of its delivery, in ms. Older ones go when
	 * the next fetch begins.
	 */
	keepMs: 10 * 60_000,
	/** The most results kept for a repeat. Each may hold a whole transcript. */
	most: 30,
};

/** One fetch, and its result until a repeat of the delivery takes it. */
export interface Fetch<T> {
	work: Promise<T>;
	startedAt: number;
	isOver: boolean;
	/** A delivery waits for it. */
	isAwaited: boolean;
}

/**
 * Results being fetched for deliveries. If a fetch takes longer than the service waits for an
 * answer, the fetch goes on, and the next repeat of the delivery uses it.
 */
export class Fetches<T> {
	constructor(
		private readonly fetches: Map<string, Fetch<T>>,
		/** Whether an outcome also holds for a delivery that comes after the fetch has begun. */
		private readonly isLasting: (outcome: T) => boolean = () => true,
	) {}

	/** Whether a delivery waits for the outcome of a fetch. */
	isAwaited(key: string): boolean {
		return this.fetches.get(key)?.isAwaited === true;
	}

	/**
	 * The outcome of `start`, or the lasting outcome of an earlier fetch for the same `key`. Rejects at
	 * `deadline`.
	 */
	async take(key: string, start: () => Promise<T>, deadline: number): Promise<T> {
		const earlier = this.fetches.get(key);
		if (earlier) {
			const done = await this.outcomeOf(key, earlier, deadline);
			if (this.isLasting(done)) return done;
		}
		// Whatever is there now has begun since this call came.
		return await this.outcomeOf(key, this.fetches.get(key) ?? this.begin(key, start), deadline);
	}

	private async outcomeOf(key: string, fetch: Fetch<T>, deadline: number): Promise<T> {
		fetch.isAwaited = true;
		try {
			const done = await decidedBy(fetch.work, deadline);
			this.drop(key, fetch);
			return done;
		} finally {
			fetch.isAwaited = false;
		}
	}

	private begin(key: string, start: () => Promise<T>): Fetch<T> {
		const fetch: Fetch<T> = {
			work: start(),
			startedAt: Date.now(),
			isOver: false,
			isAwaited: false,
		};
		this.makeRoom();
		this.fetches.set(key, fetch);
		fetch.work.then(
			() => (fetch.isOver = true),
			// The next repeat of the delivery starts a new fetch.
			() => this.drop(key, fetch),
		);
		return fetch;
	}

	/**
	 * Forgets old results, and the oldest ones if there are too many. A fetch that is under way is
	 * kept: otherwise the repeats of many slow deliveries would start each other's fetches again.
	 */
	private makeRoom(): void {
		const over = [...this.fetches].filter(([, { isOver }]) => isOver);
		const tooMany = over.length - FETCHES.most + 1;
		over.forEach(([key, { startedAt }], index) => {
			const isOld = Date.now() - startedAt >= FETCHES.keepMs;
			if (isOld || index < tooMany) this.fetches.delete(key);
		});
	}

	private drop(key: string, fetch: Fetch<T>): void {
		if (this.fetches.get(key) === fetch) this.fetches.delete(key);
	}
}
