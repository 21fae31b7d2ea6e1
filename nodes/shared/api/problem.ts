import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';
import { NodeApiError } from 'n8n-workflow';

import { withoutApiKey, withoutSecrets } from './redact';

/**
 * Why a request has no usable answer. `status` is set if anything answered. `transport` is set if
 * the service did not answer properly, and says what happened instead.
 */
export interface Problem {
	/** Below /api/v1, e.g. `/transcribe`, `/tasks/7f3c`. */
	path: string;
	status?: number;
	errorCode?: string;
	/** The message of the service. */
	serviceMessage?: string;
	transport?: Transport;
	/** An earlier attempt may have been accepted, so this problem may result from its success. */
	isRepeat?: boolean;
	/** How often the request was sent. */
	attempts?: number;
	/** Whether the error body has the documented shape, which only the service is likely to send. */
	isServiceShape?: boolean;
	/** Size of the recording in the request, in bytes. */
	recordingBytes?: number;
	/** The request sends no content, so it cannot be too large itself. */
	isEmpty?: boolean;
	/** The request carries an Idempotency-Key. */
	isKeyed?: boolean;
	/** Milliseconds the service asked to wait (`Retry-After`). */
	retryAfter?: number;
	/** No usable connection was made, so nothing was sent. */
	isUnsent?: boolean;
	/** The answer is a web page, so it comes from a proxy or similar, not from the service. */
	isWebPage?: boolean;
}

/**
 * `noTurn`, `unknownHost`, `unreachable`: the request was not sent. `broken`, `timeout`: it is
 * unknown whether it arrived.
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

/** An HTTP answer that is not a success. Internal: exchange.ts turns it into a ServiceError. */
export class Refused extends Error {
	constructor(readonly response: IN8nHttpFullResponse) {
		super(`HTTP ${response.statusCode}`);
	}
}

/** No answer in time. Internal, like {@link Refused}. */
export class Late extends Error {}

/** The problem with the connection or the answer; undefined for any other error. */
export function problemOf(error: unknown, path: string, apiKey: string): Problem | undefined {
	if (error instanceof Late) return { path, transport: 'timeout' };
	if (!(error instanceof Refused)) {
		const code = codeOf(error);
		if (!code) return undefined;
		// The route to the server can also be lost after the request was sent.
		const isLostWay = /^(EHOSTUNREACH|ENETUNREACH)$/.test(code) && !wasConnecting(error, code);
		const transport = isLostWay ? 'broken' : transportOf(code);
		return { path, transport, isUnsent: isAboutCertificate(code) };
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
		retryAfter: retryAfterOf(headers ?? {}),
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

/** The start of an unreadable answer, without secrets: it may hold the id of a paid task. */
function beginningOf(response: IN8nHttpFullResponse, apiKey: string): string | undefined {
	const text = Buffer.isBuffer(response.body) ? response.body.toString('utf8') : response.body;
	if (typeof text !== 'string' || isWebPage(response)) return undefined;
	const masked = withoutApiKey(text, apiKey).replace(
		/(secret["'\s\\]*[:=][\s\\]*["']?)[^"',\s}]*/gi,
		'$1***',
	);
	return masked.slice(0, 200).trim() || undefined;
}

/** A gateway got no usable answer from the service. 520 to 524 are Cloudflare's. */
const GATEWAY_STATUSES = [502, 504, 520, 521, 522, 523, 524];

/** Whether the service may have carried out the request although no answer arrived. */
export function isWithoutAnswer(problem: Problem): boolean {
	const { status, transport } = problem;
	if (transport === 'broken' || transport === 'timeout') return true;
	return GATEWAY_STATUSES.includes(status ?? 0) || isForeign503(problem);
}

/**
 * Whether a 503 is not the documented refusal, which says that nothing was done. A gateway that loses
 * its connection to the service also answers 503, with a text, a web page or JSON of its own. An empty
 * answer counts as the service's, because gateways say in a body what has happened.
 */
export function isForeign503(problem: Problem): boolean {
	const { status, errorCode, serviceMessage, isServiceShape, isWebPage } = problem;
	if (status !== 503 || isServiceShape || errorCode === 'service_unavailable') return false;
	return isWebPage === true || serviceMessage !== undefined;
}

/** Codes of a 409 that say: the same request is in progress. */
const IN_PROGRESS =
	/in[_\W]?progress|processing|running|pending|concurrent|parallel|in[_\W]?use|busy/i;

/** Codes of a 409 that say no more than its status. */
const CONFLICT = /conflict|409/i;

/**
 * Whether a 409 for a submit says that the same request is still in progress. The documented 409 has
 * no code (service document, "Errors"). If it has one, and the service does not ask to try again,
 * the code decides: waiting ends no other conflict.
 */
export function isStillRunning({ status, errorCode, retryAfter }: Problem): boolean {
	if (status !== 409) return false;
	if (errorCode === undefined || retryAfter !== undefined) return true;
	return IN_PROGRESS.test(errorCode) || CONFLICT.test(errorCode);
}

/** The kind of a connection error, by its code from Node.js, TLS or axios. */
export function transportOf(code: string): Transport {
	if (code === 'ENOTFOUND') return 'unknownHost';
	// The file is read while it is sent.
	if (/^(ENOENT|EACCES|EPERM|EIO|EISDIR|EMFILE|ENFILE)$/.test(code)) return 'unreadableFile';
	if (/^(ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(code)) return 'unreachable';
	if (/CERT|TLS|SSL|SELF_SIGNED|EPROTO|UNABLE_TO_VERIFY/.test(code)) return 'tls';
	// ERR_CANCELED: we aborted an idle upload. A cancelled execution is handled earlier.
	if (/^(ECONNABORTED|ETIMEDOUT|ESOCKETTIMEDOUT|ERR_CANCELED)$/.test(code)) return 'timeout';
	return 'broken';
}

/**
 * Whether the server's certificate was refused, which Node.js checks before it sends a request. Not
 * EPROTO, which can occur at any time.
 */
function isAboutCertificate(code: string): boolean {
	return /CERT|UNABLE_TO_VERIFY|HOSTNAME_MISMATCH|^INVALID_CA$|^INVALID_PURPOSE$/.test(code);
}

/**
 * Reads the error body of the service document ("Errors"): `{ detail: { error_code, message } }`.
 * Also reads other shapes (a text, HTML, a list, `error`, `errors`, RFC 9457): proxies use them,
 * and the content of `detail` without an `error_code` is undocumented.
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

/** The most values to read, because an answer can have any depth and width. */
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
	// Laravel and ASP.NET add a message per field, which says more than the general message.
	const details = found && isMap(parts.errors) ? wordsOf(parts.errors, budget) : '';
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

function isMap(value: unknown): boolean {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** In ms. Some services send the time stamp of the next try instead, which is not documented. */
const LONGEST_RETRY_AFTER = 24 * 3_600_000;

/**
 * `Retry-After`, given in seconds or as a date, in ms from now. The date is by the clock of the
 * server, which may be wrong. The header `Date` shows that clock. Undefined if it is more than a day.
 */
function retryAfterOf({ 'retry-after': header, date }: IDataObject): number | undefined {
	if (typeof header !== 'string' || header.trim() === '') return undefined;
	const seconds = Number(header);
	const now = Date.parse(String(date)) || Date.now();
	const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - now;
	return ms <= LONGEST_RETRY_AFTER ? Math.max(0, ms) : undefined;
}

/** The code of a connection error, even if n8n has wrapped it several times. */
export function codeOf(error: unknown): string | undefined {
	// n8n 1 keeps the code of a broken connection as `httpCode` only.
	const codes = layersOf(error).flatMap(({ code, httpCode }) => [code, nameIn(httpCode)]);
	const code = codes.find((one): one is string => typeof one === 'string');
	if (code !== undefined) return code;
	// n8n's error for a file that it has deleted has no code.
	if (error instanceof Error && error.message === 'File not found') return 'ENOENT';
	const words = error instanceof NodeApiError ? error.messages.join(' ') : String(error);
	return /\b(E[A-Z]{4,}|[A-Z_]*CERT[A-Z_]*)\b/.exec(words)?.[1];
}

function nameIn(httpCode: unknown): string | undefined {
	return typeof httpCode === 'string' && /^[A-Z]/.test(httpCode) ? httpCode : undefined;
}

/** What Node.js, axios and n8n say of an error. `errors` has one for each address that was tried. */
interface ErrorLayer {
	code?: unknown;
	httpCode?: unknown;
	syscall?: unknown;
	message?: unknown;
	errors?: unknown;
	cause?: unknown;
	errorResponse?: unknown;
}

/** An error and what it wraps, the outermost first. */
function layersOf(error: unknown): ErrorLayer[] {
	const layers: ErrorLayer[] = [];
	let current = error as ErrorLayer | undefined;
	while (current && layers.length < 5) {
		layers.push(current);
		current = (current.cause ?? current.errorResponse) as typeof current;
	}
	return layers;
}

/** Whether a connection failed while it was being made, so that nothing was sent. */
function wasConnecting(error: unknown, code: string): boolean {
	return layersOf(error).some(
		({ syscall, message, errors }) =>
			syscall === 'connect' ||
			Array.isArray(errors) ||
			String(message).startsWith(`connect ${code}`),
	);
}
