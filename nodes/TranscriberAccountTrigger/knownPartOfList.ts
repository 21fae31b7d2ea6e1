import type { IDataObject } from 'n8n-workflow';

import { SMALLEST_PAGE, type ListPager } from './listPager';
import { ACCOUNT_MEMORY, hashesIn, possibleSince, type State } from './pollState';
import { hashesOf, type NewSinceLastPoll } from './newSinceLastPoll';

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
 * The last tasks of this part (`edge`) mark its end. Their place alone would not do, because every
 * task that is added or deleted moves all tasks behind it. An unknown task before the edge was not
 * there when this part was read, so it is new.
 */
export class KnownPartOfList {
	/** Whether this poll has seen the edge, so that `state.frontier` is right. */
	private isLocated = false;

	private edge: Set<string>;

	/** Whether `state.shortLists` counts this poll. */
	private isCounted = false;

	constructor(
		private readonly state: State,
		private readonly pager: ListPager,
		private readonly tasks: NewSinceLastPoll,
	) {
		this.edge = new Set(hashesIn(state.edge));
	}

	/** The index of the last task of the edge in a page; -1 if the page has none. */
	lastIn(page: IDataObject[]): number {
		return hashesOf(page).reduce((last, hash, index) => (this.edge.has(hash) ? index : last), -1);
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
		const { state } = this;
		const found = await this.find(overlap);
		if (!found) return false;
		this.isLocated = true;
		state.sought = undefined;
		if (state.frontier >= ACCOUNT_MEMORY.census) return false;
		return this.takeAsOld(found);
	}

	/** Takes in tasks that follow the edge, as {@link goOn} does. */
	takeAsOld(page: IDataObject[]): boolean {
		const { state } = this;
		const tail = new Set(hashesIn(state.tail));
		let isBehindTail = false;
		for (const task of page) {
			isBehindTail ||= hashesOf([task]).some((hash) => tail.has(hash));
			this.tasks.take(task, isBehindTail);
		}
		this.reachesTo(state.frontier + page.length, [...this.edge, ...hashesOf(page)]);
		this.isLocated = true;
		if (page.length > 0 && !isBehindTail) return true;
		const hasMetTail = tail.size === 0 || [...this.edge].some((hash) => tail.has(hash));
		if (!hasMetTail && !this.isShortForLong()) return false;
		this.isWhole(state.frontier);
		return false;
	}

	/** Sets the end of the known part: its offset, and its last tasks. */
	reachesTo(offset: number, hashes: string[]): void {
		const edge = hashes.slice(-ACCOUNT_MEMORY.tail);
		this.edge = new Set(edge);
		Object.assign(this.state, { frontier: offset, edge: edge.join(''), sought: undefined });
	}

	/** Notes that the whole list is known, and where it ends. */
	isWhole(end: number): void {
		Object.assign(this.state, { complete: true, end, tail: '', edge: '', sweep: 0 });
	}

	/**
	 * Searches for the edge and corrects its place. Returns the tasks behind it in its page; none at
	 * the end of the list. Undefined if the remaining requests do not suffice to find it, or if the
	 * list ends before the edge, until {@link SHORT_LISTS} polls in a row have seen that.
	 */
	private async find(overlap: number): Promise<IDataObject[] | undefined> {
		const { state, pager } = this;
		let [low, high] = [0, Infinity];
		let offset = Math.max(0, state.frontier - overlap);
		let endsWithEdge = false;
		let isCut = false;
		let sought = state.sought && (await this.seek(0));
		if (state.sought && sought === undefined) return undefined;
		if (typeof sought === 'number') low = offset = sought;
		while (pager.has(1)) {
			const page = await pager.page(offset);
			const last = this.lastIn(page);
			const isEnd = page.length === 0 || pager.isFirstAgain(page, offset);
			if (endsWithEdge && (isEnd || last < 0)) {
				if (!isEnd || page.length === 0) state.frontier = offset;
				if (!isEnd) state.shortLists = undefined;
				return isEnd ? [] : page;
			}
			if (last >= 0 && (last < page.length - 1 || page.length < SMALLEST_PAGE)) {
				state.frontier = offset + last + 1;
				if (page.length - 1 - last >= SMALLEST_PAGE) state.shortLists = undefined;
				return page.slice(last + 1);
			}
			endsWithEdge = last >= 0;
			const isBehind = !endsWithEdge && !this.isMostlyKnown(page);
			if (isBehind) [high, isCut] = [offset, page.length === 0];
			else low = offset + page.length;
			if (low >= high) {
				if (!isCut) {
					state.shortLists = undefined;
					const isNew = sought === undefined;
					sought ??= await this.seek(low);
					if (sought === undefined) return undefined;
					if (isNew && sought !== 'gone') {
						[low, high, offset] = [sought, Infinity, sought];
						continue;
					}
				} else if (!this.isShortForLong()) {
					return undefined;
				}
				// All tasks of the edge are gone: the known part ends here.
				this.reachesTo(low, []);
				return offset === low ? page : await pager.page(low);
			}
			const isFirstStepBack = isBehind && low === 0 && page.length > 0;
			if (isFirstStepBack) offset = Math.max(0, offset - pager.size + 1);
			else offset = high === Infinity || endsWithEdge ? low : Math.floor((low + high) / 2);
		}
		return undefined;
	}

	/**
	 * Looks for the known part behind tasks that are all unknown, from an offset on: they may be new. Down
	 * to where it must have begun if they all are. Returns its offset; `gone` if it is not there;
	 * undefined if the remaining requests do not suffice, so that the next poll has to go on.
	 */
	private async seek(from: number): Promise<number | 'gone' | undefined> {
		const { state, pager } = this;
		const until = state.sought?.until ?? from + possibleSince(state) + pager.size;
		let offset = Math.max(from, state.sought?.place ?? 0);
		while (offset <= until) {
			state.sought = { place: offset, until };
			if (!pager.has(1)) return undefined;
			const page = await pager.page(offset);
			if (page.length === 0 || pager.isFirstAgain(page, offset)) break;
			if (this.lastIn(page) >= 0 || this.isMostlyKnown(page)) return offset;
			offset += page.length;
		}
		state.sought = { place: until + 1, until };
		return 'gone';
	}

	/** Counts a poll whose list ends too early. Returns whether enough polls in a row have seen that. */
	private isShortForLong(): boolean {
		const { shortLists = 0 } = this.state;
		this.state.shortLists = this.isCounted ? shortLists : shortLists + 1;
		this.isCounted = true;
		return this.state.shortLists >= SHORT_LISTS;
	}

	/** Not counting the tasks at the end of the list, which are known although those before are not. */
	private isMostlyKnown(page: IDataObject[]): boolean {
		const tail = new Set(hashesIn(this.state.tail));
		const isKnown = (task: IDataObject) =>
			this.tasks.isKnown(task) && !hashesOf([task]).some((hash) => tail.has(hash));
		return page.filter(isKnown).length * 2 > page.length;
	}
}
