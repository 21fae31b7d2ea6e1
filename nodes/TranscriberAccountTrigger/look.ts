import type { IDataObject } from 'n8n-workflow';

import { hasEnded } from '../shared/api/undocumented';
import { isRefused, unlessRefused, type Reader } from './listReader';
import { hashesIn, hashOf, ACCOUNT_MEMORY, type State } from './pollState';
import { hashesOf, Tasks } from './seenTasks';

/** How many requests of a poll go where. */
const PAGES = {
	/** At the first poll: what is kept for finding the end of a long list. */
	forTheEnd: 26,
	/** Of the tasks in one state. */
	ofOneStatus: 2,
	/** Tasks asked for one by one: those that are not being processed any more, and others. */
	endedTasks: 5,
	otherTasks: 3,
};

/** A page that is cut to fewer tasks than were asked for has at least so many. */
const SMALLEST_PAGE = 10;

/** So much of the end of the list is read again. Less than a page, to see what was added behind it. */
const OVERLAP = SMALLEST_PAGE / 2;

/** A task that the service refuses so often is gone. */
const REFUSALS = 5;

/** With so many tasks to start the workflow with, requests go to their results and not to a search. */
const BUSY = 10;

/** How long one task may take to answer, in ms, so that it does not use the time of all. */
export const ONE_TASK_MS = 10_000;

/**
 * One look at the tasks of the account, which finds those that have ended since the last one.
 *
 * The service document shows neither the order of the list nor the largest page nor a date. So this
 * relies only on the order being some order: a task keeps its place among the others. At activation
 * the list is read from its beginning (`frontier`), over several polls if it is long. A task that
 * stands before the frontier and is not known, was not there: it is new. Once the whole list is read
 * (`complete`), every unknown task is new. Until then, the tasks at the end of the list that were
 * read (`tail`) do the same for lists that grow there. An unknown task that has ended and stands in
 * between may have ended before activation, so it starts nothing.
 *
 * Every look reads the beginning and the end of the list, where new tasks are in most orders; the
 * tasks that are pending or processing, so that one that ends later is known wherever it stands; and
 * some pages of the rest in turn, so that in any order a task is found after a number of polls.
 */
export class Look {
	readonly tasks: Tasks;

	private firstPage: IDataObject[] = [];

	/** Hash of the first page: a page elsewhere that is the same means that no offset is heeded. */
	private first = '';

	/** Hashes of what stands at the beginning and at the end of the list. */
	private readonly ends = { head: [] as string[], tail: [] as string[] };

	private headEnd = 0;

	/** Where the list is slow, the beginning takes half of the time at most. In ms since 1970. */
	private readonly halfTime: number;

	constructor(
		private readonly state: State,
		private readonly reader: Reader,
	) {
		this.halfTime = (Date.now() + reader.deadline) / 2;
		this.tasks = new Tasks(state);
	}

	/** Reads the first page. Where that fails, there is nothing to go on with. */
	async begin(): Promise<void> {
		this.firstPage = await this.reader.page(0);
	}

	/**
	 * Reads the rest. What fails here is read by a later poll, and `warn` hears of it. The end of the
	 * list at activation is an exception: what stands behind it later is new, so without it nothing
	 * could be told from what was there before. That it cannot be found is thrown; `latest` (in ms
	 * since 1970) is the time for finding it.
	 */
	async goOn(latest: number, warn: (error: unknown) => void): Promise<void> {
		const { state, reader } = this;
		const isFirst = state.turn === 0;
		await this.readHead(isFirst ? PAGES.forTheEnd : 0).catch(warn);
		await this.readOpen().catch(warn);
		if (isFirst && !state.complete) await this.fixEnd(latest);
		else await this.readTail().catch(warn);
		if (this.tasks.news.size < BUSY) await this.askForMissing();
		const sweep = async () => {
			while (this.tasks.news.size < BUSY && reader.has(1) && (await this.readNext()));
		};
		await sweep().catch(warn);
	}

	/** What to remember. */
	result(): State {
		const { state, reader } = this;
		if (this.tasks.isFull) {
			// Keeps what stands at the ends of the list, and reads what lies between them again.
			const { head, tail } = this.ends;
			this.tasks.forget(new Set([...head, ...tail]));
			const frontier = this.headEnd;
			Object.assign(state, { frontier, complete: false, tail: tail.join(''), sweep: 0 });
		}
		return { ...state, ...this.tasks.result(), size: reader.size, turn: state.turn + 1 };
	}

	/** From the beginning on until a page holds nothing new; at activation, as far as possible. */
	private async readHead(reserve: number): Promise<void> {
		const { state, reader } = this;
		const { complete } = state;
		let { frontier } = state;
		const before = frontier;
		for (let offset = 0; ;) {
			const page = offset === 0 ? this.firstPage : await reader.page(offset);
			const isEnd = page.length === 0 || this.isFirstAgain(page, offset);
			let unknown = 0;
			for (const [index, task] of page.entries()) {
				const isNew = complete || offset + index < frontier;
				if (!this.tasks.take(task, isNew)) continue;
				unknown += 1;
				// A task that is new has moved those behind it one place on.
				if (isNew && before > 0) frontier += 1;
			}
			if (!isEnd) this.ends.head.push(...hashesOf(page));
			if (!isEnd) offset += page.length;
			this.headEnd = offset;
			state.frontier = Math.max(state.frontier, offset);
			if (isEnd && offset >= before) this.readAll(offset);
			const isFull = !complete && offset >= ACCOUNT_MEMORY.census;
			const isLate = reserve > 0 && Date.now() > this.halfTime;
			if (isEnd || unknown === 0 || isFull || isLate || !reader.has(1 + reserve)) return;
		}
	}

	/** The tasks in progress, wherever in the list they stand. */
	private async readOpen(): Promise<void> {
		for (const status of ['processing', 'pending']) {
			for (let offset = 0, pages = 0; pages < PAGES.ofOneStatus; pages++) {
				if (!this.state.filters || !this.reader.has(1)) return;
				const page = await unlessRefused(this.reader.page(offset, status));
				if (!page || page.some((task) => hasEnded(task.status))) this.state.filters = false;
				if (!page || !this.state.filters) return;
				const unknown = page.filter((task) => this.tasks.take(task, undefined)).length;
				offset += page.length;
				if (page.length < SMALLEST_PAGE || unknown === 0) break;
			}
		}
	}

	/** Finds out where a list ends that is too long to be read at once, and what stands there. */
	private async fixEnd(latest: number): Promise<void> {
		const { state, reader } = this;
		const { deadline } = reader;
		reader.deadline = latest;
		const end = await reader.end(state.frontier);
		if (end === undefined) throw reader.endless();
		const page = await reader.page(Math.max(0, end - OVERLAP));
		for (const task of page) this.tasks.take(task, false);
		Object.assign(state, { end, tail: hashesOf(page).join('') });
		reader.deadline = deadline;
	}

	/** From a little before the end that is known until a page holds nothing new. */
	private async readTail(): Promise<void> {
		const { state, reader } = this;
		if (state.end === undefined) return;
		const tail = new Set(hashesIn(state.tail));
		let isBehindTail = state.complete;
		const behind: string[] = [];
		for (let offset = Math.max(0, state.end - OVERLAP); reader.has(1);) {
			const page = await reader.page(offset);
			// Nothing where something was: the list has become shorter.
			if (page.length === 0 && offset < state.end) state.end = Math.max(0, offset - reader.size);
			if (page.length === 0 || this.isFirstAgain(page, offset)) break;
			let unknown = 0;
			for (const task of page) {
				const [hash = ''] = hashesOf([task]);
				isBehindTail ||= tail.has(hash);
				if (this.tasks.take(task, isBehindTail || undefined)) unknown += 1;
				if (isBehindTail) behind.push(hash);
			}
			offset += page.length;
			state.end = offset;
			if (unknown === 0) break;
		}
		this.ends.tail = [...new Set([...tail, ...behind])].slice(-ACCOUNT_MEMORY.tail);
		if (!state.complete) state.tail = this.ends.tail.join('');
	}

	/** The tasks that were open and that no list showed: they have ended, or stand elsewhere. */
	private async askForMissing(): Promise<void> {
		const { state, reader } = this;
		const { ended, others } = this.tasks.missing(state.filters);
		const asked = [...ended.slice(0, PAGES.endedTasks), ...others.slice(0, PAGES.otherTasks)];
		for (const open of asked) {
			if (Date.now() >= reader.deadline) return;
			open.looked = state.turn;
			try {
				this.tasks.take(await reader.task(open.id, ONE_TASK_MS), undefined);
			} catch (error) {
				// Whatever is wrong with one task, the others have their turn.
				if (!isRefused(error)) continue;
				if (this.tasks.count('refusals', open.id) >= REFUSALS) this.tasks.finish(open.id);
			}
		}
	}

	/** One page that nothing else reads. Returns whether there is another one to read now. */
	private async readNext(): Promise<boolean> {
		const { state, reader } = this;
		const isCensus = !state.complete && state.frontier < ACCOUNT_MEMORY.census;
		const offset = isCensus ? state.frontier : Math.max(state.sweep, this.headEnd);
		const page = await reader.page(offset);
		const isEnd = page.length === 0 || this.isFirstAgain(page, offset);
		const { frontier, complete } = state;
		const tail = new Set(hashesIn(state.tail));
		let isBehindTail = false;
		for (const [index, task] of page.entries()) {
			isBehindTail ||= hashesOf([task]).some((hash) => tail.has(hash));
			const isNew = complete || isBehindTail || offset + index < frontier;
			this.tasks.take(task, isNew || (isCensus ? false : undefined));
		}
		if (isCensus) {
			if (isEnd || isBehindTail) this.readAll(offset + page.length);
			else state.frontier += page.length;
			return !isEnd;
		}
		const isRound = isEnd || (!complete && offset + page.length >= frontier);
		state.sweep = isRound ? 0 : offset + page.length;
		return !isRound;
	}

	private readAll(end: number): void {
		Object.assign(this.state, { complete: true, end, tail: '', sweep: 0 });
	}

	private isFirstAgain(page: IDataObject[], offset: number): boolean {
		const hash = hashOf(hashesOf(page).join(' '));
		if (offset === 0) this.first = hash;
		return offset > 0 && hash === this.first;
	}
}
