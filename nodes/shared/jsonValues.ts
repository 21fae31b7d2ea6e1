import type { IDataObject } from 'n8n-workflow';

/** Whether a value is missing, an empty text or an empty list. */
export function isBlank(value: unknown): boolean {
	return (value ?? '') === '' || (Array.isArray(value) && value.length === 0);
}

/** Many services write the year 1 or 1970 for a missing date. No task is so old. */
const EARLIEST_DATE = Date.UTC(2015);

/** A date in ms since 1970, from ISO 8601 or a number of seconds or milliseconds. */
export function timeOf(value: unknown): number | undefined {
	let time = typeof value === 'string' ? Date.parse(value) : NaN;
	// 1e11 seconds is the year 5138; 1e11 milliseconds is 1973.
	if (typeof value === 'number') time = value < 1e11 ? value * 1000 : value;
	return time >= EARLIEST_DATE ? time : undefined;
}

/** Whether a value is an object, and not a list. */
export function isObject(value: unknown): value is IDataObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON for messages and comparisons; '' if the value is nested too deeply for the stack. */
export function jsonOf(value: unknown, indent?: string): string {
	try {
		return JSON.stringify(value, null, indent) ?? '';
	} catch {
		return '';
	}
}
