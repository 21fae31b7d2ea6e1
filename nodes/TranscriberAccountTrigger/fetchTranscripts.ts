import type { INodeExecutionData } from 'n8n-workflow';

import { isRefusedForGood, ServiceError } from '../shared/api/serviceError';
import { messageOf } from '../shared/asError';
import {
	NotEnded,
	costOf,
	isWanted,
	itemsFor,
	mayBeWanted,
	type Wanted,
} from './accountTriggerOutput';
import type { CountedRequests } from './countedRequests';
import type { NewSinceLastPoll } from './newSinceLastPoll';
import { ONE_TASK } from './openTasks';
import { ACCOUNT_POLL } from './pollLimits';

/**
 * The items that start the workflow now, and how many tasks are left because the requests (`most` in
 * all) or the time are used up. A later poll tries them, and the tasks without a result, again.
 */
export async function fetchTranscripts(
	requests: CountedRequests,
	tasks: NewSinceLastPoll,
	wanted: Wanted,
	{ most, deadline }: { most: number; deadline: number },
): Promise<{ items: INodeExecutionData[]; skipped: number }> {
	const { context } = requests;
	const items: INodeExecutionData[] = [];
	let skipped = 0;
	const turns = tasks.inTurn();
	for (const [index, [id, task]] of turns.entries()) {
		if (!mayBeWanted(task, wanted)) {
			tasks.pass(id, task);
			continue;
		}
		if (requests.sent + costOf(task, wanted) > most || Date.now() >= deadline) {
			if (isWanted(task, wanted)) skipped += 1;
			continue;
		}
		const facts = { ...task, task_id: id };
		try {
			// Only the last task, or one that failed before, may use all the time left, so that a slow
			// result delays no other task, or only others that have failed too.
			const isFree = index === turns.length - 1 || tasks.hasFailed(id);
			const end = isFree ? deadline : Math.min(deadline, Date.now() + ONE_TASK.maxMs);
			const found = await itemsFor(context, facts, wanted, end, (error) =>
				isLastTry(tasks, id, error),
			);
			items.push(...found);
			if (found.length > 0) tasks.finish(id);
			else tasks.pass(id, task);
		} catch (error) {
			const what =
				error instanceof NotEnded
					? `the list says that task ${id} has failed, but the service is processing the task again`
					: `task ${id} has ended, but cannot be fetched: ${messageOf(error)}`;
			context.logger.warn(`${context.getNode().name}: ${what}`);
			if (!isNoTurn(error)) continue;
			const left = turns.slice(index).filter(([, other]) => isWanted(other, wanted));
			return { items, skipped: skipped + left.length };
		}
	}
	return { items, skipped };
}

/** Counts the failed fetch of a task. Returns whether it was the last try. */
function isLastTry(tasks: NewSinceLastPoll, id: string, failure: unknown): boolean {
	// No request left n8n, so the task has not failed.
	if (isNoTurn(failure)) return false;
	// The service runs the task again. Counted, so that the others come first, but never given up.
	if (failure instanceof NotEnded) {
		tasks.count('runsAgain', id);
		return false;
	}
	// An answer without a result throws another error than ServiceError.
	const isForGood = isRefusedForGood(failure) || !(failure instanceof ServiceError);
	const kind = isForGood ? 'refusals' : 'failures';
	return tasks.count(kind, id) >= ACCOUNT_POLL[kind];
}

/** Whether the request was not sent because the rate limit of this minute is used up. */
export function isNoTurn(error: unknown): boolean {
	return error instanceof ServiceError && error.problem.transport === 'noTurn';
}
