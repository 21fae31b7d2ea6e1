/** Contract, "Every request": which answers are not the service's, and what they leave open. */
import {
	isForeign503,
	isFromSomethingElse,
	isWithoutAnswer,
} from '../../../nodes/shared/api/gatewayAnswers';
import type { Problem } from '../../../nodes/shared/api/noUsableAnswer';

const problem = (more: Partial<Problem>): Problem => ({ path: '/account', ...more });

describe('The request may have been carried out without an answer', () => {
	it.each<Partial<Problem>>([
		{ transport: 'broken' },
		{ transport: 'timeout' },
		...[408, 499, 502, 504, 520, 521, 522, 523, 524, 525, 526, 530].map((status) => ({ status })),
		{ status: 503, isWebPage: true },
		{ status: 503, serviceMessage: 'no healthy upstream' },
	])('after %j', (more) => expect(isWithoutAnswer(problem(more))).toBe(true));

	it.each<Partial<Problem>>([
		{ transport: 'unreachable' },
		{ transport: 'broken', isUnsent: true },
		{ transport: 'timeout', isUnsent: true },
		{ transport: 'tls' },
		...[0, 400, 500, 501, 505, 519, 527].map((status) => ({ status })),
		{ status: 503, isBlank: true },
		{},
	])('but not after %j', (more) => expect(isWithoutAnswer(problem(more))).toBe(false));
});

describe('A 503 is of the service', () => {
	it.each<Partial<Problem>>([
		{ isBlank: true },
		{ isBlank: true, isWebPage: false },
		{ isServiceShape: true, serviceMessage: 'Busy' },
		{ isServiceShape: true, isWebPage: true },
		{ errorCode: 'service_unavailable', serviceMessage: 'Busy' },
	])('with %j', (more) => expect(isForeign503(problem({ status: 503, ...more }))).toBe(false));

	it('but not of a gateway that says something else', () => {
		expect(isForeign503(problem({ status: 503, errorCode: 'x', serviceMessage: 'x' }))).toBe(true);
		expect(isForeign503(problem({ status: 503, isBlank: false }))).toBe(true);
		expect(isForeign503(problem({ status: 503, isBlank: true, isWebPage: true }))).toBe(true);
		expect(isForeign503(problem({ status: 502, isWebPage: true }))).toBe(false);
	});
});

describe('A refusal is of something in between', () => {
	it.each([400, 401, 404, 499])('if it is a web page with status %i', (status) => {
		expect(isFromSomethingElse(problem({ status, isWebPage: true }))).toBe(true);
	});

	it.each([399, 407, 408, 413, 429, 500])(
		'but a web page with status %i tells nothing',
		(status) => {
			expect(isFromSomethingElse(problem({ status, isWebPage: true }))).toBe(false);
		},
	);

	it.each<Partial<Problem>>([
		{ status: 404, isWebPage: false },
		{ status: 404 },
		{ isWebPage: true },
	])('but not with %j', (more) => expect(isFromSomethingElse(problem(more))).toBe(false));
});
