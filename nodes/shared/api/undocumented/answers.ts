import type { IDataObject } from 'n8n-workflow';

import { isBlank, isNo, isObject, isYes } from '../../jsonValues';
import { isCancelled } from '../statusMeaning';

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
	// The error of a task that is cancelled, or of a term that is not stored, is no refusal.
	if (isYes(success) || isYes(ok) || isCancelled(status) || Array.isArray(terms)) return false;
	// `withoutError` has renamed the field `error`.
	const error = answer.error ?? answer.service_error;
	const hasError = isObject(error)
		? Object.keys(error).length > 0
		: !isBlank(error) && !isNo(error);
	const hasErrorCode = isObject(detail) && !isBlank(detail.error_code);
	return hasError || hasErrorCode || /^(error|fail)$/i.test(String(status));
}

/** The same for an answer to a cancellation or DELETE, which may also say that nothing was cancelled or deleted. */
export function saysNotEnded(answer: IDataObject): boolean {
	return [answer.deleted, answer.cancelled, answer.canceled].some(isNo) || saysNo(answer);
}
