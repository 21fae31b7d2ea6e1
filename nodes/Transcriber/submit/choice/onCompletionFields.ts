import type { INodeProperties } from 'n8n-workflow';

import { waitOptionsField } from '../../wait/waitOptionsField';

const onCompletionField: INodeProperties = {
	displayName: 'Get the Transcript',
	name: 'onCompletion',
	type: 'options',
	noDataExpression: true,
	default: 'poll',
	description: 'How you get the transcript, which takes the service some minutes',
	options: [
		{
			name: 'Call a URL When Ready',
			value: 'callUrl',
			description: "Don't wait; the service sends a signed request to your URL",
		},
		{
			name: 'Return the ID at Once',
			value: 'returnTask',
			description:
				"Don't wait, and output no text; get it later with 'Wait Until Finished' (for a bot, 'Wait Until Transcribed')",
		},
		{
			name: 'Start Another Workflow When Ready',
			value: 'notifyTrigger',
			description: "Don't wait; a Transcriber Trigger starts its workflow",
		},
		{
			name: 'Wait for the Transcript (Polling)',
			value: 'poll',
			description: 'Wait here until the transcript is ready. Works everywhere.',
		},
		{
			name: 'Wait for the Transcript (Webhook)',
			value: 'awaitWebhook',
			description: 'Suspend the execution until then. Needs an n8n with a public https address.',
		},
	],
};

const triggerUrlField: INodeProperties = {
	displayName: 'Trigger URL',
	name: 'triggerUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://n8n.example.com/webhook/…',
	description: 'Production URL of a Transcriber Trigger (or its Test URL while it listens)',
	hint: 'Use the same credential here and in the Transcriber Trigger',
	displayOptions: { show: { onCompletion: ['notifyTrigger'] } },
};

const webhookUrlField: INodeProperties = {
	displayName: 'Webhook URL',
	name: 'webhookUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/transcripts',
	description: 'Public https address that gets a signed POST when the transcript is ready',
	hint: 'The output holds the webhook_secret that the receiver needs to check the signature',
	displayOptions: { show: { onCompletion: ['callUrl'] } },
};

/** 'Get the Transcript' and the fields that depend on it, for the three operations that submit. */
export function completionFields(byDefault: 'poll' | 'returnTask'): INodeProperties[] {
	return [
		{ ...onCompletionField, default: byDefault },
		triggerUrlField,
		webhookUrlField,
		{ ...waitOptionsField, displayOptions: { show: { onCompletion: ['poll', 'awaitWebhook'] } } },
	];
}
