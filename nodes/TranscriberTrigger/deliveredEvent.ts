import type { IDataObject } from 'n8n-workflow';

import { submissionKey, type SubmissionIds } from '../shared/api/submission';
import { isNoId } from '../shared/api/undocumented/idNames';
import { hasEnded, isCancelled, isInProgress, statusIn } from '../shared/api/statusMeaning';
import { deliveredId } from '../shared/webhook/deliveredId';

export const EVENTS = [
	'transcriptionCompleted',
	'transcriptionFailed',
	'meetingCompleted',
	'meetingFailed',
] as const;

export type EventName = (typeof EVENTS)[number];

/** A verified delivery, or the state of a task as the service reports it when asked. */
export interface DeliveredEvent {
	/** The fields for the output. */
	body: IDataObject;
	taskId?: string;
	botId?: string;
	/** Final status. The service document shows none for transcriptions. */
	status?: string;
	/** The delivery has an unknown status word, so the service has to be asked. */
	isUnclear?: boolean;
}

/** A name under which the trigger's store may keep a task or a bot. */
export interface StoredName extends SubmissionIds {
	name: string;
}

/**
 * The stored names of the task and the bot in a body, verified or not. Each has two: a name that
 * says whether it is a task or a bot, and the bare id, which version 0.1.0 stored.
 */
export function storedNames(body: Record<string, unknown> = {}): StoredName[] {
	const [taskId, botId] = [deliveredId(body.task_id), deliveredId(body.bot_id)];
	const namesOf = (ids: SubmissionIds, id: string) => [
		{ ...ids, name: submissionKey(ids) },
		{ ...(id === botId ? { botId } : ids), name: id },
	];
	return [
		...(taskId === undefined ? [] : namesOf({ taskId }, taskId)),
		...(botId === undefined ? [] : namesOf({ botId }, botId)),
	];
}

/**
 * Reads a body as documented ("Events"): a transcription has a `task_id`, a meeting also `event`,
 * `bot_id`, `status` and `result_url`. Allows further fields, but none of these with another type.
 * Of a transcription only the `task_id` is documented, so a status that is no known word counts as none.
 */
export function eventIn(body: Record<string, unknown> = {}): DeliveredEvent | undefined {
	const { task_id, bot_id, event, result_url: resultUrl } = body;
	const status = statusIn(body.status);
	const [taskId, botId] = [deliveredId(task_id), deliveredId(bot_id)];
	// Of a delivery about a transcription, these fields are not documented.
	const texts = botId === undefined ? [] : [event, status, resultUrl];
	const isText = texts.every((value) => isMissing(value) || isString(value));
	const areIds = [
		[task_id, taskId],
		[bot_id, botId],
	].every(([given, id]) => isNoId(given) || id !== undefined);
	if (!isText || !areIds || (taskId ?? botId) === undefined) return undefined;
	const facts = { body: withoutNoIds(flatEnough(body)), taskId, botId };
	if (hasEnded(status)) return { ...facts, status: String(status) };
	if (botId !== undefined || isInProgress(status)) return undefined;
	if (isMissing(status)) return facts;
	const { status: _, ...others } = facts.body;
	return { ...facts, body: others, isUnclear: true };
}

/** The event's name in 'Trigger On'. Anything but `completed` has failed, cancelled tasks too. */
export function eventNameOf({ botId, body }: DeliveredEvent, status: string): EventName {
	const isMeeting =
		botId !== undefined || (isString(body.event) && body.event.startsWith('meeting'));
	if (isMeeting) return status === 'completed' ? 'meetingCompleted' : 'meetingFailed';
	return status === 'completed' ? 'transcriptionCompleted' : 'transcriptionFailed';
}

/** The letter for a final status in the store; `?` if the delivery had no status. */
export function letterOf(status?: string): string {
	if (status === undefined) return '?';
	if (isCancelled(status)) return 'x';
	return status === 'completed' ? 'c' : 'f';
}

/** Whether the letters of an ending include a final status. A repeat may come without a status. */
export function includesStatus(letters: string, status?: string): boolean {
	return status === undefined || letters === '?' || letters.includes(letterOf(status));
}

/** A placeholder for an id would look like an id in the output. */
function withoutNoIds(body: IDataObject): IDataObject {
	const isPlaceholder = ([name, value]: [string, unknown]) =>
		['task_id', 'bot_id'].includes(name) && isNoId(value);
	return Object.fromEntries(Object.entries(body).filter((field) => !isPlaceholder(field)));
}

/** Levels of nesting: more than any field of a delivery has, fewer than n8n can save. */
const DEEPEST = 100;

/** The body without fields that are nested too deep for n8n to save. */
function flatEnough(body: Record<string, unknown>): IDataObject {
	const kept = Object.entries(body).filter(([, value]) => {
		let level = [value];
		for (let depth = 0; level.length > 0; depth++) {
			if (depth > DEEPEST) return false;
			const objects = level.filter((inner) => typeof inner === 'object' && inner !== null);
			level = objects.flatMap((inner) => Object.values(inner as object) as unknown[]);
		}
		return true;
	});
	return Object.fromEntries(kept) as IDataObject;
}

function isMissing(value: unknown): boolean {
	return value === undefined || value === null;
}

function isString(value: unknown): value is string {
	return typeof value === 'string';
}
