/** Why a request has no usable answer: what an answer or a broken connection shows. */
// Also covers refusalBody.ts.

import type { IN8nHttpFullResponse } from 'n8n-workflow';

import {
	isAboutKey,
	isStillRunning,
	Late,
	problemOf,
	Refused,
	type Problem,
} from '../../../nodes/shared/api/noUsableAnswer';
import { patienceFor } from '../../../nodes/shared/api/delayBeforeRetry';
import { rowFor } from '../../../nodes/shared/api/errorTitlesAndAdvice';
import { isWebPage, readRefusal } from '../../../nodes/shared/api/refusalBody';
import { isCertainRefusal } from '../../../nodes/shared/api/serviceError';
import { REPEATABLE } from '../../../nodes/shared/api/types';

const KEY = 'api-key-of-some-length';
const response = (
	statusCode: number,
	body: unknown,
	headers: Record<string, string> = {},
): IN8nHttpFullResponse => ({ statusCode, body, headers }) as IN8nHttpFullResponse;
const refused = (statusCode: number, body: unknown = {}, headers = {}) =>
	problemOf(new Refused(response(statusCode, body, headers)), '/account', { apiKey: KEY });
const problem = (more: Partial<Problem>): Problem => ({ path: '/account', ...more });

describe('An address that n8n does not allow (N8N_SSRF_PROTECTION_ENABLED)', () => {
	const { SsrfBlockedIpError } = jest.requireActual<{
		SsrfBlockedIpError: new (ip: string, hostname?: string) => Error;
	}>('@n8n/backend-network');
	const error = new SsrfBlockedIpError('10.0.0.1', 'transcriber.internal');

	it.each([error, new Error('wrapped', { cause: error })])('means that nothing was sent', (one) => {
		const found = problemOf(one, '/transcribe-url', { apiKey: KEY });
		expect(found).toEqual({ path: '/transcribe-url', transport: 'blocked', isUnsent: true });
		expect(isCertainRefusal(problem({ ...found }))).toBe(true);
		expect(patienceFor(problem({ ...found }), REPEATABLE)).toBeUndefined();
		expect(rowFor(problem({ ...found })).next).toContain('N8N_SSRF_ALLOWED_HOSTNAMES');
	});
});

describe('Retry-After', () => {
	const askedFor = (header: string) => refused(429, {}, { 'retry-after': header })?.retryAfter;

	it('is read up to a day', () => {
		expect(askedFor('86400')).toBe(86_400_000);
		expect(askedFor('86401')).toBeUndefined();
	});

	it('that is a time stamp counts as missing', () => {
		expect(askedFor(String(Math.ceil(Date.now() / 1000) + 2))).toBeUndefined();
		expect(askedFor(new Date(Date.now() + 2 * 86_400_000).toUTCString())).toBeUndefined();
	});
});

it('The beginning of an answer that cannot be read shows no secret of a webhook', () => {
	const body = '{"task_id": "7", "webhook_signing_secret": "s3", "webhook": {"secret": "s3"}, cut';
	expect(refused(200, body)?.serviceMessage).toMatch(/^\{"task_id": "7"/);
	expect(refused(200, body)?.serviceMessage).not.toContain('s3');
	expect(refused(200, JSON.stringify(body))?.serviceMessage).not.toContain('s3');
});

describe('The problem of an answer', () => {
	it('that came too late is a timeout', () => {
		expect(problemOf(new Late(), '/account', { apiKey: KEY })).toEqual({
			path: '/account',
			transport: 'timeout',
		});
	});

	it.each([200, 204, 299])('with %d is that the service does not answer like this', (status) => {
		expect(refused(status, 'bot b1 accepted')).toEqual({
			path: '/account',
			status,
			transport: 'notJson',
			serviceMessage: 'bot b1 accepted',
		});
	});

	it.each([300, 302, 399])('with %d is a redirect', (status) => {
		expect(refused(status)).toEqual({ path: '/account', status, transport: 'redirect' });
	});

	it.each([199, 400, 503])('with %d is a refusal', (status) => {
		const body = { detail: { error_code: 'a_code', message: `No ${KEY}` } };
		expect(refused(status, body)).toEqual({
			path: '/account',
			status,
			errorCode: 'a_code',
			serviceMessage: 'No ***',
			isServiceShape: true,
			isBlank: false,
			isWebPage: false,
		});
	});

	it('quotes the beginning of an unreadable success, without secrets', () => {
		const quoted = (body: unknown) => refused(200, body)?.serviceMessage;
		expect(quoted(Buffer.from(' task 7f3c '))).toBe('task 7f3c');
		expect(quoted(`key ${KEY}`)).toBe('key ***');
		expect(quoted('webhook_secret: whsec_1, id: 7')).toBe('webhook_secret: ***, id: 7');
		expect(quoted('{"webhookSecret" : "whsec_1", "id')).toBe('{"webhookSecret" : "***", "id');
		expect(quoted("webhook-secret='whsec_1'}")).toBe("webhook-secret='***'}");
		expect(quoted('WEBHOOK_SECRET=whsec_1 webhook_secret=whsec_2')).toBe(
			'WEBHOOK_SECRET=*** webhook_secret=***',
		);
		expect(quoted('x'.repeat(300))).toBe('x'.repeat(200));
		expect([quoted(' '), quoted('<html>'), quoted({ a: 1 })]).toEqual([
			undefined,
			undefined,
			undefined,
		]);
	});
});

describe('A web page', () => {
	it.each([
		['<html>', {}],
		[' \n<!doctype html>', {}],
		['\ufeff<?xml version="1.0"?>', {}],
		[Buffer.from('<html>'), {}],
		['Sign in', { 'content-type': 'text/HTML; charset=utf-8' }],
		['', { 'content-type': 'application/xhtml+xml' }],
	])('is %j with %j', (body, headers) => {
		expect(isWebPage(response(403, body, headers))).toBe(true);
		expect(refused(403, body, headers)?.isWebPage).toBe(true);
	});

	it.each([
		['No', { 'content-type': 'text/plain' }],
		['1 < 2', {}],
		[{ detail: '<html>' }, { 'content-type': 'text/html' }],
	])('is not %j with %j', (body, headers) => {
		expect(isWebPage(response(403, body, headers))).toBe(false);
	});

	it('is not an answer without headers', () => {
		const bare = { statusCode: 403, body: 'No' } as unknown as IN8nHttpFullResponse;
		expect(isWebPage(bare)).toBe(false);
		expect(problemOf(new Refused(bare), '/account', { apiKey: KEY })).toMatchObject({
			status: 403,
		});
	});
});

describe('Retry-After', () => {
	const at = (header: string | undefined, date?: string) =>
		refused(429, {}, { 'retry-after': header, date })?.retryAfter;

	it('is read in seconds, or as a date by the clock of the service', () => {
		expect([at('45'), at('0'), at('1.5'), at('-3')]).toEqual([45_000, 0, 1_500, 0]);
		const now = 'Sun, 22 Nov 2026 12:00:00 GMT';
		expect(at('Sun, 22 Nov 2026 12:02:00 GMT', now)).toBe(120_000);
		expect(at('Sun, 22 Nov 2026 11:59:00 GMT', now)).toBe(0);
	});

	it('as a date is measured by our clock, if the service does not show its own', () => {
		jest.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12), doNotFake: ['nextTick'] });
		expect(at('Sun, 22 Nov 2026 12:02:00 GMT')).toBe(120_000);
		expect(at('Sun, 22 Nov 2026 12:02:00 GMT', 'today')).toBe(120_000);
		jest.useRealTimers();
	});

	it.each([undefined, '', ' ', 'soon', 'Infinity'])('%j says nothing', (header) => {
		expect(at(header)).toBeUndefined();
	});
});

describe('A 409 says that the same request is in progress', () => {
	it.each<Partial<Problem>>([
		{},
		{ serviceMessage: 'Busy' },
		...['in_progress', 'request-in-progress', 'InProgress', 'in progress', 'PROCESSING'].map(
			(errorCode) => ({ errorCode }),
		),
		...['still_running', 'pending', 'concurrent_request', 'parallel', 'key-in-use', 'inUse'].map(
			(errorCode) => ({ errorCode }),
		),
		...['busy', 'conflict', 'ConflictError', '409', 'HTTP_409'].map((errorCode) => ({ errorCode })),
		{ errorCode: 'already_exists', retryAfter: 0 },
		{ errorCode: 'idempotency_key_locked' },
		{ serviceMessage: 'Idempotency-Key was already used with a different request' },
	])('with %j', (more) => expect(isStillRunning(problem({ status: 409, ...more }))).toBe(true));

	it.each<Partial<Problem>>([
		{ status: 409, errorCode: 'already_exists' },
		{ status: 409, errorCode: 'in-the-progress' },
		{ status: 409, errorCode: 'idempotency_key_conflict' },
		{ status: 422, errorCode: 'in_progress' },
		{ status: 409, errorCode: 'idempotency_key_reused' },
		{ status: 400, errorCode: 'in_progress' },
		{ transport: 'broken' },
	])('but not with %j', (more) => expect(isStillRunning(problem(more))).toBe(false));
});

describe('A refusal names the key, whatever it says of it', () => {
	it.each<Partial<Problem>>([
		{ status: 400, errorCode: 'idempotency_error', serviceMessage: 'Use the same parameters' },
		{ status: 409, errorCode: 'IDEMPOTENCY_KEY_REUSED', serviceMessage: 'Different parameters' },
		{ status: 409, errorCode: 'idempotency_key_conflict' },
		{ status: 400, serviceMessage: 'Unknown header: Idempotency-Key' },
		...[
			'The Idempotency-Key has already been used',
			'Ключ идемпотентности использован с другим запросом',
			'This Idempotency-Key has expired. Please contact support.',
			'Idempotency-Key must be a valid UUID',
		].map((serviceMessage) => ({ status: 422, serviceMessage })),
	])('with %j', (more) => {
		expect(isAboutKey(problem({ isKeyed: true, ...more }))).toBe(true);
		expect(isAboutKey(problem(more))).toBe(false);
	});

	it.each<Partial<Problem>>([
		{ status: 400, serviceMessage: 'The recording was already transcribed' },
		{ status: 500, serviceMessage: 'Idempotency-Key was already used' },
		{ serviceMessage: 'Idempotency-Key was already used' },
		{ status: 409, errorCode: 'idempotency_key_in_use' },
		{ status: 409, serviceMessage: 'Idempotency-Key was already used' },
	])('but not with %j', (more) => {
		expect(isAboutKey(problem({ isKeyed: true, ...more }))).toBe(false);
	});
});

describe('A refusal', () => {
	it.each<[unknown, string]>([
		[{ detail: { error_code: 'a' } }, 'a'],
		[{ detail: { code: 'a' } }, 'a'],
		[{ error: { code: 'a' } }, 'a'],
		[{ errors: [{ error_code: 'a' }, { code: 'b' }] }, 'a'],
		[{ error_code: 'a', detail: { error_code: 'b' } }, 'a'],
		[{ error_code: 7, detail: { error_code: 'b' } }, 'b'],
		['{"detail":{"error_code":"a"}}', 'a'],
	])('%j has the code "%s"', (body, code) => expect(readRefusal(body).errorCode).toBe(code));

	it.each([[{ code: 'a' }], [{ errors: { code: 'a' } }], ['a'], [null]])('%j has none', (body) =>
		expect(readRefusal(body).errorCode).toBeUndefined(),
	);

	it('may have a field with the name of a method', () => {
		expect(readRefusal({ detail: 'No', toString: 'No' }).serviceMessage).toBe('No');
	});

	it.each<[string, unknown]>([
		['Apigee', { fault: { faultstring: 'No', detail: { errorcode: 'x' } } }],
		['ASP.NET', { Message: 'The backend has closed the connection' }],
		['RFC 9457', { type: 'about:blank', title: 'Unavailable', status: 503, detail: 'reset' }],
		['RFC 9457 without a type', { title: 'Unavailable', detail: 'reset' }],
		['a code only', { code: 503, success: false }],
		['a text', 'no healthy upstream'],
	])('of a gateway (%s) is not of the service', (_, body) => {
		const { isServiceShape, isBlank } = readRefusal(body);
		expect([isServiceShape, isBlank]).toEqual([false, false]);
	});

	it.each([
		[{ detail: { error_code: 'x', message: 'y' } }],
		[{ detail: { message: 'y' }, status: 'error' }],
		[{ detail: 'Bot service unavailable' }],
		[{ detail: 'Bot service unavailable', status: 503 }],
		[{ detail: [] }],
		[{ detail: null }],
	])('%j is of the service', (body) => expect(readRefusal(body).isServiceShape).toBe(true));

	it.each([[''], [' \n'], [null], [undefined], [{}], [[]]])('%j is none', (body) =>
		expect(readRefusal(body).isBlank).toBe(true),
	);

	it('has the shape of the service only with a "detail"', () => {
		const bodies = [{ detail: '' }, '{"detail":"x"}', { message: 'x' }, 'detail', '{"detail', null];
		expect(bodies.map((body) => readRefusal(body).isServiceShape)).toEqual([
			...[true, true, false, false, false, false],
		]);
	});

	it.each<[unknown, string]>([
		['  Too\n\tmany  ', 'Too many'],
		['<style>a{}</style><h1>No</h1><script x>\nrun()</script> entry', 'No entry'],
		['{"message":"No"}', 'No'],
		[' ["No"]', 'No'],
		['{"message":', '{"message":'],
		['null', 'null'],
		['"[a]"', '"[a]"'],
		[7, '7'],
		[{ detail: 'a', message: 'b' }, 'a'],
		[{ msg: 'No' }, 'No'],
		[{ issues: [{ message: 'a' }, {}, { message: 'b' }] }, 'a; b'],
		[{ error: 'invalid', error_description: 'No' }, 'invalid'],
		[{ error_description: 'No' }, 'No'],
		[{ title: 'No' }, 'No'],
		[{ reason: 'No' }, 'No'],
		[{ message: 'No', errors: { url: ['a'], language: ['b', 'c'] } }, 'No url: a; language: b; c'],
		[{ errors: { url: ['a'] } }, 'url: a'],
		[{ message: 'No', errors: ['a'] }, 'No'],
		[{ message: 'No', errors: null }, 'No'],
		[{ message: 'No', errors: 'a' }, 'No'],
		[{ url: ['a'], code: [7], other: 'b' }, 'url: a'],
		[{ detail: [{ loc: ['body', 'language'], msg: 'No' }] }, 'language: No'],
		[{ detail: [{ loc: ['body', 'file', 'name'], msg: 'No' }] }, 'name: No'],
		[{ detail: [{ loc: ['body'], msg: 'No' }] }, 'No'],
		[{ detail: [{ loc: ['body', 0], msg: 'No' }] }, 'No'],
		[{ detail: [{ loc: 'body', msg: 'No' }] }, 'No'],
	])('%j says "%s"', (body, words) => expect(readRefusal(body).serviceMessage).toBe(words));

	it('is quoted up to a limit', () => {
		expect(readRefusal('x'.repeat(600)).serviceMessage).toBe('x'.repeat(500));
		const many = Array.from({ length: 300 }, (_, field) => String(field % 10));
		expect(readRefusal(many).serviceMessage).toHaveLength(500);
	});

	it('is not read to its end: 100 000 characters of a text, 200 items, fields and values', () => {
		const words = (body: unknown) => readRefusal(body).serviceMessage;
		expect(words(`${' '.repeat(99_999)}x`)).toBe('x');
		expect(words(`${' '.repeat(100_000)}x`)).toBeUndefined();
		const items = (count: number) => [...Array<string>(count).fill(''), 'x'];
		expect([words(items(199)), words(items(200))]).toEqual(['x', undefined]);
		const fields = (count: number) => ({ ...Array<string>(count).fill(''), name: ['x'] });
		expect([words(fields(199)), words(fields(200))]).toEqual(['name: x', undefined]);
		let read = 0;
		const value = Object.defineProperty({}, 'detail', { get: () => void (read += 1) });
		// The list is a value, too.
		expect([words(Array(300).fill(value)), read]).toEqual([undefined, 199]);
	});
});
