import type { IDataObject } from 'n8n-workflow';

import { listedTaskId } from '../shared/api/undocumented/idNames';
import { hasEnded, isInProgress, isUnknownStatus } from '../shared/api/statusMeaning';
import { CREATED_NAMES, dateOf } from '../shared/api/undocumented/taskLists';
import { ACCOUNT_MEMORY, type OpenTask, type State } from './rememberedBetweenPolls';
import { hashesIn, hashOf } from './taskHashes';
import { UnclearWords } from './unclearWords';

/**
 * As long as the known tasks do not prove otherwise, a task that was submitted this long before
 * activation is old, in ms: longer than any difference between two clocks or time zones.
 */
const OLD_MS = 26 * 3_600_000;

/** After so many polls, or ms, a list that was cut short at activation counts as whole. */
const SURE = { turns: 3, afterMs: 10 * 60_000 };

/** Tells the new tasks of the list from those that are known: done, or still open. */
export class NewSinceLastPoll {
	/** The tasks that are to start the workflow, by id. They also stay in `open` until they have. */
	readonly news = new Map<string, IDataObject>();

	/** Whether the service has shown a task that was known before this poll. */
	hasMetKnown = false;

	private done: Set<string>;

	/** See {@link State.failed}. */
	private readonly failed: Set<string>;

	/** Hashes of the tasks that were known before this poll. */
	private readonly before: Set<string>;

	private readonly doneBefore: ReadonlySet<string>;

	private readonly open: Map<string, OpenTask>;

	/** What the lists of this poll call each open task whose status is unclear, by id. */
	private readonly listed = new Map<string, IDataObject>();

	/** Open tasks that a list of this poll showed in progress. */
	private readonly met = new Set<string>();

	/** Ids of tasks that count as ended although the list does not say so, by hash. */
	private readonly unsure = new Map<string, string>();

	private readonly unclear: UnclearWords;

	/** Tasks that were submitted before this time, in ms since 1970, are old. */
	private readonly oldBefore: number;

	constructor({ done, failed, unclear, open, complete, turn, since = 0 }: State) {
		this.done = new Set(hashesIn(done));
		this.failed = new Set(hashesIn(failed));
		this.unclear = new UnclearWords(unclear);
		this.open = new Map(open.map((task) => [task.id, task]));
		this.doneBefore = new Set(this.done);
		this.before = new Set([...this.done, ...open.map(({ id }) => hashOf(id))]);
		// A list that was empty or short at activation may have been so only for a moment. Otherwise, once
		// the whole list is known, an unknown task is new whatever its date: a meeting may be scheduled for
		// weeks ahead.
		const isSettled = turn >= SURE.turns || Date.now() - since > SURE.afterMs;
		const isSure = complete && this.before.size > 0 && isSettled;
		this.oldBefore = isSure ? 0 : since - OLD_MS;
	}

	/**
	 * Takes in a task of the list. `isNew` decides about an unknown task that has ended: true, it
	 * starts the workflow; false, it is old; undefined, it is unclear. A task with an unclear status
	 * is asked for (see {@link missing}) unless it is old. Returns whether the task was unknown.
	 *
	 * @param isAnswer The task comes from GET /tasks/{id}: if its status is not final, it has not ended.
	 */
	take(task: IDataObject, isNew: boolean | undefined, isAnswer = false): boolean {
		const id = listedTaskId(task);
		if (id === undefined) return false;
		const hash = hashOf(id);
		this.hasMetKnown ||= this.before.has(hash);
		const isClear = hasEnded(task.status);
		const isOpen = isInProgress(task.status) || (isAnswer && !isClear);
		// The service has run the task again, or the task had not ended when it counted as old. An answer says
		// only that a task has ended, not since when.
		const isFailed = (isOpen || task.status === 'completed') && this.failed.delete(hash);
		const isUnclear = (isOpen || isClear) && this.unclear.takeOut(hash) && !isAnswer;
		const isAgain = isFailed || isUnclear;
		if (isAgain || (isOpen && this.unsure.delete(hash))) this.done.delete(hash);
		if (this.done.has(hash)) return false;
		const open = this.open.get(id);
		if (!isClear && !isAnswer) this.listed.set(id, { task_id: id, status: task.status });
		if (isOpen) {
			this.met.add(id);
			const isWorking = task.status === 'processing';
			const answered = isAnswer ? wordOf(task) : open?.answered;
			this.open.set(id, { ...open, id, isWorking, isUnclear: undefined, answered });
			return !open && !isAgain;
		}
		const isOld = isNew && (dateOf(task, CREATED_NAMES) ?? Infinity) < this.oldBefore;
		// GET /tasks/{id} has answered with this very status, so asking again would show nothing new.
		if (open && !isClear && open.answered === wordOf(task)) return false;
		if (open ?? (isAgain || (isNew && !isOld))) {
			this.open.set(id, { ...open, id, ...(isClear ? { hasEnded: true } : { isUnclear: true }) });
			if (isClear) this.news.set(id, task);
		} else if (isOld || isNew === false) {
			this.done.add(hash);
			if (!isClear) this.unsure.set(hash, id);
			if (isUnknownStatus(task.status)) this.unclear.remember(wordOf(task), hash);
		}
		return !open && !isAgain;
	}

	/** Whether the service has shown none of the tasks that were known before this poll. */
	get hasLostAll(): boolean {
		return this.before.size > 0 && !this.hasMetKnown;
	}

	/** Whether no task was known before this poll. */
	get hasKnownNone(): boolean {
		return this.before.size === 0;
	}

	/** How many tasks this poll has shown for the first time that have ended, or may have. */
	get appeared(): number {
		return [...this.open.values()].filter(
			({ id, hasEnded: ended, isUnclear }) => (ended || isUnclear) && !this.before.has(hashOf(id)),
		).length;
	}

	/**
	 * Whether a page has tasks, and all of them were done before this poll. One in progress shows no place
	 * in the list: it may be known only because all that are in progress are listed apart.
	 */
	wereDone(page: IDataObject[]): boolean {
		const ids = page.map(listedTaskId).filter((id) => id !== undefined);
		return ids.length > 0 && ids.every((id) => this.doneBefore.has(hashOf(id)));
	}

	isKnown(task: IDataObject): boolean {
		const id = listedTaskId(task) ?? '';
		return this.open.has(id) || this.done.has(hashOf(id));
	}

	/** Whether a task may still start the workflow. */
	isOpen(id: string): boolean {
		return this.open.has(id);
	}

	/** The first and the last `count` tasks that count as ended although the list does not say so. */
	unsureAtEnds(count: number): string[] {
		const ids = [...this.unsure.values()];
		return [...new Set([...ids.slice(0, count), ...ids.slice(-count)])];
	}

	/** Marks a task as done: it has started the workflow, or will never start it. */
	finish(id: string): void {
		this.open.delete(id);
		this.done.add(hashOf(id));
	}

	/** Marks a task as done that the user does not want, unless it completes after all. */
	pass(id: string, { status }: IDataObject): void {
		this.finish(id);
		if (status !== 'completed') this.failed.add(hashOf(id));
	}

	/**
	 * For a task that the service refuses to show: if a list of this poll shows it, the task is there, and
	 * the word of the list counts as its answer. Otherwise it is gone.
	 */
	giveUp(id: string): void {
		const listed = this.listed.get(id);
		if (listed) this.take(listed, undefined, true);
		else this.pass(id, {});
	}

	/** The tasks that are to start the workflow, those with the fewest failures first. */
	inTurn(): Array<[string, IDataObject]> {
		const failures = ([id]: [string, unknown]) => {
			const { refusals = 0, failures: others = 0, runsAgain = 0 } = this.open.get(id) ?? {};
			return refusals + others + runsAgain;
		};
		return [...this.news].sort((one, other) => failures(one) - failures(other));
	}

	/**
	 * Counts a failed request for a task: the service refuses it for good (`refusals`), it fails in
	 * another way (`failures`), or it shows that the task has not ended (`runsAgain`). Returns the new count.
	 */
	count(kind: 'refusals' | 'failures' | 'runsAgain', id: string): number {
		const task = this.open.get(id) ?? { id };
		const times = (task[kind] ?? 0) + 1;
		this.open.set(id, { ...task, [kind]: times });
		return times;
	}

	/** Whether the result of a task could not be had at an earlier poll. */
	hasFailed(id: string): boolean {
		return (this.open.get(id)?.failures ?? 0) > 0;
	}

	/**
	 * The open tasks that no list of this poll showed in progress. `ended`: those that have probably
	 * ended, because the list of processing tasks no longer shows them, or because no list says.
	 * Tasks that were asked for longest ago come first.
	 */
	missing(isProcessedKnown: boolean): { ended: OpenTask[]; others: OpenTask[] } {
		const all = [...this.open.values()]
			.filter(({ id }) => !this.met.has(id) && !this.news.has(id))
			.sort((one, other) => (one.looked ?? 0) - (other.looked ?? 0));
		const isOver = ({ hasEnded: ended, isUnclear, isWorking }: OpenTask) =>
			ended || isUnclear || (isWorking && isProcessedKnown);
		return { ended: all.filter(isOver), others: all.filter((task) => !isOver(task)) };
	}

	/** Whether there is room for more tasks that have ended but have not started the workflow yet. */
	get hasRoom(): boolean {
		return this.backlog.length < ACCOUNT_MEMORY.open;
	}

	private get backlog(): OpenTask[] {
		return [...this.open.values()].filter((task) => task.hasEnded);
	}

	get isFull(): boolean {
		return this.done.size > ACCOUNT_MEMORY.done;
	}

	/** Forgets the tasks that are done, except `kept` and the newest. */
	forget(kept: Set<string>): void {
		const done = [...this.done];
		const newest = done.slice(-ACCOUNT_MEMORY.done / 10);
		this.done = new Set([...done.filter((hash) => kept.has(hash)), ...newest]);
	}

	/** What to remember. Tasks that have ended are never left out: see {@link hasRoom}. */
	result(): Pick<State, 'done' | 'failed' | 'unclear' | 'open'> {
		const others = [...this.open.values()].filter((task) => !task.hasEnded);
		const open = [...this.backlog, ...others.slice(-ACCOUNT_MEMORY.open)];
		const failed = [...this.failed].slice(-ACCOUNT_MEMORY.failed).join('');
		return { done: [...this.done].join(''), failed, unclear: this.unclear.result(), open };
	}
}

function wordOf({ status }: IDataObject): string {
	return String(status ?? '').slice(0, 40);
}
