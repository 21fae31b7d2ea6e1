/** Contract, "Waiting": what a look at a task or bot asks the service, and what it makes of the answer. */
// Also covers askForState.ts.

import { botState, look, taskState } from '../../../nodes/shared/api/askForState';
import { STOPS_SPENDING } from '../../../nodes/shared/api/types';
import { itemContext } from '../../support/itemContext';
import { giveUpSoon } from '../../support/scale';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

beforeEach(giveUpSoon);

const context = () => itemContext({}, { credentials: service.credentials() });
const answer = (path: string, body: unknown, status = 200) =>
	service.running().fault({ match: { path }, times: 1, action: { kind: 'respond', status, body } });

/** An id that would be another address if it were not encoded. */
const ODD = 'a/b?c';

it('a task is looked at at its address, and its state has its id under the documented name', async () => {
	const id = await service.pendingTask();
	expect(await look(context(), { task_id: id })).toMatchObject({ task_id: id, status: 'pending' });
	answer('/tasks/7', { id: 7, status: 'PROCESSING' });
	expect(await taskState(context(), '7')).toEqual({ id: 7, task_id: '7', status: 'processing' });
	answer('/tasks/', { status: 'completed' });
	await look(context(), { task_id: ODD, bot_id: 'unused' });
	expect(service.lines()).toEqual([
		`GET /api/v1/tasks/${id}`,
		'GET /api/v1/tasks/7',
		'GET /api/v1/tasks/a%2Fb%3Fc',
	]);
});

it('a bot without a task is looked at, and its end is not that of a task', async () => {
	const botId = await service.bot();
	const state = await look(context(), { bot_id: botId });
	expect(state).toMatchObject({ bot_id: botId, status: expect.any(String) });
	answer('/meeting/', { status: 'completed', progress: 100 });
	expect(await look(context(), { bot_id: ODD })).toEqual({
		bot_id: ODD,
		status: 'completed, but without a task yet',
		progress: 100,
	});
	answer('/meeting/', { bot_id: 'b2', status: 'cancelled' });
	expect(await look(context(), { bot_id: 'b1' })).toEqual({ bot_id: 'b2', status: 'cancelled' });
	expect(service.lines().slice(0, 2)).toEqual([
		`GET /api/v1/meeting/${botId}`,
		'GET /api/v1/meeting/a%2Fb%3Fc',
	]);
});

it('a bot with a task has the state of its task', async () => {
	const id = await service.pendingTask();
	answer('/meeting/b1', { status: 'completed', task_id: id });
	expect(await look(context(), { bot_id: 'b1' })).toMatchObject({ task_id: id, status: 'pending' });
	expect(service.lines()).toEqual(['GET /api/v1/meeting/b1', `GET /api/v1/tasks/${id}`]);
});

it('the state of a bot is what the service says of it', async () => {
	answer('/meeting/', { data: { bot_id: 'b1', status: 'completed', task_id: '7f3c' } });
	expect(await botState(context(), 'b1')).toEqual({
		bot_id: 'b1',
		status: 'completed',
		task_id: '7f3c',
	});
});

it.each([
	['a task', { task_id: '7f3c' }],
	['a bot', { bot_id: 'b1' }],
])('a text in place of the state of %s is no answer of the service', async (_what, ids) => {
	answer('/', 'OK');
	await expect(look(context(), ids)).rejects.toMatchObject({ problem: { transport: 'notJson' } });
});

describe('The bounds of a look', () => {
	it.each([
		['a task', { task_id: '7f3c' }],
		['a bot', { bot_id: 'b1' }],
	])('hold for the request at %s', async (_what, ids) => {
		answer('/', {}, 503);
		await expect(look(context(), ids, { once: true })).rejects.toMatchObject({ httpCode: '503' });
		expect(service.lines()).toHaveLength(1);
	});

	it('hold for the request at the task of a bot', async () => {
		answer('/meeting/', { status: 'completed', task_id: '7f3c' });
		answer('/tasks/', {}, 503);
		const options = { once: true, policy: STOPS_SPENDING };
		await expect(look(context(), { bot_id: 'b1' }, options)).rejects.toMatchObject({
			httpCode: '503',
		});
		expect(service.lines()).toHaveLength(2);
	});
});
