import { pause, unlessAborted } from './deadlines';
import { keyHash } from './credential';
import { LIMITS } from './rateLimits';
import type { Problem } from './noUsableAnswer';
import { RETRY, pauseWhenFull } from './delayBeforeRetry';
import { remembered } from '../processMemory';
import type { Caller } from './types';

/** Counts the tasks in progress at the service; undefined if the number cannot be read. */
type CountTasks = () => Promise<number | undefined>;

/** Counts the tasks in progress. Unknown if the list cannot be read; throws if cancelled. */
export function countFor(
	caller: Caller,
	count: (caller: Caller) => Promise<number | undefined>,
	cancelled?: AbortSignal,
): CountTasks {
	return async () =>
		await count(caller).catch((error: unknown) => {
			if (cancelled?.aborted) throw error;
			return undefined;
		});
}

/** The account stayed full for too long. Internal: sendWithRetries.ts turns it into a ServiceError. */
export class NoRoom extends Error {
	constructor(readonly problem: Problem) {
		super('No room');
	}
}

/** One caller that waits for room. */
interface Visit {
	/** The refusal that the caller reports if its patience ends. */
	problem: Problem;
	/** When the caller's run began, in ms since 1970. */
	began: number;
	stop?: AbortSignal;
}

/**
 * The room for tasks in one account: the service takes 20 tasks in progress (service document,
 * "Limits"). Submits pass freely until one is refused with 429. After that, one look at GET /tasks
 * shows how many submits may pass, so that no upload is wasted on a full account. If the service
 * refuses although the list shows room (its limit per minute, or a smaller account), or if the list
 * cannot be read, one submit at a time is tried, after growing pauses.
 */
export class Room {
	/** When each submit that is under way entered, in ms since 1970. */
	private readonly underWay = new Map<symbol, number>();

	private waiting = 0;

	/** Refusals in a row since the service last accepted a submit. */
	private refusals = 0;

	private refusedAt = 0;

	/** Whether a look since the last refusal has shown a full account. */
	private wasFull = false;

	private fullSince = Infinity;

	/** When a submit last ended, or was sent away. */
	private usedAt = 0;

	private problem?: Problem;

	/** How many submits may pass before the next look. */
	private free = 0;

	private nextLook = 0;

	private looking?: Promise<void>;

	/**
	 * Waits until there is room, as long as other submits are accepted: the patience counts from the
	 * first refusal since the last accepted submit. Otherwise a long list would fail because its own
	 * items take the room. A run that began later, at `began` (in ms since 1970), has a patience of
	 * its full length. Returns a function to call with the outcome when the attempt has ended.
	 */
	async enter(count: CountTasks, began: number, stop?: AbortSignal) {
		this.waiting += 1;
		try {
			while (this.problem && this.free === 0) {
				await this.see(count, { problem: this.problem, began, stop });
			}
			if (this.problem) this.free -= 1;
		} finally {
			this.waiting -= 1;
		}
		const attempt = Symbol();
		this.underWay.set(attempt, Date.now());
		return (end: 'accepted' | 'unsent' | Problem | undefined) => this.left(attempt, end);
	}

	/**
	 * Waits for the next look, or takes part in it. When the patience is over, a caller still takes part
	 * in a look that is due: others may have given up a moment ago, and the service may have room by
	 * now.
	 */
	private async see(count: CountTasks, { problem, began, stop }: Visit): Promise<void> {
		const until = Math.max(this.fullSince, began) + RETRY.patienceWhenFull;
		const isDue = this.nextLook <= Date.now();
		if (!isDue && this.nextLook > until) {
			this.usedAt = Date.now();
			throw new NoRoom(problem);
		}
		if (!isDue) {
			await pause(this.nextLook - Date.now(), stop);
			return;
		}
		this.looking ??= this.look(count)
			// The caller that looked was cancelled: another caller looks.
			.catch(() => {
				this.nextLook = Date.now() + RETRY.base;
			})
			.finally(() => {
				this.looking = undefined;
			});
		await unlessAborted(this.looking, stop);
	}

	private async look(count: CountTasks): Promise<void> {
		const entered = [...this.underWay.values()];
		const inProgress = await count();
		const room = LIMITS.tasksInProgress - (inProgress ?? 0);
		if (room <= 0) this.wasFull = true;
		const isUnclear = inProgress === undefined || (this.refusals > 0 && !this.wasFull);
		// Submits being sent now may or may not be in the list. Only one tries if the list does not
		// help. No try is a long upload that began before the refusal, or long ago: it may take hours.
		const since = Math.max(this.refusedAt, Date.now() - RETRY.tryCap);
		const tries = entered.filter((at) => at >= since).length;
		this.free = Math.max(0, isUnclear ? Math.min(room, 1) - tries : room - entered.length);
		this.nextLook = Date.now() + (isUnclear ? pauseWhenFull(this.refusals) : RETRY.look);
	}

	private left(attempt: symbol, end: 'accepted' | 'unsent' | Problem | undefined): void {
		const enteredAt = this.underWay.get(attempt) ?? 0;
		this.underWay.delete(attempt);
		this.usedAt = Date.now();
		if (end === 'accepted') {
			this.refusals = 0;
			this.fullSince = Date.now();
		} else if (typeof end === 'object' && end.status === 429) this.refuse(enteredAt, end);
	}

	private refuse(enteredAt: number, problem: Problem): void {
		const now = Date.now();
		if (this.refusals === 0) this.fullSince = now;
		// Refusals of simultaneous submits count as one refusal.
		if (this.refusals === 0 || enteredAt > this.refusedAt) this.refusals += 1;
		this.refusedAt = now;
		this.wasFull = false;
		this.problem = problem;
		this.free = 0;
		this.nextLook = now + (problem.retryAfter || pauseWhenFull(this.refusals));
	}

	/**
	 * Whether this room can be removed: no caller waits, so the next caller may simply try. Not at
	 * once, because callers that wait for an upload place come as soon as others give up, and callers
	 * that wait for the rate limit within a minute.
	 */
	isOver(): boolean {
		const isIdle = this.waiting + this.underWay.size === 0;
		return isIdle && Date.now() - this.usedAt > RETRY.room;
	}
}

const rooms = remembered<Room>('rooms');

/** The room in the account of an API key. Only a hash of the key is kept. */
export function roomOf(apiKey: string): Room {
	for (const [id, room] of rooms) if (room.isOver()) rooms.delete(id);
	const id = keyHash(apiKey);
	const room = rooms.get(id) ?? new Room();
	rooms.set(id, room);
	return room;
}
