import { createHash } from 'crypto';
import { sleep } from 'n8n-workflow';
import { remembered } from '../processState';

/**
 * The service's own limits (service document, "Limits"), kept here so that the service never has to
 * refuse: the most requests in any `windowMs`, per API key.
 */
export const LIMITS = {
	/** A little over 60 s, because no two clocks run at the same speed. */
	windowMs: 60_250,
	/** POST /transcribe and /transcribe-url together. */
	submit: 10,
	/** POST /meeting. */
	meeting: 20,
	/** Summary regeneration. */
	summary: 5,
	/** Everything else. */
	other: 60,
	/** Uploads under way at the same time. Not a rule of the service: it keeps memory and bandwidth flat. */
	uploadsAtOnce: 3,
	/** Tasks in progress, per account. */
	tasksInProgress: 20,
};

export type LimitName = 'submit' | 'meeting' | 'summary' | 'other';

/**
 * A queue for a number of places, first come, first served. A place stays taken for `lingerMs` after
 * it was given back: the service counts a request at some time between its start and its answer, so
 * the request may count until a whole window after the answer.
 */
export class Queue {
	private taken = 0;

	private readonly waiting: Array<() => void> = [];

	constructor(
		private readonly places: () => number,
		private readonly lingerMs: () => number,
	) {}

	/**
	 * Waits for a place and returns the function that gives it back. A cancelled execution leaves
	 * the queue at once and rejects with the signal's reason.
	 */
	async take(cancelled?: AbortSignal): Promise<() => void> {
		cancelled?.throwIfAborted();
		if (this.taken < this.places()) this.taken += 1;
		else await this.waitForPlace(cancelled);
		return () => void this.giveBack();
	}

	private async waitForPlace(cancelled?: AbortSignal): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			const enter = () => {
				cancelled?.removeEventListener('abort', leave);
				resolve();
			};
			const leave = () => {
				this.waiting.splice(this.waiting.indexOf(enter), 1);
				reject(cancelled?.reason);
			};
			this.waiting.push(enter);
			cancelled?.addEventListener('abort', leave, { once: true });
		});
	}

	private async giveBack(): Promise<void> {
		const linger = this.lingerMs();
		if (linger > 0) await sleep(linger);
		const next = this.waiting.shift();
		// The place goes straight to the next in the queue, so that no newcomer takes it in between.
		if (next) next();
		else this.taken -= 1;
	}
}

const queues = remembered<Queue>('rateLimitQueues');

/** The queue for one limit of one API key. Only a hash of the key is kept. */
export function queueFor(apiKey: string, name: LimitName | 'uploads'): Queue {
	const id = `${name}:${createHash('sha256').update(apiKey).digest('hex')}`;
	let line = queues.get(id);
	if (!line) {
		line =
			name === 'uploads'
				? new Queue(
						() => LIMITS.uploadsAtOnce,
						() => 0,
					)
				: new Queue(
						() => LIMITS[name],
						() => LIMITS.windowMs,
					);
		queues.set(id, line);
	}
	return line;
}
