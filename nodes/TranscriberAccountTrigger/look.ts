import type { IDataObject } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { hasEnded, isInProgress } from '../shared/api/undocumented';
import { Frontier } from './frontier';
import { isRefused, OVERLAP, SMALLEST_PAGE, unlessRefused, type Reader } from './listReader';
import { ACCOUNT_MEMORY, type State } from './pollState';
import { hashesOf, Tasks } from './seenTasks';
import { Tail } from './tail';

/** How many requests of a poll go where. */
const PAGES = {
	/** At the first poll: what is kept for finding the end of a long list. */
	forTheEnd: 26,
	/** Of the tasks in one state. */
	ofOneStatus: 2,
	/** Tasks asked for one by one: those that may well have ended, and others. */
	endedTasks: 5,
	otherTasks: 3,
	/** At the first poll, at each end of a list that tells of no task whether it has ended. */
	unsureTasks: 8,
};

/** A task that the service refuses so often is gone. */
const REFUSALS = 5;

/** With so many tasks to start the workflow with, requests go to their results and not to a search. */
const BUSY = 10;

/** How long one task may take to answer, in ms, so that it does not use the time of all. */
export const ONE_TASK_MS = 10_000;

/** After so long a list that is empty at activation is asked for again, in ms. */
export const EMPTY_LIST_MS = 1_000;

/**
 * One look at the tasks of the account, which finds those that have ended since the last one.
 *
 * The service document shows neither the order of the list nor the largest page nor a date. So this
 * relies only on the order being some order: a task keeps its place among the others. At activation
 * the list is read from its beginning, over several polls if it is long: see {@link Frontier}. Once
 * the whole list is read (`complete`), every unknown task is new. Until then, the tasks at the end of
 * the list that were read (`tail`) do the same for lists that grow there. An unknown task that has
 * ended and stands in between may have ended before activation, so it starts nothing.
 *
 * Every look reads the beginning and the end of the list, where new tasks are in most orders; the
 * tasks that are pending or processing, so that one that ends later is known wherever it stands; and
 * some pages of the rest in turn, so that in any order a task is found after a number of polls.
 */
export class Look {
	readonly tasks: Tasks;

	private firstPage: IDataObject[] = [];

	private readonly frontier: Frontier;

	private readonly tail: Tail;

	/** Hashes of what stands at the beginning of the list. */
	private readonly head: string[] = [];

	/** Where the list is slow, the beginning takes half of the time at most. In ms since 1970. */
	private readonly halfTime: number;

	constructor(
		private readonly state: State,
		private readonly reader: Reader,
	) {
		this.halfTime = (Date.now() + reader.deadline) / 2;
		this.tasks = new Tasks(state);
		this.frontier = new Frontier(state, reader, this.tasks);
		this.tail = new Tail(state, reader, this.tasks);
	}

	/** Whether the service lists nothing at all. */
	get isEmpty(): boolean {
		return this.firstPage.length === 0;
	}

	/** Whether this poll has read the list from its beginning to its end. */
	hasReadAll = false;

	private get isFirst(): boolean {
		return this.state.turn === 0;
	}

	/**
	 * Reads the first page. Where that fails, there is nothing to go on with. `mustBeSure` where much
	 * follows from a list without any task.
	 */
	async begin(mustBeSure: boolean): Promise<void> {
		const { reader } = this;
		this.firstPage = await reader.page(0);
		if (!mustBeSure || !this.isEmpty) return;
		// What is missing in one bad moment would count as new later.
		await sleep(EMPTY_LIST_MS);
		this.firstPage = await reader.page(0);
		if (this.isEmpty && (await unlessRefused(reader.page(0, 'completed')))?.length) {
			throw reader.contradiction();
		}
	}

	/**
	 * Reads the rest. What fails here is read by a later poll, and `warn` hears of it. The end of the
	 * list at activation is an exception: what stands behind it later is new, so without it nothing
	 * could be told from what was there before. That it cannot be found is thrown; `latest` (in ms
	 * since 1970) is the time for finding it.
	 */
	async goOn(latest: number, warn: (error: unknown) => void): Promise<void> {
		const { state, reader } = this;
		if (this.isFirst) {
			await this.readFromBeginning().catch(warn);
		} else {
			if (!state.complete) await this.frontier.goOn(OVERLAP).catch(warn);
			await this.readHead().catch(warn);
		}
		await this.readOpen().catch(warn);
		if (this.isFirst && !state.complete) await this.tail.fix(latest);
		else await this.tail.read().catch(warn);
		if (this.isFirst && !state.filters) await this.ask(this.tasks.unsureAtEnds(PAGES.unsureTasks));
		if (this.tasks.news.size < BUSY) await this.askForMissing();
		const sweep = async () => {
			while (this.tasks.news.size < BUSY && reader.has(1) && (await this.readNext()));
		};
		await sweep().catch(warn);
	}

	/** What to remember. */
	result(): State {
		const { state, reader, frontier } = this;
		if (this.tasks.isFull && !this.isEmpty) {
			// Keeps what stands at the ends of the list, and reads what lies between them again.
			const { head, tail } = this;
			this.tasks.forget(new Set([...head, ...tail.hashes]));
			frontier.reachesTo(head.length, head);
			Object.assign(state, { complete: false, tail: tail.hashes.join(''), sweep: 0 });
		}
		return { ...state, ...this.tasks.result(), size: reader.size, turn: state.turn + 1 };
	}

	/** At activation: as far as possible, with enough requests left to find the end. */
	private async readFromBeginning(): Promise<void> {
		const { state, reader, frontier } = this;
		const isInTime = () => Date.now() <= this.halfTime && reader.has(1 + PAGES.forTheEnd);
		this.head.push(...hashesOf(this.firstPage));
		let hasMore = frontier.takeAsOld(this.firstPage);
		while (hasMore && isInTime() && state.frontier < ACCOUNT_MEMORY.census) {
			hasMore = await frontier.goOn(1);
		}
	}

	/** From the beginning on until a page holds nothing new, or what is known from there on ends. */
	private async readHead(): Promise<void> {
		const { state, reader, frontier } = this;
		for (let offset = 0; ;) {
			const page = offset === 0 ? this.firstPage : await reader.page(offset);
			const isEnd = page.length === 0 || reader.isFirstAgain(page, offset);
			const isNew = frontier.judge(page, offset);
			const unknown = page.filter((task, index) => this.tasks.take(task, isNew(index))).length;
			const last = state.complete ? -1 : frontier.lastIn(page);
			if (!isEnd) this.head.push(...hashesOf(last < 0 ? page : page.slice(0, last + 1)));
			if (!isEnd) offset += page.length;
			if (isEnd && state.complete) frontier.isWhole(offset);
			this.hasReadAll ||= isEnd;
			if (isEnd || unknown === 0 || last >= 0 || !reader.has(1)) return;
		}
	}

	/** The tasks in progress, wherever in the list they stand. */
	private async readOpen(): Promise<void> {
		const { state, reader } = this;
		for (const status of ['processing', 'pending']) {
			for (let offset = 0, pages = 0; pages < PAGES.ofOneStatus; pages++) {
				if (!state.filters || !reader.has(1)) return;
				const page = await unlessRefused(reader.page(offset, status));
				if (!page || this.isUnfiltered(page)) state.filters = false;
				if (!page || !state.filters) return;
				const open = page.map((task) => (isInProgress(task.status) ? task : { ...task, status }));
				const unknown = open.filter((task) => this.tasks.take(task, undefined)).length;
				offset += page.length;
				if (page.length < SMALLEST_PAGE || unknown === 0) break;
			}
		}
	}

	/** Whether a page of the tasks in one state shows that the list does not heed `status`. */
	private isUnfiltered(page: IDataObject[]): boolean {
		if (page.some(({ status }) => hasEnded(status))) return true;
		const tells = page.every(({ status }) => isInProgress(status));
		return !tells && this.reader.isFirst(page);
	}

	/** The tasks that were open and that no list showed so: they have ended, or stand elsewhere. */
	private async askForMissing(): Promise<void> {
		const { state } = this;
		const { ended, others } = this.tasks.missing(state.filters);
		const asked = [...ended.slice(0, PAGES.endedTasks), ...others.slice(0, PAGES.otherTasks)];
		for (const open of asked) open.looked = state.turn;
		await this.ask(asked.map(({ id }) => id));
	}

	/** GET /tasks/{id} of each. Whatever is wrong with one task, the others have their turn. */
	private async ask(ids: string[]): Promise<void> {
		const { reader, tasks } = this;
		for (const id of ids) {
			if (Date.now() >= reader.deadline) return;
			try {
				tasks.take(await reader.task(id, ONE_TASK_MS), undefined);
			} catch (error) {
				if (!isRefused(error)) continue;
				if (tasks.isOpen(id) && tasks.count('refusals', id) >= REFUSALS) tasks.finish(id);
			}
		}
	}

	/** One page that nothing else reads. Returns whether there is another one to read now. */
	private async readNext(): Promise<boolean> {
		const { state, reader, frontier } = this;
		const isCensus = !state.complete && state.frontier < ACCOUNT_MEMORY.census;
		if (isCensus) return await frontier.goOn(1);
		const offset = Math.max(state.sweep, this.head.length);
		const page = await reader.page(offset);
		const isEnd = page.length === 0 || reader.isFirstAgain(page, offset);
		const isNew = frontier.judge(page, offset);
		for (const [index, task] of page.entries()) this.tasks.take(task, isNew(index));
		const isRound = isEnd || (!state.complete && offset + page.length >= state.frontier);
		state.sweep = isRound ? 0 : offset + page.length;
		return !isRound;
	}
}
