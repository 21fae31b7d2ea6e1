import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodePropertyOptions,
} from 'n8n-workflow';

import { STOPS_SPENDING, type Policy, type RoutingRequest } from '../../../shared/api/types';
import { idFrom } from '../../item/idParameters';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { sendCancel } from '../sendCancel';
import { stateOf } from './requestFromFinishedTask';

export const cancelTask: INodePropertyOptions = {
	name: 'Cancel',
	value: 'cancel',
	action: 'Cancel transcription',
	description: 'Stop a task that is waiting or being processed',
	routing: {
		request: { method: 'POST', url: '/tasks/{taskId}/cancel' },
		operations: { pagination: performOperation({ policy: STOPS_SPENDING, carryOut: cancel }) },
	},
};

async function cancel(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	return await sendCancel(context, request, policy, run, () => {
		const taskId = idFrom(context, 'taskId');
		return {
			what: 'task',
			id: { task_id: taskId },
			stateNow: async (bounds) => await stateOf(context, taskId, bounds),
		};
	});
}
