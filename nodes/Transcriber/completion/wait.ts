import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { refuse } from '../request/checks';
import { call, pause, type CallOptions, type Caller } from '../request/service';
import {
	awaitsBalance,
	hasEnded,
	isCancelled,
	isDocumented,
	statusWithoutTask,
	taskIdOf,
} from '../request/shapes';
import { recordingOf } from '../request/upload';
import { addExport, fetchResult, transcript } from './result';
import { waitOptionsOf } from './waitOptions';

/** When waiting ends, in ms since 1970. For a scheduled bot the time counts from its start. */
export function deadlineFor(context: IExecutePaginationFunctions, answer: IDataObject): number {
	const start = Date.parse(String(answer.scheduled_start_at ?? ''));
	return Math.max(Date.now(), start || 0) + waitOptionsOf(context).timeout * 60_000;
}

/** Throws when a submission waits for balance and 'On Insufficient Balance' says to fail. */
export function checkBalance(context: IExecutePaginationFunctions, task: IDataObject): void {
	if (!awaitsBalance(task) || waitOptionsOf(context).onInsufficientBalance !== 'fail') return;
	throw refuse(
		context,
		`Task ${taskIdOf(task)} waits because the balance is too low`,
		'The recording is stored and needs no second upload: top up the balance, and the service starts on its own within minutes. Fetch the result later with Task: Wait Until Finished.',
	);
}

/**
 * Waits until the submitted or given task has ended and returns its result:
 * the {@link transcript}, with an exported document beside it if one was asked for. A task that
 * fails, is cancelled or outlives the timeout is an error that names it.
 */
export async function finishedTask(
	this: IExecutePaginationFunctions,
	submitted: IDataObject,
): Promise<INodeExecutionData> {
	const { includeResult, exportFormat, exportAs, exportBinaryPropertyName } = waitOptionsOf(this);
	const task = await untilEnded(this, submitted);
	const taskId = taskIdOf(task) ?? '';
	if (task.status !== 'completed') throw endedBadly(this, { ...submitted, ...task });

	const json = includeResult
		? transcript(await fetchResult(this, taskId), {
				task_id: taskId,
				bot_id: submitted.bot_id,
				status: task.status,
			})
		: task;
	if (exportFormat === 'none') return { json };
	return await addExport(
		this,
		{ json },
		{
			taskId,
			format: exportFormat,
			as: exportAs,
			property: exportBinaryPropertyName,
			fileName: nameOfRecording(this),
		},
	);
}

/** Tasks that are polled in this process now; all of them share 60 requests a minute. */
let polled = 0;

/** Polls GET /tasks/{id} (or first GET /meeting/{bot_id}) until the task has ended. */
async function untilEnded(
	context: IExecutePaginationFunctions,
	submitted: IDataObject,
): Promise<IDataObject> {
	const began = Date.now();
	const deadline = deadlineFor(context, submitted);
	const told = new Set<unknown>();
	polled += 1;
	try {
		for (let state = submitted; ;) {
			checkBalance(context, state);
			const left = deadline - Date.now();
			if (left <= 0) throw outlived(context, { ...submitted, ...state });
			// A task whose state is not known yet is asked for at once.
			if (state.status !== undefined) {
				const delay = Math.min(delayBeforeLook(context, Date.now() - began), left);
				await pause(delay, context.getExecutionCancelSignal());
			}
			state = await look(context, { ...submitted, task_id: taskIdOf(state) });
			if (hasEnded(state.status)) return state;
			tellIfUnknown(context, state, told);
		}
	} finally {
		polled -= 1;
	}
}

/**
 * Milliseconds until the next look: 'Poll Interval', but a tenth of the time waited so far, up to a
 * minute, because a task that takes long takes longer still (service document, "Typical processing
 * time"); and with many tasks at once so seldom that there is room left for other requests.
 */
function delayBeforeLook(context: IExecutePaginationFunctions, waited: number): number {
	const { pollInterval } = waitOptionsOf(context);
	return Math.max(pollInterval * 1000, Math.min(waited / 10, 60_000), (polled - 1) * 1500);
}

/**
 * The state of the task now, or of its bot as long as that has no task. `deadline` as in
 * {@link CallOptions}.
 */
export async function look(
	caller: Caller,
	{ task_id: known, bot_id: botId }: IDataObject,
	deadline?: CallOptions['deadline'],
): Promise<IDataObject> {
	let taskId = known;
	if (!taskId) {
		const url = `/meeting/${encodeURIComponent(String(botId))}`;
		const bot = await call(caller, { method: 'GET', url }, { deadline });
		taskId = taskIdOf(bot);
		if (!taskId) return { ...bot, status: statusWithoutTask(bot) };
	}
	const url = `/tasks/${encodeURIComponent(String(taskId))}`;
	return { ...(await call(caller, { method: 'GET', url }, { deadline })), task_id: taskId };
}

function tellIfUnknown(
	context: IExecutePaginationFunctions,
	{ status, task_id: taskId }: IDataObject,
	told: Set<unknown>,
): void {
	if (!taskId || status === undefined || isDocumented(status) || told.has(status)) return;
	told.add(status);
	context.logger.warn(
		`Task ${String(taskId)} has the status '${String(status)}', which the service does not document. It counts as not finished.`,
	);
}

/** The recording's own name, where there is one: `interview.mp3` becomes `interview.srt`. */
function nameOfRecording(context: IExecutePaginationFunctions): string | undefined {
	if (context.getNodeParameter('operation') !== 'transcribeFile') return undefined;
	return recordingOf(context).binary.fileName?.replace(/\.[^.]+$/, '') || undefined;
}

function endedBadly(context: IExecutePaginationFunctions, task: IDataObject): NodeOperationError {
	const reason = task.error ? `: ${String(task.error)}` : '';
	const name = nameOf(task);
	return refuse(
		context,
		isCancelled(task.status) ? `${name} was cancelled` : `${name} failed${reason}`,
		'A failed task is not charged. Correct the recording or the link, then submit it again in a new execution.',
	);
}

function outlived(context: IExecutePaginationFunctions, state: IDataObject): NodeOperationError {
	const balance = awaitsBalance(state) ? ', and waits for a higher balance' : '';
	return refuse(
		context,
		`${nameOf(state)} has not ended within ${waitOptionsOf(context).timeout} minutes (status: ${String(state.status)}${balance})`,
		"It goes on at the service. Fetch the result later with Task: Wait Until Finished, or raise 'Timeout'.",
	);
}

function nameOf(state: IDataObject): string {
	const taskId = taskIdOf(state);
	return taskId ? `Task ${taskId}` : `Meeting bot ${String(state.bot_id)}`;
}
