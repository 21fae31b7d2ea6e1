import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import type { NodeRun } from './nodeRun';
import { failedItem, goesOnAfterErrors } from './perform';

/**
 * Carries out `work` for each task that the service created from one item. If the node continues on
 * errors, each task has its own outcome, so that a failed task does not hide the others.
 */
export async function eachTask<T>(
	context: IExecutePaginationFunctions,
	run: NodeRun,
	tasks: T[],
	work: (task: T) => Promise<INodeExecutionData>,
): Promise<INodeExecutionData[]> {
	if (tasks.length < 2 || !goesOnAfterErrors(context)) return await Promise.all(tasks.map(work));
	return await Promise.all(
		tasks.map(async (task) => {
			return await work(task).catch((error: unknown) => {
				context.getExecutionCancelSignal()?.throwIfAborted();
				return failedItem(context, error, run);
			});
		}),
	);
}
