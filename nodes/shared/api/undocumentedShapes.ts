import type { IDataObject } from 'n8n-workflow';

import { jsonOf } from './redact';

/**
 * Everything this package assumes where the service document says "not shown". docs/undocumented.md
 * lists each assumption and how to override it; a test compares the two.
 */

/**
 * An answer as a list of objects. If the service sends a list instead of an object, takes each
 * element. A text or a number becomes `{ value }`. An empty answer becomes `{}`.
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

/** GET /tasks: the list may be the answer itself or be under one of these names. */
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

/** The tasks in an answer of GET /tasks; undefined if it holds no list, not even an empty one. */
export function tasksIn(answer: unknown): IDataObject[] | undefined {
	const list = listIn(answer);
	return list && (list.length > 0 ? objectsIn(list).map(withStatus) : []);
}

function listIn(answer: unknown, depth = 2): unknown[] | undefined {
	if (Array.isArray(answer)) return answer;
	if (!isObject(answer) || depth === 0) return undefined;
	const list = LIST_NAMES.map((name) => listIn(answer[name], depth - 1)).find(Array.isArray);
	// Some languages write an empty list as null.
	return list ?? (LIST_NAMES.some((name) => answer[name] === null) ? [] : undefined);
}

/**
 * The answer to a submit, and the state of a task or bot: the task or bot may be the answer itself
 * or under one of these names.
 */
export const SUBMISSION_NAMES = ['data', 'task', 'result', 'item', 'bot', 'meeting'] as const;

/** The answer to a submit that makes several tasks: their list may be under one of these names. */
export const SUBMISSION_LIST_NAMES = [...LIST_NAMES, 'bots', 'meetings', 'task_ids', 'bot_ids'];

/**
 * The tasks or bots in the answer to a submit, each with its id in the documented field. Their list
 * may be the answer itself or be under one of {@link SUBMISSION_LIST_NAMES}. Fields beside the list
 * belong to each of them.
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
 * The answer to a submit with the id in the documented field: the service may also send a bare id,
 * or the id one level down. Leaves other answers unchanged.
 */
function submissionIn(answer: IDataObject, isBot: boolean): IDataObject {
	const ofId = (id: IDataObject[string]) => (isBot ? { bot_id: id } : { task_id: id });
	const { value } = answer;
	if (Object.keys(answer).length === 1 && isBareId(value)) return ofId(value);
	if (hasDocumentedId(answer)) return answer;
	// A plain `id` at the top level may be the id of the request.
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

/** A word such as "accepted" is no id, so an id must have a digit. */
function isBareId(value: unknown): boolean {
	return (
		(typeof value === 'number' && idIn(value) !== undefined) ||
		(typeof value === 'string' && /^(?=.*\d)[\w.:-]{1,128}$/.test(value))
	);
}

/**
 * The state in an answer of GET /tasks/{id} or GET /meeting/{bot_id}, with the status as {@link
 * statusIn} reads it. Like the answer to a submit, the state may be the answer itself or under one of
 * {@link SUBMISSION_NAMES}, and in a list. Fields beside it are kept. In a list of several, only the
 * task or bot with this id counts.
 */
export function stateIn(answer: unknown, id: string): IDataObject {
	const own = oneOf(answer, id);
	const states = SUBMISSION_NAMES.map((name) => ({ name, state: oneOf(own[name], id) }));
	const found =
		states.find(({ state }) => hasDocumentedId(state)) ??
		states.find(({ state }) => typeof state.status === 'string');
	if (!found || isStateItself(own, found.state)) return withStatus(own);
	const { [found.name]: _, ...rest } = own;
	return withStatus({ ...rest, ...found.state });
}

/** The element of a list that has the id, or else the only one; an object itself; else `{}`. */
function oneOf(value: unknown, id: string): IDataObject {
	const all = Array.isArray(value) ? value.filter(isObject) : [value];
	const named = all.find(
		(one) =>
			isObject(one) && [one.bot_id, ...ID_NAMES.map((name) => one[name])].map(idIn).includes(id),
	);
	const [only, ...others] = all;
	const one = named ?? (others.length > 0 ? undefined : only);
	return isObject(one) ? one : {};
}

/**
 * Whether an answer is the state itself, although one of its objects looks like a state as well. The
 * answer may be an envelope with a status and a plain `id` of the request, so an id counts as in the
 * answer to a submit.
 */
function isStateItself(own: IDataObject, inner: IDataObject): boolean {
	const isBot = own.bot_id !== undefined;
	const tells = (own.status ?? '') !== '' && (isBot || !isUnknownStatus(statusIn(own.status)));
	if (hasDocumentedId(own)) return tells || typeof inner.status !== 'string';
	return tells && (hasId(own) ? !hasDocumentedId(inner) : !hasId(inner));
}

function withStatus(state: IDataObject): IDataObject {
	return 'status' in state ? { ...state, status: statusIn(state.status) } : state;
}

/** GET /tasks: whether a success without a list means that there are no more tasks. */
export function holdsNothing(answer: IDataObject): boolean {
	return Object.keys(answer).length === 0 || LIST_NAMES.some((name) => answer[name] === null);
}

/** POST /transcribe-url and GET /tasks: names for the id of a task, besides `task_id`. */
export const ID_NAMES = ['task_id', 'id', 'taskId', 'uuid'] as const;

export function taskIdOf(answer: IDataObject): string | undefined {
	// In an answer about a bot, `id` would be the bot's id.
	const names = answer.bot_id === undefined ? ID_NAMES : (['task_id'] as const);
	return names.map((name) => idIn(answer[name])).find((id) => id !== undefined);
}

/**
 * An id, which the service may send as a number. Ignores 0, which means "none" in some databases,
 * and a number that JavaScript has rounded, which identifies another task or none.
 */
export function idIn(value: unknown): string | undefined {
	if (typeof value === 'string') return value || undefined;
	return Number.isSafeInteger(value) && value !== 0 ? String(value) : undefined;
}

/** GET /tasks: when a task was submitted, if one of these fields says so. */
export const DATE_NAMES = [
	'created_at',
	'createdAt',
	'created',
	'submitted_at',
	'date',
	'started_at',
];

/** The date of a task in ms since 1970, from ISO 8601 or a number of seconds or milliseconds. */
export function dateOf(task: IDataObject, names = DATE_NAMES): number | undefined {
	return names.map((name) => timeOf(task[name])).find((time) => time !== undefined);
}

/** The fields of {@link DATE_NAMES} that cannot be the date of the recording itself. */
export const CREATED_NAMES = ['created_at', 'createdAt', 'created', 'submitted_at'];

/** GET /tasks: the name of the recording, if one of these fields holds it. */
export const TITLE_NAMES = ['file_name', 'filename', 'original_filename', 'title', 'name'];

export function titleOf(task: IDataObject): string | undefined {
	return TITLE_NAMES.map((name) => task[name]).find(
		(value): value is string => typeof value === 'string' && value.trim() !== '',
	);
}

/** POST /transcribe-url: the request field for the link. Others are as in POST /transcribe. */
export const LINK_FIELD = 'url';

/** GET /tasks/{id}/result: the documented parts. */
export const RESULT_PARTS = ['segments', 'speakers', 'summary', 'text'] as const;

/** GET /tasks/{id}/result: the result may be the answer itself or be under one of these names. */
export const RESULT_NAMES = ['result', 'data', 'transcript'] as const;

/** GET /tasks/{id}/result: an answer with only these fields holds a state, but no result. */
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
 * The result in an answer: the object with a documented part, or else the answer itself, so that a
 * transcript under an unknown name is not lost. Undefined if the answer holds no result.
 */
export function resultIn(answer: unknown): IDataObject | undefined {
	const { given, found } = partsIn(answer);
	if (found && RESULT_PARTS.some((part) => !isBlank(found[part]) || found.text === ''))
		return found;
	if (!given || (found && found !== given)) return undefined;
	return holdsContent(given, [...STATE_NAMES, ...RESULT_PARTS]) ? given : undefined;
}

/**
 * A result whose documented parts are all null or empty, with an empty text: nothing was said in the
 * recording. The same answer may come before a task has finished, so only the status of the task
 * itself shows that this is its result. Undefined for any other answer.
 */
export function silentResultIn(answer: unknown): IDataObject | undefined {
	const { given, found } = partsIn(answer);
	if (!given || !found || resultIn(answer)) return undefined;
	const { status, error, detail, message } = given;
	const isOther = !isBlank(status) && statusIn(status) !== 'completed';
	if (isOther || [error, detail, message].some((word) => !isBlank(word))) return undefined;
	return { ...found, text: '' };
}

/** The object in an answer, and the object in it that has a documented part, even if that is null. */
function partsIn(answer: unknown): { given?: IDataObject; found?: IDataObject } {
	const given: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
	if (!isObject(given)) return {};
	const objects = [given, ...RESULT_NAMES.map((name) => given[name])].filter(isObject);
	const withParts = objects.filter((object) => RESULT_PARTS.some((part) => part in object));
	const found = withParts.find((object) => RESULT_PARTS.some((part) => !isBlank(object[part])));
	return { given, found: found ?? withParts[0] };
}

/** Whether an answer holds more than the state of a task, or than the fields `without`. */
export function holdsContent(answer: IDataObject, without = STATE_NAMES): boolean {
	const names = Object.keys(answer).filter((name) => (answer[name] ?? undefined) !== undefined);
	return names.some((name) => !without.includes(name));
}

/**
 * GET /tasks/{id}/export: the document. A JSON document may be text or already parsed. An empty
 * text is an empty document; undefined if there is no document.
 */
export function documentIn(answer: unknown, format: string): string | undefined {
	const content = isObject(answer) ? answer.content : undefined;
	if (typeof content === 'string') return content;
	const isParsed = typeof content === 'object' && content !== null && format === 'json';
	if (!isParsed || Object.keys(content).length === 0) return undefined;
	return jsonOf(content, '\t') || undefined;
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
	return typeof word === 'string' && DOCUMENTED.includes(word) ? word : status;
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

/** GET /meeting/{bot_id}: "completed" is not final for a bot: its task follows soon after. */
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
 * POST /meeting and GET /meeting/{bot_id}: when a bot starts, in ms since 1970; empty if unknown. A
 * time without an offset has two readings: in UTC, which comes first, and in the time zone of n8n.
 */
export function startsIn({ scheduled_start_at: start }: IDataObject): number[] {
	const isNaive = typeof start === 'string' && !/(Z|[+-]\d\d(:?\d\d)?)$/i.test(start.trim());
	const readings = isNaive ? [`${start.trim()}Z`, start] : [start];
	return readings.map(timeOf).filter((time) => time !== undefined);
}

/**
 * GET /tasks: the page sizes to try, each if the service refuses the one before. A page with fewer
 * tasks is no sign of the end.
 */
export const PAGE_SIZES = [100, 50, 20, 10];

/** Dictionary size: the Unicode characters (code points) of all terms, without separators. */
export function dictionaryChars(terms: string[]): number {
	return terms.reduce((sum, term) => sum + [...term].length, 0);
}

export const DICTIONARY_LIMIT_CHARS = 20_000;

/** "8 GB" is taken as binary, the larger meaning, so that no allowed file is refused. */
export const MAX_FILE_BYTES = 8 * 1024 ** 3;

/** Many services write a date that was never set as the year 1 or 1970. No task is that old. */
const EARLIEST_DATE = Date.UTC(2015);

function timeOf(value: unknown): number | undefined {
	let time = typeof value === 'string' ? Date.parse(value) : NaN;
	// 1e11 seconds is the year 5138; 1e11 milliseconds is 1973.
	if (typeof value === 'number') time = value < 1e11 ? value * 1000 : value;
	return time >= EARLIEST_DATE ? time : undefined;
}

function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
