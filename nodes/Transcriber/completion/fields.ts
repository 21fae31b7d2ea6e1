import type { INodeProperties } from 'n8n-workflow';

import { EXPORT_FORMATS } from './result';

export const exportFormatOptions = [...EXPORT_FORMATS].sort().map((value) => ({
	name: value.toUpperCase(),
	value,
}));

export const onCompletionField: INodeProperties = {
	displayName: 'When Submitted',
	name: 'onCompletion',
	type: 'options',
	noDataExpression: true,
	default: 'returnTask',
	description: 'What the node does once the service has accepted the recording or sent the bot',
	hint: 'A transcript takes minutes. To get it in this step, choose Wait by Polling, or Wait for Webhook if your n8n has a public https address.',
	options: [
		{
			name: 'Notify a Transcriber Trigger',
			value: 'notifyTrigger',
			description: 'Go on; another workflow starts when the transcript is ready',
		},
		{
			name: 'Return Task at Once',
			value: 'returnTask',
			description: 'Go on with the task ID, and fetch the result later',
		},
		{
			name: 'Send Webhook to a URL',
			value: 'callUrl',
			description: 'Go on; the service calls you when the transcript is ready',
		},
		{
			name: 'Wait by Polling',
			value: 'poll',
			description: 'Stay in this step until the transcript is ready, and output it',
		},
		{
			name: 'Wait for Webhook',
			value: 'awaitWebhook',
			description: 'Suspend the execution until the transcript is ready',
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
	hint: 'Both nodes need the same credential: the API key protects the webhook secret on its way',
	displayOptions: { show: { onCompletion: ['notifyTrigger'] } },
	routing: {
		send: { type: 'body', property: 'webhook_url', value: '={{ String($value).trim() }}' },
	},
};

export const webhookUrlField: INodeProperties = {
	displayName: 'Webhook URL',
	name: 'webhookUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/transcripts',
	description: 'Public https address that gets a signed POST when the transcript is ready',
	hint: 'The output holds the webhook_secret that the receiver needs to check the signature',
	displayOptions: { show: { onCompletion: ['callUrl'] } },
	routing: {
		send: { type: 'body', property: 'webhook_url', value: '={{ String($value).trim() }}' },
	},
};

export const waitOptionsField: INodeProperties = {
	displayName: 'Wait Options',
	name: 'waitOptions',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Export Format',
			name: 'exportFormat',
			type: 'options',
			default: 'none',
			description: 'A file to output beside the result, for example subtitles',
			options: [{ name: 'None', value: 'none' }, ...exportFormatOptions],
		},
		{
			displayName: 'Include Result',
			name: 'includeResult',
			type: 'boolean',
			default: true,
			description:
				'Whether to output text, segments, summary and speakers, not just the state of the task',
		},
		{
			displayName: 'On Insufficient Balance',
			name: 'onInsufficientBalance',
			type: 'options',
			default: 'keepWaiting',
			description: 'What to do when the task waits because the balance is too low',
			options: [
				{ name: 'Fail', value: 'fail', description: 'Stop with an error at once' },
				{
					name: 'Keep Waiting',
					value: 'keepWaiting',
					description: 'The service starts on its own within minutes after a top-up',
				},
			],
		},
		{
			displayName: 'Poll Interval (Seconds)',
			name: 'pollInterval',
			type: 'number',
			default: 10,
			typeOptions: { minValue: 1 },
			description: 'Time between two looks at the task. The service advises 5 to 15 seconds.',
			// A suspended execution looks at nothing.
			displayOptions: { hide: { '/onCompletion': ['awaitWebhook'] } },
		},
		{
			displayName: 'Put Output File in Field',
			name: 'exportBinaryPropertyName',
			type: 'string',
			default: 'data',
			placeholder: 'e.g. data',
			hint: 'The name of the output binary field to put the exported file in',
		},
		{
			displayName: 'Timeout (Minutes)',
			name: 'timeout',
			type: 'number',
			default: 180,
			typeOptions: { minValue: 1 },
			description:
				'How long to wait before giving up. A task that has not ended by then goes on at the service.',
		},
	],
};

/** 'When Submitted' and what belongs to its values, for the three operations that submit. */
export const completionFields: INodeProperties[] = [
	onCompletionField,
	triggerUrlField,
	webhookUrlField,
	{ ...waitOptionsField, displayOptions: { show: { onCompletion: ['poll', 'awaitWebhook'] } } },
];
