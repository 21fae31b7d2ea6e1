import type { IDataObject } from 'n8n-workflow';

import type { KnownPartOfList } from './knownPartOfList';
import { OVERLAP, type ListPager } from './listPager';
import { hashesOf, type NewSinceLastPoll } from './newSinceLastPoll';
import type { State } from './pollState';

/** The beginning of the list, where a newest-first list has its new tasks. */
export class BeginningOfList {
	/** Hashes of the tasks that this poll has read from the beginning on, without a gap. */
	readonly hashes: string[] = [];

	/** Whether this poll has read from the beginning, without a gap, to tasks that were known. */
	isKnown = false;

	/** Whether this poll has read the list from its beginning to its end. */
	hasReadAll = false;

	constructor(
		private readonly state: State,
		private readonly pager: ListPager,
		private readonly tasks: NewSinceLastPoll,
		private readonly knownPart: KnownPartOfList,
	) {}

	/**
	 * Reads from the beginning until a page has no unknown task, or until the edge. Goes on where the
	 * last poll stopped, which the tasks that came since have moved.
	 */
	async read(firstPage: IDataObject[]): Promise<void> {
		const { state, pager, knownPart } = this;
		if (!knownPart.tells) {
			// Takes in tasks in progress only.
			for (const task of firstPage) this.tasks.take(task, undefined);
			return;
		}
		let from = state.unread ?? 0;
		let past = state.readPast ?? from;
		let hasGap = false;
		for (let offset = 0; ;) {
			const page = offset === 0 ? firstPage : await pager.page(offset);
			const isEnd = page.length === 0 || pager.isFirstAgain(page, offset);
			const isNew = knownPart.judge(page, offset);
			const unknown = page.filter((task, index) => this.tasks.take(task, isNew(index))).length;
			const last = state.complete ? -1 : knownPart.lastIn(page);
			if (!isEnd && !hasGap)
				this.hashes.push(...hashesOf(last < 0 ? page : page.slice(0, last + 1)));
			if (offset < from && !hasGap) from += unknown;
			if (offset < past) past += unknown;
			if (!isEnd) offset += page.length;
			// An empty list may be so for a moment only, and does not move the known end.
			if (isEnd && state.complete && offset > 0) knownPart.isWhole(offset);
			this.hasReadAll ||= isEnd && !hasGap;
			if (isEnd || last >= 0 || (unknown === 0 && offset >= past)) {
				this.isKnown = !hasGap;
				Object.assign(state, { unread: undefined, readPast: undefined });
				return;
			}
			const isJump: boolean = unknown === 0 && !hasGap && from - OVERLAP > offset;
			const unread = isJump ? from : offset;
			Object.assign(state, { unread, readPast: Math.max(past, unread) });
			if (!pager.has(1) || !this.tasks.hasRoom) return;
			hasGap ||= isJump;
			if (isJump) offset = from - OVERLAP;
		}
	}
}
