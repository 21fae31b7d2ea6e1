import { sleep } from 'n8n-workflow';

import { remembered } from '../processMemory';
import { keyHash } from './credential';
import type { Problem } from './noUsableAnswer';
import { LIMITS, type LimitName } from './rateLimits';
import type { Policy } from './types';

/**
 * Who goes first: requests that end a recording or a task; then repeats, whose patience is limited, and
 * what is of use only soon; then other first attempts.
 */
type Rank = 'urgent' | 'next' | 'first';

/**
 * A queue for a number of places: first come, first served within a {@link Rank}. The urgent also
 * have `keptForUrgent` places to themselves. A place stays taken for `lingerMs` after its
 * return: the service counts a request at some time between its start and its answer, so it may
 * count until a whole window after the answer.
 */
export class Queue {
	private taken = 0;

	private readonly waiting: Record<Rank, Array<() => void>> = {
		urgent: [],
		next: [],
		first: [],
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
	async take(cancelled?: AbortSignal, rank: Rank = 'first'): Promise<(isUsed?: boolean) => void> {
		cancelled?.throwIfAborted();
		const places = rank === 'urgent' ? this.places() : this.placesForOthers();
		if (this.taken < places) this.taken += 1;
		else await this.waitForPlace(this.waiting[rank], cancelled);
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
		const { urgent, next: soon, first } = this.waiting;
		const next = urgent.shift() ?? (isForOthers ? (soon.shift() ?? first.shift()) : undefined);
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

/** Ends a turn: `accepted`, `unsent`, the refusal, or undefined if the outcome is unknown. */
export type Leave = (end: 'accepted' | 'unsent' | Problem | undefined) => void;

type EnterRoom = (stop?: AbortSignal) => Promise<Leave>;

interface Turn {
	enterRoom?: EnterRoom;
	stop?: AbortSignal;
	/** The request was tried before. */
	isRepeat?: boolean;
}

/** Waits for the rate limit and, for a submit, for room. Returns a function that frees both. */
export async function takeTurn(
	apiKey: string,
	{ limit, isUrgent, isNext }: Policy,
	{ enterRoom, stop, isRepeat }: Turn,
): Promise<Leave> {
	const rank = isUrgent ? 'urgent' : isRepeat || isNext ? 'next' : 'first';
	const leaveLimit = await queueFor(apiKey, limit).take(stop, rank);
	if (!enterRoom) return (end) => leaveLimit(hasArrived(end));
	const leaveRoom = await enterRoom(stop).catch((error: unknown) => {
		leaveLimit(false);
		throw error;
	});
	return (end) => {
		leaveLimit(hasArrived(end));
		leaveRoom(end);
	};
}

/** Whether the service may have counted the request. Without a connection it has not. */
function hasArrived(end: Parameters<Leave>[0]): boolean {
	if (typeof end !== 'object') return end !== 'unsent';
	return !end.isUnsent && end.transport !== 'unreachable' && end.transport !== 'unknownHost';
}
