import type { INodeProperties } from 'n8n-workflow';

import { exportFormatOptions } from '../Transcriber/completion/fields';

export const accountTriggerFields: INodeProperties[] = [
	{
		displayName:
			'Starts the workflow for every transcript of the account that is ready after you publish it (n8n 1: activate it), whoever submitted the recording. Your n8n needs no public address.',
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
		options: [
			{
				displayName: 'Export As',
				name: 'exportAs',
				type: 'options',
				default: 'file',
				description: 'Where to put the exported document',
				options: [
					{ name: 'File', value: 'file', description: 'In a binary field' },
					{ name: 'Text', value: 'text', description: "In the output field 'export'" },
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
				displayName: 'Put Output File in Field',
				name: 'exportBinaryPropertyName',
				type: 'string',
				default: 'data',
				placeholder: 'e.g. data',
				hint: 'The name of the output binary field to put the exported file in',
			},
		],
	},
];
