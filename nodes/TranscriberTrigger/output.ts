import type { IDataObject, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';

import { addExport, fetchResult, transcript } from '../Transcriber/completion/result';
import { look } from '../Transcriber/completion/poll';
import { webhookCredential } from '../Transcriber/completion/webhookCredential';
import { withoutSecrets } from '../Transcriber/request/secrets';
import { hasEnded, taskIdOf, titleOf } from '../Transcriber/request/shapes';
import { nameOf, type DeliveredEvent, type EventName } from './event';
import type { Settings } from './settings';
import { NotNow } from './word';

/** What an execution starts with, and the final status; undefined where 'Trigger On' does not name it. */
export async function outputFor(
	context: IWebhookFunctions,
	event: DeliveredEvent,
	settings: Settings,
): Promise<{ item: INodeExecutionData; status?: string } | undefined> {
	const { selected, includeResult, exportFormat, property } = settings;
	const isResultWanted = includeResult || exportFormat !== undefined;
	let task: IDataObject = {};
	if (needsState(event, selected, isResultWanted)) {
		task = await look(context, { task_id: event.taskId, bot_id: event.botId });
	}
	const status = event.status ?? (hasEnded(task.status) ? String(task.status) : undefined);
	if (status !== undefined && !selected.includes(nameOf(event, status))) return undefined;
	if (!selected.some((name) => name.startsWith(event.botId ? 'meeting' : 'transcription'))) {
		return undefined;
	}
	// The delivery says that the task has ended, and the service that it has not.
	if (status === undefined && isResultWanted) throw new NotNow();
	const { apiKey } = await webhookCredential(context);
	const body = withoutSecrets(event.body, apiKey) as IDataObject;
	const taskId = event.taskId ?? taskIdOf(task);
	const facts: IDataObject = { ...body, ...ifSet({ task_id: taskId, status }) };
	if (status !== 'completed') {
		return {
			item: { json: transcript({}, { ...facts, ...ifSet({ error: task.error }) }) },
			status,
		};
	}
	// A meeting's transcript without its task cannot be had; its delivery comes again.
	if (!taskId && isResultWanted) throw new NotNow();
	if (!taskId) return { item: { json: transcript({}, facts) }, status };
	const result = includeResult ? await fetchResult(context, taskId) : {};
	const item = { json: transcript(result, facts) };
	if (!exportFormat) return { item, status };
	const fileName = titleOf({ ...task, ...body })?.replace(/\.[^.]+$/, '');
	const wanted = { taskId, format: exportFormat, as: 'file', property, fileName } as const;
	return { item: await addExport(context, item, wanted), status };
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
	if (event.status !== undefined) {
		const isReasonMissing = event.status !== 'completed' && event.body.error === undefined;
		const isTaskMissing = event.status === 'completed' && event.taskId === undefined;
		return isResultWanted && (isReasonMissing || isTaskMissing);
	}
	return (
		isResultWanted ||
		selected.includes(nameOf(event, 'completed')) !== selected.includes(nameOf(event, 'failed'))
	);
}

function ifSet(facts: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => (value ?? '') !== ''));
}
