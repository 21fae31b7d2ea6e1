import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isAboutKey } from '../../../shared/api/noUsableAnswer';
import type { RoutingRequest } from '../../../shared/api/types';
import { onCompletionOf } from '../choice/onCompletion';
import { isAboutTheItem } from './mayBeAccepted';
import { recall, remember, type SentMemory } from './submissionMemory';

/** Of a file with Wait for Webhook: the webhook address that is sent. */
export function resumeUrlIn(
	context: IExecutePaginationFunctions,
	{ options }: RoutingRequest,
): string | undefined {
	const form: unknown = options.body;
	if (onCompletionOf(context) !== 'awaitWebhook' || !(form instanceof FormData)) return undefined;
	return form.has('webhook_url') ? String(form.get('webhook_url')) : undefined;
}

/**
 * Sends a file that waits by webhook again with the address of the execution that has sent it, which no longer
 * waits: a service may refuse a key that comes with another request. Whatever the user has chosen since goes first.
 */
export function setFormerAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	{ resumeUrl }: SentMemory,
): void {
	if (resumeUrl === undefined || onCompletionOf(context) !== 'awaitWebhook') return;
	const form: unknown = request.options.body;
	if (form instanceof FormData) form.set('webhook_url', resumeUrl);
}

/**
 * A Retry does not send an address again that the service may have refused: it may give no code for that. If
 * it does, it is no longer known to which address an earlier request has led.
 */
export function forgetRefusedAddress(context: IExecutePaginationFunctions, failure: unknown): void {
	const memory = recall(context);
	if (memory?.state !== 'sent' || !isAboutTheItem(failure) || isAboutKey(failure.problem)) return;
	const isAboutAddress = failure.problem.errorCode === 'invalid_webhook_url';
	const deliversTo = isAboutAddress ? undefined : memory.deliversTo;
	remember(context, { ...memory, resumeUrl: undefined, deliversTo });
}
