import { sleep } from 'n8n-workflow';
import { remembered } from '../processMemory';
import { keyHash } from './credential';

/**
 * The service's limits (service document, "Limits"): the most requests in any `windowMs`, per API
 * key. This package stays within them, so that the service need not refuse.
 */
export const LIMITS = {
	/** A little over 60 s, because clocks do not run at exactly the same speed. */
	windowMs: 60_250,
	/** POST /transcribe and /transcribe-url together. */
	submit: 10,
	/** POST /meeting. */
	meeting: 20,
	/** Summary regeneration. */
	summary: 5,
	/** Everything else. */
	other: 60,
	/** Places of `other` that only urgent requests take: a bot that nobody wants must not wait a minute. */
	keptForUrgent: 2,
	/** Simultaneous uploads. Not a limit of the service, but a bound for memory and bandwidth. */
	uploadsAtOnce: 3,
	/** Tasks in progress, per account. */
	tasksInProgress: 20,
};

export type LimitName = 'submit' | 'meeting' | 'summary' | 'other';

/**
 * A queue for a number of places: first come, first served, except that the urgent go before all
 * others and have `keptForUrgent` places to themselves. A place stays taken for `lingerMs` after its
 * return: the service counts a request at some time between its start and its answer, so it may
 * count until a whole window after the answer.
 */
export class Queue {
	private taken = 0;

	private readonly waiting: Record<'urgent' | 'others', Array<() => void>> = {
		urgent: [],
		others: [],
	};

	constructor(
		private readonly places: () => number,
		private readonly lingerMs: () => number,
		private readonly keptForUrgent: () => number = () => 0,
	) {}

	/**
	 * Waits for a place. Returns the function that gives the place back, at once if nothing was sent.
	 * If the execution is cancelled, leaves the queue at once and rejects with the signal's reason.
	 */
	async take(cancelled?: AbortSignal, isUrgent = false): Promise<(isUsed?: boolean) => void> {
		cancelled?.throwIfAborted();
		const line = isUrgent ? this.waiting.urgent : this.waiting.others;
		if (this.taken < (isUrgent ? this.places() : this.placesForOthers())) this.taken += 1;
		else await this.waitForPlace(line, cancelled);
		return (isUsed = true) => void this.giveBack(isUsed);
	}

	private placesForOthers(): number {
		return Math.max(1, this.places() - this.keptForUrgent());
	}

	private async waitForPlace(line: Array<() => void>, cancelled?: AbortSignal): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			const enter = () => {
				cancelled?.removeEventListener('abort', leave);
				resolve();
			};
			const leave = () => {
				line.splice(line.indexOf(enter), 1);
				reject(cancelled?.reason);
			};
			line.push(enter);
			cancelled?.addEventListener('abort', leave, { once: true });
		});
	}

	private async giveBack(isUsed: boolean): Promise<void> {
		const linger = this.lingerMs();
		if (isUsed && linger > 0) await sleep(linger);
		const isForOthers = this.taken <= this.placesForOthers();
		const next =
			this.waiting.urgent.shift() ?? (isForOthers ? this.waiting.others.shift() : undefined);
		// The place goes straight to the next in the queue, so that no newcomer can take it.
		if (next) next();
		else this.taken -= 1;
	}
}

const rateLimitQueues = remembered<Queue>('rateLimitQueues');

/** The queue for one limit of one API key. Only a hash of the key is kept. */
export function queueFor(apiKey: string, name: LimitName | 'uploads'): Queue {
	const id = `${name}:${keyHash(apiKey)}`;
	let queue = rateLimitQueues.get(id);
	if (!queue) {
		queue =
			name === 'uploads'
				? new Queue(
						() => LIMITS.uploadsAtOnce,
						() => 0,
					)
				: new Queue(
						() => LIMITS[name],
						() => LIMITS.windowMs,
						() => (name === 'other' ? LIMITS.keptForUrgent : 0),
					);
		rateLimitQueues.set(id, queue);
	}
	return queue;
}
