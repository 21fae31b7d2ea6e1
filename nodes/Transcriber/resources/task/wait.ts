import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import { finishedTask } from '../../wait/finishedTask';
import { checkWaitOptions } from '../../wait/waitOptions';
import type { Policy, RoutingRequest } from '../../../shared/api/types';
import { idFrom } from '../../item/idParameters';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import { waitOptionsField } from '../../wait/waitOptionsField';

export const waitForTask: INodePropertyOptions = {
	name: 'Wait Until Finished',
	value: 'wait',
	action: 'Wait for transcript',
	description: 'Wait in this step until a task has finished, and output its result',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}' },
		operations: {
			pagination: performOperation({ prepare: [checkWaitOptions], carryOut: outputFinished }),
		},
	},
};

export const waitForTaskFields: INodeProperties[] = shownFor('task', ['wait'], [waitOptionsField]);

async function outputFinished(
	context: IExecutePaginationFunctions,
	_request: RoutingRequest,
	_policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const submitted = { task_id: idFrom(context, 'taskId') };
	return await finishedTask(context, submitted, { run, reportsRefusal: true });
}
