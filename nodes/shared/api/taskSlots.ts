import { createHash } from 'crypto';

import { pause, unlessAborted } from './abortable';
import { LIMITS } from './rateLimits';
import type { Problem } from './problem';
import { RETRY, pauseBeforeLook } from './retry';
import { remembered } from '../processState';

/** Counts the tasks in progress at the service; undefined if the number cannot be read. */
export type CountTasks = () => Promise<number | undefined>;

/** Thrown when the patience for room is over. Internal, like `Refused`. */
export class NoRoom extends Error {
	constructor(readonly problem: Problem) {
		super('No room');
	}
}

/**
 * The room for tasks in one account: the service takes 20 tasks in progress (service document,
 * "Limits"). Submits pass freely until one is refused with 429. After that, one look at GET /tasks
 * shows how many submits may pass, so that no upload is wasted on a full account. If the service
 * refuses although the list shows room (its limit per minute, or a smaller account), or if the list
 * cannot be read, one submit at a time is tried, after growing pauses.
 */
export class Room {
	private underWay = 0;

	private waiting = 0;

	/** Refusals in a row since the service last accepted a submit. */
	private refusals = 0;

	private refusedAt = 0;

	/** Whether a look since the last refusal has shown a full account. */
	private wasFull = false;

	private fullSince = Infinity;

	/** When the service or this class last refused a submit; 0 after an accepted submit. */
	private sentAwayAt = 0;

	private problem?: Problem;

	/** How many submits may pass before the next look. */
	private free = 0;

	private nextLook = 0;

	private looking?: Promise<void>;

	/**
	 * Waits until there is room. `until` (ms since 1970) is the end of the caller's patience. A
	 * caller that was never refused waits as long as other submits are accepted. Returns a function
	 * to call with the outcome when the attempt has ended.
	 */
	async enter(count: CountTasks, until: number | undefined, stop?: AbortSignal) {
		this.waiting += 1;
		try {
			while (this.problem && this.free === 0) await this.see(count, this.problem, until, stop);
			if (this.problem) this.free -= 1;
			this.underWay += 1;
		} finally {
			this.waiting -= 1;
		}
		const enteredAt = Date.now();
		return (end: 'accepted' | Problem | undefined) => this.left(enteredAt, end);
	}

	private async see(
		count: CountTasks,
		problem: Problem,
		until = this.fullSince + RETRY.patienceWhenFull,
		stop?: AbortSignal,
	): Promise<void> {
		if (Math.max(this.nextLook, Date.now()) > until) {
			this.sentAwayAt = Date.now();
			throw new NoRoom(problem);
		}
		if (this.nextLook > Date.now()) return await pause(this.nextLook - Date.now(), stop);
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
		// Submits being sent now may or may not be in the list.
		const { underWay } = this;
		const inProgress = await count();
		const room = LIMITS.tasksInProgress - (inProgress ?? 0);
		if (room <= 0) this.wasFull = true;
		const isUnclear = inProgress === undefined || (this.refusals > 0 && !this.wasFull);
		this.free = Math.max(0, (isUnclear ? Math.min(room, 1) : room) - underWay);
		this.nextLook = Date.now() + (isUnclear ? pauseBeforeLook(this.refusals) : RETRY.look);
	}

	private left(enteredAt: number, end: 'accepted' | Problem | undefined): void {
		this.underWay -= 1;
		if (end === 'accepted') {
			this.refusals = 0;
			this.sentAwayAt = 0;
			this.fullSince = Date.now();
		} else if (end?.status === 429) this.refuse(enteredAt, end);
	}

	private refuse(enteredAt: number, problem: Problem): void {
		const now = Date.now();
		// Refusals of simultaneous submits count as one refusal.
		if (enteredAt >= this.refusedAt) this.refusals += 1;
		if (!this.problem) this.fullSince = now;
		this.refusedAt = now;
		this.sentAwayAt = now;
		this.wasFull = false;
		this.problem = problem;
		this.free = 0;
		this.nextLook = now + (problem.retryAfter || pauseBeforeLook(this.refusals));
	}

	/**
	 * Whether this room can be removed: no caller waits, so the next caller may simply try. Not at
	 * once, because callers that wait for an upload place come as soon as others give up.
	 */
	isOver(): boolean {
		const isIdle = this.waiting + this.underWay === 0;
		return isIdle && Date.now() - this.sentAwayAt > RETRY.base;
	}
}

const rooms = remembered<Room>('rooms');

/** The room in the account of an API key. Only a hash of the key is kept. */
export function roomOf(apiKey: string): Room {
	for (const [id, room] of rooms) if (room.isOver()) rooms.delete(id);
	const id = createHash('sha256').update(apiKey).digest('hex');
	const room = rooms.get(id) ?? new Room();
	rooms.set(id, room);
	return room;
}
