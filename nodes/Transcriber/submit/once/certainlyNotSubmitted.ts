import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isStillRunning } from '../../../shared/api/noUsableAnswer';
import { neverLeft } from '../../../shared/api/sendWithRetries';
import {
	ServiceError,
	isCertainRefusal,
	wasCertainlyRefused,
} from '../../../shared/api/serviceError';
import { Abandoned } from '../../item/nodeRun';

/**
 * Whether the service has certainly done nothing, so that the request can be forgotten. Only for a
 * request that must not be repeated: such a request waits for another attempt only after a certain
 * refusal, so nothing is under way if the execution is cancelled in that wait.
 */
export function isHarmless(context: IExecutePaginationFunctions, failure: unknown): boolean {
	// Another item's failure ends the wait for an attempt only if the service has done nothing.
	if (failure instanceof Abandoned || neverLeft(failure)) return true;
	return wasCertainlyRefused(failure) || wasCancelledInTurn(context, failure);
}

/**
 * Whether the execution was cancelled while it waited for its turn or for the next attempt, and the
 * service has certainly done nothing (see `sendWithRetries`).
 */
function wasCancelledInTurn(context: IExecutePaginationFunctions, failure: unknown): boolean {
	const signal = context.getExecutionCancelSignal();
	return signal?.aborted === true && failure === signal.reason;
}

/** Whether a keyed submit did not leave n8n, or the service has refused every attempt for certain. */
export function isRefusedAtOnce(context: IExecutePaginationFunctions, failure: unknown): boolean {
	if (failure instanceof Abandoned || neverLeft(failure)) return true;
	if (wasCancelledInTurn(context, failure)) return true;
	if (!(failure instanceof ServiceError)) return false;
	const { problem } = failure;
	return isCertainRefusal(problem) && !problem.isRepeat && !isStillRunning(problem);
}
