import type { IDataObject } from 'n8n-workflow';

import { hasEnded, taskIdOf } from '../shared/api/undocumented';
import { hashesIn, hashOf, ACCOUNT_MEMORY, type OpenTask, type State } from './pollState';

/** The tasks that are known: those that are done with, and those that have still to start the workflow. */
export class Tasks {
	/** The tasks that start the workflow, by id. They stay among the open ones until they have. */
	readonly news = new Map<string, IDataObject>();

	private done: Set<string>;

	private readonly open: Map<string, OpenTask>;

	/** Open tasks that a list of this poll showed. */
	private readonly met = new Set<string>();

	constructor({ done, open }: State) {
		this.done = new Set(hashesIn(done));
		this.open = new Map(open.map((task) => [task.id, task]));
	}

	/**
	 * Takes in a task of the list. `isNew` says what to think of one that has ended and is not known:
	 * true, it starts the workflow; false, it was there before; undefined, it cannot be told.
	 * Returns whether it was not known.
	 */
	take(task: IDataObject, isNew: boolean | undefined): boolean {
		const id = taskIdOf(task);
		if (id === undefined || this.done.has(hashOf(id))) return false;
		const open = this.open.get(id);
		if (!hasEnded(task.status)) {
			this.met.add(id);
			this.open.set(id, { ...open, id, isWorking: task.status === 'processing' });
		} else if (open ?? isNew) {
			this.open.set(id, { ...open, id, hasEnded: true });
			this.news.set(id, task);
		} else if (isNew === false) {
			this.done.add(hashOf(id));
		}
		return !open;
	}

	/** The workflow has started with this task, or does not want it. */
	finish(id: string): void {
		this.open.delete(id);
		this.done.add(hashOf(id));
	}

	/** The tasks that start the workflow, those whose result has failed least often first. */
	inTurn(): Array<[string, IDataObject]> {
		const failures = ([id]: [string, unknown]) => {
			const { refusals = 0, failures: others = 0 } = this.open.get(id) ?? {};
			return refusals + others;
		};
		return [...this.news].sort((one, other) => failures(one) - failures(other));
	}

	/**
	 * What this task needs cannot be had: the service refuses it for good (`refusals`), or it fails
	 * in another way (`failures`). Returns how often it has done so.
	 */
	count(kind: 'refusals' | 'failures', id: string): number {
		const task = this.open.get(id) ?? { id };
		const times = (task[kind] ?? 0) + 1;
		this.open.set(id, { ...task, [kind]: times });
		return times;
	}

	/**
	 * The open tasks that no list of this poll showed: those that have ended, or must have, because the
	 * list of what is processed does not show them any more; and others. Longest not asked for first.
	 */
	missing(isProcessedKnown: boolean): { ended: OpenTask[]; others: OpenTask[] } {
		const all = [...this.open.values()]
			.filter(({ id }) => !this.met.has(id) && !this.news.has(id))
			.sort((one, other) => (one.looked ?? 0) - (other.looked ?? 0));
		const isOver = (task: OpenTask) => task.hasEnded || (task.isWorking && isProcessedKnown);
		return { ended: all.filter(isOver), others: all.filter((task) => !isOver(task)) };
	}

	get isFull(): boolean {
		return this.done.size > ACCOUNT_MEMORY.done;
	}

	/** Forgets what is done with, but for these and the newest. */
	forget(kept: Set<string>): void {
		const done = [...this.done];
		const newest = done.slice(-ACCOUNT_MEMORY.done / 10);
		this.done = new Set([...done.filter((hash) => kept.has(hash)), ...newest]);
	}

	/** What to remember. */
	result(): Pick<State, 'done' | 'open'> {
		const open = [...this.open.values()].slice(-ACCOUNT_MEMORY.open);
		return { done: [...this.done].join(''), open };
	}
}

export function hashesOf(page: IDataObject[]): string[] {
	return page.map((task) => hashOf(taskIdOf(task) ?? ''));
}
