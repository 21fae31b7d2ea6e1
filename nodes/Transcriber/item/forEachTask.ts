import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import type { NodeRun } from './nodeRun';
import { failedItem, goesOnAfterErrors } from './itemFailure';

/**
 * Carries out `work` for each task that the service created from one item. If the node continues on
 * errors, each task has its own outcome, so that a failed task does not hide the others.
 */
export async function forEachTask<T>(
	context: IExecutePaginationFunctions,
	run: NodeRun,
	tasks: T[],
	work: (task: T) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const hasOwnOutcomes = tasks.length > 1 && goesOnAfterErrors(context);
	const outputs = await Promise.all(
		tasks.map(async (task) => {
			return await work(task).catch((error: unknown) => {
				if (!hasOwnOutcomes) throw error;
				context.getExecutionCancelSignal()?.throwIfAborted();
				return [failedItem(context, error, run)];
			});
		}),
	);
	return outputs.flat();
}
