import type { IDataObject } from 'n8n-workflow';

import { OVERLAP, type PagesWithinBudget } from './pagesWithinBudget';
import { ACCOUNT_MEMORY, type State } from './rememberedBetweenPolls';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import { hashesIn, hashesOf } from './taskHashes';

/**
 * How far back to look for tasks that have moved, in pages: in one poll, and in all. Then the tasks are
 * gone: the service has deleted them.
 */
const BACK = { inPoll: 4, most: 120 };

/**
 * The end of the list, where an oldest-first list has its new tasks. Until the whole list is known,
 * every task behind the end of the list at activation is new.
 */
export class EndOfList {
	/** Hashes of the tasks at the end of the list, as far as is known. */
	hashes: string[] = [];

	/** Whether this poll has read the end to its last task, and every task between the known end and that. */
	isRead = false;

	private tail: ReadonlySet<string> = new Set();

	/** How many tasks the service lists in a full page, as far as is known. */
	pageLength = 1;

	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
		private readonly tasks: NewSinceLastPoll,
	) {}

	/**
	 * At activation: finds the end of a list that is too long to be read at once, and the tasks
	 * there. Throws if it does not find them by `latest`, in ms since 1970.
	 */
	async fix(latest: number): Promise<void> {
		const { state, pages } = this;
		const { deadline, listsUntil } = pages;
		pages.deadline = latest;
		// Also if a task has ended by now: without the end, the publication fails.
		pages.listsUntil = () => latest;
		let end = await pages.end(state.frontier);
		while (end !== undefined && !(await this.anchor(end))) {
			// The list has become shorter meanwhile.
			end = pages.has(1) ? Math.max(0, end - OVERLAP) : undefined;
		}
		if (end === undefined) throw pages.endless();
		Object.assign(pages, { deadline, listsUntil });
	}

	/** Marks the tasks at the end as old: a page, or more if the service cut it. Returns false if there are none. */
	private async anchor(end: number): Promise<boolean> {
		const { state } = this;
		const last = await this.readTail(end, false);
		if (last === undefined) return false;
		Object.assign(state, { end: last, tail: this.hashes.join('') });
		return true;
	}

	/**
	 * Reads from shortly before the known end until a page has no unknown task. If tasks were deleted,
	 * the known end has moved towards the beginning: then looks for it there. Throws if it is gone.
	 */
	async read(): Promise<void> {
		const { state } = this;
		this.hashes = hashesIn(state.tail);
		this.tail = new Set(this.hashes);
		if (state.end === undefined) return;
		// Version 0.1.0 forgot the tail as soon as the list was wholly known. Nothing is before the beginning.
		const isBehindTail = state.complete && (this.tail.size === 0 || state.end === 0);
		if (await this.readOn(state.end, isBehindTail)) return;
		if (await this.goBack(state.end)) await this.readOn(state.end, state.complete);
	}

	/**
	 * Of a list that is wholly known: finds its end, and remembers the tasks there as all that tells new
	 * tasks from old ones at the end. Returns whether it has; otherwise, also if the end has moved
	 * meanwhile, a later poll goes on.
	 */
	async mark(): Promise<boolean> {
		const { state, pages } = this;
		if (!state.complete) return true;
		const end = await pages.end(state.end ?? 0, 1);
		state.end = end ?? pages.notBefore;
		if (end === undefined || !pages.has(1)) return false;
		const last = await this.readTail(end, true);
		state.end = last ?? end;
		return last === end;
	}

	/**
	 * Reads from the length of a page before the end on until no other task follows, because a task that
	 * is submitted meanwhile moves the tasks at the end. Remembers all that it reads as the end. Returns
	 * the offset behind them; undefined if there are none, or if the requests or the time are used up.
	 */
	private async readTail(end: number, isBehindTail: boolean): Promise<number | undefined> {
		const { pages } = this;
		this.hashes = [];
		for (let offset = Math.max(0, end - this.pageLength); pages.has(1);) {
			const page = await pages.page(offset);
			const ids = hashesOf(page).filter((hash) => hash !== '');
			const isRepeated = ids.length > 0 && ids.every((hash) => this.hashes.includes(hash));
			const isElsewhere = this.hashes.length === 0 && pages.isSeenBefore(page, offset);
			if (page.length === 0 || isRepeated || isElsewhere) {
				return this.hashes.length > 0 ? offset : undefined;
			}
			for (const task of page) this.tasks.take(task, isBehindTail);
			this.hashes = [...new Set([...this.hashes, ...hashesOf(page)])];
			offset += page.length;
		}
		return undefined;
	}

	/**
	 * Reads from shortly before `end`, where a task of the known end shows that no task before is unread,
	 * unless that is known (`isBehindTail`). Returns false if there is none.
	 */
	private async readOn(end: number, isBehindTail: boolean): Promise<boolean> {
		const { state, pages } = this;
		// Before tasks are forgotten, all of them have to be read. A page that is known may hide unread ones:
		// its tasks may be known because they were in progress.
		const stopsAtKnown = !state.lost && !this.tasks.isFull;
		let hasMet = false;
		let overlap = 0;
		let shown = '';
		for (let offset = Math.max(0, end - OVERLAP); pages.has(1) && this.tasks.hasRoom;) {
			const page = await pages.page(offset);
			const hashes = hashesOf(page);
			const isSeenBefore = pages.isSeenBefore(page, offset);
			if (isSeenBefore && isBehindTail) {
				this.isRead = state.complete;
				break;
			}
			if (page.length === 0 || isSeenBefore) {
				if (!isBehindTail || !hasMet) {
					// The service shows its last page behind the end, too.
					if (isSeenBefore) state.end = end;
					return false;
				}
				state.lost = undefined;
				this.isRead = true;
				break;
			}
			if (hasMet && overlap > 0 && hashes.join('') === shown) {
				// The same, so the list has ended before this page and the one before.
				state.end = Math.max(0, offset + OVERLAP - page.length - this.pageLength);
				state.lost = undefined;
				this.isRead = true;
				break;
			}
			let first = hashes.findIndex((hash) => this.hashes.includes(hash));
			if (first < 0 && hasMet && overlap > 0) {
				// Tasks were deleted since the page before: those between the two pages are unread.
				this.tail = new Set(this.hashes);
				return false;
			}
			if (first < 0 && isBehindTail) first = 0;
			// Tasks were deleted before: those between the known end and this page are unread.
			if (first < 0 && state.complete) return false;
			isBehindTail ||= first >= 0;
			const behind = first < 0 ? [] : hashes.slice(first);
			const isNew = (index: number) =>
				state.complete || (first >= 0 && index >= first) || undefined;
			const unknown = page.filter((task, index) => this.tasks.take(task, isNew(index))).length;
			if (!isBehindTail) state.lost ??= { pages: 0, place: Math.max(0, end - OVERLAP) };
			state.end = offset + page.length;
			// At once, so that a poll that fails at the next page has not lost the tasks of the end.
			this.hashes = [...new Set([...this.hashes, ...behind])].slice(-ACCOUNT_MEMORY.tail);
			state.tail = this.hashes.join('');
			// Known tasks behind the known end may be the last page again. The next page shows whether they are.
			const isSure = hasMet || state.end <= end;
			hasMet ||= isBehindTail;
			if (isBehindTail && state.lost) state.lost = { pages: 0, place: state.end };
			if (unknown === 0 && isBehindTail && stopsAtKnown && isSure) break;
			// So that the next page shows whether it follows this one.
			overlap = page.length > 1 ? 1 : 0;
			offset = state.end - overlap;
			shown = hashes.join('');
		}
		return true;
	}

	/** Looks for the known end in the pages before it. Returns whether it is there. */
	private async goBack(end: number): Promise<boolean> {
		const { state, pages } = this;
		const { place: from } = (state.lost ??= { pages: 0, place: Math.max(0, end - OVERLAP) });
		let offset = Math.min(from, end);
		const first = state.complete ? 0 : state.frontier;
		for (let read = 0; read < BACK.inPoll && offset > first && pages.has(1); read++) {
			offset = Math.max(0, offset - this.pageLength);
			const page = await pages.page(offset);
			const isKnown = state.complete && this.tasks.wereDone(page);
			const last = isKnown ? page.length - 1 : this.lastIn(page);
			// Without a known task, the whole list is to be read.
			if (last >= 0 || (state.complete && offset === 0)) {
				state.end = offset + last + 1;
				state.lost = { pages: 0, place: state.end };
				return true;
			}
			if (page.length === 0) state.end = offset;
			else if (pages.isSeenBehind(page, offset)) state.end = offset + page.length;
			else state.lost.pages = (state.lost.pages ?? 0) + 1;
			state.lost.place = offset;
		}
		const { pages: seen = 0 } = state.lost;
		// While the place of the tasks that were read is not known either, the known end may be before it.
		const isBeforeAll = offset <= first && seen > 0 && !state.sought;
		if (state.complete || (seen < BACK.most && !isBeforeAll)) return false;
		// A task that has ended meanwhile cannot be told from those that ended before activation.
		if (await this.anchor(state.end ?? end)) {
			state.lost = undefined;
			throw new Error(
				'The service has deleted the last tasks of the list. Transcripts that have finished since then may not start the workflow',
			);
		}
		return false;
	}

	/** The index of the last task of the known end in a page; -1 if the page has none. */
	private lastIn(page: IDataObject[]): number {
		return hashesOf(page).reduce((last, hash, index) => (this.tail.has(hash) ? index : last), -1);
	}
}
