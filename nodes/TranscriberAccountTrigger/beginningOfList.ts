import type { IDataObject } from 'n8n-workflow';

import type { ReadInEarlierPolls } from './readInEarlierPolls';
import { OVERLAP, type PagesWithinBudget } from './pagesWithinBudget';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import type { State } from './rememberedBetweenPolls';
import { hashesIn, hashesOf } from './taskHashes';

/** The beginning of the list, where a newest-first list has its new tasks. */
export class BeginningOfList {
	/** Hashes of the tasks that this poll has read from the beginning on, without a gap. */
	readonly hashes: string[] = [];

	/** Whether this poll has read from the beginning, without a gap, to tasks that were known. */
	isKnown = false;

	/** Whether this poll has read the list from its beginning to its end. */
	hasReadAll = false;

	/** Where the next page begins. */
	private offset = 0;

	/** Where the last poll stopped. It has read all tasks before, except for those that came since. */
	private stoppedAt = 0;

	/** See {@link State.readPast}. */
	private readPast = 0;

	/** Whether this poll has left out tasks that are known, to go on where the last poll stopped. */
	private hasGap = false;

	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
		private readonly tasks: NewSinceLastPoll,
		private readonly knownPart: ReadInEarlierPolls,
	) {}

	/**
	 * Reads from the beginning until a page has no unknown task, and then goes on where the last poll
	 * stopped. Ends at the edge or at the end of the list, or where all is known behind `readPast`. If
	 * the requests are used up before, notes where the next poll goes on.
	 */
	async read(firstPage: IDataObject[]): Promise<void> {
		const { state, pages, tasks } = this;
		if (!this.knownPart.tells) {
			// Takes in tasks in progress only.
			for (const task of firstPage) tasks.take(task, undefined);
			return;
		}
		this.stoppedAt = state.unread ?? 0;
		this.readPast = state.readPast ?? this.stoppedAt;
		for (let page = firstPage; ; page = await pages.page(this.offset)) {
			const { unknown, isLast } = this.takeIn(page);
			if (isLast || (unknown === 0 && this.offset > this.readPast)) {
				this.isKnown = !this.hasGap;
				Object.assign(state, { unread: undefined, readPast: undefined });
				return;
			}
			const resumes = unknown === 0 && !this.hasGap && this.stoppedAt - OVERLAP > this.offset;
			const unread = resumes ? this.stoppedAt : this.offset;
			Object.assign(state, { unread, readPast: Math.max(this.readPast, unread) });
			if (!pages.has(1) || !tasks.hasRoom) return;
			if (resumes) {
				this.hasGap = true;
				this.offset = this.stoppedAt - OVERLAP;
			}
		}
	}

	/**
	 * Takes in the page at `offset`, and moves on behind it. Returns how many of its tasks were unknown,
	 * and whether it is the last to read: the end of the list, or the page with the edge.
	 */
	private takeIn(page: IDataObject[]): { unknown: number; isLast: boolean } {
		const { state, pages, tasks, knownPart } = this;
		const isNew = knownPart.judge(page, this.offset);
		const unknown = page.filter((task, index) => tasks.take(task, isNew(index))).length;
		this.makeRoomFor(unknown);
		if (page.length === 0 || pages.isSeenBefore(page, this.offset)) {
			// An empty list may be so for a moment only, and does not move the known end.
			if (state.complete && this.offset > 0) {
				knownPart.isWhole(this.offset, this.hasGap ? hashesIn(state.tail) : this.hashes);
			}
			this.hasReadAll = !this.hasGap;
			return { unknown, isLast: true };
		}
		const edge = state.complete ? -1 : knownPart.lastIn(page);
		const upToEdge = edge < 0 ? page : page.slice(0, edge + 1);
		if (!this.hasGap) this.hashes.push(...hashesOf(upToEdge));
		this.offset += page.length;
		return { unknown, isLast: edge >= 0 };
	}

	/** Unknown tasks in the page at `offset` have moved the places that stand behind it. */
	private makeRoomFor(unknown: number): void {
		if (this.offset < this.stoppedAt && !this.hasGap) this.stoppedAt += unknown;
		if (this.offset < this.readPast) this.readPast += unknown;
	}
}
