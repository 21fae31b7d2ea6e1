import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError, said } from '../../request/errors';
import { idFrom } from '../../request/ids';
import { perform } from '../../request/perform';
import { send, type Policy, type RoutingRequest } from '../../request/service';
import { hasEnded, isCancelled } from '../../request/shapes';
import { stateOf } from './unfinished';

export const cancel: INodePropertyOptions = {
	name: 'Cancel',
	value: 'cancel',
	action: 'Cancel transcription',
	description: 'Stop a task that is waiting or being processed',
	routing: {
		request: { method: 'POST', url: '/tasks/{taskId}/cancel' },
		operations: { pagination: perform({ carryOut: cancelTask }) },
	},
};

/**
 * A refusal may be the echo of an earlier attempt whose answer was lost, so the task itself is asked
 * about: where it is cancelled, that is what was wanted.
 */
async function cancelTask(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	let failure: unknown;
	try {
		return await send.call(this, request, policy);
	} catch (error) {
		failure = error;
	}
	if (!(failure instanceof ServiceError) || !isAboutTheTask(failure)) throw failure;
	const taskId = idFrom(this, 'taskId');
	const task = await stateOf(this, taskId);
	if (isCancelled(task.status)) return [{ json: { ...task, task_id: taskId } }];
	if (hasEnded(task.status)) {
		failure.message = `The task has already ended (${String(task.status)})`;
		const next = 'There is nothing left to cancel.';
		failure.description = [next, said(failure.problem)].filter(Boolean).join(' ');
	}
	throw failure;
}

function isAboutTheTask({ problem: { status = 0, isRepeat } }: ServiceError): boolean {
	if (status === 404) return isRepeat === true;
	return status >= 400 && status < 500 && ![401, 402, 403, 429].includes(status);
}
