import type { INodeProperties } from 'n8n-workflow';

import { EXPORT_FORMATS } from './result';

export const exportFormatOptions = [...EXPORT_FORMATS].sort().map((value) => ({
	name: value.toUpperCase(),
	value,
}));

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
			name: 'Return the Task ID at Once',
			value: 'returnTask',
			description: "Don't wait; get the result later with the ID of the task or bot",
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
				{ name: 'Text in a Field', value: 'text', description: 'The output field export' },
			],
		},
		{
			displayName: 'Export Format',
			name: 'exportFormat',
			type: 'options',
			default: 'none',
			description:
				'Also output the transcript as subtitles (SRT, VTT), as text with speakers (TXT) or as JSON',
			options: [{ name: 'None', value: 'none' }, ...exportFormatOptions],
		},
		{
			displayName: 'Include Result',
			name: 'includeResult',
			type: 'boolean',
			default: true,
			description:
				'Whether to output text, summary, speakers and segments, not just the status of the task',
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
					description: 'The service continues within minutes after a top-up',
				},
			],
		},
		{
			displayName: 'Poll Interval',
			name: 'pollInterval',
			type: 'number',
			default: 10,
			typeOptions: { minValue: 1, maxValue: 86400 },
			description: 'Seconds between two status requests. The service advises 5 to 15.',
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
			description: 'Minutes to wait before giving up. The task continues at the service.',
			hint: 'In minutes',
		},
	],
};

/** 'Get the Transcript' and what belongs to its values, for the three operations that submit. */
export function completionFields(byDefault: 'poll' | 'returnTask'): INodeProperties[] {
	return [
		{ ...onCompletionField, default: byDefault },
		triggerUrlField,
		webhookUrlField,
		{ ...waitOptionsField, displayOptions: { show: { onCompletion: ['poll', 'awaitWebhook'] } } },
	];
}
