import type { IDataObject } from 'n8n-workflow';

import { isBlank, isNo, isObject, isYes, numberOf } from '../../jsonValues';
import { goesOn } from '../statusMeaning';

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

/** Whether an answer with a success status says that the service has not done what was asked. */
export function saysNo(answer: unknown): boolean {
	if (isObject(answer) && (isPlainNo(answer) || hasError(answer))) return true;
	return !saysYes(answer) && wrappedIn(answer).some(({ success, ok }) => isFlagOff(success, ok));
}

/**
 * The same as {@link saysNo} for an answer to a cancellation or DELETE, which may also say that nothing was
 * cancelled or deleted. A recording that is not cancelled may be stopped.
 */
export function saysNotEnded(answer: unknown): boolean {
	const isNotEnded = ({ deleted, cancelled, canceled, stopped }: IDataObject) =>
		[deleted, cancelled, canceled].some(isNo) && !isYes(stopped);
	return saysNo(answer) || [answer, ...wrappedIn(answer)].filter(isObject).some(isNotEnded);
}

/**
 * Whether an answer says no and nothing else. For a request whose answer has something to show. An `error`
 * alone does not count.
 */
export function saysOnlyNo(answer: unknown): boolean {
	if (!isObject(answer)) return false;
	const { data, result, ...others } = answer;
	const wrapped = wrappedIn(answer);
	const hasMore = [data, result].some((one) => !isBlank(one) && !isObject(one));
	const names = [others, ...wrapped].flatMap((layer) => Object.keys(layer));
	const isAboutRefusal = !hasMore && names.every((name) => ABOUT_REFUSAL.test(name));
	return isAboutRefusal && [answer, ...wrapped].some(isPlainNo);
}

/**
 * The same as {@link saysNo} for an answer to a request that reads the dictionary: an empty list of terms
 * beside an error is not the dictionary.
 */
export function saysNoTerms({ terms, ...answer }: IDataObject): boolean {
	return isBlank(terms) && saysNo(answer);
}

/** Names of fields that say that a request was refused, why, and which one. */
const ABOUT_REFUSAL =
	/^(success|ok|status|(service_)?errors?|error_(code|message)|detail|message|msg|code|reason|title|type|path|timestamp|(request|trace)_?id)$/i;

/** What an answer wraps: the object in a list with one element, or those under `data` and `result`. */
function wrappedIn(answer: unknown): IDataObject[] {
	const list: unknown[] = Array.isArray(answer) && answer.length === 1 ? answer : [];
	return (isObject(answer) ? [answer.data, answer.result] : list).filter(isObject);
}

function isPlainNo(answer: IDataObject): boolean {
	const { success, ok, status, code, detail, terms } = answer;
	if (isNo(success) || isNo(ok)) return true;
	// The error of a term that is not stored is no refusal.
	if (saysYes(answer) || Array.isArray(terms)) return false;
	const errorCode = isObject(detail) ? detail.error_code : undefined;
	return (!isBlank(errorCode) && !isNo(errorCode)) || isError(status) || isErrorStatus(code);
}

function hasError(answer: IDataObject): boolean {
	if (saysYes(answer) || Array.isArray(answer.terms)) return false;
	// `withoutError` has renamed the field `error`.
	const error = answer.error ?? answer.service_error;
	const isSaid = isObject(error) ? Object.keys(error).length > 0 : !isBlank(error) && !isNo(error);
	return isSaid && !isOfState(answer.status);
}

function saysYes(answer: unknown): boolean {
	return isObject(answer) && (isYes(answer.success) || isYes(answer.ok));
}

/** Whether one of several flags is false. 0 may be a count. */
function isFlagOff(...flags: unknown[]): boolean {
	return flags.some((flag) => typeof flag !== 'number' && isNo(flag));
}

function isError(status: unknown): boolean {
	return /^(error|fail)$/i.test(String(status)) || isErrorStatus(status);
}

/** Whether a value is the HTTP status of a refusal. */
export function isErrorStatus(value: unknown): boolean {
	const status = numberOf(value) ?? 0;
	return status >= 400 && status < 600;
}

/** Whether an error beside this status is that of a task or bot that no longer goes on. */
function isOfState(status: unknown): boolean {
	return !isBlank(status) && !isError(status) && !goesOn(status);
}
