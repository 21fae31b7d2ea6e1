import type { IDataObject } from 'n8n-workflow';

import { LIMITS } from './rateLimits';
import { awaitsBalance } from './statusMeaning';
import { identityOf, TaskPagesOfAcceptedSize } from './taskPagesOfAcceptedSize';
import type { Caller } from './types';

/** The most pages of the list to read for each status. */
const MOST_PAGES = 5;

/**
 * Counts the tasks in progress of the account (service document, "Limits"), up to the limit. A task
 * that waits for balance is not queued and does not count. Undefined if the list is too long, or
 * does not show the status of its tasks. Throws if the list cannot be read.
 */
export async function countTasksInProgress(caller: Caller): Promise<number | undefined> {
	const seen = new Set<string>();
	let inProgress = 0;
	for (const status of ['processing', 'pending']) {
		const list = new TaskPagesOfAcceptedSize(caller, { status }, LIMITS.tasksInProgress);
		let offset = 0;
		for (let pages = 0; ; pages++) {
			const page = pages < MOST_PAGES ? await list.page(offset) : undefined;
			if (!page || page.some((task) => typeof task.status !== 'string')) return undefined;
			const news = page.filter((task) => !seen.has(identityOf(task)));
			for (const task of news) seen.add(identityOf(task));
			inProgress += news.filter(takesUpAPlace).length;
			if (inProgress >= LIMITS.tasksInProgress) return inProgress;
			// A short page need not be the last, and the service may ignore the offset.
			if (news.length === 0) break;
			offset += page.length;
		}
	}
	return inProgress;
}

function takesUpAPlace(task: IDataObject): boolean {
	return ['pending', 'processing'].includes(String(task.status)) && !awaitsBalance(task);
}
