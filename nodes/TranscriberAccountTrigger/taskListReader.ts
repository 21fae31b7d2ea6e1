import type { IDataObject } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { KnownPartOfList } from './knownPartOfList';
import { OVERLAP, SMALLEST_PAGE, unlessRefused, type ListPager } from './listPager';
import { OpenTasks } from './openTasks';
import { ACCOUNT_MEMORY, type State } from './pollState';
import { hashesOf, NewSinceLastPoll } from './newSinceLastPoll';
import { EndOfList } from './endOfList';

/** How a poll of the account divides its requests. */
const PAGES = {
	/** Reserved at the first poll, for finding the end of a long list. */
	forTheEnd: 26,
	/** Single tasks at the first poll, at each end of a list that does not say which have ended. */
	unsureTasks: 8,
};

/** With this many tasks to output, the remaining requests fetch results and search for no more. */
const BUSY = 10;

/** How long to wait before reading a list again that is empty at activation, in ms. */
export const EMPTY_LIST_MS = 1_000;

/**
 * The part of a poll that reads the task list and finds the tasks that have ended since the last
 * poll.
 *
 * The service document shows neither the order of the list, nor the largest page, nor a date. So
 * this class relies on one thing: tasks keep their order. From activation on it reads the list from
 * the beginning, over several polls if it is long: see {@link KnownPartOfList}. Once the whole list is
 * read (`complete`), every unknown task is new. Until then, unknown tasks behind the end of the
 * list at activation (`tail`) are new, for lists that grow there. An unknown ended task between the
 * two parts may have ended before activation, so it starts nothing.
 *
 * Every poll reads the beginning and the end of the list, where most orders have new tasks; the
 * tasks that are pending or processing, so that each is known before it ends, wherever it stands;
 * and some further pages in turn, so that after a number of polls every task is found, in any
 * order.
 */
export class TaskListReader {
	readonly tasks: NewSinceLastPoll;

	private firstPage: IDataObject[] = [];

	private readonly knownPart: KnownPartOfList;

	private readonly listEnd: EndOfList;

	private readonly openTasks: OpenTasks;

	/** Hashes of the tasks at the beginning of the list. */
	private readonly head: string[] = [];

	/**
	 * Half of the time, in ms since 1970. Until then a slow list may be read from its beginning or be
	 * swept. As soon as there are tasks to output, all reading ends then, because a poll that only
	 * reads would start no workflow, and each further poll would do the same.
	 */
	private readonly halfTime: number;

	constructor(
		private readonly state: State,
		private readonly pager: ListPager,
	) {
		this.halfTime = (Date.now() + pager.deadline) / 2;
		this.tasks = new NewSinceLastPoll(state);
		pager.listsUntil = () => (this.tasks.news.size > 0 ? this.halfTime : pager.deadline);
		this.knownPart = new KnownPartOfList(state, pager, this.tasks);
		this.listEnd = new EndOfList(state, pager, this.tasks);
		this.openTasks = new OpenTasks(state, pager, this.tasks);
	}

	/** Whether the list has no tasks. */
	get isEmpty(): boolean {
		return this.firstPage.length === 0;
	}

	/** Whether this poll has read the list from its beginning to its end. */
	hasReadAll = false;

	private get isFirst(): boolean {
		return this.state.turn === 0;
	}

	/**
	 * Reads the first page, and throws if that fails. `mustBeSure` reads an empty list again before
	 * believing it.
	 */
	async begin(mustBeSure: boolean): Promise<void> {
		const { pager } = this;
		this.firstPage = await pager.page(0);
		if (!mustBeSure || !this.isEmpty) return;
		// Tasks that are missing only for a moment would count as new later.
		await sleep(EMPTY_LIST_MS);
		this.firstPage = await pager.page(0);
		if (this.isEmpty && (await unlessRefused(pager.page(0, 'completed')))?.length) {
			throw pager.contradiction();
		}
	}

	/**
	 * Reads the rest. Reports failures to `warn`, and leaves those parts to a later poll. Only at
	 * activation, throws if it cannot find the end of the list by `latest` (in ms since 1970):
	 * without it, new tasks could not be told from old ones.
	 */
	async goOn(latest: number, warn: (error: unknown) => void): Promise<void> {
		const { state, pager } = this;
		this.listEnd.pageLength = Math.max(SMALLEST_PAGE, this.firstPage.length);
		if (this.isFirst) {
			await this.readFromBeginning().catch(warn);
		} else {
			if (!state.complete) await this.knownPart.goOn(OVERLAP).catch(warn);
			await this.readHead().catch(warn);
		}
		await this.openTasks.read().catch(warn);
		if (this.isFirst && !state.complete) await this.listEnd.fix(latest);
		else await this.listEnd.read().catch(warn);
		if (this.isFirst && !state.filters) {
			await this.openTasks.ask(this.tasks.unsureAtEnds(PAGES.unsureTasks));
		}
		if (this.tasks.news.size < BUSY) await this.openTasks.askForMissing();
		pager.listsUntil = () => this.halfTime;
		const sweep = async () => {
			while (this.tasks.news.size < BUSY && pager.has(1) && (await this.readNext()));
		};
		await sweep().catch(warn);
	}

	/** What to remember. */
	result(): State {
		const { state, pager, knownPart } = this;
		if (this.tasks.isFull && !this.isEmpty) {
			// Keeps the tasks at both ends of the list, and reads the tasks between them again.
			const { head, listEnd } = this;
			this.tasks.forget(new Set([...head, ...listEnd.hashes]));
			knownPart.reachesTo(head.length, head);
			Object.assign(state, { complete: false, tail: listEnd.hashes.join(''), sweep: 0 });
		}
		return { ...state, ...this.tasks.result(), size: pager.size, turn: state.turn + 1 };
	}

	/** At activation: reads as far as possible, but leaves enough requests to find the end. */
	private async readFromBeginning(): Promise<void> {
		const { state, pager, knownPart } = this;
		const isInTime = () => Date.now() <= this.halfTime && pager.has(1 + PAGES.forTheEnd);
		this.head.push(...hashesOf(this.firstPage));
		let hasMore = knownPart.takeAsOld(this.firstPage);
		while (hasMore && isInTime() && state.frontier < ACCOUNT_MEMORY.census) {
			hasMore = await knownPart.goOn(1);
		}
	}

	/** Reads from the beginning until a page has no unknown task, or until the edge. */
	private async readHead(): Promise<void> {
		const { state, pager, knownPart } = this;
		for (let offset = 0; ;) {
			const page = offset === 0 ? this.firstPage : await pager.page(offset);
			const isEnd = page.length === 0 || pager.isFirstAgain(page, offset);
			const isNew = knownPart.judge(page, offset);
			const unknown = page.filter((task, index) => this.tasks.take(task, isNew(index))).length;
			const last = state.complete ? -1 : knownPart.lastIn(page);
			if (!isEnd) this.head.push(...hashesOf(last < 0 ? page : page.slice(0, last + 1)));
			if (!isEnd) offset += page.length;
			// An empty list may be so for a moment only, and does not move the known end.
			if (isEnd && state.complete && offset > 0) knownPart.isWhole(offset);
			this.hasReadAll ||= isEnd;
			const isRead = isEnd || last >= 0;
			// The poll before has read the tasks up to here.
			const next = unknown === 0 ? (state.unread ?? 0) - OVERLAP : offset;
			if (isRead || next < offset) {
				state.unread = undefined;
				return;
			}
			offset = next;
			state.unread = Math.max(offset, state.unread ?? 0);
			if (!pager.has(1)) return;
		}
	}

	/** Reads one page that the other steps do not. Returns whether there is another one to read. */
	private async readNext(): Promise<boolean> {
		const { state, pager, knownPart } = this;
		const isCensus = !state.complete && state.frontier < ACCOUNT_MEMORY.census;
		if (isCensus) return await knownPart.goOn(1);
		const offset = Math.max(state.sweep, this.head.length);
		const page = await pager.page(offset);
		const isEnd = page.length === 0 || pager.isFirstAgain(page, offset);
		const isNew = knownPart.judge(page, offset);
		for (const [index, task] of page.entries()) this.tasks.take(task, isNew(index));
		const isRound = isEnd || (!state.complete && offset + page.length >= state.frontier);
		state.sweep = isRound ? 0 : offset + page.length;
		return !isRound;
	}
}
