import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import {
	addExport,
	EXPORT_FORMATS,
	fetchResult,
	transcript,
	type ExportFormat,
} from '../Transcriber/completion/result';
import { refuse } from '../Transcriber/request/checks';
import { call } from '../Transcriber/request/service';

/** What the user has chosen, checked. */
export interface Wanted {
	completed: boolean;
	failed: boolean;
	includeResult: boolean;
	exportFormat?: ExportFormat;
	exportAs: 'file' | 'text';
	property?: string;
}

/** Reads and checks the parameters. Throws a NodeOperationError that names the wrong one. */
export function wantedOf(context: IPollFunctions): Wanted {
	const events = [context.getNodeParameter('events', [])].flat();
	const options = (context.getNodeParameter('options', {}) ?? {}) as IDataObject;
	const { includeResult, exportFormat, exportAs, exportBinaryPropertyName: property } = options;
	const completed = events.includes('transcriptCompleted');
	const failed = events.includes('transcriptFailed');
	if (!completed && !failed) {
		throw refuse(
			context,
			"'Trigger On' names no event",
			'Choose Transcript Completed, Transcript Failed, or both.',
		);
	}
	const format = choiceOf(context, 'Export Format', exportFormat, ['none', ...EXPORT_FORMATS]);
	const as = choiceOf(context, 'Export As', exportAs, ['file', 'text']);
	return {
		completed,
		failed,
		includeResult: includeResult !== false,
		exportFormat: format === undefined || format === 'none' ? undefined : (format as ExportFormat),
		exportAs: as === 'text' ? 'text' : 'file',
		property: typeof property === 'string' ? property.trim() || undefined : undefined,
	};
}

function choiceOf(
	context: IPollFunctions,
	name: string,
	value: unknown,
	choices: string[],
): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	if (typeof value === 'string' && choices.includes(value)) return value;
	throw refuse(
		context,
		`'${name}' has to be one of ${choices.join(', ')}`,
		'Choose a value from the list, or correct the expression.',
	);
}

/** Whether this task starts the workflow. What is not completed has failed, be it cancelled. */
export function isWanted({ status }: IDataObject, { completed, failed }: Wanted): boolean {
	return status === 'completed' ? completed : failed;
}

/** How many requests {@link outputOf} makes at most. */
export function costOf({ status, error }: IDataObject, wanted: Wanted): number {
	if (status !== 'completed') return error === undefined ? 1 : 0;
	return Number(wanted.includeResult) + Number(wanted.exportFormat !== undefined);
}

/** What the workflow starts with: the task with its result, or with the reason of its failure. */
export async function outputOf(
	context: IPollFunctions,
	task: IDataObject & { task_id: string },
	wanted: Wanted,
	deadline: number,
): Promise<INodeExecutionData> {
	const taskId = task.task_id;
	if (task.status !== 'completed') {
		if (task.error !== undefined) return { json: transcript({}, task) };
		const url = `/tasks/${encodeURIComponent(taskId)}`;
		const whole = await call(context, { method: 'GET', url }, { deadline });
		return { json: transcript({}, { ...task, ...whole, task_id: taskId, status: task.status }) };
	}
	const result = wanted.includeResult ? await fetchResult(context, taskId, deadline) : {};
	const item = { json: transcript(result, task) };
	const { exportFormat: format, exportAs: as, property } = wanted;
	if (!format) return item;
	return await addExport(context, item, { taskId, format, as, property, deadline });
}
