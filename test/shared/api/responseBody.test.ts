// Also covers nodes/shared/jsonValues.ts.

import type { IN8nHttpFullResponse } from 'n8n-workflow';

import { parseJson } from '../../../nodes/shared/jsonValues';
import { Refused } from '../../../nodes/shared/api/noUsableAnswer';
import { anyBodyOf, bodyOf } from '../../../nodes/shared/api/responseBody';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { byId, failureOf, itemsOf, serviceForTests } from '../../support/service';
import { few } from '../../support/long';

const service = serviceForTests();

beforeEach(() => {
	jest.replaceProperty(RETRY, 'base', 1);
});

function answer(path: string, status: number, body: unknown, times = 100) {
	service.running().fault({ match: { path }, times, action: { kind: 'respond', status, body } });
}

/** The service does what it is asked, but its answer is lost. */
function loseAnswer(method: string, path: string) {
	service.running().fault({
		match: { method, path },
		action: { kind: 'cut', when: 'afterProcessing' },
	});
}

describe('The body of a success', () => {
	const response = (body: unknown, statusCode = 200, headers = {}) =>
		({ body, statusCode, headers }) as IN8nHttpFullResponse;

	it.each<[unknown, unknown]>([
		['', {}],
		[undefined, {}],
		[null, {}],
		[Buffer.alloc(0), {}],
		[{ a: 1 }, { a: 1 }],
		[[1], [1]],
	])('%j is read as %j, in every answer', (body, read) => {
		for (const method of ['GET', 'POST']) expect(bodyOf(response(body), method)).toEqual(read);
		expect(bodyOf(response(body))).toEqual(read);
	});

	it.each(['OK', 'a {b}', 7, true, Buffer.from('OK')])('%j counts only for a write', (body) => {
		const value = Buffer.isBuffer(body) ? 'OK' : body;
		expect(bodyOf(response(body), 'POST')).toEqual({ value });
		expect(() => bodyOf(response(body), 'GET')).toThrow(Refused);
		expect(() => bodyOf(response(body))).toThrow(Refused);
	});

	it.each(['{"task_id":', '[1,', ' \n{"a"', '<html>'])('%j never counts', (body) => {
		for (const method of ['GET', 'POST']) {
			expect(() => bodyOf(response(body), method)).toThrow(Refused);
		}
	});

	it('with 200 to 299 is the only one that counts', () => {
		for (const status of [200, 299]) expect(anyBodyOf(response('x', status))).toBe('x');
		for (const status of [199, 300, 404]) {
			expect(() => anyBodyOf(response('x', status))).toThrow(Refused);
		}
		expect(anyBodyOf(response(Buffer.from('ключ')))).toBe('ключ');
	});
});

const NEEDS_A_FINISHED_TASK = [
	{ resource: 'task', operation: 'getResult' },
	{ resource: 'task', operation: 'export' },
	{ resource: 'dictionary', operation: 'preview', terms: 'n8n' },
] as const;

few.describe.each(NEEDS_A_FINISHED_TASK)('$resource.$operation of a task', (parameters) => {
	const path = '/(result|export|preview)$';
	const run = async (id: string) => await service.run({ ...parameters, taskId: byId(id) });

	few.it.each([400, 404, 409, 422, 425, 500])(
		'that has not finished says so where the service answers %d',
		async (status) => {
			const id = await service.pendingTask();
			answer(path, status, { detail: { message: 'Not now' } });
			answer(`/tasks/${id}$`, 200, { status: 'processing', progress: 40 });
			const { error } = await run(id);
			const message = `Task ${id} has not finished yet (status: processing, 40 %)`;
			expect(error).toMatchObject(failureOf(0, message));
			expect(error?.httpCode).toBe(String(status));
			expect(error?.description).toContain(
				"put 'Transcript: Wait Until Finished' before this node",
			);
			expect(error?.description).toContain('Not now');
			expect(service.lines()).toHaveLength(2);
		},
	);

	it('that failed says so and why', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'No speech was found' });
		const { error } = await run(id);
		expect(error).toMatchObject(failureOf(0, `Task ${id} failed: No speech was found`));
	});

	it('that was cancelled says so', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'canceled' });
		expect((await run(id)).error).toMatchObject(failureOf(0, `Task ${id} was cancelled`));
	});

	it('that the service does not know is the refusal of the service', async () => {
		const { error } = await run('nobody');
		expect(error).toMatchObject(failureOf(0, 'The service has no transcript under this ID'));
		expect(error?.description).toContain("Check the 'Task' parameter");
	});

	it('that has completed, but whose result is gone, is not said to be unknown', async () => {
		const id = await service.completedTask();
		answer(path, 404, {
			detail: { error_code: 'result_expired', message: 'Deleted after 30 days' },
		});
		const { error } = await run(id);
		expect(error).toMatchObject(failureOf(0, 'The service has no transcript under this ID'));
		expect(error?.description).toMatch(/no longer keeps its transcript.*Deleted after 30 days/);
	});

	it('that has finished is the refusal of the service', async () => {
		const id = await service.completedTask();
		answer(path, 400, { detail: { message: 'Something else' } });
		const { error } = await run(id);
		expect(error).toMatchObject(failureOf(0, 'The service refused the request'));
		expect(error?.description).toContain('Something else');
	});

	it.each([401, 429])('is not asked about after %d', async (status) => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 0);
		const id = await service.pendingTask();
		answer(path, status, {});
		expect((await run(id)).error?.httpCode).toBe(String(status));
		expect(service.lines()).toHaveLength(1);
	});
});

describe.each([
	['getResult', 'result'],
	['export', 'exported document'],
])('task.%s answered with a success that holds nothing', (operation, what) => {
	const path = '/(result|export)$';
	const run = async (id: string) =>
		await service.run({ resource: 'task', operation, taskId: byId(id) });

	few.it.each([
		[200, {}],
		[200, []],
		[202, { status: 'processing' }],
		[202, ''],
		[200, { text: '', segments: [], content: '' }],
		[200, { message: 'Not ready' }],
	])('(%d %j) is no success for a task that has not finished', async (status, body) => {
		const id = await service.pendingTask();
		answer(path, status, body);
		const { error, items } = await run(id);
		expect(items).toEqual([]);
		expect(error).toMatchObject(failureOf(0, `Task ${id} has not finished yet (status: pending)`));
	});

	few.it.each([[{}], [{ message: 'Moved' }]])(
		'(%j) is no success for a finished one',
		async (body) => {
			const id = await service.completedTask();
			answer(path, 200, body);
			const { error, items } = await run(id);
			expect(items).toEqual([]);
			expect(error).toMatchObject(
				failureOf(0, `The answer of the service holds no ${what} of task ${id}`),
			);
		},
	);
});

it('task.getResult outputs an empty transcript of a finished task', async () => {
	const id = await service.completedTask();
	const body = { text: '', segments: [], summary: '', speakers: [] };
	answer('/result$', 200, body);
	const { json } = await service.run({ resource: 'task', operation: 'getResult', taskId: id });
	expect(json).toEqual([body]);
});

describe('a cancellation whose answer was lost', () => {
	it('of a task is a success: the task is cancelled', async () => {
		const id = await service.pendingTask();
		loseAnswer('POST', '/cancel$');
		const cancel = { resource: 'task', operation: 'cancel', taskId: byId(id) };
		const { json, error } = await service.run(cancel);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: id, status: 'cancelled' }]);
	});

	it.each([404, 410])('of a bot is a success where the repeat gets %d', async (status) => {
		const { id, json, error } = await cancelledBotWhoseRepeatGets(status);
		expect(error).toBeUndefined();
		expect(json).toEqual([{ bot_id: id }]);
	});

	it('of a bot is no success where the repeat gets 409', async () => {
		const { json, error } = await cancelledBotWhoseRepeatGets(409);
		expect(error?.httpCode).toBe('409');
		expect(json).toEqual([]);
	});

	async function cancelledBotWhoseRepeatGets(status: number) {
		const id = await service.bot();
		loseAnswer('DELETE', '/meeting/');
		answer(`/meeting/${id}$`, status, { detail: { message: 'No such bot' } });
		const cancel = { resource: 'meeting', operation: 'cancel', botId: id };
		return { id, ...(await service.run(cancel)) };
	}

	it('of a bot is no success where a gateway answers the repeat with its own 404', async () => {
		const id = await service.bot();
		loseAnswer('DELETE', '/meeting/');
		answer(`/meeting/${id}$`, 404, { message: 'no Route matched with those values' });
		const cancel = { resource: 'meeting', operation: 'cancel', botId: id };
		const { json, error } = await service.run(cancel);
		expect(json).toEqual([]);
		expect(error).toMatchObject(
			failureOf(0, 'It is not certain that the meeting bot is cancelled'),
		);
		expect(error?.description).toContain('“no Route matched with those values”');
	});

	it('of a bot is a success where the bot is cancelled, whatever the repeat gets', async () => {
		const id = await service.bot();
		loseAnswer('DELETE', '/meeting/');
		service.running().fault({
			match: { method: 'DELETE' },
			action: { kind: 'respond', status: 409, body: {} },
		});
		answer(`/meeting/${id}$`, 200, { bot_id: id, status: 'cancelled' });
		const { json } = await service.run({ resource: 'meeting', operation: 'cancel', botId: id });
		expect(json).toEqual([{ bot_id: id, status: 'cancelled' }]);
	});

	it('of the dictionary is a success where it is empty', async () => {
		loseAnswer('DELETE', '/dictionary$');
		service.running().fault({
			match: { method: 'DELETE' },
			action: { kind: 'respond', status: 404, body: {} },
		});
		const { json } = await service.run({ resource: 'dictionary', operation: 'clear' });
		expect(json).toEqual([{ deleted: true }]);
	});

	it('of a bot that nobody knows is still an error', async () => {
		const { error } = await service.run({
			resource: 'meeting',
			operation: 'cancel',
			botId: 'nobody',
		});
		expect(error).toMatchObject(failureOf(0, 'The service has no meeting bot with this ID'));
	});
});

describe('dictionary.replace with several items', () => {
	const replace = { resource: 'dictionary', operation: 'replace', terms: '={{ $json.term }}' };
	const items = itemsOf({ term: 'first' }, { term: 'second' }, { term: 'last' });
	const stored = async () => (await service.ask('GET /dictionary')).body['terms'];

	few.it.each<[string, object]>([
		['slow', { kind: 'delay', ms: 200 }],
		['refused once with 503', { kind: 'respond', status: 503 }],
		['cut off once', { kind: 'cut', when: 'beforeBody' }],
	])('ends with the last, also when the first is %s', async (_case, action) => {
		service.running().fault({ match: { method: 'PUT' }, action: action as never });
		const outcome = await service.run(replace, { items });
		expect(outcome.items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
		expect(await stored()).toEqual(['last']);
	});

	it('sends nothing more after a failure that stops the node', async () => {
		service.running().fault({
			match: { method: 'PUT' },
			skip: 1,
			action: { kind: 'respond', status: 400, body: {} },
		});
		const { error } = await service.run(replace, { items });
		expect(error).toMatchObject(failureOf(1, 'The service refused the request'));
		expect(service.lines()).toEqual(['PUT /api/v1/dictionary', 'PUT /api/v1/dictionary']);
		expect(await stored()).toEqual(['first']);
	});

	it('goes on after a failure where the node continues on errors', async () => {
		service.running().fault({
			match: { method: 'PUT' },
			skip: 1,
			action: { kind: 'respond', status: 400, body: {} },
		});
		const node = { onError: 'continueRegularOutput' } as const;
		const outcome = await service.run(replace, { items, node });
		expect(outcome.items).toHaveLength(3);
		expect(await stored()).toEqual(['last']);
	});
});

few.describe.each(['true', '"ok"', '1', 'OK'])('a write that is answered %s', (body) => {
	few.it.each([
		{ resource: 'task', operation: 'cancel', taskId: 'x' },
		{ resource: 'meeting', operation: 'cancel', botId: 'x' },
		{ resource: 'dictionary', operation: 'clear' },
		{ resource: 'dictionary', operation: 'replace', terms: 'x' },
		{ resource: 'dictionary', operation: 'add', terms: 'x' },
		{ resource: 'task', operation: 'regenerateSummary', taskId: 'x', path: '/tasks/{taskId}/new' },
	])('is a success of $resource.$operation', async (parameters) => {
		answer('.', 200, body);
		const { json, error } = await service.run(parameters);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ value: body === 'OK' ? 'OK' : JSON.parse(body) }]);
	});

	it('is a success of dictionary.sync', async () => {
		service.running().fault({
			match: { method: 'PUT' },
			action: { kind: 'respond', status: 200, body },
		});
		const sync = { resource: 'dictionary', operation: 'sync', terms: 'new' };
		const { json, error } = await service.run(sync);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ changed: true, added: ['new'] }]);
	});
});

it.each([
	{ resource: 'task', operation: 'cancel', taskId: 'x' },
	{ resource: 'dictionary', operation: 'clear' },
])('a web page is no success of $resource.$operation', async (parameters) => {
	answer('.', 200, '<html><body>Sign in</body></html>');
	const { error } = await service.run(parameters);
	expect(error).toMatchObject(
		failureOf(0, 'Something other than the service answered at this address'),
	);
});

it('task.getResult outputs every part where none is chosen', async () => {
	const taskId = await service.completedTask();
	const get = { resource: 'task', operation: 'getResult', taskId };
	const { json } = await service.run({ ...get, include: [] });
	expect(json).toEqual((await service.run(get)).json);
	expect(json[0]).toHaveProperty('text');
});

describe('JSON as Python writes it,', () => {
	const body =
		'\n{"text": "NaN \\\\\\" Infinity", "segments": [{"start": NaN, "end": -Infinity, "n": Infinity}]}';
	const read = {
		text: 'NaN \\" Infinity',
		segments: [{ start: null, end: null, n: null }],
	};

	it('is the result of task.getResult and of task.wait', async () => {
		const taskId = byId(await service.completedTask());
		const headers = { 'Content-Type': 'application/json' };
		const action = { kind: 'garble', body, headers } as const;
		service.running().fault({ match: { path: '/result$' }, times: 2, action });
		for (const operation of ['getResult', 'wait']) {
			const { json, error } = await service.run({ resource: 'task', operation, taskId });
			expect(error).toBeUndefined();
			expect(json).toMatchObject([read]);
		}
	});

	it('with NaN and Infinity for numbers, is read with null for them', () => {
		expect(bodyOf({ statusCode: 200, headers: {}, body })).toEqual(read);
		expect(bodyOf({ statusCode: 200, headers: {}, body: Buffer.from(body) })).toEqual(read);
	});

	it.each(['{"a": NaN', '{"a": Nan}', '{"a": NaNa}', '["', '{"a": "\\"'])(
		'%s is still no JSON',
		(broken) => {
			expect(parseJson(broken)).toBeUndefined();
		},
	);

	it('is read in a time that grows with its size only', () => {
		const quotes = '\\'.repeat(500_000) + '\\"'.repeat(500_000);
		const large = `[NaN, "${quotes}", "${'x'.repeat(5_000_000)}", ${'-'.repeat(500_000)}`;
		expect(parseJson(large)).toBeUndefined();
		expect(parseJson(`[NaN, "${'\\"'.repeat(500_000)}"]`)).toEqual([null, '"'.repeat(500_000)]);
	});
});
