/** What an error of the service means for what was sent, and what it says. */

import type { INode } from 'n8n-workflow';

import {
	adviceForKnownId,
	adviceIfUncertain,
	isCertainRefusal,
	isNotFound,
	isRefusedForGood,
	isUnknownToService,
	said,
	ServiceError,
	wasCertainlyRefused,
} from '../../../nodes/shared/api/serviceError';
import type { Problem } from '../../../nodes/shared/api/noUsableAnswer';
import { readRefusal } from '../../../nodes/shared/api/refusalBody';

const NODE: INode = {
	id: '1',
	name: 'Transcriber',
	type: 'n8n-nodes-transcriber.transcriber',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const problem = (more: Partial<Problem>): Problem => ({ path: '/transcribe', ...more });
const errorOf = (more: Partial<Problem>) => new ServiceError(NODE, problem(more));

describe('The service has certainly done nothing', () => {
	it.each<Partial<Problem>>([
		...[400, 401, 402, 404, 409, 413, 422, 429, 498, 307, 308].map((status) => ({ status })),
		{ status: 503, isBlank: true },
		...(['unreachable', 'unknownHost', 'noTurn'] as const).map((transport) => ({ transport })),
		{ transport: 'tls', isUnsent: true },
		{ transport: 'notJson', isUnsent: true },
		{ status: 503, isServiceShape: true, serviceMessage: 'Busy' },
		{ status: 404, isWebPage: true },
		{ transport: 'storage' },
	])('after %j', (more) => {
		expect(isCertainRefusal(problem(more))).toBe(true);
		expect(wasCertainlyRefused(errorOf(more))).toBe(true);
	});

	it.each<Partial<Problem>>([
		...[408, 499, 500, 501, 502, 504, 520, 301, 302, 303, 306, 309, 200].map((status) => ({
			status,
		})),
		...(['broken', 'timeout', 'tls', 'unreadableFile'] as const).map((transport) => ({
			transport,
		})),
		{ status: 400, transport: 'notJson' },
		{ status: 503, isWebPage: true },
		{ status: 503 },
		{ status: 503, serviceMessage: 'no healthy upstream' },
		{},
	])('is not known after %j', (more) => {
		expect(isCertainRefusal(problem(more))).toBe(false);
		expect(wasCertainlyRefused(errorOf(more))).toBe(false);
	});

	it('is not known after any other failure', () => {
		expect(wasCertainlyRefused(new Error('HTTP 400'))).toBe(false);
		expect(wasCertainlyRefused({ problem: problem({ status: 400 }) })).toBe(false);
	});
});

/** Traefik, Kubernetes, Kong, Apigee, ASP.NET, RFC 9457, and gateways with other JSON. */
const GATEWAY_WORDS: unknown[] = [
	'404 page not found\n',
	'default backend - 404',
	{ message: 'no Route matched with those values' },
	{ error: 'Not Found', status: 404 },
	{ fault: { faultstring: 'Unable to identify proxy' } },
	{ Message: 'No HTTP resource was found' },
	{ type: 'about:blank', title: 'Not Found', status: 404, detail: 'No route' },
	{ code: 404 },
];

describe('The service does not know a bot', () => {
	it.each([404, 410])('that it answers with %d', (status) => {
		const inItsShape = { status, isServiceShape: true, serviceMessage: 'No such bot' };
		expect(isUnknownToService(errorOf(inItsShape))).toBe(true);
		const withCode = { status, errorCode: 'not_found', serviceMessage: 'No such bot' };
		expect(isUnknownToService(errorOf(withCode))).toBe(true);
	});

	it.each(GATEWAY_WORDS)('unless a gateway says so: %j', (body) => {
		for (const status of [404, 410]) {
			const failure = errorOf({ status, ...readRefusal(body) });
			expect(isUnknownToService(failure)).toBe(false);
			expect(isNotFound(failure)).toBe(true);
		}
	});

	it('unless nothing shows who says so: Envoy answers a lost route without a body', () => {
		for (const status of [404, 410]) {
			const failure = errorOf({ status, ...readRefusal('') });
			expect(isUnknownToService(failure)).toBe(false);
			expect(isNotFound(failure)).toBe(true);
		}
	});

	it.each<Partial<Problem>>([
		{ status: 404, isWebPage: true },
		{ status: 400 },
		{ status: 403 },
		{ status: 403, isServiceShape: true, errorCode: 'forbidden' },
		{ transport: 'broken' },
	])('but it may know one after %j', (more) => {
		expect(isUnknownToService(errorOf(more))).toBe(false);
		expect(isNotFound(errorOf(more))).toBe(false);
		const other = { problem: problem({ status: 404, errorCode: 'not_found' }) };
		expect([isNotFound(other), isUnknownToService(other)]).toEqual([false, false]);
	});
});

it('The advice for an id of the service itself is not to check the id', () => {
	const unknown = errorOf({ status: 404, serviceMessage: 'No such task' });
	expect(adviceForKnownId(unknown)).toBe('The answer was HTTP 404: “No such task”.');
	expect(unknown.description).not.toBe(adviceForKnownId(unknown));
	const other = errorOf({ status: 418, serviceMessage: 'No' });
	expect(adviceForKnownId(other)).toBe(other.description);
	other.description = null;
	expect(adviceForKnownId(other)).toBe('');
});

describe('The advice if the service may have done what was asked', () => {
	it.each(['redirect', 'notJson', 'tls'] as const)('is to correct the address after %s', (kind) => {
		const failure = errorOf({ status: 302, transport: kind });
		expect(adviceIfUncertain(failure)).toBe(failure.description);
		expect(failure.description).not.toBe('');
		failure.description = null;
		expect(adviceIfUncertain(failure)).toBe(said(failure.problem));
	});

	it('is never to try again: nothing remains but what was answered', () => {
		expect(adviceIfUncertain(errorOf({ status: 500, serviceMessage: 'The disk is full' }))).toBe(
			'The service answered HTTP 500: “The disk is full”.',
		);
		expect(adviceIfUncertain(errorOf({ transport: 'timeout' }))).toBe('');
		expect(adviceIfUncertain(new Error('Something else'))).toBe('');
	});
});

describe('The service refuses a request for good', () => {
	it.each([400, 402, 404, 409, 410, 422, 498])('with %d', (status) => {
		expect(isRefusedForGood(errorOf({ status }))).toBe(true);
	});

	it.each<Partial<Problem>>([
		...[399, 401, 403, 408, 429, 499, 500, 503].map((status) => ({ status })),
		{ status: 404, isWebPage: true },
		{ transport: 'broken' },
	])('but not with %j', (more) => {
		expect(isRefusedForGood(errorOf(more))).toBe(false);
		expect(isRefusedForGood({ problem: problem({ status: 404 }) })).toBe(false);
	});
});

describe('An error', () => {
	it('quotes the status, the code and the message of the service, whichever there are', () => {
		expect(said(problem({ status: 418, errorCode: 'teapot', serviceMessage: 'No' }))).toBe(
			'The service answered HTTP 418, teapot: “No”.',
		);
		expect(said(problem({ status: 418 }))).toBe('The service answered HTTP 418.');
		expect(said(problem({ transport: 'broken' }))).toBe('');
	});

	it.each<Partial<Problem>>([
		{ isWebPage: true },
		{ status: 200, transport: 'notJson' },
		{ serviceMessage: 'no Route matched with those values' },
	])(
		'does not call it the answer of the service if something else may have answered: %j',
		(more) => {
			expect(said(problem({ status: 404, ...more }))).toMatch(/^The answer was HTTP (404|200)/);
		},
	);

	it('ends with those words, and keeps the problem and the status', () => {
		const error = errorOf({ status: 418, serviceMessage: 'No' });
		expect(error.description).toMatch(/\S The service answered HTTP 418: “No”\.$/);
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '418',
			problem: { status: 418 },
		});
		const unanswered = errorOf({ transport: 'broken' });
		expect(unanswered.httpCode).toBeNull();
		expect(unanswered.description).toMatch(/^\S.*\S$/);
	});

	it.each([
		[1_000, '1 second'],
		[1_001, '2 seconds'],
		[119_000, '119 seconds'],
		[120_000, '2 minutes'],
		[120_001, '3 minutes'],
		[7_199_000, '120 minutes'],
		[7_200_000, '2 hours'],
		[7_200_001, '3 hours'],
		[172_799_000, '48 hours'],
	])('says when to try again, in words: %d ms are %s', (retryAfter, words) => {
		const { description } = errorOf({ status: 418, retryAfter });
		expect(description).toContain(` The service asks to try again in ${words}. `);
	});

	it('says nothing about when, if the service does not', () => {
		const descriptions = [undefined, 0].map(
			(retryAfter) => errorOf({ status: 418, retryAfter }).description,
		);
		for (const text of descriptions) {
			expect(text).toMatch(/, then try again\. The service answered HTTP 418\.$/);
		}
	});
});
