import type { IDataObject } from 'n8n-workflow';

import { isYes, timeOf } from '../jsonValues';

/** A state whose `status`, if it has one, is read as `statusIn` does. */
export function withStatus(state: IDataObject): IDataObject {
	return 'status' in state ? { ...state, status: statusIn(state.status) } : state;
}

/** POST /tasks/{id}/cancel: the status afterwards is any word that starts with "cancel". */
export function isCancelled(status: unknown): boolean {
	return typeof status === 'string' && /^cancel/i.test(status);
}

/** The documented statuses of a task that has not ended. */
const IN_PROGRESS: unknown[] = ['pending', 'processing', 'awaiting_balance'];

/** The documented statuses of a task. */
const DOCUMENTED: unknown[] = ['completed', 'failed', ...IN_PROGRESS];

/**
 * A status as the document writes it, whatever its letters: `COMPLETED` is `completed`. Leaves any
 * other word unchanged.
 */
export function statusIn<T>(status: T): T | string {
	const word = typeof status === 'string' ? status.trim().toLowerCase() : status;
	return DOCUMENTED.includes(word) ? word : status;
}

/** A status as the service has it, for people; undefined if there is none, or it is no word. */
export function statusWord(status: unknown): string | undefined {
	const isWord = typeof status === 'string' || typeof status === 'number';
	return isWord && status !== '' ? String(status) : undefined;
}

/** Whether a task has a status that nobody knows: neither documented nor that of a cancelled task. */
export function isUnknownStatus(status: unknown): boolean {
	return (status ?? '') !== '' && !DOCUMENTED.includes(status) && !isCancelled(status);
}

/** Whether a status is final. Any other status means that the task has not ended yet. */
export function hasEnded(status: unknown): boolean {
	return status === 'completed' || status === 'failed' || isCancelled(status);
}

/**
 * Whether a task has certainly not ended. If a status is neither final nor in progress, only GET
 * /tasks/{id} can tell.
 */
export function isInProgress(status: unknown): boolean {
	return IN_PROGRESS.includes(status);
}

/** The statuses of a bot that the service document shows, or names in words, before its end. */
const RUNS = /^(joining|scheduled|recording)$/i;

/** Whether a task or a bot has certainly not ended. */
export function goesOn(status: unknown): boolean {
	return isInProgress(statusIn(status)) || RUNS.test(String(status));
}

/** GET /meeting/{bot_id}: "completed" is not final for a bot: its task follows soon after. */
export function statusWithoutTask({ status }: IDataObject): IDataObject[string] {
	return status === 'completed' ? 'completed, but without a task yet' : status;
}

/** Insufficient balance shows as a flag, as `queue_state`, or as the status of a submit answer. */
export function awaitsBalance(task: IDataObject): boolean {
	return (
		isYes(task.awaiting_balance) ||
		task.queue_state === 'awaiting_balance' ||
		task.status === 'awaiting_balance'
	);
}

/**
 * POST /meeting and GET /meeting/{bot_id}: when a bot starts, in ms since 1970; empty if unknown. A
 * time without an offset has two readings: in UTC, which comes first, and in the time zone of n8n.
 */
export function startsIn({ scheduled_start_at: given }: IDataObject): number[] {
	const start = typeof given === 'string' ? given.trim() : given;
	const isNaive = typeof start === 'string' && !/(Z|[+-]\d\d(:?\d\d)?)$/i.test(start);
	const readings = isNaive ? [`${start}Z`, start] : [start];
	return readings.map(timeOf).filter((time) => time !== undefined);
}
