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
export function saysNo(answer: IDataObject): boolean {
	const { success, ok, status, detail, terms } = answer;
	if (isNo(success) || isNo(ok)) return true;
	// The error of a term that is not stored is no refusal.
	if (isYes(success) || isYes(ok) || Array.isArray(terms)) return false;
	// `withoutError` has renamed the field `error`.
	const error = answer.error ?? answer.service_error;
	const hasError = isObject(error)
		? Object.keys(error).length > 0
		: !isBlank(error) && !isNo(error);
	const hasErrorCode = isObject(detail) && !isBlank(detail.error_code);
	return (hasError && !isOfState(status)) || hasErrorCode || isError(status);
}

function isError(status: unknown): boolean {
	return /^(error|fail)$/i.test(String(status)) || (numberOf(status) ?? 0) >= 400;
}

/** Whether an error beside this status is that of a task or bot that no longer goes on. */
function isOfState(status: unknown): boolean {
	return !isBlank(status) && !isError(status) && !goesOn(status);
}

/**
 * The same for an answer to a cancellation or DELETE, which may also say that nothing was cancelled or
 * deleted. A recording that is not cancelled may be stopped.
 */
export function saysNotEnded(answer: IDataObject): boolean {
	const { deleted, cancelled, canceled, stopped } = answer;
	return ([deleted, cancelled, canceled].some(isNo) && !isYes(stopped)) || saysNo(answer);
}
