import type { INodeProperties } from 'n8n-workflow';

import { EXPORT_FORMATS } from './result';

export const exportFormatOptions = [...EXPORT_FORMATS].sort().map((value) => ({
	name: value.toUpperCase(),
	value,
}));

const onCompletionField: INodeProperties = {
	displayName: 'When Submitted',
	name: 'onCompletion',
	type: 'options',
	noDataExpression: true,
	default: 'poll',
	description: 'What the node does once the service has accepted the recording or sent the bot',
	hint: 'A transcript takes minutes. Wait by Polling and Wait for Webhook output it in this step; Wait for Webhook needs a public https address of your n8n.',
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

export const waitOptionsField: INodeProperties = {
	displayName: 'Wait Options',
	name: 'waitOptions',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Export As',
			name: 'exportAs',
			type: 'options',
			default: 'file',
			description: 'Where to put the document that Export Format asks for',
			options: [
				{
					name: 'File',
					value: 'file',
					description: 'A binary file that other nodes can save or send',
				},
				{ name: 'Text', value: 'text', description: 'The output field export' },
			],
		},
		{
			displayName: 'Export Format',
			name: 'exportFormat',
			type: 'options',
			default: 'none',
			description: 'A document to output beside the result, for example subtitles',
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
			displayName: 'Poll Interval',
			name: 'pollInterval',
			type: 'number',
			default: 10,
			typeOptions: { minValue: 1, maxValue: 86400 },
			description: 'Seconds between two looks at the task. The service advises 5 to 15.',
			hint: 'In seconds',
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
			displayName: 'Timeout',
			name: 'timeout',
			type: 'number',
			default: 180,
			typeOptions: { minValue: 1, maxValue: 86400 },
			description:
				'Minutes to wait before giving up. A task that has not ended by then goes on at the service.',
			hint: 'In minutes',
		},
	],
};

/** 'When Submitted' and what belongs to its values, for the three operations that submit. */
export function completionFields(byDefault: 'poll' | 'returnTask'): INodeProperties[] {
	return [
		{ ...onCompletionField, default: byDefault },
		triggerUrlField,
		webhookUrlField,
		{ ...waitOptionsField, displayOptions: { show: { onCompletion: ['poll', 'awaitWebhook'] } } },
	];
}
