import type { IDataObject, INodeExecutionData, IWebhookFunctions } from 'n8n-workflow';
import { attachExport, withoutExtension, type FileMaker } from '../shared/api/attachExport';
import { fetchResults, NotThereYet, transcript } from '../shared/api/result';
import { webhookCredential } from '../shared/webhook/webhookCredential';
import { isWithoutAnswer } from '../shared/api/problem';
import { ServiceError } from '../shared/api/serviceError';
import { withoutSecrets } from '../shared/api/redact';
import { taskIdOf } from '../shared/api/undocumented/idNames';
import { hasEnded } from '../shared/api/statusMeaning';
import { titleOf } from '../shared/api/undocumented/taskLists';
import { eventNameOf, type DeliveredEvent } from './deliveredEvent';
import type { Settings } from './triggerSettings';
import { look } from '../shared/api/askForState';
import type { Caller } from '../shared/api/types';
import { remembered } from '../shared/processMemory';
import { messageOf } from '../shared/asError';

export const PATIENCE = {
	/** How long the delivery of a failed task waits for the reason of the failure, in ms. */
	reasonMs: 3_000,
	/**
	 * How long the service may refuse some data, or answer without the data, until the event goes out
	 * without it, in ms from the first such failure.
	 */
	refusedMs: 120_000,
	/** The same for any other failure. */
	failedMs: 10 * 60_000,
	/** The same for a failure that a new API key or less load ends. */
	passingMs: 60 * 60_000,
};

/** The items that start an execution, one for each result of the task, and the final status. */
export interface Output {
	items: INodeExecutionData[];
	status?: string;
}

/** The delivery has an unknown status word, and the service says that the task has not ended. */
export const NOT_ENDED = 'not ended';

/** Since when requests for the same data of a delivery have failed in one way, in ms since 1970. */
const refusedDeliveries = remembered<number>('refusedDeliveries');

/**
 * The output of a delivery; undefined if 'Trigger On' does not include its event. If some data cannot
 * be had for minutes, the event goes out without the data, and `error` says why.
 */
export async function outputFor(
	context: IWebhookFunctions,
	event: DeliveredEvent,
	{ selected, includeResult, exportFormat, property }: Settings,
): Promise<Output | typeof NOT_ENDED | undefined> {
	const caller = patient(context);
	const owner = [context.getWorkflow().id, context.getNode().id];
	let problem: string | undefined;
	let outlasted = 0;
	const unlessFailingForLong = async <T>(
		data: 'state' | 'result' | 'document',
		work: Promise<T>,
		otherwise: T,
	): Promise<T> => {
		const keyOf = (kind: FailureKind) =>
			JSON.stringify([...owner, event.taskId, event.botId, data, kind]);
		const failed = (error: unknown) => {
			const kind = kindOf(error);
			const since = refusedDeliveries.get(keyOf(kind)) ?? Date.now();
			refusedDeliveries.set(keyOf(kind), since);
			// What goes out without some data does not wait as long again for other data: the service may
			// give up its deliveries.
			const isIncomplete = problem !== undefined && PATIENCE[kind] <= outlasted;
			if (!isIncomplete && Date.now() - since < PATIENCE[kind]) throw error;
			outlasted = Math.max(outlasted, PATIENCE[kind]);
			problem = messageOf(error);
			return otherwise;
		};
		const had = await work.catch(failed);
		if (had !== otherwise) for (const kind of KINDS) refusedDeliveries.delete(keyOf(kind));
		return had;
	};
	const isResultWanted = includeResult || exportFormat !== undefined;
	const task = await unlessFailingForLong(
		'state',
		stateFor(caller, event, selected, isResultWanted),
		{},
	);
	const status = event.status ?? (hasEnded(task.status) ? String(task.status) : undefined);
	if (status === undefined && event.isUnclear && problem === undefined) return NOT_ENDED;
	const names = (status === undefined ? ['completed', 'failed'] : [status]).map((one) =>
		eventNameOf(event, one),
	);
	if (!selected.some((name) => names.includes(name))) return undefined;
	const { apiKey } = await webhookCredential(context);
	const body = withoutSecrets(event.body, apiKey) as IDataObject;
	const taskId = event.taskId ?? taskIdOf(task);
	const facts: IDataObject = { ...body, ...ifSet({ task_id: taskId, status }) };
	const withProblem = () => ({ ...facts, ...ifSet({ error: task.error ?? problem }) });
	if (status !== 'completed' || !taskId) {
		return { items: [{ json: transcript({}, withProblem()) }], status };
	}
	const results = includeResult
		? await unlessFailingForLong('result', fetchResults(caller, taskId), [{}])
		: [{}];
	let items = results.map((json): INodeExecutionData => ({ json }));
	if (exportFormat) {
		const fileName = withoutExtension(titleOf({ ...task, ...body }) ?? '');
		const wanted = { taskId, format: exportFormat, as: 'file', property, fileName } as const;
		items = await unlessFailingForLong('document', attachExport(caller, items, wanted), items);
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
	const deadline = Date.now() + PATIENCE.reasonMs;
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

/** How a request for data has failed: the name of its patience in {@link PATIENCE}. */
const KINDS = ['refusedMs', 'failedMs', 'passingMs'] as const;

type FailureKind = (typeof KINDS)[number];

/**
 * `refusedMs`: a 4xx of the service other than those below, or a success that does not hold the data. The
 * data may follow a moment later, but if it does not, no repeat brings it. `passingMs`: 401, which a
 * new key ends; 429 and the rate limit of this package; and the documented 503.
 */
function kindOf(error: unknown): FailureKind {
	if (error instanceof NotThereYet) return 'refusedMs';
	if (!(error instanceof ServiceError)) return 'failedMs';
	const { status = 0, transport, errorCode } = error.problem;
	if (transport === 'noTurn' || status === 401 || status === 429) return 'passingMs';
	if (status === 503 && errorCode === 'service_unavailable') return 'passingMs';
	if (transport === 'notJson') return 'refusedMs';
	const isRefused = status >= 400 && status < 500 && !isWithoutAnswer(error.problem);
	return isRefused ? 'refusedMs' : 'failedMs';
}

/** A caller for requests that go on after the sender of the delivery has hung up. */
function patient(context: IWebhookFunctions): Caller & FileMaker {
	const { helpers } = context;
	return {
		getNode: () => context.getNode(),
		getCredentials: async <T extends object>(type: string) => await context.getCredentials<T>(type),
		helpers: {
			httpRequestWithAuthentication: async (type, options) =>
				await helpers.httpRequestWithAuthentication.call(context, type, options),
			prepareBinaryData: async (...file) => await helpers.prepareBinaryData(...file),
		},
	};
}

function ifSet(facts: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => (value ?? '') !== ''));
}
