import type { IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { ServiceError, said } from '../../../shared/api/serviceError';
import { inOutput } from '../../item/itemFailure';
import { recall, remember } from './submissionMemory';

/** Notes what the service said of a request that stays remembered as sent, because it may be carried out. */
export function rememberWords(context: IExecutePaginationFunctions, failure: unknown): void {
	const memory = recall(context);
	if (memory?.state !== 'sent' || !(failure instanceof ServiceError)) return;
	const words = said(failure.problem);
	if (words) remember(context, { ...memory, said: words });
}

/** Makes the failure of a request that is not sent again repeat what the service said to the first one. */
export function sayFirstAnswer(
	context: IExecutePaginationFunctions,
	failure: NodeOperationError,
): NodeOperationError {
	const memory = recall(context);
	if (memory?.state !== 'sent' || memory.said === undefined) return failure;
	const words = `To the first request: ${memory.said}`;
	failure.message = inOutput(context, failure.message, words);
	failure.description = [failure.description, words].filter(Boolean).join(' ');
	return failure;
}
