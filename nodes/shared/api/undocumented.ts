import type { IDataObject } from 'n8n-workflow';

import { jsonOf } from './redact';

/**
 * Everything this package assumes where the service document says "not shown". Each assumption
 * is listed in docs/undocumented.md with how to override it; a test compares the two.
 */

/**
 * An answer as objects. Where a list comes and an object is documented, each element is one; a text
 * or a number becomes `{ value }`. An answer without anything is `{}`.
 */
export function objectsIn(answer: unknown): IDataObject[] {
	const elements: unknown[] = Array.isArray(answer) && answer.length > 0 ? answer : [answer];
	return elements.map((element) => {
		if (isObject(element)) return element;
		return isBlank(element) ? {} : { value: element as IDataObject[string] };
	});
}

function isBlank(value: unknown): boolean {
	return (value ?? '') === '' || (Array.isArray(value) && value.length === 0);
}

/** GET /tasks: the list may be the answer itself or stand under one of these names. */
export const LIST_NAMES = [
	'tasks',
	'items',
	'data',
	'results',
	'content',
	'value',
	'records',
	'_embedded',
] as const;

/** The tasks in an answer of GET /tasks; undefined where it holds no list, not even an empty one. */
export function tasksIn(answer: unknown): IDataObject[] | undefined {
	const list = listIn(answer);
	return list && (list.length > 0 ? objectsIn(list) : []);
}

function listIn(answer: unknown, depth = 2): unknown[] | undefined {
	if (Array.isArray(answer)) return answer;
	if (!isObject(answer) || depth === 0) return undefined;
	const list = LIST_NAMES.map((name) => listIn(answer[name], depth - 1)).find(Array.isArray);
	// Some languages write a list without elements as null.
	return list ?? (LIST_NAMES.some((name) => answer[name] === null) ? [] : undefined);
}

/** The answer to a submit: the task or bot may be the answer itself or stand under one of these names. */
export const SUBMISSION_NAMES = ['data', 'task', 'result', 'bot', 'meeting'] as const;

/** The answer to a submit that makes several tasks: a list of them may stand under one of these names. */
export const SUBMISSION_LIST_NAMES = [...LIST_NAMES, 'bots', 'meetings', 'task_ids', 'bot_ids'];

/**
 * The tasks or bots in the answer to a submit, each with its id where the service document has it. A
 * list of them may be the answer itself or stand under one of {@link SUBMISSION_LIST_NAMES}; what
 * stands beside it belongs to each.
 */
export function submissionsIn(answer: unknown, isBot: boolean): IDataObject[] {
	const [only, ...others] = objectsIn(answer);
	if (!only || others.length > 0) {
		return objectsIn(answer).map((element) => submissionIn(element, isBot));
	}
	const name = only.task_id === undefined && only.bot_id === undefined && listNameIn(only);
	if (!name) return [submissionIn(only, isBot)];
	const { [name]: list, ...rest } = only;
	return objectsIn(list).map((element) => ({ ...rest, ...submissionIn(element, isBot) }));
}

function listNameIn(answer: IDataObject): string | undefined {
	return SUBMISSION_LIST_NAMES.find((name) => {
		const list: unknown = answer[name];
		return Array.isArray(list) && list.some((one) => hasId(one) || isBareId(one));
	});
}

/**
 * The answer to a submit with the id where the service document has it: an id may also come bare, or
 * one level down. Anything else is left as it is.
 */
function submissionIn(answer: IDataObject, isBot: boolean): IDataObject {
	const ofId = (id: IDataObject[string]) => (isBot ? { bot_id: id } : { task_id: id });
	const { value } = answer;
	if (Object.keys(answer).length === 1 && isBareId(value)) return ofId(value);
	if (hasDocumentedId(answer)) return answer;
	// An `id` beside it may be that of the request.
	const name =
		SUBMISSION_NAMES.find((one) => hasDocumentedId(answer[one])) ??
		SUBMISSION_NAMES.find((one) => !hasId(answer) && (hasId(answer[one]) || isBareId(answer[one])));
	if (name === undefined) return answer;
	const { [name]: found, ...rest } = answer;
	return { ...rest, ...(isObject(found) ? found : ofId(found)) };
}

function hasDocumentedId(value: unknown): boolean {
	return isObject(value) && [value.task_id, value.bot_id].some(idIn);
}

function hasId(value: unknown): boolean {
	return hasDocumentedId(value) || (isObject(value) && ID_NAMES.some((name) => idIn(value[name])));
}

/** A word such as "accepted" is no id, and ids without a digit are not to be expected. */
function isBareId(value: unknown): boolean {
	return (
		(typeof value === 'number' && idIn(value) !== undefined) ||
		(typeof value === 'string' && /^(?=.*\d)[\w.:-]{1,128}$/.test(value))
	);
}

/** GET /tasks: whether a success without a list says that there is nothing more to list. */
export function holdsNothing(answer: IDataObject): boolean {
	return Object.keys(answer).length === 0 || LIST_NAMES.some((name) => answer[name] === null);
}

/** POST /transcribe-url and GET /tasks: the id of a task, should it not be called `task_id`. */
export const ID_NAMES = ['task_id', 'id', 'taskId', 'uuid'] as const;

export function taskIdOf(answer: IDataObject): string | undefined {
	// The `id` of a bot would be the bot's.
	const names = answer.bot_id === undefined ? ID_NAMES : (['task_id'] as const);
	return names.map((name) => idIn(answer[name])).find((id) => id !== undefined);
}

/**
 * An id, which may come as a number. A number that JavaScript has rounded names another task or
 * none, and 0 stands for "none" in some databases.
 */
export function idIn(value: unknown): string | undefined {
	if (typeof value === 'string') return value || undefined;
	return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
}

/** GET /tasks: when a task was submitted, should it say so under one of these names. */
export const DATE_NAMES = [
	'created_at',
	'createdAt',
	'created',
	'submitted_at',
	'date',
	'started_at',
];

/** In ms since 1970, from ISO 8601 or a number of seconds or milliseconds. */
export function dateOf(task: IDataObject, names = DATE_NAMES): number | undefined {
	return names.map((name) => timeOf(task[name])).find((time) => time !== undefined);
}

/** Those of them that cannot be the date of the recording itself. */
export const CREATED_NAMES = ['created_at', 'createdAt', 'created', 'submitted_at'];

/** GET /tasks: the name of the recording, should a task carry it under one of these names. */
export const TITLE_NAMES = ['file_name', 'filename', 'original_filename', 'title', 'name'];

export function titleOf(task: IDataObject): string | undefined {
	return TITLE_NAMES.map((name) => task[name]).find(
		(value): value is string => typeof value === 'string' && value.trim() !== '',
	);
}

/** POST /transcribe-url: the request field for the link; the other fields as in POST /transcribe. */
export const LINK_FIELD = 'url';

/** GET /tasks/{id}/result: the documented parts. */
export const RESULT_PARTS = ['segments', 'speakers', 'summary', 'text'] as const;

/** GET /tasks/{id}/result: the result may be the answer itself or stand under one of these names. */
export const RESULT_NAMES = ['result', 'data', 'transcript'] as const;

/** GET /tasks/{id}/result: an answer that has only these says how the task is, and holds no result. */
export const STATE_NAMES = [
	'task_id',
	'id',
	'status',
	'progress',
	'stage',
	'queue_position',
	'queue_total',
	'queue_state',
	'awaiting_balance',
	'error',
	'detail',
	'message',
	'code',
	'success',
	'ok',
];

/**
 * The result in an answer: the object that has a documented part, or else the answer itself, so that
 * a transcript under a name nobody knows is not lost. Undefined where the answer holds no result.
 */
export function resultIn(answer: unknown): IDataObject | undefined {
	const given = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
	if (!isObject(given)) return undefined;
	const objects = [given, ...RESULT_NAMES.map((name) => given[name])].filter(isObject);
	return (
		objects.find((object) =>
			RESULT_PARTS.some((part) => (object[part] ?? undefined) !== undefined),
		) ?? (holdsContent(given) ? given : undefined)
	);
}

/** Whether an answer says more than how a task is. */
export function holdsContent(answer: IDataObject): boolean {
	const names = Object.keys(answer).filter((name) => (answer[name] ?? undefined) !== undefined);
	return names.some((name) => !STATE_NAMES.includes(name));
}

/**
 * GET /tasks/{id}/export: the document. For JSON it may come as text or already parsed. An empty
 * text is an empty document; undefined where there is none.
 */
export function documentIn(answer: unknown, format: string): string | undefined {
	const content = isObject(answer) ? answer.content : undefined;
	if (typeof content === 'string') return content;
	const isParsed = typeof content === 'object' && content !== null && format === 'json';
	if (!isParsed || Object.keys(content).length === 0) return undefined;
	return jsonOf(content, '\t') || undefined;
}

/** POST /tasks/{id}/cancel: the status value afterwards is any word that begins with "cancel". */
export function isCancelled(status: unknown): boolean {
	return typeof status === 'string' && /^cancel/i.test(status);
}

/** The ways a task can end. Any other status means: not yet. */
export function hasEnded(status: unknown): boolean {
	return status === 'completed' || status === 'failed' || isCancelled(status);
}

/** The documented ways not to have ended. */
const IN_PROGRESS: unknown[] = ['pending', 'processing', 'awaiting_balance'];

/**
 * Whether a task has certainly not ended. Where a list says neither this nor that it has, only
 * GET /tasks/{id} can tell.
 */
export function isInProgress(status: unknown): boolean {
	return IN_PROGRESS.includes(status);
}

/** GET /meeting/{bot_id}: "completed" of a bot is not the end, its task comes a moment later. */
export function statusWithoutTask({ status }: IDataObject): IDataObject[string] {
	return status === 'completed' ? 'completed, but without a task yet' : status;
}

/** Insufficient balance shows as a flag, as `queue_state`, or as the status of a submit answer. */
export function awaitsBalance(task: IDataObject): boolean {
	return (
		task.awaiting_balance === true ||
		task.queue_state === 'awaiting_balance' ||
		task.status === 'awaiting_balance'
	);
}

/**
 * GET /tasks: the sizes of page to ask for. The next one is asked for where the service refuses the
 * one before. An answer with fewer tasks is no sign of the end.
 */
export const PAGE_SIZES = [100, 50, 20, 10];

/** Dictionary size: the characters of all terms, without separators, each sign counted once. */
export function dictionaryChars(terms: string[]): number {
	return terms.reduce((sum, term) => sum + [...term].length, 0);
}

export const DICTIONARY_LIMIT_CHARS = 20_000;

/** "8 GB" is read in binary, the larger of the two readings, so that nothing is refused wrongly. */
export const MAX_FILE_BYTES = 8 * 1024 ** 3;

function timeOf(value: unknown): number | undefined {
	// So many seconds are the year 5138; as milliseconds it would be 1973.
	if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
	const time = typeof value === 'string' ? Date.parse(value) : NaN;
	return Number.isNaN(time) ? undefined : time;
}

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
