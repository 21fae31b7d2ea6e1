import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { ServiceError } from '../../../shared/api/serviceError';
import type { RoutingRequest } from '../../../shared/api/types';
import { nameOfAddress } from './refuseChangedItem';
import { recall, remember, type SentMemory } from './submissionMemory';

/** Of a file with Wait for Webhook, or sent again after that: the webhook address that is sent. */
export function resumeUrlIn(
	context: IExecutePaginationFunctions,
	{ options }: RoutingRequest,
): string | undefined {
	const form: unknown = options.body;
	if (nameOfAddress(context) !== undefined || !(form instanceof FormData)) return undefined;
	return form.has('webhook_url') ? String(form.get('webhook_url')) : undefined;
}

/**
 * Sends a file again with the address of the execution that has sent it, which no longer waits: a service
 * may refuse a key that comes with another request. An address that the user has entered since goes first.
 */
export function setFormerAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	{ resumeUrl }: SentMemory,
): void {
	if (resumeUrl === undefined || nameOfAddress(context) !== undefined) return;
	const form: unknown = request.options.body;
	if (form instanceof FormData) form.set('webhook_url', resumeUrl);
}

/** An address that the service refuses is not sent again by a Retry: the user mends it, or takes it out. */
export function forgetRefusedAddress(context: IExecutePaginationFunctions, failure: unknown): void {
	const memory = recall(context);
	if (memory?.state !== 'sent' || !(failure instanceof ServiceError)) return;
	if (failure.problem.errorCode !== 'invalid_webhook_url') return;
	remember(context, { ...memory, resumeUrl: undefined });
}
