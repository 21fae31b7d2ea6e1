import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import { EXPORT_FORMATS, type ExportFormat } from '../../../shared/exportFormats';
import { isTool } from '../../../shared/n8nInternals/runIdentity';
import { exportedFile, exportedText, storedBy } from '../../../shared/api/attachExport';
import { documentName } from '../../../shared/recordingName';
import { idFrom } from '../../item/idParameters';
import { choiceIn, collectionIn, required, textIn } from '../../../shared/parameters/checkedValues';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { outputFileField, shownFor } from '../commonFields';
import { answerOfFinished, emptyTranscript } from './requestFromFinishedTask';
import { documentIn } from '../../../shared/api/undocumented/results';
import { exportFormatOptions } from '../../../shared/sharedFields';
import type { Policy, RoutingRequest } from '../../../shared/api/types';

export const exportTask: INodePropertyOptions = {
	name: 'Export',
	value: 'export',
	action: 'Export transcript or subtitles',
	description: 'Get the transcript of a finished task as subtitles, text or JSON',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}/export' },
		operations: { pagination: performOperation({ prepare: [addFormat], carryOut: toFile }) },
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
			description: 'SRT and VTT are subtitles; TXT is the text with speakers',
			options: exportFormatOptions,
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
					name: 'Text in a Field',
					value: 'json',
					description: 'Field content of the output item',
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
						'Name of the file. By default it is the name that the task has in the list, else the task ID, with the extension of the format.',
				},
			],
		},
	],
);

interface Choices {
	format: ExportFormat;
	/** Undefined if the document is output as JSON. */
	file?: { property: string; name: string };
}

function exportChoices(context: IExecuteSingleFunctions): Choices {
	const format =
		choiceIn(context, context.getNodeParameter('format', ''), 'Format', EXPORT_FORMATS) ?? 'srt';
	const output = choiceIn(context, context.getNodeParameter('output', ''), 'Output', [
		'file',
		'json',
	]);
	if (output === 'json') return { format };
	const displayName = 'Put Output File in Field';
	const field = textIn(context, context.getNodeParameter('binaryPropertyName', ''), displayName);
	const property = required(context, field, displayName);
	const options = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	const name = textIn(context, options.fileName, 'File Name') ?? fileNameOf(context);
	return { format, file: { property, name } };
}

/**
 * The label that the editor's list showed for the task, without status and file extension:
 * `talk.mp3 (completed)` becomes `talk`. Otherwise the task id.
 */
function fileNameOf(context: IExecuteSingleFunctions): string {
	const taskId = idFrom(context, 'taskId');
	const chosen = Object(context.getNode().parameters.taskId) as Record<string, unknown>;
	if (chosen.value !== taskId || typeof chosen.cachedResultName !== 'string') return taskId;
	const title = documentName(chosen.cachedResultName.replace(/ \([^()]*\)$/, ''));
	return title.trim() || taskId;
}

function addFormat(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	request.options.qs = { format: exportChoices(context).format };
}

async function toFile(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const { format, file } = exportChoices(context);
	const taskId = idFrom(context, 'taskId');
	const isWhole = (json: IDataObject) => Boolean(documentIn(json, format));
	const { items, isCompleted } = await answerOfFinished(context, request, policy, run, { isWhole });
	const texts = items.map(({ json }) => exportedText(context, json, { taskId, format }));
	if (texts.includes('') && !isCompleted) throw emptyTranscript(context);
	// An agent gets text only: n8n leaves a file out.
	if (!file || isTool(context)) {
		return items.map((item) => ({ ...item, json: { task_id: taskId, ...item.json } }));
	}
	return await Promise.all(
		texts.map(async (text) => ({
			json: { task_id: taskId, format },
			binary: { [file.property]: await exportedFile(storedBy(context), text, format, file.name) },
		})),
	);
}
