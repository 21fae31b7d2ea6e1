/** "Every request" in the contract: what cancels or clears may be sent again, by n8n too. */
// Also covers nodes/Transcriber/resources/successThatSaysNo.ts.
import type { INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { REPEATABLE, type RoutingRequest } from '../../../nodes/shared/api/types';
import { NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { sendCancelOrClear } from '../../../nodes/Transcriber/item/sendCancelOrClear';
import { STOPPING } from '../../../nodes/Transcriber/resources/sendCancel';
import type { FaultRule } from '../../simulator/index';
import { again } from '../../support/again';
import { itemContext } from '../../support/itemContext';
import { LOST_ROUTES } from '../../support/lostRoutes';
import { few } from '../../support/long';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

beforeEach(() => {
	jest.replaceProperty(STOPPING, 'pauseMs', 10);
	// The tests share an API key.
	jest.replaceProperty(LIMITS, 'windowMs', 0);
});

describe('what this node has ended in the same execution stays a success', () => {
	const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
	const GONE: FaultRule['action'] = { kind: 'respond', status: 404, body: {} };
	const CANCEL_TASK = { resource: 'task', operation: 'cancel', taskId: '={{ $json.id }}' };
	const CANCEL_BOT = { resource: 'meeting', operation: 'cancel', botId: '={{ $json.id }}' };
	const CLEAR = { resource: 'dictionary', operation: 'clear' };
	const gone = (match: FaultRule['match'], skip: number) =>
		service.running().fault({ match, skip, times: 100, action: GONE });

	few.it.each([
		['task', CANCEL_TASK, async () => await service.pendingTask(), '/tasks/'],
		['bot', CANCEL_BOT, async () => await service.bot(), '/meeting/'],
	])(
		'with Retry On Fail, where the service no longer knows the %s',
		async (what, parameters, create, path) => {
			const [a, b] = [await create(), await create()];
			const ended = `${path}${a}`;
			gone({ method: 'GET', path: ended }, 0);
			gone({ path: `${ended}(/cancel)?$` }, 1);
			service.running().fault({
				match: { path: `${path}${b}` },
				action: { kind: 'respond', status: 500 },
			});
			const more = { items: itemsOf({ id: a }, { id: b }), node: RETRY_ON_FAIL };
			const { json, error } = await service.run(parameters, more);
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ [`${what}_id`]: a }, { [`${what}_id`]: b }]);
		},
	);

	it.each([
		['task', CANCEL_TASK, async () => await service.pendingTask(), '/tasks/'],
		['bot', CANCEL_BOT, async () => await service.bot(), '/meeting/'],
	])('with two items that name the same %s', async (what, parameters, create, path) => {
		const id = await create();
		gone({ method: 'GET', path: `${path}${id}` }, 0);
		gone({ path: `${path}${id}(/cancel)?$` }, 1);
		const { json, error } = await service.run(parameters, { items: itemsOf({ id }, { id }) });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ [`${what}_id`]: id }, { [`${what}_id`]: id }]);
	});

	it.each([
		['task', CANCEL_TASK],
		['bot', CANCEL_BOT],
	])('with an answer that has a field `error`, for a %s', async (what, parameters) => {
		const body = { [`${what}_id`]: 'x1', status: 'cancelled', error: 'Cancelled by the user' };
		service.running().fault({
			match: { path: '/x1(/cancel)?$' },
			action: { kind: 'respond', status: 200, body },
		});
		const more = { items: itemsOf({ id: 'x1' }), node: RETRY_ON_FAIL };
		const { json, error } = await service.run(parameters, more);
		expect(error).toBeUndefined();
		const { error: said, ...others } = body;
		expect(json).toEqual([{ ...others, service_error: said }]);
		expect(service.lines()).toHaveLength(1);
	});

	it.each([404, 409, 410])('for a dictionary that two items clear: %d', async (status) => {
		service.running().fault({
			match: { method: 'DELETE' },
			skip: 1,
			action: { kind: 'respond', status, body: {} },
		});
		const { json, error } = await service.run(CLEAR, { items: itemsOf({}, {}) });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ deleted: true }, { deleted: true }]);
	});

	it('but not for a dictionary that has terms again, where a proxy has lost its route to the service', async () => {
		const first = await service.run(CLEAR);
		await service.ask('POST /dictionary', { json: { terms: ['n8n'] } });
		const [{ answer }] = LOST_ROUTES;
		service.running().fault({ match: { path: '/dictionary$' }, times: 9, action: answer });
		const { error } = await service.run(CLEAR, { data: again(first, CLEAR, itemsOf({})) });
		expect(error?.message).toContain('There is nothing at this address of the service');
	});

	it.each([
		['task', CANCEL_TASK],
		['bot', CANCEL_BOT],
	])('but a %s that the service has never known is an error', async (_what, parameters) => {
		const { error } = await service.run(parameters, { items: itemsOf({ id: 'unknown' }) });
		expect(error?.httpCode).toBe('404');
	});

	it('but a dictionary that still has terms is an error', async () => {
		await service.ask('PUT /dictionary', { json: { terms: ['n8n'] } });
		service.running().fault({ match: { method: 'DELETE' }, action: GONE });
		const { error } = await service.run(CLEAR);
		expect(error?.httpCode).toBe('404');
	});

	it('but a dictionary of which the service knows nothing is an error', async () => {
		gone({ path: '/dictionary$' }, 0);
		const { error } = await service.run(CLEAR);
		expect(error?.httpCode).toBe('404');
	});
});

it('of what was cancelled or cleared, nothing but the path is kept in the execution', async () => {
	const task = await service.pendingTask();
	const bot = await service.bot();
	for (const [path, parameters] of [
		[`/tasks/${task}/cancel`, { resource: 'task', operation: 'cancel', taskId: task }],
		[`/meeting/${bot}`, { resource: 'meeting', operation: 'cancel', botId: bot }],
		['/dictionary', { resource: 'dictionary', operation: 'clear' }],
	] as const) {
		const { data, error } = await service.run(parameters);
		expect(error).toBeUndefined();
		const kept = data.executionData?.contextData['node:Transcriber'];
		expect(kept).toEqual({ ended: { [path]: true } });
	}
});

describe('what several items end, of a service that is away', () => {
	const CLEAR = { resource: 'dictionary', operation: 'clear' };
	const CONTINUE = { onError: 'continueRegularOutput' } as const;
	const answers = (...all: Array<{ status: number; headers?: Record<string, string> }>) =>
		all.forEach((one) =>
			service.running().fault({
				match: { method: 'DELETE' },
				times: 1,
				action: { kind: 'respond', ...one },
			}),
		);
	/** The node gives up at once, because that is longer than its patience. */
	const away = { status: 503, headers: { 'Retry-After': '3600' } };
	const failedOf = (json: object[]) => json.map((one) => 'error' in one);

	it.each([503, 429])(
		'is not sent for the others if the failure stops the node: %d',
		async (status) => {
			answers({ ...away, status });
			const { error } = await service.run(CLEAR, { items: itemsOf({}, {}, {}) });
			expect(error?.httpCode).toBe(String(status));
			expect(service.lines()).toEqual(['DELETE /api/v1/dictionary']);
		},
	);

	it('is not sent for an item before it either, whose failure n8n would show', async () => {
		answers(away);
		const place = { saved: {}, credentials: service.credentials(), items: itemsOf({}, {}) };
		const run = NodeRun.of(itemContext(CLEAR, place));
		const sending = [1, 0].map(async (itemIndex) => {
			const baseURL = `${service.running().url}/api/v1`;
			const request = { options: { method: 'DELETE', baseURL, url: '/dictionary' } };
			const context = itemContext(CLEAR, { ...place, itemIndex });
			return await sendCancelOrClear(context, request as RoutingRequest, REPEATABLE, run);
		});
		expect(await Promise.allSettled(sending)).toEqual([
			{ status: 'rejected', reason: expect.objectContaining({ httpCode: '503' }) },
			{ status: 'fulfilled', value: [] },
		]);
		expect(service.lines()).toHaveLength(1);
	});

	it('is tried once for each of the others if the node continues', async () => {
		answers(away, { status: 503 });
		const { json } = await service.run(CLEAR, { items: itemsOf({}, {}, {}), node: CONTINUE });
		expect(failedOf(json)).toEqual([true, true, false]);
		expect(service.lines()).toHaveLength(3);
	});

	it('is repeated for the others after a refusal that no repeat mends', async () => {
		answers({ status: 500 }, { status: 503 });
		const { json } = await service.run(CLEAR, { items: itemsOf({}, {}, {}), node: CONTINUE });
		expect(failedOf(json)).toEqual([true, false, false]);
	});

	it('is sent again, with all its patience, by Retry On Fail', async () => {
		answers(away, { status: 503 });
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const { json, error } = await service.run(CLEAR, { items: itemsOf({}, {}), node });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(2);
	});
});

describe('a second cancellation that the service refuses, after a success of the first', () => {
	async function cancelTwice(parameters: INodeParameters, between = () => {}) {
		const first = await service.run(parameters);
		expect(first.error).toBeUndefined();
		between();
		service.running().fault({ match: {}, times: 1, action: { kind: 'respond', status: 409 } });
		return await service.run(parameters, { data: again(first, parameters, [{ json: {} }]) });
	}
	const answerWith = (body: object, method: string) =>
		service
			.running()
			.fault({ match: { method }, times: 1, action: { kind: 'respond', status: 200, body } });

	it('is no success for a bot that goes on recording', async () => {
		const botId = await service.bot();
		answerWith({}, 'DELETE');
		const { error, json } = await cancelTwice({ resource: 'meeting', operation: 'cancel', botId });
		expect(error?.message).toBe('It is not certain that the meeting bot is cancelled [item 0]');
		expect(error?.description).toContain('if it goes on, which costs money, try again');
		expect(json).toEqual([]);
	});

	it('is no success for a task that goes on', async () => {
		const taskId = await service.pendingTask();
		answerWith({ status: 'cancelling' }, 'POST');
		const { error } = await cancelTwice({
			resource: 'task',
			operation: 'cancel',
			taskId: byId(taskId),
		});
		expect(error?.message).toBe('It is not certain that the task is cancelled [item 0]');
	});

	it.each([
		['bot', 'DELETE', { bot_id: 'one', status: 'recording' }],
		['task', 'POST', { task_id: 'one', status: 'processing' }],
	])('is a success for a %s that took a moment to stop', async (what, method, state) => {
		answerWith({ status: 'stopping' }, method);
		answerWith(state, 'GET');
		answerWith({ ...state, status: 'cancelled' }, 'GET');
		const { error } = await cancelTwice(
			what === 'bot'
				? { resource: 'meeting', operation: 'cancel', botId: 'one' }
				: { resource: 'task', operation: 'cancel', taskId: byId('one') },
		);
		expect(error).toBeUndefined();
	});

	it('is no success for a bot that was seen recording, and then could not be looked at', async () => {
		const botId = await service.bot();
		answerWith({ status: 'stopping' }, 'DELETE');
		answerWith({ bot_id: botId, status: 'recording' }, 'GET');
		service
			.running()
			.fault({ match: { method: 'GET' }, times: 9, action: { kind: 'respond', status: 400 } });
		const { error } = await cancelTwice({ resource: 'meeting', operation: 'cancel', botId });
		service.running().clearFaults();
		expect(error?.message).toBe('It is not certain that the meeting bot is cancelled [item 0]');
	});

	it('says of a task that has completed that it has, because it is charged', async () => {
		const taskId = await service.pendingTask();
		answerWith({ status: 'cancelling' }, 'POST');
		const { error } = await cancelTwice(
			{ resource: 'task', operation: 'cancel', taskId: byId(taskId) },
			() => service.running().finish(taskId),
		);
		expect(error?.message).toBe('The task has already ended (completed) [item 0]');
	});

	it.each([
		['has left and has a task', { status: 'stopping', task_id: 't-1' }],
		['has ended', { status: 'completed', task_id: '' }],
		['has a status that nobody knows', { status: 'left' }],
		['has no status', {}],
	])('is a success for a bot that %s', async (_what, state) => {
		const botId = await service.bot();
		answerWith({}, 'DELETE');
		answerWith({ bot_id: botId, ...state }, 'GET');
		const { error } = await cancelTwice({ resource: 'meeting', operation: 'cancel', botId });
		expect(error).toBeUndefined();
	});

	it.each([
		['a status that nobody knows', 'revoked'],
		['the status failed, which is not charged', 'failed'],
	])('is a success for a task with %s', async (_what, status) => {
		const taskId = await service.pendingTask();
		answerWith({ status: 'cancelling' }, 'POST');
		answerWith({ task_id: taskId, status }, 'GET');
		const { error } = await cancelTwice({
			resource: 'task',
			operation: 'cancel',
			taskId: byId(taskId),
		});
		expect(error).toBeUndefined();
	});
});

describe('a success that says that nothing was cancelled', () => {
	const NO = { success: false, message: 'It could not be stopped' };
	const answerNo = (match: FaultRule['match']) =>
		service.running().fault({
			match,
			times: 9,
			action: { kind: 'respond', status: 200, body: NO, readBody: true },
		});

	it.each([
		['task', 'POST', async () => await service.pendingTask()],
		['meeting bot', 'DELETE', async () => await service.bot()],
	])('is an error for a %s that goes on', async (what, method, create) => {
		const id = await create();
		answerNo({ method });
		const own =
			what === 'task' ? { resource: 'task', taskId: id } : { resource: 'meeting', botId: id };
		const { error } = await service.run({ ...own, operation: 'cancel' });
		expect(error?.message).toBe(
			`The service answered that the ${what} is not cancelled: It could not be stopped [item 0]`,
		);
		expect(error?.description).toContain('costs money');
	});

	it.each([
		{ ok: false, error: 'Too late.' },
		{ error: 'Too late.' },
		{ status: 'error', message: 'Too late.' },
		{ cancelled: false, message: 'Too late.' },
		{ deleted: false, message: 'Too late.' },
	])('shows the reason wherever it stands: %j', async (body) => {
		const botId = await service.bot();
		service.running().fault({
			match: { method: 'DELETE' },
			action: { kind: 'respond', status: 200, body },
		});
		const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId });
		expect(error?.message).toContain('is not cancelled: Too late.');
	});

	it('is a success for a task that is cancelled already', async () => {
		const taskId = await service.pendingTask();
		await service.ask(`POST /tasks/${taskId}/cancel`);
		answerNo({ method: 'POST' });
		const { json } = await service.run({ resource: 'task', operation: 'cancel', taskId });
		expect(json).toMatchObject([{ task_id: taskId, status: 'cancelled' }]);
	});

	it('says of a task that has ended that it has', async () => {
		const taskId = await service.completedTask();
		answerNo({ method: 'POST' });
		const { error } = await service.run({ resource: 'task', operation: 'cancel', taskId });
		expect(error?.message).toBe('The task has already ended (completed) [item 0]');
		expect(error?.description).toContain('It could not be stopped');
	});

	it('says of a bot that has left its meeting how to stop its recording', async () => {
		answerNo({ method: 'DELETE' });
		const body = { bot_id: 'b1', status: 'completed', task_id: '7f3c' };
		service.running().fault({
			match: { method: 'GET' },
			times: 1,
			action: { kind: 'respond', status: 200, body },
		});
		const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId: 'b1' });
		expect(error?.message).toBe('The meeting bot has already ended (completed) [item 0]');
		expect(error?.description).toContain('stop that with Transcript: Cancel (task 7f3c)');
		expect(error?.description).not.toContain('nothing left');
	});

	it('is an error also where only one of several answers says so', async () => {
		const body = [{ bot_id: 'b1', cancelled: true }, { cancelled: false }];
		for (const [method, own] of [
			['DELETE', body],
			['GET', { bot_id: 'b1', status: 'leaving' }],
		] as const) {
			service.running().fault({
				match: { method },
				times: 1,
				action: { kind: 'respond', status: 200, body: own },
			});
		}
		const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId: 'b1' });
		expect(error?.message).toContain('The service answered that the meeting bot is not cancelled');
	});

	it('with Retry On Fail, is not remembered as a success', async () => {
		const botId = await service.bot();
		answerNo({ method: 'DELETE' });
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const { error } = await service.run(
			{ resource: 'meeting', operation: 'cancel', botId },
			{ node },
		);
		expect(error?.message).toContain('is not cancelled');
	});
});

it('two items that cancel the same task both have an output where its status shows that it is cancelled', async () => {
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	const taskId = await service.pendingTask();
	await service.ask(`POST /tasks/${taskId}/cancel`);
	service
		.running()
		.fault({ match: { path: '/cancel$' }, action: { kind: 'respond', status: 408 } });
	const cancel = { resource: 'task', operation: 'cancel', taskId: byId(taskId) };
	const { json, error } = await service.run(cancel, { items: itemsOf({}, {}) });
	expect(error).toBeUndefined();
	expect(json).toHaveLength(2);
});
