import type { IDataObject } from 'n8n-workflow';

import { isBlank, isObject, jsonOf } from '../../jsonValues';
import { objectsIn, saysNo } from './answers';
import { hasEnded, isInProgress, statusIn } from '../statusMeaning';
import { SUBMISSION_NAMES } from './submissions';

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
	const rest = found ? withoutScalars(given) : given;
	return holdsContent(rest, [...STATE_NAMES, ...RESULT_PARTS]) ? given : undefined;
}

/** The results in an answer: of each element if it is a list of several. */
export function resultsIn(answer: unknown): IDataObject[] | undefined {
	return ofEach(answer, resultIn);
}

/** The same as {@link resultsIn}, but an element may be silent (see {@link silentResultIn}). */
export function silentResultsIn(answer: unknown): IDataObject[] | undefined {
	return ofEach(answer, (element) => resultIn(element) ?? silentResultIn(element));
}

/**
 * Whether an answer, or an element of it, has documented parts, but no value in any of them. An empty text
 * is a value, except beside an error: some languages write empty parts then.
 */
export function hasBlankParts(answer: unknown): boolean {
	return elementsOf(answer).some((element) => {
		const { given, found } = partsIn(element);
		if (!found || (found.text === '' && !saysNo(given))) return false;
		return RESULT_PARTS.every((part) => isBlank(found[part]));
	});
}

/**
 * Whether an answer about a task that has completed says beside its parts that the task goes on, or, beside
 * empty parts, that it has ended without a transcript: the place where results are kept may be behind.
 */
export function saysItComesLater(answer: unknown): boolean {
	return elementsOf(answer).some((element) => {
		const { given, found } = partsIn(element);
		const statuses = [given?.status, found?.status].map(statusIn);
		if (!found) return false;
		const isEmpty = RESULT_PARTS.every((part) => isBlank(found[part]));
		return statuses.some((status) => isInProgress(status) || (isEmpty && hasEndedBadly(status)));
	});
}

function hasEndedBadly(status: unknown): boolean {
	return hasEnded(status) && status !== 'completed';
}

/** Undefined if an element holds none. */
function ofEach(
	answer: unknown,
	read: (element: unknown) => IDataObject | undefined,
): IDataObject[] | undefined {
	const elements = elementsOf(answer);
	const all = elements.map(read).filter((one) => one !== undefined);
	return all.length === elements.length ? all : undefined;
}

function elementsOf(answer: unknown): unknown[] {
	return Array.isArray(answer) && answer.length > 1 ? objectsIn(answer) : [answer];
}

/** Beside empty parts, a language, a date or a length is no transcript under an unknown name. */
function withoutScalars(answer: IDataObject): IDataObject {
	const isContent = (value: unknown) =>
		(Array.isArray(value) && value.length > 0) || isObject(value) || isLongText(value);
	return Object.fromEntries(Object.entries(answer).filter(([, value]) => isContent(value)));
}

/** Longer than any date, id or name of a model. */
function isLongText(value: unknown): boolean {
	return typeof value === 'string' && value.length > 100;
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
	return Object.entries(answer).some(([name, value]) => {
		return (value ?? undefined) !== undefined && !without.includes(name) && !isState(name, value);
	});
}

/** Whether a field is the state of a task, or its beginnings, under a name for it. */
function isState(name: string, value: unknown): boolean {
	return SUBMISSION_NAMES.some((one) => one === name) && isObject(value) && !holdsContent(value);
}

/**
 * GET /tasks/{id}/export: the document. A JSON document may be text or already parsed. An empty
 * text is the empty document of a silent recording, except in JSON, where it is no document.
 * Undefined if there is no document.
 */
export function documentIn(answer: unknown, format: string): string | undefined {
	const [only, ...others]: unknown[] = Array.isArray(answer) ? answer : [answer];
	// A list of one may also be a JSON document itself.
	const isWrapped =
		!Array.isArray(answer) || format !== 'json' || (isObject(only) && 'format' in only);
	const content = isObject(only) && others.length === 0 && isWrapped ? only.content : undefined;
	if (typeof content === 'string')
		return format === 'json' && !content.trim() ? undefined : content;
	const isParsed = typeof content === 'object' && content !== null && format === 'json';
	if (!isParsed || Object.keys(content).length === 0) return undefined;
	return jsonOf(content, '\t') || undefined;
}
