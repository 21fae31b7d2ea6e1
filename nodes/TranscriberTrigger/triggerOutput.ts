import type { IDataObject, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { attachExport, inItem } from '../shared/api/attachExport';
import { documentName } from '../shared/recordingName';
import { fetchResults, NotThereYet, transcript } from '../shared/api/fetchResults';
import { webhookCredential } from '../shared/webhook/webhookCredential';
import { withoutSecrets } from '../shared/api/redact';
import { taskIdOf } from '../shared/api/undocumented/idNames';
import { hasEnded } from '../shared/api/statusMeaning';
import { titleOf } from '../shared/api/undocumented/taskLists';
import { eventNameOf, type DeliveredEvent } from './deliveredEvent';
import type { Settings } from './triggerSettings';
import { look } from '../shared/api/askForState';
import type { Caller } from '../shared/api/types';
import { backgroundCaller } from '../shared/webhook/backgroundCaller';
import { PatienceForData } from './patienceForData';

/** How long the delivery of a failed task waits for the reason of the failure, in ms. */
const REASON_MS = 3_000;

/** What a delivery starts, and what it says. */
interface Output {
	/** One for each result of the task. None if 'Trigger On' does not include the event. */
	items?: INodeExecutionData[];
	/** The final status, also if only the service says it. */
	status?: string;
}

/** The delivery has an unknown status word, and the service says that the task has not ended. */
export const NOT_ENDED = 'not ended';

/**
 * The output of a delivery. If some data cannot be had for minutes, the event goes out without the
 * data, and `error` says why.
 */
export async function outputFor(
	context: IWebhookFunctions,
	event: DeliveredEvent,
	{ selected, includeResult, exportFormat, property }: Settings,
): Promise<Output | typeof NOT_ENDED> {
	// For requests that go on after the sender of the delivery has hung up.
	const caller = backgroundCaller(context, async () => await webhookCredential(context));
	const missing = new PatienceForData(context, event);
	const isResultWanted = includeResult || exportFormat !== undefined;
	const task = await missing.unlessFailingForLong(
		'state',
		stateFor(caller, event, selected, isResultWanted),
		{},
	);
	const status = event.status ?? (hasEnded(task.status) ? String(task.status) : undefined);
	if (status === undefined && event.isUnclear && missing.problem === undefined) return NOT_ENDED;
	const names = (status === undefined ? ['completed', 'failed'] : [status]).map((one) =>
		eventNameOf(event, one),
	);
	if (!selected.some((name) => names.includes(name))) return { status };
	const body = withoutSecrets(event.body, await webhookCredential(context)) as IDataObject;
	const taskId = event.taskId ?? taskIdOf(task);
	const facts: IDataObject = { ...body, ...ifSet({ task_id: taskId, status }) };
	const withProblem = () => ({ ...facts, ...ifSet({ error: task.error ?? missing.problem }) });
	if (status !== 'completed' || !taskId) {
		return { items: [{ json: transcript({}, withProblem()) }], status };
	}
	const results = includeResult
		? await missing.unlessFailingForLong('result', fetchResults(caller, taskId), [{}])
		: [{}];
	let items = results.map((json): INodeExecutionData => ({ json }));
	if (exportFormat) {
		const fileName = documentName(titleOf({ ...task, ...body }) ?? '');
		const wanted = { taskId, format: exportFormat, as: 'file', property, fileName } as const;
		items = await missing.unlessFailingForLong(
			'document',
			attachExport(caller, inItem, items, wanted),
			items,
		);
	}
	const whole = items.map((item) => ({ ...item, json: transcript(item.json, withProblem()) }));
	return { items: whole, status };
}

/**
 * The state of the task, if it is needed: for the result, or if 'Trigger On' has only one of the
 * two endings. The reason of a failure is part of the result, but is waited for only briefly.
 */
async function stateFor(
	caller: Caller,
	event: DeliveredEvent,
	selected: Settings['selected'],
	isResultWanted: boolean,
): Promise<IDataObject> {
	const ids = { task_id: event.taskId, bot_id: event.botId };
	const { status, body, taskId, isUnclear } = event;
	if (status === undefined) {
		const isNeeded = isResultWanted || hasOneEnding(event, selected);
		if (!isNeeded && !isUnclear) return {};
		const task = await look(caller, ids);
		// The delivery says that the task has ended, but the service says that it has not.
		if (!hasEnded(task.status) && !isUnclear) throw notThereYet(caller, 'the end of the task');
		return task;
	}
	if (!isResultWanted) return {};
	if (status === 'completed') {
		if (taskId !== undefined) return {};
		const task = await look(caller, ids);
		// Without a task id, the transcript of a meeting cannot be fetched.
		if (taskIdOf(task) === undefined) throw notThereYet(caller, 'the task of the meeting');
		return task;
	}
	if ((body.error ?? '') !== '') return {};
	const deadline = Date.now() + REASON_MS;
	return await look(caller, ids, { deadline, once: true }).catch(() => ({}));
}

function notThereYet(caller: Caller, what: string): NotThereYet {
	return new NotThereYet(caller.getNode(), `The service does not show ${what} yet`);
}

/** Whether 'Trigger On' has only one of the two endings, so that the status has to be known. */
function hasOneEnding(event: DeliveredEvent, selected: Settings['selected']): boolean {
	const [completed, failed] = ['completed', 'failed'].map((one) =>
		selected.includes(eventNameOf(event, one)),
	);
	return completed !== failed;
}

function ifSet(facts: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => (value ?? '') !== ''));
}
