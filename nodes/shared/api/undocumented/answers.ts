import type { IDataObject } from 'n8n-workflow';

import { isBlank, isNo, isObject } from '../../jsonValues';

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
export function saysNo({ success, ok }: IDataObject): boolean {
	return isNo(success) || isNo(ok);
}
