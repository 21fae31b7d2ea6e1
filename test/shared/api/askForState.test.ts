/** Where the state of a task or bot stands in an answer, for everyone who asks for it. */
// Also covers nodes/Transcriber/item/outputState.ts.

import { byId, itemWithFile, serviceForTests } from '../../support/service';
import { until } from '../../simulator/testing-client';
import { giveUpSoon } from '../../support/scale';
import { few, long } from '../../support/long';

const service = serviceForTests();

beforeEach(giveUpSoon);

function answer(path: string, body: unknown, times = 1e6) {
	service.running().fault({
		match: { method: 'GET', path },
		times,
		action: { kind: 'respond', status: 200, body },
	});
}

const TASK = '/tasks/[^/]+$';
const BOT = '/meeting/[^/]+$';

const waitOptions = { pollInterval: 0.05, timeout: 0.04 };

async function waitFor(id: string) {
	return await service.run({
		resource: 'task',
		operation: 'wait',
		taskId: byId(id),
		waitOptions,
	});
}

const PLACES: Array<[string, (state: object) => unknown]> = [
	['the answer itself', (state) => state],
	['data', (data) => ({ data })],
	['task', (task) => ({ task })],
	['result', (result) => ({ result })],
	['item', (item) => ({ item })],
	['a list', (state) => [state]],
	['a list under data', (state) => ({ data: [state] })],
	['data, in an envelope with a status', (data) => ({ status: 'success', data })],
	['data, in an envelope with a status of a task', (data) => ({ status: 'completed', data })],
	['result, beside the id of the request', (result) => ({ jsonrpc: '2.0', id: 7, result })],
	['data, beside the status of another task', (data) => ({ data, last: { status: 'failed' } })],
	[
		'a list of several tasks',
		(state) => [{ task_id: 'other', status: 'failed' }, state, { task_id: 'third' }],
	],
];

few.describe.each(PLACES)('a state in %s', (place, placed) => {
	// `npm test` shows the first place with all that is read there, the others with the end of a wait.
	const rule = place === PLACES[0]?.[0] ? it : long.it;

	few.it.each(['task_id', 'id'])('with its id as %s ends a wait, whatever it is', async (name) => {
		const id = await service.completedTask();
		const state = { [name]: id, status: 'completed', progress: 100 };
		answer(TASK, placed(state));
		expect(await waitFor(id)).toMatchObject({
			json: [{ task_id: id, status: 'completed', text: expect.any(String) }],
		});
	});

	rule('does not end a wait before the task has ended', async () => {
		const id = await service.completedTask();
		answer(TASK, placed({ task_id: id, status: 'processing', progress: 40 }));
		expect((await waitFor(id)).error?.message).toContain('(status: processing)');
		expect(service.lines()).not.toContain(`GET /api/v1/tasks/${id}/result`);
	});

	rule('names the reason of a failure', async () => {
		const id = await service.pendingTask();
		answer(TASK, placed({ task_id: id, status: 'failed', error: 'No speech was found' }));
		expect((await waitFor(id)).error?.message).toContain(`Task ${id} failed: No speech was found`);
	});

	rule('of a bot has its task', async () => {
		const botId = await service.bot();
		const taskId = await service.completedTask();
		answer(BOT, placed({ bot_id: botId, status: 'completed', task_id: taskId }));
		const wait = { resource: 'meeting', operation: 'wait', botId, waitOptions };
		expect(await service.run(wait)).toMatchObject({
			json: [{ bot_id: botId, task_id: taskId, status: 'completed' }],
		});
	});

	rule('comes out of Get without what is around it', async () => {
		const id = await service.pendingTask();
		answer(TASK, placed({ task_id: id, status: 'processing', progress: 40 }));
		const { json } = await service.run({ resource: 'task', operation: 'get', taskId: byId(id) });
		expect(json).toContainEqual(expect.objectContaining({ task_id: id, status: 'processing' }));
	});

	rule('is named where the result of an unfinished task is refused', async () => {
		const id = await service.pendingTask();
		answer(TASK, placed({ task_id: id, status: 'processing', progress: 40 }));
		const get = { resource: 'task', operation: 'getResult', taskId: byId(id) };
		expect((await service.run(get)).error?.message).toContain(
			`Task ${id} has not finished yet (status: processing, 40 %)`,
		);
	});
});

few.it.each([
	['the parts of a result under result', { result: { status: 'ok', id: 'r1', text: 'a' } }],
	['a meeting with a status', { meeting: { id: 'm1', status: 'live' } }],
	['the file as item', { item: { id: 'f1', status: 'uploaded' } }],
])('its own state counts, and not that of %s', async (_what, inner) => {
	const id = await service.completedTask();
	answer(TASK, { task_id: id, status: 'completed', ...inner });
	expect((await waitFor(id)).json).toMatchObject([{ task_id: id, status: 'completed' }]);
});

it.each(['COMPLETED', 'Completed', ' completed'])(
	'%p is the documented status in other letters',
	async (status) => {
		const id = await service.completedTask();
		answer(TASK, { task_id: id, status });
		expect((await waitFor(id)).json).toMatchObject([{ task_id: id, status: 'completed' }]);
	},
);

few.it.each(['done', 'success', 'succeeded', 'finished', 'complete', 'ok', 'ready'])(
	'%s is not documented: no success, and the error says what it may mean',
	async (status) => {
		const id = await service.completedTask();
		answer(TASK, { task_id: id, status });
		const { error, json } = await waitFor(id);
		expect(json).toEqual([]);
		expect(error?.message).toContain(`Task ${id} has not ended within 0.04 minutes`);
		expect(error?.message).toContain(`(status: ${status})`);
		expect(error?.description).toMatch(/does not document this status.*Transcript: Get Result/);
	},
);

it('a file that was submitted is waited for in the same way', async () => {
	const run = service.run(
		{
			resource: 'transcription',
			operation: 'transcribeFile',
			onCompletion: 'poll',
			waitOptions: { pollInterval: 0.05, timeout: 0.2 },
		},
		{ items: [itemWithFile()] },
	);
	service.running().configure({ dialect: 'stateUnderData' });
	await until(() => service.running().tasks().length > 0);
	const id = service.running().tasks()[0]?.id ?? '';
	service.running().finish(id);
	expect((await run).json).toMatchObject([{ task_id: id, status: 'completed' }]);
});

it.each([null, '', '0'])(
	'the id of a bot is no task although its bot_id beside it means none: %j',
	async (none) => {
		const botId = await service.bot();
		answer(BOT, { id: botId, bot_id: none, status: 'failed' });
		const { error } = await service.run({
			resource: 'meeting',
			operation: 'wait',
			botId,
			waitOptions,
		});
		expect(error?.message).toContain(`Meeting bot ${botId} failed`);
		expect(service.lines().filter((line) => line.includes('/tasks/'))).toEqual([]);
	},
);
