/** 'Wait for the Transcript (Webhook)': what is looked at before an execution is suspended. */
import type { IDataObject } from 'n8n-workflow';

import {
	YOUNG,
	isYoung,
	lookAgain,
	lookIfNeeded,
} from '../../../../nodes/Transcriber/submit/suspension/lookBeforeSuspending';
import type { WaitingItem } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import type { FaultRule } from '../../../simulator/index';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';
import { giveUpSoon } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
});
const FAIL = { waitOptions: { onInsufficientBalance: 'fail' } };
const context = (more: object = {}) =>
	itemContext(
		{ ...LINK, onCompletion: 'awaitWebhook', ...more },
		{ credentials: service.credentials() },
	);
const accepted = (ago: number) => ({
	state: 'accepted' as const,
	submissions: [],
	at: Date.now() - ago,
});
const fault = (action: FaultRule['action'], times = 1) =>
	service.running().fault({ match: { path: '/tasks/' }, times, action });
const tasksAskedFor = () => service.lines().map((line) => line.split('/').at(-1));

it('a submission is young for five seconds', () => {
	jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
	const at = (time: number) => ({ state: 'accepted' as const, submissions: [], at: time });
	expect(YOUNG.ms).toBe(5_000);
	expect([995_000, 994_999, 1_000_001].map((time) => isYoung(at(time)))).toEqual([
		true,
		false,
		true,
	]);
});

describe('Before an execution is suspended', () => {
	async function seen(answer: IDataObject, ago: number, more: object = {}) {
		const taskId = String(answer['task_id']);
		const submitted = { index: 0, answer, ids: { taskId }, state: answer };
		return await lookIfNeeded(context(more), submitted, accepted(ago));
	}

	it('a young submission is not looked at', async () => {
		const task_id = await service.completedTask();
		expect(await seen({ task_id, status: 'pending' }, 0)).toBeUndefined();
		expect(service.lines()).toEqual([]);
	});

	it.each<[string, string, number, object]>([
		['that is older', 'pending', 60_000, {}],
		['that had ended when it was accepted', 'completed', 0, {}],
		['whose balance must suffice', 'pending', 0, FAIL],
	])('a submission %s is looked at', async (_which, status, ago, more) => {
		const task_id = await service.completedTask();
		expect(await seen({ task_id, status }, ago, more)).toMatchObject({
			task_id,
			status: 'completed',
		});
	});

	it('a submission whose balance does not suffice is an error, if the user wants that', async () => {
		const body = { status: 'pending', awaiting_balance: true };
		fault({ kind: 'respond', status: 200, body }, 2);
		const answer = { task_id: '7f3c', status: 'pending' };
		await expect(seen(answer, 0, FAIL)).rejects.toThrow(
			'Task 7f3c waits because the balance is too low',
		);
		expect(await seen(answer, 60_000)).toMatchObject({ awaiting_balance: true });
	});

	it('a look that fails shows nothing, and is no error', async () => {
		fault({ kind: 'respond', status: 404 });
		expect(await seen({ task_id: '7f3c', status: 'pending' }, 60_000)).toEqual({});
	});
});

describe('Before it is suspended after slow looks', () => {
	/** Looks again, while each of these rounds takes so many ms. */
	async function again(items: Record<string, WaitingItem>, ...rounds: number[]) {
		let now = 1_000_000;
		const times = [...rounds];
		// The clock is read once before each round, and once when a round begins.
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
		const began = now;
		now += times.shift() ?? 0;
		const slow = service.running();
		const all = Object.values(items);
		for (const item of all) {
			let ended = item.ended;
			Object.defineProperty(item, 'ended', {
				get: () => ended,
				set: (value?: boolean) => {
					ended = value;
					now += times.shift() ?? 0;
				},
			});
		}
		const suspension = { run: 0, until: 0, items, refused: {} };
		await lookAgain(context(), suspension, began).finally(() => clock.mockRestore());
		return { lines: slow.requests.length, ended: all.map(({ ended }) => ended) };
	}

	it('nothing is looked at again if the looks were quick', async () => {
		const task = { taskId: await service.completedTask() };
		expect(await again({ 0: task }, 5_000)).toEqual({ lines: 0, ended: [undefined] });
	});

	it('what has not ended is looked at again', async () => {
		const [a, b] = [await service.completedTask(), await service.pendingTask()];
		const items = { 0: { taskId: a }, 1: { taskId: b }, 2: { taskId: 'known', ended: true } };
		expect((await again(items, 5_001)).ended).toEqual([true, false, true]);
		expect(tasksAskedFor().sort()).toEqual([a, b].sort());
	});

	it('a bot is looked at by its id', async () => {
		const botId = await service.bot();
		await again({ 0: { botId } }, 5_001);
		expect(service.lines()).toEqual([`GET /api/v1/meeting/${botId}`]);
	});

	it('a bot that was called off stays so if the look at it fails', async () => {
		service.running().fault({
			match: { path: '/meeting/' },
			action: { kind: 'respond', status: 404 },
		});
		const bot: WaitingItem = { botId: 'gone', calledOff: true };
		expect(await again({ 0: bot }, 5_001)).toMatchObject({ lines: 1 });
		expect(bot.calledOff).toBe(true);
	});

	it('a bot that was called off meanwhile is not waited for any more', async () => {
		const body = { status: 'cancelled' };
		service.running().fault({
			match: { path: '/meeting/' },
			action: { kind: 'respond', status: 200, body },
		});
		const bot: WaitingItem = { botId: await service.bot(), calledOff: false };
		await again({ 0: bot }, 5_001);
		expect(bot).toMatchObject({ ended: false, calledOff: true });
	});

	it('a second time if that took long, too, but no third time', async () => {
		const taskId = await service.pendingTask();
		expect(await again({ 0: { taskId } }, 5_001, 5_001, 5_001, 5_001)).toMatchObject({ lines: 2 });
	});

	it('not a second time if that was quick', async () => {
		const taskId = await service.pendingTask();
		expect(await again({ 0: { taskId } }, 5_001, 5_000)).toMatchObject({ lines: 1 });
	});

	it('what was found ended is not looked at a second time', async () => {
		const taskId = await service.completedTask();
		expect(await again({ 0: { taskId } }, 5_001, 5_001)).toEqual({ lines: 1, ended: [true] });
	});
});
