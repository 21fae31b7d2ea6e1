/** Contract, "Every request": which answers are not the service's, and what they leave open. */
import {
	isForeign503,
	isFromSomethingElse,
	isWithoutAnswer,
	mayBeLostRoute,
} from '../../../nodes/shared/api/gatewayAnswers';
import type { Problem } from '../../../nodes/shared/api/noUsableAnswer';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { isLasting } from '../../../nodes/shared/parameters/refuse';
import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { few } from '../../support/long';
import { LOST_ROUTES } from '../../support/lostRoutes';
import { FILE } from '../../support/parameters';
import { byId, itemWithFile, serviceForTests } from '../../support/service';

const service = serviceForTests();

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

describe('A 404 may be that of a proxy which has lost its route', () => {
	it.each<Partial<Problem>>([
		{ status: 404 },
		{ status: 404, serviceMessage: 'Gone' },
		{ status: 404, isServiceShape: false, isBlank: true },
	])('with %j', (more) => expect(mayBeLostRoute(problem(more))).toBe(true));

	it.each<Partial<Problem>>([
		{ status: 404, isServiceShape: true },
		{ status: 404, errorCode: 'not_found' },
		{ status: 404, isServiceShape: true, errorCode: 'not_found' },
		{ status: 403 },
		{ status: 403, isServiceShape: true },
		{ status: 410 },
		{ status: 404, isWebPage: true },
		{ transport: 'broken' },
	])('but not with %j', (more) => expect(mayBeLostRoute(problem(more))).toBe(false));
});

few.describe.each(LOST_ROUTES)(
	'A 404 of $proxy, which has lost its route to the service,',
	({ answer }) => {
		const loseRoute = (times = 99) =>
			service.running().fault({ match: { path: '/(meeting|tasks)/' }, times, action: answer });
		const CANCEL_TASK = { resource: 'task', operation: 'cancel' };
		const WAIT = { resource: 'task', operation: 'wait' };
		const REGENERATE = {
			resource: 'task',
			operation: 'regenerateSummary',
			taskId: byId('a1'),
			path: '/tasks/{taskId}/summary',
		};

		it('does not deny the bot that goes on recording when it is to stop', async () => {
			const botId = await service.bot();
			loseRoute();
			const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId });
			expect(error?.message).toContain('with this ID, or something else has answered in its place');
			expect(error?.description).toMatch(
				/A proxy answers like this.* if it goes on, which costs money/,
			);
		});

		it('does not deny the task that goes on when it is to be cancelled', async () => {
			const taskId = byId(await service.pendingTask());
			loseRoute();
			const { error } = await service.run({ ...CANCEL_TASK, taskId });
			expect(error?.message).toContain('with this ID, or something else has answered in its place');
			expect(error?.description).toMatch(/use Meeting: Cancel or Stop\. .* if it goes on, which/);
		});

		it('does not deny a task at the first look', async () => {
			const taskId = byId(await service.completedTask());
			loseRoute(1);
			const { error } = await service.run({ ...WAIT, taskId });
			expect(error?.message).toContain('with this ID, or something else has answered in its place');
			expect(error?.description).toContain('A proxy answers like this');
		});

		it('does not deny a task that the node waits for, and leaves the Retry open', async () => {
			jest.replaceProperty(POLL, 'refused', 200);
			loseRoute();
			const asked = { ...FILE, onCompletion: 'poll' };
			const { error } = await service.run(asked, { items: [itemWithFile()] });
			expect(error?.message).toMatch(
				/^Task \S+: The service has no .* or something else has answered/,
			);
			expect(error && isLasting(error)).toBe(false);
		});

		it.each([
			{ resource: 'dictionary', operation: 'get' },
			{ resource: 'task', operation: 'getAll' },
			REGENERATE,
		])('does not send the user to the Base URL alone: %j', async (parameters) => {
			service.running().fault({ match: {}, times: 9, action: answer });
			const { error } = await service.run(parameters);
			expect(error?.message).toContain(', or something else has answered in its place');
		});

		it('does not let the user delete tasks where it comes in the middle of a list', async () => {
			service.running().seed(120);
			for (const times of [1, 9]) {
				service.running().fault({ match: { path: '/tasks$' }, skip: 1, times, action: answer });
				const { error } = await service.run({
					resource: 'task',
					operation: 'getAll',
					returnAll: true,
				});
				expect(error?.message).toContain('or something else has answered in its place');
				service.running().clearFaults();
			}
		});
	},
);

it.each([410, 404])(
	'A transcript that the service has deleted (%i) is not called kept',
	async (status) => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100);
		jest.replaceProperty(RETRY, 'patienceWhenRefused', 100);
		const taskId = byId(await service.completedTask());
		const body = { error: 'Transcript deleted after 30 days' };
		const match = { path: '/result$' };
		service.running().fault({ match, times: 99, action: { kind: 'respond', status, body } });
		const { error } = await service.run({ resource: 'task', operation: 'getResult', taskId });
		expect(error?.description).toContain('the service no longer keeps its transcript');
		const waited = await service.run({ resource: 'task', operation: 'wait', taskId });
		expect(waited.error?.description).not.toContain('The transcript is not lost');
	},
);
