import type { INodeProperties } from 'n8n-workflow';
import { outputOptions } from '../shared/sharedFields';

export const accountTriggerFields: INodeProperties[] = [
	{
		displayName:
			'Starts the workflow for every transcript of the account that is ready after you publish it (n8n 1: activate it), whoever submitted the recording. Your n8n needs no public address. Use no other trigger in this workflow.',
		name: 'accountNotice',
		type: 'notice',
		default: '',
	},
	{
		displayName: 'Trigger On',
		name: 'events',
		type: 'multiOptions',
		required: true,
		default: ['transcriptCompleted'],
		description: 'The events that start the workflow',
		options: [
			{
				name: 'Transcript Completed',
				value: 'transcriptCompleted',
				description: 'A recording or a meeting has been transcribed',
			},
			{
				name: 'Transcript Failed',
				value: 'transcriptFailed',
				description: 'A recording or a meeting could not be transcribed, or was cancelled',
			},
		],
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: outputOptions,
	},
];
