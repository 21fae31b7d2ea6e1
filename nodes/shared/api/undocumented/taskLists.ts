import type { IDataObject } from 'n8n-workflow';

import { isObject, timeOf } from '../../jsonValues';
import { isErrorStatus, objectsIn } from './answers';
import { withStatus } from '../statusMeaning';

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

/**
 * The tasks in an answer of GET /tasks; undefined if it holds no list, not even an empty one. An empty
 * list beside the status of a fault is none: some languages write one there.
 */
export function tasksIn(answer: unknown): IDataObject[] | undefined {
	const list = taskListIn(answer);
	if (list && list.length > 0) return objectsIn(list).map(withStatus);
	return list && !isFault(answer) ? [] : undefined;
}

function taskListIn(answer: unknown, depth = 2): unknown[] | undefined {
	if (Array.isArray(answer)) return answer;
	if (!isObject(answer) || depth === 0) return undefined;
	const list = LIST_NAMES.map((name) => taskListIn(answer[name], depth - 1)).find(Array.isArray);
	// Some languages write an empty list as null.
	return list ?? (LIST_NAMES.some((name) => answer[name] === null) ? [] : undefined);
}

/** GET /tasks: whether a success without a list means that there are no more tasks. */
export function holdsNothing(answer: IDataObject): boolean {
	if (Object.keys(answer).length === 0) return true;
	return !isFault(answer) && LIST_NAMES.some((name) => answer[name] === null);
}

/** Any other error may say in its own way that there is no task: 404, or `success: false`. */
function isFault(answer: unknown): boolean {
	const said = isObject(answer) ? [answer.status, answer.code] : [];
	return said.some((status) => isErrorStatus(status) && !MAY_MEAN_NONE.test(String(status)));
}

const MAY_MEAN_NONE = /^4(?!29)/;

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

/** What a list calls a task; undefined if none of {@link TITLE_NAMES} holds a text. */
export function titleOf(task: IDataObject): string | undefined {
	return TITLE_NAMES.map((name) => task[name]).find(
		(value): value is string => typeof value === 'string' && value.trim() !== '',
	);
}

/**
 * GET /tasks: the page sizes to try, each if the service refuses the one before. A page with fewer
 * tasks is no sign of the end.
 */
export const PAGE_SIZES = [100, 50, 20, 10];
