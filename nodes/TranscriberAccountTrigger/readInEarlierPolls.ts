import type { IDataObject } from 'n8n-workflow';

import { EdgeFinder } from './edgeFinder';
import type { PagesWithinBudget } from './pagesWithinBudget';
import { ACCOUNT_MEMORY, type State } from './rememberedBetweenPolls';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import { hashesIn, hashesOf } from './taskHashes';

/**
 * How many polls in a row must see the task list shorter than before until that is believed. One
 * proves nothing: a cache may be empty for a moment, and everything that is not known yet would
 * count as new.
 */
const SHORT_LISTS = 3;

/**
 * The beginning of the account's task list (GET /tasks) that earlier polls have read, up to the
 * edge. Used until the whole list is known.
 *
 * An unknown task before the edge was not there when this part was read, so it is new. One behind the
 * edge is old. As long as a poll has not found the edge, see {@link EdgeFinder}, an unknown task
 * is neither: the poll leaves it to a later one.
 */
export class ReadInEarlierPolls {
	/** Whether this poll has found the edge, so that `state.frontier` is right. */
	private isLocated = false;

	private readonly edge: EdgeFinder;

	/** Whether `state.shortLists` counts this poll. */
	private isCounted = false;

	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
		private readonly tasks: NewSinceLastPoll,
	) {
		this.edge = new EdgeFinder(state, pages, tasks);
	}

	/** Whether this poll can tell new tasks from old ones at the beginning of the list. */
	get tells(): boolean {
		return this.state.complete || this.isLocated;
	}

	/** The index of the last task of the edge in a page; -1 if the page has none. */
	lastIn(page: IDataObject[]): number {
		return this.edge.lastIn(page);
	}

	/** Whether the unknown tasks of a page are new, by their index in it: see `NewSinceLastPoll.take`. */
	judge(page: IDataObject[], offset: number): (index: number) => true | undefined {
		if (this.state.complete) return () => true;
		const last = this.lastIn(page);
		if (last >= 0) return (index) => index < last || undefined;
		const isBefore = this.isLocated && offset + page.length <= this.state.frontier;
		return () => isBefore || undefined;
	}

	/**
	 * Reads on behind the edge. The tasks there are old, except those behind the end of the list at
	 * activation (`tail`), which are new. Returns whether there may be more to read.
	 *
	 * @param overlap How many known tasks to read again, so that none is missed.
	 */
	async goOn(overlap: number): Promise<boolean> {
		const found = await this.edge.find(overlap);
		const behind = typeof found === 'string' ? await this.giveUpEdge(found) : found;
		if (!behind) return false;
		this.isLocated = true;
		if (behind.length > 0 && this.state.frontier >= ACCOUNT_MEMORY.census) return false;
		return this.takeAsOld(behind);
	}

	/** Takes in tasks that follow the edge, as {@link goOn} does. */
	takeAsOld(page: IDataObject[]): boolean {
		const { state } = this;
		const tail = new Set(hashesIn(state.tail));
		// Where the edge has tasks of the tail, earlier polls have read all that was there at activation.
		let isBehindTail = this.edge.hashes.some((hash) => tail.has(hash));
		for (const task of page) {
			isBehindTail ||= hashesOf([task]).some((hash) => tail.has(hash));
			this.tasks.take(task, isBehindTail);
		}
		this.reachesTo(state.frontier + page.length, [...this.edge.hashes, ...hashesOf(page)]);
		this.isLocated = true;
		if (page.length > 0 && !isBehindTail) return true;
		if (tail.size > 0 && !isBehindTail && !this.isShortForLong()) return false;
		// The known end may be further on than the first of its tasks, unless it has moved.
		const { end = 0 } = state;
		const isEndAhead = page.length > 0 && !state.lost && end > state.frontier;
		if (isEndAhead) this.isWhole(end, [...tail]);
		else this.isWhole(state.frontier, this.edge.hashes);
		return false;
	}

	/** Sets the end of the known part: its offset, and its last tasks. */
	reachesTo(offset: number, hashes: string[]): void {
		this.edge.moveTo(offset, hashes);
	}

	/** Notes that the whole list is known, where it ends, and the last tasks there. */
	isWhole(end: number, last: string[]): void {
		const tail = last.slice(-ACCOUNT_MEMORY.tail).join('');
		Object.assign(this.state, { complete: true, end, tail, edge: '', sweep: 0 });
	}

	/**
	 * The service has deleted the edge: the known part now ends with the last known tasks that the
	 * search has seen. Returns the tasks behind them in their page; undefined if a later poll has to
	 * read on. If the list has only become shorter, {@link SHORT_LISTS} polls in a row must see that.
	 */
	private async giveUpEdge(why: 'gone' | 'short'): Promise<IDataObject[] | undefined> {
		const { state, pages, edge } = this;
		const { known } = state.sought ?? {};
		state.sought = undefined;
		if (why === 'short' && !this.isShortForLong()) return undefined;
		const page = await pages.page(known ?? 0);
		const last = known === undefined ? undefined : edge.knownIn(page).at(-1);
		// The page has moved. The next poll searches again.
		if (known !== undefined && !last) return undefined;
		if (!last) pages.warnOfLostTasks();
		const count = last ? page.indexOf(last) + 1 : 0;
		this.reachesTo((known ?? 0) + count, hashesOf(page.slice(0, count)));
		// Nothing behind the edge in this page is not the end of the list. The next poll reads on.
		return last && count === page.length ? undefined : page.slice(count);
	}

	/** Counts a poll whose list ends too early. Returns whether enough polls in a row have seen that. */
	private isShortForLong(): boolean {
		const { shortLists = 0 } = this.state;
		this.state.shortLists = this.isCounted ? shortLists : shortLists + 1;
		this.isCounted = true;
		return this.state.shortLists >= SHORT_LISTS;
	}
}
