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

/** An answer, or an object in a list of them, and what it wraps in `data` or `result`. */
function layersOf(answer: unknown): IDataObject[] {
	return objectsIn(answer).flatMap((one) => [one, ...[one.data, one.result].filter(isObject)]);
}

/** Whether an answer with a success status says that the service has not done what was asked. */
export function saysNo(answer: unknown): boolean {
	return layersOf(answer).some(isNoOrError);
}

function isNoOrError(layer: IDataObject): boolean {
	const { success, ok, status, terms } = layer;
	if (isPlainNo(layer)) return true;
	// The error of a term that is not stored is no refusal.
	if (isYes(success) || isYes(ok) || Array.isArray(terms)) return false;
	// `withoutError` has renamed the field `error`.
	const error = layer.error ?? layer.service_error;
	const hasError = isObject(error)
		? Object.keys(error).length > 0
		: !isBlank(error) && !isNo(error);
	return hasError && !isOfState(status);
}

/**
 * The same as {@link saysNo}, but an `error` alone does not count: the service may have done what was asked,
 * and report what went wrong beside it.
 */
export function saysPlainNo(answer: unknown): boolean {
	return layersOf(answer).some(isPlainNo);
}

function isPlainNo({ success, ok, status, detail, terms }: IDataObject): boolean {
	if (isNo(success) || isNo(ok)) return true;
	if (isYes(success) || isYes(ok) || Array.isArray(terms)) return false;
	return (isObject(detail) && !isBlank(detail.error_code)) || isError(status);
}

function isError(status: unknown): boolean {
	return /^(error|fail)$/i.test(String(status)) || (numberOf(status) ?? 0) >= 400;
}

/** Whether an error beside this status is that of a task or bot that no longer goes on. */
function isOfState(status: unknown): boolean {
	return !isBlank(status) && !isError(status) && !goesOn(status);
}

/**
 * The same as {@link saysNo} for an answer to a cancellation or DELETE, which may also say that nothing was
 * cancelled or deleted. A recording that is not cancelled may be stopped.
 */
export function saysNotEnded(answer: unknown): boolean {
	const isNotEnded = ({ deleted, cancelled, canceled, stopped }: IDataObject) =>
		[deleted, cancelled, canceled].some(isNo) && !isYes(stopped);
	return saysNo(answer) || layersOf(answer).some(isNotEnded);
}
