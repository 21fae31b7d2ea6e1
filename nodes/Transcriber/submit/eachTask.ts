import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import type { NodeRun } from '../item/nodeRun';
import { failedItem, goesOnAfterErrors } from '../item/perform';

/**
 * Carries out `work` for each task that the service made of one item. Where the node goes on after
 * errors, each task has an outcome of its own, so that one that fails does not hide the others.
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
