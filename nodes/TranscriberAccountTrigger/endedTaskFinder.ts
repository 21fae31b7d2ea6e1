import type { IDataObject } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { BeginningOfList } from './beginningOfList';
import { ReadInEarlierPolls } from './readInEarlierPolls';
import { OVERLAP, unlessRefused, type PagesWithinBudget } from './pagesWithinBudget';
import { OpenTasks } from './openTasks';
import { ACCOUNT_POLL } from './pollLimits';
import { ACCOUNT_MEMORY, type State } from './rememberedBetweenPolls';
import { NewSinceLastPoll } from './newSinceLastPoll';
import { EndOfList } from './endOfList';
import { isSameAccount } from './sameAccount';
import { hashesOf } from './taskHashes';

/** How a poll of the account divides its requests. */
const PAGES = {
	/** Reserved at the first poll, for finding the end of a long list. */
	forTheEnd: 26,
	/** Single tasks at the first poll, at each end of a list that does not say which have ended. */
	unsureTasks: 8,
};

/** With this many tasks to output, the remaining requests fetch results and search for no more. */
const BUSY = 10;

/**
 * The part of a poll that reads the task list and finds the tasks that have ended since the last
 * poll.
 *
 * The service document shows neither the order of the list, nor the largest page, nor a date. So
 * this class relies on one thing: tasks keep their order. From activation on it reads the list from
 * the beginning, over several polls if it is long: see {@link ReadInEarlierPolls}. Once the whole list is
 * read (`complete`), every unknown task is new. Until then, unknown tasks behind the end of the
 * list at activation (`tail`) are new, for lists that grow there. An unknown ended task between the
 * two parts may have ended before activation, so it starts nothing.
 *
 * Every poll reads the beginning and the end of the list, where most orders have new tasks; the
 * tasks that are pending or processing, so that each is known before it ends, wherever it stands;
 * and some further pages in turn, so that after a number of polls every task is found, in any
 * order.
 */
export class EndedTaskFinder {
	readonly tasks: NewSinceLastPoll;

	private firstPage: IDataObject[] = [];

	private readonly knownPart: ReadInEarlierPolls;

	private readonly beginning: BeginningOfList;

	private readonly listEnd: EndOfList;

	private readonly openTasks: OpenTasks;

	/**
	 * Half of the time, in ms since 1970. Until then a slow list may be read from its beginning or be
	 * swept. As soon as there are tasks to output, all reading ends then, because a poll that only
	 * reads would start no workflow, and each further poll would do the same.
	 */
	private readonly halfTime: number;

	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
	) {
		this.halfTime = (Date.now() + pages.deadline) / 2;
		this.tasks = new NewSinceLastPoll(state);
		pages.listsUntil = () => (this.tasks.news.size > 0 ? this.halfTime : pages.deadline);
		this.knownPart = new ReadInEarlierPolls(state, pages, this.tasks);
		this.beginning = new BeginningOfList(state, pages, this.tasks, this.knownPart);
		this.listEnd = new EndOfList(state, pages, this.tasks);
		this.openTasks = new OpenTasks(state, pages, this.tasks);
	}

	/** Whether this poll has read the list from its beginning to its end. */
	get hasReadAll(): boolean {
		return this.beginning.hasReadAll;
	}

	/** Whether the list has no tasks. */
	get isEmpty(): boolean {
		return this.firstPage.length === 0;
	}

	/**
	 * Whether the tasks behind the beginning may be forgotten and read again as old ones. Never while new
	 * tasks are unread, or while the end of the list is not known: they could not be told from old ones.
	 */
	private mayForget = false;

	/** Whether the poll has requests left for pages that no other step reads. */
	private get maySweep(): boolean {
		const { knownPart, state, tasks, pages } = this;
		return knownPart.tells && pages.has(1) && (tasks.hasRoom || state.unread !== undefined);
	}

	private get isFirst(): boolean {
		return this.state.turn === 0;
	}

	/**
	 * Reads the first page, and throws if that fails. `mustBeSure` reads an empty list again before
	 * believing it.
	 */
	async begin(mustBeSure: boolean): Promise<void> {
		const { pages } = this;
		this.firstPage = await pages.page(0);
		if (!mustBeSure || !this.isEmpty) return;
		// Tasks that are missing only for a moment would count as new later.
		await sleep(ACCOUNT_POLL.emptyListMs);
		this.firstPage = await pages.page(0);
		if (this.isEmpty && (await unlessRefused(pages.page(0, 'completed')))?.length) {
			throw pages.contradiction();
		}
	}

	/** For a new API key, after {@link begin}: see {@link isSameAccount}. */
	async isSameAccount(account: string): Promise<boolean | undefined> {
		return await isSameAccount(account, this.firstPage, this.state, this.pages, this.tasks);
	}

	/**
	 * Reads the rest. Reports failures to `warn`, and leaves those parts to a later poll. Only at
	 * activation, throws if it cannot find the end of the list by `latest` (in ms since 1970):
	 * without it, new tasks could not be told from old ones.
	 */
	async goOn(latest: number, warn: (error: unknown) => void): Promise<void> {
		const { state, pages } = this;
		this.listEnd.pageLength = Math.max(1, this.firstPage.length);
		if (this.isFirst) {
			await this.readFromBeginning().catch(warn);
		} else {
			// Tasks without any id show no place in the list.
			const showsPlace = this.isEmpty || hashesOf(this.firstPage).some((hash) => hash !== '');
			if (!state.complete && showsPlace) await this.knownPart.goOn(OVERLAP).catch(warn);
			await this.beginning.read(this.firstPage).catch(warn);
		}
		await this.openTasks.read().catch(warn);
		if (!this.isFirst) await this.listEnd.read().catch(warn);
		else if (!state.complete) await this.listEnd.fix(latest).catch(warn);
		if (this.isFirst && !state.filters) {
			await this.openTasks.ask(this.tasks.unsureAtEnds(PAGES.unsureTasks));
		}
		if (this.tasks.news.size < BUSY) await this.openTasks.askForMissing();
		if (this.tasks.isFull && this.beginning.isKnown && this.listEnd.isRead) {
			await this.listEnd.mark().then((isMarked) => (this.mayForget = isMarked), warn);
		}
		pages.listsUntil = () => this.halfTime;
		const sweep = async () => {
			while (this.maySweep && this.tasks.news.size < BUSY && (await this.readNext()));
		};
		await sweep().catch(warn);
	}

	/** What to remember. */
	result(): State {
		const { state, pages, knownPart } = this;
		const isFound = state.complete
			? this.tasks.hasMetKnown || this.hasReadAll
			: this.knownPart.tells;
		const locatedAt = isFound ? Date.now() : (state.locatedAt ?? state.at);
		if (this.mayForget) {
			// Keeps the tasks at both ends of the list, and reads the tasks between them again.
			const { listEnd } = this;
			const { hashes } = this.beginning;
			this.tasks.forget(new Set([...hashes, ...listEnd.hashes]));
			knownPart.reachesTo(hashes.length, hashes);
			Object.assign(state, { complete: false, tail: listEnd.hashes.join(''), sweep: 0 });
		}
		const decided = { locatedAt, keySearch: undefined };
		const { size } = pages;
		return { ...state, ...this.tasks.result(), ...decided, size, turn: state.turn + 1 };
	}

	/** At activation: reads as far as possible, but leaves enough requests to find the end. */
	private async readFromBeginning(): Promise<void> {
		const { state, pages, knownPart } = this;
		const isInTime = () => Date.now() <= this.halfTime && pages.has(1 + PAGES.forTheEnd);
		this.beginning.hashes.push(...hashesOf(this.firstPage));
		let hasMore = knownPart.takeAsOld(this.firstPage);
		while (hasMore && isInTime() && state.frontier < ACCOUNT_MEMORY.census) {
			hasMore = await knownPart.goOn(1);
		}
	}

	/** Reads one page that the other steps do not. Returns whether there is another one to read. */
	private async readNext(): Promise<boolean> {
		const { state, pages, knownPart } = this;
		const { unread = Infinity } = state;
		const isCensus = !state.complete && state.frontier < ACCOUNT_MEMORY.census;
		if (isCensus && unread === Infinity) return await knownPart.goOn(1);
		const offset = Math.max(state.sweep, this.beginning.hashes.length);
		if (offset + pages.size > unread) {
			// A page that is known to the sweep would end the reading of the new tasks.
			state.sweep = 0;
			return false;
		}
		const page = await pages.page(offset);
		const isEnd = page.length === 0 || pages.isSeenBefore(page, offset);
		const isNew = knownPart.judge(page, offset);
		for (const [index, task] of page.entries()) this.tasks.take(task, isNew(index));
		const isRound = isEnd || (!state.complete && offset + page.length >= state.frontier);
		state.sweep = isRound ? 0 : offset + page.length;
		return !isRound;
	}
}
