import type { IDataObject, IPollFunctions } from 'n8n-workflow';
import { isRefusedForGood } from '../shared/api/serviceError';
import { TaskPagesOfAcceptedSize } from '../shared/api/taskPagesOfAcceptedSize';
import { hashesOf } from './taskHashes';
import { warnOfIds, warnOfLostTasks, warnOfStatus } from './warnOnce';
import { refuse } from '../shared/parameters/refuse';
import { taskState } from '../shared/api/askForState';

/** The service may return fewer tasks than requested, but a full page has at least this many. */
export const SMALLEST_PAGE = 10;

/** How many known tasks to read again, to find the tasks behind them: fewer than a page. */
export const OVERLAP = SMALLEST_PAGE / 2;

/** Reads the tasks of the account with a limited number of requests, until a deadline. */
export class PagesWithinBudget {
	private readonly all: TaskPagesOfAcceptedSize;

	constructor(
		private readonly caller: IPollFunctions,
		/** The page size that the service accepted last time. */
		size: number,
		/** How many requests it may make. Those that find out the page size do not count. */
		private readonly most: number,
		/** In ms since 1970. */
		public deadline: number,
	) {
		this.all = new TaskPagesOfAcceptedSize(caller, {}, size);
	}

	/** Until when the list is read, in ms since 1970. The time after it is for the results. */
	listsUntil = (): number => this.deadline;

	/** How far {@link end} has got: the list does not end before this offset. */
	notBefore = 0;

	/** The offsets at which this poll has seen each page, by the ids of its tasks. */
	private readonly seen = new Map<string, number[]>();

	/** The most tasks in a page of this poll. */
	private longest = 0;

	private sent = 0;

	private readonly began = Date.now();

	/** How many tasks are asked for at a time. */
	get size(): number {
		return this.all.size;
	}

	/** Whether this many requests are left, and time to read the list. */
	has(requests: number): boolean {
		return this.sent + requests <= this.most && Date.now() < this.listsUntil();
	}

	/**
	 * Reads up to one page of tasks from `offset` on, with `status` only those in that state. If the
	 * service refuses an `offset`: throws for the whole list, returns no tasks for one state.
	 */
	async page(offset: number, status?: string): Promise<IDataObject[]> {
		this.sent += 1;
		const list = status
			? new TaskPagesOfAcceptedSize(this.caller, { status }, this.size)
			: this.all;
		const request = list.page(offset, this.listsUntil());
		const page = status && offset > 0 ? ((await unlessRefused(request)) ?? []) : await request;
		warnOfIds(this.caller, page);
		if (status) return page;
		this.seen.set(textOf(page), [offset, ...(this.seen.get(textOf(page)) ?? [])]);
		this.longest = Math.max(this.longest, page.length);
		return page;
	}

	/** Whether a page equals one before it: the service ignores `offset`, or the list has ended. */
	isSeenBefore(page: IDataObject[], offset: number): boolean {
		return Math.min(...this.seenAt(page)) + page.length <= offset;
	}

	/** Whether a page equals one behind it, which therefore is behind the end of the list. */
	isSeenBehind(page: IDataObject[], offset: number): boolean {
		return Math.max(...this.seenAt(page)) >= offset + page.length;
	}

	/** Whether a page has the same tasks as the first one. */
	isFirst(page: IDataObject[]): boolean {
		return this.seenAt(page).includes(0);
	}

	private seenAt(page: IDataObject[]): number[] {
		const hasIds = hashesOf(page).some((hash) => hash !== '');
		return (hasIds && this.seen.get(textOf(page))) || [];
	}

	/** GET /tasks/{id}, with at most `maxMs` for the answer. */
	async task(id: string, maxMs = Infinity): Promise<IDataObject> {
		const deadline = Math.min(this.listsUntil(), Date.now() + maxMs);
		const task = await taskState(this.caller, id, { deadline });
		warnOfStatus(this.caller, task);
		return task;
	}

	/**
	 * Finds the end of the list, starting before it: with steps that double each time, then by binary
	 * search, some 20 requests at most. Where the end is probably near, behind a short page or within
	 * the length of one, looks there at once. Undefined if time or requests run out.
	 */
	async end(from: number, firstStep = Math.max(this.size, from)): Promise<number | undefined> {
		let low = from;
		let high = Infinity;
		let isNear = false;
		/** `low` before the last page that was not behind the end. */
		let before = low;
		/** The page that the service shows behind the end, if it shows one. */
		let last: IDataObject[] = [];
		for (let step = firstStep; low < high; step *= 2) {
			this.notBefore = low;
			if (!this.has(1)) return undefined;
			const further = high === Infinity ? low + step : Math.floor((low + high) / 2);
			const offset = isNear ? low : further;
			const page = await this.page(offset);
			const isShort = page.length > 0 && page.length < this.longest;
			if (page.length === 0 || textOf(page) === textOf(last)) high = offset;
			else if (this.isSeenBefore(page, offset)) {
				// Where it was seen first may have been behind the end, too.
				last = page;
				low = before;
				high = Math.max(low, Math.min(high, ...this.seenAt(page)));
			} else {
				before = low;
				low = offset + page.length;
			}
			// Not twice in a row behind a short page: the service may shorten every page.
			isNear = high - low <= this.longest || (isShort && !isNear);
		}
		// The last page may be in its own place there.
		if (this.seenAt(last).includes(low) && this.has(1)) {
			const end = low + last.length - 1;
			const page = await this.page(end);
			if (textOf(page) !== textOf(last)) low = end + page.length;
		}
		// A refusal alone proves no end: from here, the list can tell.
		if (this.all.isGuess(low)) await this.page(low);
		return low;
	}

	/** Says that no known task is left to tell new tasks from old ones. */
	warnOfLostTasks(): void {
		warnOfLostTasks(this.caller);
	}

	/** The error for an empty list of a service that has finished tasks. */
	contradiction() {
		return refuse(
			this.caller,
			'The list of tasks is empty, although the service has finished tasks',
			'Publish the workflow again in some minutes (n8n 1: activate it). Without the list, the trigger cannot tell new transcripts from old ones.',
		);
	}

	/** The error for a list whose end was not found with the time or the requests of a poll. */
	endless() {
		return refuse(
			this.caller,
			`The list of tasks could not be read to its end: ${this.sent} requests took ${Math.round((Date.now() - this.began) / 1000)} seconds`,
			'Publish the workflow again when the service answers faster (n8n 1: activate it), or use Transcriber Trigger, which needs no list. Without the end of the list, the trigger cannot tell new transcripts from old ones.',
		);
	}
}

/** The answer; undefined if the service refuses for good. Throws any other failure. */
export async function unlessRefused<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (!isRefusedForGood(error)) throw error;
		return undefined;
	});
}

function textOf(page: IDataObject[]): string {
	return hashesOf(page).join(' ');
}
