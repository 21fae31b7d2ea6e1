import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { withoutKey, withoutSecrets } from './redact';

/**
 * Why a request has no usable answer. `status` is set when something answered; `transport` says
 * what happened on the way when that was not the service.
 */
export interface Problem {
	/** Below /api/v1, e.g. `/transcribe`, `/tasks/7f3c`. */
	path: string;
	status?: number;
	errorCode?: string;
	/** The service's own words. */
	serviceMessage?: string;
	transport?: Transport;
	/** An earlier attempt got no answer, so this may be the echo of what the service has done. */
	isRepeat?: boolean;
	/** Whether the error body has the documented shape, which nothing else than the service is likely to send. */
	isServiceShape?: boolean;
	/** Bytes of the recording that was sent along. */
	recordingBytes?: number;
	/** Milliseconds the service asked to wait (`Retry-After`). */
	retryAfter?: number;
	/** There was no connection that could carry the request: nothing was sent. */
	isUnsent?: boolean;
	/** The answer is a web page, which the service does not send: something before it answered. */
	isWebPage?: boolean;
}

/**
 * `noTurn`, `unknownHost`, `unreachable`: the request never left. `broken`, `timeout`: nobody knows
 * whether it arrived.
 */
export type Transport =
	| 'noTurn'
	| 'unknownHost'
	| 'unreachable'
	| 'broken'
	| 'timeout'
	| 'tls'
	| 'notJson'
	| 'redirect'
	| 'unreadableFile';

/** An HTTP answer that is not a success. Internal: `exchange` in service.ts makes a ServiceError of it. */
export class Refused extends Error {
	constructor(readonly response: IN8nHttpFullResponse) {
		super(`HTTP ${response.statusCode}`);
	}
}

/** No answer within the time for it. Internal, as {@link Refused}. */
export class Late extends Error {}

/** What is wrong with the connection or the answer; undefined for anything else that went wrong. */
export function problemOf(error: unknown, path: string, apiKey: string): Problem | undefined {
	if (error instanceof Late) return { path, transport: 'timeout' };
	if (!(error instanceof Refused)) {
		const code = codeOf(error);
		return code
			? { path, transport: transportOf(code), isUnsent: isAboutCertificate(code) }
			: undefined;
	}
	const { statusCode: status, headers, body } = error.response;
	if (status >= 200 && status < 300) {
		return {
			path,
			status,
			transport: 'notJson',
			serviceMessage: beginningOf(error.response, apiKey),
		};
	}
	if (status >= 300 && status < 400) return { path, status, transport: 'redirect' };
	return {
		path,
		status,
		...readRefusal(withoutSecrets(body, apiKey)),
		retryAfter: retryAfterOf(headers?.['retry-after']),
		isWebPage: isWebPage(error.response),
	};
}

/** Whether an answer is HTML or XML, by its body or its headers. */
export function isWebPage({ body, headers }: IN8nHttpFullResponse): boolean {
	const text = Buffer.isBuffer(body) ? body.toString('utf8') : body;
	if (typeof text === 'string') {
		return /^[\s\ufeff]*</.test(text) || /html/i.test(String(headers?.['content-type']));
	}
	return false;
}

/** The beginning of an answer that cannot be read, without secrets: an id in it may be paid for. */
function beginningOf(response: IN8nHttpFullResponse, apiKey: string): string | undefined {
	const text = Buffer.isBuffer(response.body) ? response.body.toString('utf8') : response.body;
	if (typeof text !== 'string' || isWebPage(response)) return undefined;
	const masked = withoutKey(text, apiKey).replace(
		/(webhook[_-]?secret["'\s]*[:=]\s*["']?)[^"',\s}]*/gi,
		'$1***',
	);
	return masked.slice(0, 200).trim() || undefined;
}

/** Whether the service may have carried out the request, although its answer did not come. */
export function isWithoutAnswer({ status, transport }: Problem): boolean {
	return transport === 'broken' || transport === 'timeout' || status === 502 || status === 504;
}

/** Connection errors by the code that Node.js, TLS or axios gave them. */
export function transportOf(code: string): Transport {
	if (code === 'ENOTFOUND') return 'unknownHost';
	// Read while it was sent.
	if (/^(ENOENT|EACCES|EPERM|EIO|EISDIR|EMFILE|ENFILE)$/.test(code)) return 'unreadableFile';
	if (/^(ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code)) return 'unreachable';
	if (/CERT|TLS|SSL|SELF_SIGNED|EPROTO|UNABLE_TO_VERIFY/.test(code)) return 'tls';
	// Cancelled by us: an upload that stood still. An execution that is cancelled is told before.
	if (/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_CANCELED)$/.test(code)) return 'timeout';
	return 'broken';
}

/**
 * Whether the certificate of the server was refused. Node.js checks it before it sends a request.
 * EPROTO is not among them: it can break a connection at any time.
 */
function isAboutCertificate(code: string): boolean {
	return /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|^INVALID_CA$|^INVALID_PURPOSE$/.test(code);
}

/**
 * Reads the error body of the service document ("Errors"): `{ detail: { error_code, message } }`.
 * The content of `detail` without an `error_code` is not shown, and what stands before the service
 * has shapes of its own (a text, HTML, a list, `error`, `errors`, RFC 9457), so all of them are read.
 */
export function readRefusal(
	body: unknown,
): Pick<Problem, 'errorCode' | 'serviceMessage' | 'isServiceShape'> {
	const read = typeof body === 'string' ? parsed(body) : body;
	const { detail, error, errors, error_code: ownCode } = partsOf(read);
	const [first] = Array.isArray(errors) ? errors : [];
	const codes = [detail, error, first].flatMap((part) => {
		const { error_code: errorCode, code } = partsOf(part);
		return [errorCode, code];
	});
	return {
		errorCode: [ownCode, ...codes].find((code): code is string => typeof code === 'string'),
		serviceMessage: wordsOf(read).slice(0, 500) || undefined,
		isServiceShape: detail !== undefined && typeof read === 'object',
	};
}

function partsOf(value: unknown): IDataObject {
	return typeof value === 'object' && value !== null ? (value as IDataObject) : {};
}

/** JSON that was sent as text. */
function parsed(text: string): unknown {
	if (!/^\s*[{[]/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
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
	'title',
	'reason',
];

/** How many values are looked at, for an answer can be of any depth and width. */
const MOST_VALUES = 200;

function wordsOf(value: unknown, budget = { left: MOST_VALUES }): string {
	// Proxies answer in HTML.
	if (typeof value === 'string') {
		return value
			.slice(0, 100_000)
			.replace(/<(style|script)\b[^]*?<\/\1>/gi, ' ')
			.replace(/<[^>]*>/g, ' ')
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
	// Beside words for all, Laravel and ASP.NET have those for each field, which say more.
	const details = found && isMap(parts.errors) ? wordsOf(parts.errors, budget) : '';
	const isSaid = found?.includes(details) ?? false;
	const words = isSaid ? (found ?? '') : [found, details].filter(Boolean).join(' ');
	if (!words) return wordsOfFields(parts, budget);
	// FastAPI: `loc` is the way to the wrong field, e.g. ["body", "language"].
	const field = Array.isArray(parts.loc) && parts.loc.length > 1 ? parts.loc.at(-1) : undefined;
	return words && typeof field === 'string' ? `${field}: ${words}` : words;
}

/** Django, Laravel: a list of sentences under the name of each wrong field. */
function wordsOfFields(fields: IDataObject, budget: { left: number }): string {
	const ofFields = Object.entries(fields).slice(0, MOST_VALUES).filter(isListOfWords);
	return ofFields.map(([name, words]) => `${name}: ${wordsOf(words, budget)}`).join('; ');
}

function isListOfWords([, value]: [string, unknown]): boolean {
	return Array.isArray(value) && typeof value[0] === 'string';
}

function isMap(value: unknown): boolean {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Retry-After` in both its forms, seconds or a date, in ms from now. */
function retryAfterOf(header: unknown): number | undefined {
	if (typeof header !== 'string' || header.trim() === '') return undefined;
	const seconds = Number(header);
	const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
	return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The code of a connection error, however deep n8n has wrapped it. */
export function codeOf(error: unknown): string | undefined {
	let current = error as { code?: unknown; cause?: unknown; errorResponse?: unknown } | undefined;
	for (let depth = 0; current && depth < 5; depth++) {
		if (typeof current.code === 'string') return current.code;
		current = (current.cause ?? current.errorResponse) as typeof current;
	}
	// What n8n says of a file that it has deleted has no code.
	if (error instanceof Error && error.message === 'File not found') return 'ENOENT';
	const words = error instanceof NodeApiError ? error.messages.join(' ') : String(error);
	return /\b(E[A-Z]{4,}|[A-Z_]*CERT[A-Z_]*)\b/.exec(words)?.[1];
}
