import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError } from '../../../shared/api/serviceError';
import { idFrom } from '../../item/ids';
import { perform } from '../../item/perform';
import { hasEnded, isCancelled } from '../../../shared/api/undocumented/statuses';
import { stateOf } from './sendForFinished';
import { REFUSED_CANCEL, isAboutItsState, sayItHasEnded } from '../refusedCancel';
import { withoutError } from '../../item/sendDeclared';
import { hasEndedBefore, sendEnding } from '../../item/sendEnding';
import { STOPS_SPENDING, type Policy, type RoutingRequest } from '../../../shared/api/types';

export const cancelTask: INodePropertyOptions = {
	name: 'Cancel',
	value: 'cancel',
	action: 'Cancel transcription',
	description: 'Stop a task that is waiting or being processed',
	routing: {
		request: { method: 'POST', url: '/tasks/{taskId}/cancel' },
		operations: { pagination: perform({ policy: STOPS_SPENDING, carryOut: cancelOnce }) },
	},
};

/**
 * An earlier attempt whose answer was lost may cause a refusal. So after a refusal the status of
 * the task is requested: if the task is cancelled, that is a success. So is a refusal of what this
 * node has done in this execution.
 */
async function cancelOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	let failure: unknown;
	try {
		return await sendEnding(context, request, policy);
	} catch (error) {
		failure = error;
	}
	if (!(failure instanceof ServiceError) || !isAboutItsState(failure)) throw failure;
	const taskId = idFrom(context, 'taskId');
	const task = await stateOf(context, taskId, REFUSED_CANCEL);
	if (isCancelled(task.status) || hasEndedBefore(context, request)) {
		return [{ json: withoutError({ ...task, task_id: taskId }) }];
	}
	if (hasEnded(task.status)) sayItHasEnded(failure, 'task', task);
	throw failure;
}
