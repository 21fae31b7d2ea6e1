import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { isBlank, isNo, isObject, jsonOf, strictJson } from '../jsonValues';

/** What the body of a refusal says. */
export interface RefusalBody {
	errorCode?: string;
	/** The message of the service. */
	serviceMessage?: string;
	/**
	 * Whether the error body has the documented shape, which only the service is likely to send. A
	 * gateway that follows RFC 9457 also has a `detail`, but beside a `title` or `type`.
	 */
	isServiceShape?: boolean;
	/** There is no body, or an empty one. */
	isBlank?: boolean;
}

/**
 * Reads the error body of the service document ("Errors"): `{ detail: { error_code, message } }`.
 * Also reads other shapes (a text, HTML, a list, `error`, `errors`, RFC 9457): proxies use them,
 * and the content of `detail` without an `error_code` is undocumented.
 */
export function readRefusal(body: unknown): RefusalBody {
	const read = typeof body === 'string' ? parsed(body) : body;
	const parts = partsOf(read);
	const { detail, error, errors, error_code: ownCode } = parts;
	const [first] = Array.isArray(errors) ? errors : [];
	const codes = [detail, error, first].flatMap((part) => {
		const { error_code: errorCode, code } = partsOf(part);
		return [errorCode, code];
	});
	return {
		errorCode: [ownCode, ...codes].find((code): code is string => typeof code === 'string'),
		serviceMessage: wordsOf(read).slice(0, 500) || undefined,
		isServiceShape: isObject(detail) || (detail !== undefined && !isProblemDetails(parts)),
		isBlank: isEmptyBody(body),
	};
}

/**
 * Why a task or bot has failed, was cancelled or cannot go on, in the words of the service. The document shows
 * it in `error`. A failed one may have it under another name.
 */
export function reasonIn(state: IDataObject): string {
	const { status, error, message, reason, detail, error_message: own } = state;
	const isSaid = !isBlank(error) && !isNo(error) && jsonOf(error) !== '{}';
	if (isSaid) return typeof error === 'string' ? error : jsonOf(error);
	const words = status === 'failed' ? [own, reason, detail, message] : [];
	const others = words.map((one) => (isNo(one) ? '' : wordsOf(one).slice(0, 500)));
	return others.find((one) => one && !/^(ok|okay|success|successful|done)\W*$/i.test(one)) ?? '';
}

/** What the service says in a success that is a no: its words, or else all of the answer. */
export function reasonOfNo(answer: IDataObject): string {
	const { serviceMessage } = readRefusal(answer);
	const wrapped = [answer.data, answer.result].filter(isObject).map(readRefusal);
	const inside = wrapped.find((one) => one.serviceMessage)?.serviceMessage;
	return serviceMessage ?? inside ?? jsonOf(answer).slice(0, 200);
}

/** Whether a body has members of RFC 9457 that no answer in the service document has. */
function isProblemDetails(parts: IDataObject): boolean {
	return ['type', 'title'].some((name) => parts[name] !== undefined);
}

function isEmptyBody(body: unknown): boolean {
	if (typeof body === 'object') return Object.keys(body ?? {}).length === 0;
	return body === undefined || (typeof body === 'string' && body.trim() === '');
}

function partsOf(value: unknown): IDataObject {
	return typeof value === 'object' && value !== null ? (value as IDataObject) : {};
}

/** JSON that was sent as text. */
function parsed(text: string): unknown {
	return /^\s*[{[]/.test(text) ? (strictJson(text) ?? text) : text;
}

/** Where the words of an error stand, the best place first. */
const WORDS = [
	'detail',
	'message',
	'msg',
	'error',
	'errors',
	'issues',
	'error_description',
	'error_message',
	'title',
	'reason',
];

/** The most values to read, because an answer can have any depth and width. */
const MOST_VALUES = 200;
function wordsOf(value: unknown, budget = { left: MOST_VALUES }): string {
	// Proxies answer in HTML.
	if (typeof value === 'string') {
		return value
			.slice(0, 100_000)
			.replace(/<(style|script)\b[^]*?<\/\1>/gi, ' ')
			.replace(/<[^<>]*>/g, ' ')
			.replace(/\s+/g, ' ')
			.trim();
	}
	if (typeof value === 'number') return String(value);
	if (typeof value !== 'object' || value === null || budget.left-- <= 0) return '';
	if (Array.isArray(value)) {
		const items = value.slice(0, MOST_VALUES).map((item) => wordsOf(item, budget));
		return items.filter(Boolean).join('; ');
	}
	const parts = partsOf(value);
	const found = WORDS.map((name) => wordsOf(parts[name], budget)).find(Boolean);
	// Laravel and ASP.NET add a message per field, which says more than the general message.
	const details = found && isObject(parts.errors) ? wordsOf(parts.errors, budget) : '';
	const isSaid = found?.includes(details) ?? false;
	const words = isSaid ? (found ?? '') : [found, details].filter(Boolean).join(' ');
	if (!words) return wordsOfFields(parts, budget);
	// FastAPI: `loc` is the path of the invalid field, e.g. ["body", "language"].
	const field = Array.isArray(parts.loc) && parts.loc.length > 1 ? parts.loc.at(-1) : undefined;
	return words && typeof field === 'string' ? `${field}: ${words}` : words;
}

/** Django, Laravel: a list of sentences under the name of each invalid field. */
function wordsOfFields(fields: IDataObject, budget: { left: number }): string {
	const ofFields = Object.entries(fields).slice(0, MOST_VALUES).filter(isListOfWords);
	return ofFields.map(([name, words]) => `${name}: ${wordsOf(words, budget)}`).join('; ');
}

function isListOfWords([, value]: [string, unknown]): boolean {
	return Array.isArray(value) && typeof value[0] === 'string';
}

/** Whether an answer is HTML or XML, by its body or its headers. */
export function isWebPage({ body, headers }: IN8nHttpFullResponse): boolean {
	const text = Buffer.isBuffer(body) ? body.toString('utf8') : body;
	if (typeof text === 'string') {
		return /^[\s\ufeff]*</.test(text) || /html/i.test(String(headers?.['content-type']));
	}
	return false;
}
