import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { choiceIn } from '../../../shared/parameters/checkedValues';
import { addressIn } from '../../../shared/parameters/joinedText';
import { resumeUrlOf } from '../../../shared/n8nInternals/resumeUrl';

const ON_COMPLETION = ['awaitWebhook', 'callUrl', 'notifyTrigger', 'poll', 'returnTask'] as const;

export type OnCompletion = (typeof ON_COMPLETION)[number];

/** The choice in 'Get the Transcript'; if not set, the default of the panel. */
export function onCompletionOf(context: IExecutePaginationFunctions): OnCompletion {
	const value: unknown = context.getNodeParameter('onCompletion', '');
	const byDefault = context.getNodeParameter('operation') === 'sendBot' ? 'returnTask' : 'poll';
	return choiceIn(context, value, 'Get the Transcript', ON_COMPLETION) ?? byDefault;
}

/** Whether the service gets a webhook address for what is submitted with this choice. */
export function usesWebhook(onCompletion: OnCompletion): boolean {
	return onCompletion !== 'poll' && onCompletion !== 'returnTask';
}

/** The webhook address for what is submitted now; '' if this node knows of none. */
export function deliveryAddress(context: IExecutePaginationFunctions): string {
	const onCompletion = onCompletionOf(context);
	if (onCompletion === 'awaitWebhook') return resumeUrlOf(context);
	if (onCompletion === 'callUrl') return webhookUrlOf(context);
	return onCompletion === 'notifyTrigger' ? triggerUrlOf(context) : '';
}

/** 'Trigger URL'. Throws if it is empty. */
export function triggerUrlOf(context: IExecutePaginationFunctions): string {
	const { triggerUrl: entered } = context.getNode().parameters;
	return addressIn(context, entered, context.getNodeParameter('triggerUrl', ''), 'Trigger URL');
}

/** 'Webhook URL'. Throws if it is empty. */
export function webhookUrlOf(context: IExecutePaginationFunctions): string {
	const { webhookUrl: entered } = context.getNode().parameters;
	return addressIn(context, entered, context.getNodeParameter('webhookUrl', ''), 'Webhook URL');
}
