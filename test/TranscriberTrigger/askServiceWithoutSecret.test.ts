/**
 * Contract, "Webhook calls": if the secret of a delivery can no longer be read, the service is asked, and about each id at most
 * once in ten seconds.
 */
import type { IWebhookFunctions } from 'n8n-workflow';

import { CALLED_OFF } from '../../nodes/shared/api/calledOffBot';
import { Undecided } from '../../nodes/shared/webhook/answerInTime';
import { wordOfService } from '../../nodes/TranscriberTrigger/askServiceWithoutSecret';
import { contextsWith } from '../shared/n8nInternals/contexts';
import { additionalDataFor } from '../support/n8n';
import { serviceForTests } from '../support/service';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

const service = serviceForTests();
const start = Date.now();
/** How far the clock is from the start, in ms: it stands still. Each test begins long after the one before. */
let ahead = 0;
beforeEach(() => {
	ahead += 100 * HOUR;
	jest.spyOn(Date, 'now').mockImplementation(() => start + ahead);
});
afterAll(() => jest.restoreAllMocks());

const trigger = () => contextsWith(additionalDataFor(service.credentials())).webhookCall;
const ask = async (id: string, body = {}, context: unknown = trigger()) =>
	await wordOfService(context as IWebhookFunctions, { name: `task ${id}`, taskId: id }, body);
const asked = () => service.lines().length;

async function ended(status: string, more = {}): Promise<string> {
	const id = await service.pendingTask();
	service.running().finish(id, { status, ...more });
	return id;
}

describe('The word of the service', () => {
	it('is the end of a task with its reason, if there is one', async () => {
		const failed = await ended('failed', { error: 'No speech found' });
		const done = await ended('completed');
		expect(await ask(failed)).toMatchObject({
			body: { task_id: failed, status: 'failed', error: 'No speech found' },
			taskId: failed,
			status: 'failed',
		});
		expect(await ask(done)).toEqual({
			body: { task_id: done, status: 'completed' },
			taskId: done,
			status: 'completed',
		});
	});

	it('is none as long as the task has not ended', async () => {
		expect(await ask(await service.pendingTask())).toBeUndefined();
	});

	it('is none for a delivery that names another task or bot', async () => {
		const id = await ended('completed');
		expect(await ask(id, { task_id: 'another' })).toBeUndefined();
		expect(await ask(id, { task_id: id })).toMatchObject({ taskId: id });
		expect(await ask(id, { task_id: '' })).toMatchObject({ taskId: id });
		expect(await ask(id, { bot_id: 'of a task without bot' })).toMatchObject({ taskId: id });
	});

	it('is none for a delivery that names another bot than the one that the service says for the task', async () => {
		const body = { task_id: '17', bot_id: 'bot_1', status: 'completed' };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/tasks/17$' }, action });
		expect(await ask('17', { task_id: '17', bot_id: 'bot_2' })).toBeUndefined();
		expect(await ask('17', { task_id: '17', bot_id: 'bot_1' })).toMatchObject({ botId: 'bot_1' });
	});

	it('is left open, by the name of the task or bot, if the service does not know it any more', async () => {
		const action = { kind: 'respond', status: 404, body: { detail: 'No such bot' } } as const;
		service.running().fault({ match: {}, times: 9, action });
		const asking = [
			[{ name: 'task t17', taskId: 't17' }, 'task t17'],
			[{ name: 'bot b17', botId: 'b17' }, 'bot b17'],
		] as const;
		for (const [stored, name] of asking) {
			const word = wordOfService(trigger() as unknown as IWebhookFunctions, stored);
			await expect(word).rejects.toBeInstanceOf(Undecided);
			await expect(word).rejects.toThrow(`does not say whether ${name} has ended`);
		}
	});

	it('is none for a bot that is called off, until it has been so for long', async () => {
		const state = { bot_id: 'bot_1', status: 'cancelled' };
		service.running().fault({
			match: { path: '/meeting/' },
			times: 9,
			action: { kind: 'respond', status: 200, body: state },
		});
		const word = async () =>
			await wordOfService(trigger() as unknown as IWebhookFunctions, {
				name: 'bot bot_1',
				botId: 'bot_1',
			});
		expect(await word()).toBeUndefined();
		ahead += CALLED_OFF.mayGetTaskMs + SECOND;
		expect(await word()).toMatchObject({ botId: 'bot_1', status: 'cancelled' });
		// A day later, it is not known any more since when.
		ahead += 25 * HOUR;
		expect(await word()).toBeUndefined();
	});
});

describe('The service is asked about a submission', () => {
	it('once for repeats at the same time', async () => {
		const id = await ended('failed');
		await Promise.all([ask(id), ask(id)]);
		expect(asked()).toBe(1);
	});

	it('once for repeats at the same time, which all get the answer that it has not ended', async () => {
		const id = await service.pendingTask();
		expect(await Promise.all([ask(id), ask(id)])).toEqual([undefined, undefined]);
		expect(asked()).toBe(1);
	});

	it.each([
		['failed', 9, 1],
		['failed', 11, 2],
		['completed', 59, 1],
		['completed', 61, 2],
	])('with the answer %s, %i seconds later in all %i times', async (status, seconds, times) => {
		const id = await ended(status);
		const first = await ask(id);
		ahead += seconds * SECOND - 100;
		expect(await ask(id)).toEqual(first);
		expect(asked()).toBe(times);
	});

	it('that had not ended again after ten seconds, and until then nothing is decided', async () => {
		const id = await service.pendingTask();
		await ask(id);
		service.running().finish(id);
		await expect(ask(id)).rejects.toThrow(Undecided);
		ahead += 11 * SECOND;
		expect(await ask(id)).toMatchObject({ status: 'completed' });
	});

	it('again if the clock was set back', async () => {
		const id = await ended('failed');
		await ask(id);
		ahead -= HOUR;
		await ask(id);
		expect(asked()).toBe(2);
	});

	it('unless 20 others of the trigger are open, of which those that have completed do not count', async () => {
		for (let n = 0; n < 5; n++) await ask(await ended('completed'));
		for (let n = 0; n < 20; n++) await ask(await ended('failed'));
		const id = await ended('completed');
		await expect(ask(id)).rejects.toThrow('too many deliveries');
		const other = trigger();
		jest
			.spyOn(other, 'getWorkflow')
			.mockReturnValue({ id: 'another', name: 'Another', active: true });
		expect(await ask(id, {}, other)).toMatchObject({ status: 'completed' });
	});
});
