import type { INodeProperties } from 'n8n-workflow';

import { outputOptions } from '../../shared/sharedFields';

const ownOptions: INodeProperties[] = [
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
		description:
			'The shortest pause between two status requests, in seconds. Pauses grow for long recordings and with many items. The service advises 5 to 15.',
		hint: 'In seconds',
		// Not for waiting by webhook: a suspended execution does not poll.
		displayOptions: { hide: { '/onCompletion': ['awaitWebhook'] } },
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
];

/** 'Transcript Options' for all operations that wait for a transcript. */
export const waitOptionsField: INodeProperties = {
	displayName: 'Transcript Options',
	name: 'waitOptions',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [...outputOptions, ...ownOptions].sort((a, b) =>
		a.displayName < b.displayName ? -1 : 1,
	),
};
