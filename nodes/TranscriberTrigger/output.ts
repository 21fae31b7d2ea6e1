import type { IDataObject, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';

import {
	exportedFile,
	fetchExport,
	fetchResult,
	type ExportFormat,
} from '../Transcriber/completion/result';
import { webhookCredential } from '../Transcriber/completion/webhookCredential';
import { withoutSecrets } from '../Transcriber/request/secrets';
import { call } from '../Transcriber/request/service';
import { hasEnded, taskIdOf } from '../Transcriber/request/shapes';
import { nameOf, type DeliveredEvent, type EventName } from './event';

export interface Options {
	includeResult?: boolean;
	exportFormat?: ExportFormat | 'none';
	exportBinaryPropertyName?: string;
	emitDuplicates?: boolean;
}

/** What an execution starts with; undefined for an event that 'Trigger On' does not name. */
export async function outputFor(
	context: IWebhookFunctions,
	event: DeliveredEvent,
): Promise<INodeExecutionData | undefined> {
	const selected = context.getNodeParameter('events', []) as EventName[];
	const { includeResult, exportFormat = 'none' } = optionsOf(context);
	const isResultWanted = includeResult === true || exportFormat !== 'none';
	let task: IDataObject = {};
	if (needsState(event, selected, isResultWanted)) task = await taskAtService(context, event);
	const status = event.status ?? task.status;
	if (typeof status === 'string' && !selected.includes(nameOf(event, status))) return undefined;
	if (!selected.some((name) => name.startsWith(event.botId ? 'meeting' : 'transcription'))) {
		return undefined;
	}
	const { apiKey } = await webhookCredential(context);
	const body = withoutSecrets(event.body, apiKey) as IDataObject;
	const output: INodeExecutionData = { json: { ...body, ...task } };
	if (status !== undefined) output.json.status = status;
	const taskId = event.taskId ?? taskIdOf(task);
	if (status !== 'completed' || !taskId) return output;
	if (includeResult) Object.assign(output.json, await fetchResult(context, taskId));
	if (exportFormat !== 'none') {
		const { exportBinaryPropertyName } = optionsOf(context);
		const { content } = await fetchExport(context, taskId, exportFormat);
		const file = await exportedFile(context, content, exportFormat, taskId);
		output.binary = { [exportBinaryPropertyName || 'data']: file };
	}
	return output;
}

export function optionsOf(context: IWebhookFunctions): Options {
	return context.getNodeParameter('options', {}) as Options;
}

/**
 * A delivery that does not tell how the task has ended is asked about where that matters: for
 * the result, and where 'Trigger On' wants the one ending and not the other. The reason of a
 * failure is part of the result.
 */
function needsState(
	event: DeliveredEvent,
	selected: EventName[],
	isResultWanted: boolean,
): boolean {
	if (event.status !== undefined) return isResultWanted && event.status !== 'completed';
	return (
		isResultWanted ||
		selected.includes(nameOf(event, 'completed')) !== selected.includes(nameOf(event, 'failed'))
	);
}

/** The task of a delivery as the service itself knows it. */
export async function taskAtService(
	context: IWebhookFunctions,
	{ taskId, botId }: DeliveredEvent,
): Promise<IDataObject> {
	let id = taskId;
	if (!id) {
		const url = `/meeting/${encodeURIComponent(botId ?? '')}`;
		const bot = await call(context, { method: 'GET', url });
		id = taskIdOf(bot);
		if (!id) return bot;
	}
	return await call(context, { method: 'GET', url: `/tasks/${encodeURIComponent(id)}` });
}

/** The final status of a delivery's task, if the service itself says that it has ended. */
export async function statusAtService(
	context: IWebhookFunctions,
	event: DeliveredEvent,
): Promise<string | undefined> {
	const { status } = await taskAtService(context, event);
	return hasEnded(status) ? String(status) : undefined;
}
