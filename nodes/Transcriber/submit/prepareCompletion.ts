import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import type { RoutingRequest } from '../../shared/api/types';
import { refuse } from '../../shared/parameters/refuse';
import { required, textIn } from '../../shared/parameters/checkedValues';
import { checkWebhookUrl } from '../../shared/webhook/publicAddress';
import { checkWaitOptions } from '../wait/waitOptions';
import {
	deliveryAddress,
	onCompletionOf,
	triggerUrlOf,
	usesWebhook,
	webhookUrlOf,
	type OnCompletion,
} from './choice/onCompletion';
import { recall } from './once/submissionMemory';
import { resumeAddress } from './suspension/suspendUntilDelivery';
import { checkTrigger } from './trigger/confirmedByTrigger';
import { checkTriggerUrl } from './trigger/triggerUrl';

/**
 * Before anything is submitted: checks the choice in 'Get the Transcript', and adds the webhook
 * address for the service. Must be the last step that changes the body.
 */
export async function prepareCompletion(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	const onCompletion = onCompletionOf(context);
	if (onCompletion === 'poll' || onCompletion === 'awaitWebhook') checkWaitOptions(context);
	checkCustomAddress(context, request, onCompletion);
	if (onCompletion === 'awaitWebhook') resumeAddress(context, request);
	if (onCompletion === 'notifyTrigger') await checkTrigger(context, request, triggerUrlOf(context));
	if (onCompletion === 'callUrl') {
		checkWebhookUrl(context, request, webhookUrlOf(context), 'Webhook URL');
	}
	const webhookUrl = deliveryAddress(context);
	if (!webhookUrl) return;
	request.options.body = { ...(request.options.body as IDataObject), webhook_url: webhookUrl };
}

/**
 * Checks what is still used of the choice where the item was submitted before, as long as a secret has to
 * be handed over: in a Retry, the user may have changed 'Trigger URL', and it is not always known to what
 * address the service delivers.
 */
export function checkTakenUpCompletion(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): void {
	if (onCompletionOf(context) !== 'notifyTrigger') return;
	const memory = recall(context);
	const all = memory?.state === 'accepted' ? memory.submissions : [];
	if (all.every(({ handedOver }) => handedOver)) return;
	checkTriggerUrl(context, request, triggerUrlOf(context));
}

/**
 * Checks `webhook_url` in 'Custom Fields' like 'Webhook URL'. Refuses it if 'Get the Transcript'
 * already sets an address.
 */
function checkCustomAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	onCompletion: OnCompletion,
): void {
	const { webhook_url: given } = (request.options.body ?? {}) as IDataObject;
	if (given === undefined) return;
	const name = 'Custom Fields: webhook_url';
	if (usesWebhook(onCompletion)) {
		throw refuse(
			context,
			"'Custom Fields' has a webhook_url, but 'Get the Transcript' already sends one",
			"Remove webhook_url from 'Custom Fields', or choose Call a URL When Ready in 'Get the Transcript'.",
		);
	}
	checkWebhookUrl(context, request, required(context, textIn(context, given, name), name), name);
}
