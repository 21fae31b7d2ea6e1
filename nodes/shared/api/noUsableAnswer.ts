import type { IDataObject, IN8nHttpFullResponse } from 'n8n-workflow';

import { masked, withoutNamedSecrets, withoutSecrets, type Secrets } from './redact';
import {
	codeOf,
	isAboutCertificate,
	isBlockedByN8n,
	transportOf,
	wasConnecting,
	type Transport,
} from './connectionError';
import { isWebPage, readRefusal, type RefusalBody } from './refusalBody';

/**
 * Why a request has no usable answer. `status` is set if anything answered. `transport` is set if
 * the service did not answer properly, and says what happened instead.
 */
export interface Problem extends RefusalBody {
	/** Below /api/v1, e.g. `/transcribe`, `/tasks/7f3c`. */
	path: string;
	status?: number;
	transport?: Transport;
	/** An earlier attempt may have been accepted, so this problem may result from its success. */
	isRepeat?: boolean;
	/** How often the request was sent. */
	attempts?: number;
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

/** An HTTP answer that is not a success. Internal: sendWithRetries.ts turns it into a ServiceError. */
export class Refused extends Error {
	constructor(readonly response: IN8nHttpFullResponse) {
		super(`HTTP ${response.statusCode}`);
	}
}

/** No answer in time. Internal, like {@link Refused}. */
export class Late extends Error {}

/** The problem with the connection or the answer; undefined for any other error. */
export function problemOf(error: unknown, path: string, secrets: Secrets): Problem | undefined {
	if (error instanceof Late) return { path, transport: 'timeout' };
	if (!(error instanceof Refused)) {
		if (isBlockedByN8n(error)) return { path, transport: 'blocked', isUnsent: true };
		const code = codeOf(error);
		if (!code) return undefined;
		const isConnecting = wasConnecting(error, code);
		const transport = transportOf(code, isConnecting);
		return { path, transport, isUnsent: isConnecting || isAboutCertificate(code) };
	}
	const { statusCode: status, headers, body } = error.response;
	if (status >= 200 && status < 300) {
		return {
			path,
			status,
			transport: 'notJson',
			serviceMessage: beginningOf(error.response, secrets),
		};
	}
	if (status >= 300 && status < 400) return { path, status, transport: 'redirect' };
	return {
		path,
		status,
		...readRefusal(withoutSecrets(body, secrets)),
		retryAfter: retryAfterOf(headers ?? {}),
		isWebPage: isWebPage(error.response),
	};
}

/** The start of an unreadable answer, without secrets: it may hold the id of a paid task. */
function beginningOf(response: IN8nHttpFullResponse, secrets: Secrets): string | undefined {
	const text = Buffer.isBuffer(response.body) ? response.body.toString('utf8') : response.body;
	if (typeof text !== 'string' || isWebPage(response)) return undefined;
	return withoutNamedSecrets(masked(text, secrets)).slice(0, 200).trim() || undefined;
}

/** Codes of a 409 that say: the same request is in progress. */
const STILL_RUNNING =
	/in[_\W]?progress|processing|running|pending|concurrent|parallel|in[_\W]?use|busy|key[_\W]?locked/i;

/** Codes of a 409 that say no more than its status. */
const CONFLICT = /^(http)?[_\W]?(conflict|409)([_\W]?error)?$/i;

/**
 * Whether a 409 for a submit says that the same request is still in progress. The documented 409 has
 * no code (service document, "Errors"). If it has one, and the service does not ask to try again,
 * the code decides: waiting ends no other conflict.
 */
export function isStillRunning({ status, errorCode, retryAfter }: Problem): boolean {
	if (status !== 409) return false;
	if (errorCode === undefined || retryAfter !== undefined) return true;
	return STILL_RUNNING.test(errorCode) || CONFLICT.test(errorCode);
}

/**
 * Whether a refusal of a submit names its Idempotency-Key. The key may have the wrong form, or it may have come
 * before with another request, which the service may have accepted. The service document shows no words for
 * either, so nothing here tells the two apart: a user who then enters another key may pay again.
 */
export function isAboutKey(problem: Problem): boolean {
	const { status = 0, errorCode = '', serviceMessage = '', isKeyed } = problem;
	if (!isKeyed || ![400, 409, 422].includes(status) || isStillRunning(problem)) return false;
	// Also in Russian: the service bills in rubles.
	return /idempot|идемпот/i.test(`${errorCode} ${serviceMessage}`);
}

/** The same, or a 409 that counts as "still in progress" and may mean that, too. */
export function mayBeAboutKey(problem: Problem): boolean {
	return isAboutKey(problem) || (problem.isKeyed === true && isStillRunning(problem));
}

/** The longest Retry-After to believe, in ms: some services send the time of the next try instead. */
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
