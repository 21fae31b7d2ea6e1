import type { IDataObject } from 'n8n-workflow';

/** Whether a value is missing, an empty text or an empty list. */
export function isBlank(value: unknown): boolean {
	return (value ?? '') === '' || (Array.isArray(value) && value.length === 0);
}

/** Whether a value means true: many services write 1 or "true". */
export function isYes(value: unknown): boolean {
	return [true, 1, '1', 'true', 'yes'].some((yes) => yes === inSmallLetters(value));
}

/** Whether a value means false: many services write 0 or "false". */
export function isNo(value: unknown): boolean {
	return [false, 0, '0', 'false', 'no'].some((no) => no === inSmallLetters(value));
}

function inSmallLetters(value: unknown): unknown {
	return typeof value === 'string' ? value.trim().toLowerCase() : value;
}

/** A number, also from a text that holds one; undefined for any other value. */
export function numberOf(value: unknown): number | undefined {
	const isText = typeof value === 'string' && value.trim() !== '';
	const number = isText ? Number(value) : value;
	return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Many services write the year 1 or 1970 for a missing date. No task is so old. */
const EARLIEST_DATE = Date.UTC(2015);

/** What `Date` can hold, in ms. */
const LATEST_DATE = 8.64e15;

const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*';

/** ISO 8601, or a date with the name of the month: in others, nobody knows which number is the month. */
const CLEAR_DATE = new RegExp(
	`^\\s*\\d{4}-\\d\\d|\\b\\d{1,2}[ -]${MONTH}[ -]\\d{4}\\b|\\b${MONTH} \\d{1,2},? \\d{4}\\b`,
	'i',
);

/**
 * A date in ms since 1970, from ISO 8601, a text with the name of the month as in HTTP headers, or a number of
 * seconds or milliseconds. Undefined for any other value, and for a date before 2015.
 */
export function timeOf(value: unknown): number | undefined {
	// Date.parse also reads other texts, and takes 03.12.2026 for the 12th of March.
	const isClear = typeof value === 'string' && CLEAR_DATE.test(value);
	let time = isClear ? Date.parse(value) : NaN;
	// 1e11 seconds is the year 5138; 1e11 milliseconds is 1973.
	if (typeof value === 'number') time = value < 1e11 ? value * 1000 : value;
	return time >= EARLIEST_DATE && time <= LATEST_DATE ? time : undefined;
}

/**
 * The value of a JSON text. Python also writes NaN, Infinity and -Infinity, which JSON does not have:
 * they are read as null. Undefined if the text is no JSON, or is only `null`.
 */
export function parseJson(text: string): unknown {
	// A byte order mark counts as a blank here.
	const json = text.trimStart();
	return strictJson(json) ?? (/NaN|Infinity/.test(json) ? strictJson(withNull(json)) : undefined);
}

/** The value of a JSON text; undefined if it is not valid. */
export function strictJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** The JSON object in a text; undefined if there is none. Ignores a byte order mark. */
export function parseJsonObject(text: string): IDataObject | undefined {
	const value = parseJson(text);
	return isObject(value) ? value : undefined;
}

/** Looks at each character at most twice, because a transcript can have many megabytes. */
function withNull(json: string): string {
	const parts: string[] = [];
	for (let from = 0; from < json.length;) {
		const quote = json.indexOf('"', from);
		const start = quote < 0 ? json.length : quote;
		parts.push(json.slice(from, start).replace(/-?\b(?:NaN|Infinity)\b/g, 'null'));
		from = endOfText(json, start);
		parts.push(json.slice(start, from));
	}
	return parts.join('');
}

/** The index after the text in quotation marks that begins at `start`. */
function endOfText(json: string, start: number): number {
	for (let at = start + 1; ; at++) {
		at = json.indexOf('"', at);
		if (at < 0) return json.length;
		let slashes = 0;
		while (json[at - 1 - slashes] === '\\') slashes++;
		if (slashes % 2 === 0) return at + 1;
	}
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
