import type {
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { exportFormatOptions } from '../../completion/fields';
import { exportedFile, exportedText, type ExportFormat } from '../../completion/result';
import { idFrom } from '../../request/checks';
import { perform } from '../../request/perform';
import { outputFileField, shownFor } from '../fields';

export const exportTask: INodePropertyOptions = {
	name: 'Export',
	value: 'export',
	action: 'Export transcript',
	description: 'Get the transcript of a finished task as subtitles, text or JSON',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}/export' },
		operations: { pagination: perform() },
		output: { postReceive: [toFile] },
	},
};

export const exportTaskFields: INodeProperties[] = shownFor(
	'task',
	['export'],
	[
		{
			displayName: 'Format',
			name: 'format',
			type: 'options',
			default: 'srt',
			description: 'SRT and VTT are subtitles; TXT is plain text',
			options: exportFormatOptions,
			routing: { send: { type: 'query', property: 'format' } },
		},
		{
			displayName: 'Output',
			name: 'output',
			type: 'options',
			default: 'file',
			description: 'Where to put the exported document',
			options: [
				{
					name: 'File',
					value: 'file',
					description: 'A binary file that other nodes can save or send',
				},
				{
					name: 'JSON',
					value: 'json',
					description: 'Fields content and format of the output item',
				},
			],
		},
		{ ...outputFileField, displayOptions: { show: { output: ['file'] } } },
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add option',
			default: {},
			displayOptions: { show: { output: ['file'] } },
			options: [
				{
					displayName: 'File Name',
					name: 'fileName',
					type: 'string',
					default: '',
					placeholder: 'e.g. interview.srt',
					description:
						'Name of the file. By default it is the task ID, with the extension of the format.',
				},
			],
		},
	],
);

async function toFile(
	this: IExecuteSingleFunctions,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const format = this.getNodeParameter('format') as ExportFormat;
	const taskId = idFrom(this, 'taskId');
	const texts = items.map(({ json }) => exportedText(this, json, { taskId, format }));
	if (this.getNodeParameter('output') !== 'file') return items;
	const property = this.getNodeParameter('binaryPropertyName') as string;
	const { fileName } = this.getNodeParameter('options', {}) as { fileName?: string };
	const name = fileName?.trim() || taskId;
	return await Promise.all(
		texts.map(async (text) => ({
			json: { task_id: taskId, format },
			binary: { [property]: await exportedFile(this, text, format, name) },
		})),
	);
}
