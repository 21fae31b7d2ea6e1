import type { IDataObject } from 'n8n-workflow';

import { isRefusedForGood } from '../shared/api/serviceError';
import { hasEnded, isInProgress } from '../shared/api/statusMeaning';
import { SMALLEST_PAGE, unlessRefused, type PagesWithinBudget } from './pagesWithinBudget';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import type { State } from './rememberedBetweenPolls';

/** The most requests of a poll about open tasks. */
const MOST = {
	/** Pages of the tasks in one state. */
	pagesOfOneStatus: 2,
	/** Single tasks: those that have probably ended, and others. */
	endedTasks: 5,
	otherTasks: 3,
};

/** A task that the service has refused this often, and that no list shows, is gone. */
const REFUSALS = 5;

/** Time limit for one task, in ms, so that no task uses up the time of the others. */
export const ONE_TASK = { maxMs: 10_000 };

/**
 * The part of a poll that follows the tasks that have not ended yet: it reads those in progress, and
 * asks for single tasks that no list shows.
 */
export class OpenTasks {
	constructor(
		private readonly state: State,
		private readonly pages: PagesWithinBudget,
		private readonly tasks: NewSinceLastPoll,
	) {}

	/** Reads the tasks in progress, wherever they are in the list. */
	async read(): Promise<void> {
		const { state, pages } = this;
		for (const status of ['processing', 'pending']) {
			for (let offset = 0, read = 0; read < MOST.pagesOfOneStatus; read++) {
				if (!state.filters || !pages.has(1)) return;
				const page = await unlessRefused(pages.page(offset, status));
				if (!page || this.isUnfiltered(page)) state.filters = false;
				if (!page || !state.filters) return;
				const open = page.map((task) => (isInProgress(task.status) ? task : { ...task, status }));
				const unknown = open.filter((task) => this.tasks.take(task, undefined)).length;
				offset += page.length;
				if (page.length < SMALLEST_PAGE || unknown === 0) break;
			}
		}
	}

	/** Whether a page of the tasks in one state shows that the service ignores `status`. */
	private isUnfiltered(page: IDataObject[]): boolean {
		if (page.some(({ status }) => hasEnded(status))) return true;
		const tells = page.every(({ status }) => isInProgress(status));
		return !tells && this.pages.isFirst(page);
	}

	/** Asks for open tasks that no list showed in progress: they have ended, or were not listed. */
	async askForMissing(): Promise<void> {
		const { state } = this;
		const { ended, others } = this.tasks.missing(state.filters);
		const asked = [...ended.slice(0, MOST.endedTasks), ...others.slice(0, MOST.otherTasks)];
		for (const open of asked) open.looked = state.turn;
		await this.ask(asked.map(({ id }) => id));
	}

	/** GET /tasks/{id} for each id. A failure of one task does not stop the others. */
	async ask(ids: string[]): Promise<void> {
		const { pages, tasks } = this;
		for (const [index, id] of ids.entries()) {
			const left = pages.listsUntil() - Date.now();
			if (left <= 0) return;
			// Half of the time remains for the results.
			const share = left / 2 / (ids.length - index);
			try {
				tasks.take(await pages.task(id, Math.max(share, ONE_TASK.maxMs)), undefined, true);
			} catch (error) {
				if (!isRefusedForGood(error)) continue;
				if (tasks.isOpen(id) && tasks.count('refusals', id) >= REFUSALS) tasks.giveUp(id);
			}
		}
	}
}
