/** 'Wait for the Transcript (Webhook)': what a call to a suspended execution asks the service. */
// First, before the code is loaded.
import { forgetEverything } from '../../../support/ownMemory';

import type { WaitingItem } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import {
	hasEndedAtService,
	haveAllEnded,
} from '../../../../nodes/Transcriber/submit/suspension/askWhetherEnded';
import {
	RESUME,
	knownOf,
	type KnownEndings,
} from '../../../../nodes/Transcriber/submit/suspension/knownEndings';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { ServiceError } from '../../../../nodes/shared/api/serviceError';
import { Undecided } from '../../../../nodes/shared/webhook/answerInTime';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import type { FaultRule } from '../../../simulator/index';
import { until } from '../../../simulator/testing-client';
import { asleep, callTo, keysIn, knownOfItems } from '../../../support/asleep';
import { giveUpSoon } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

beforeEach(() => {
	forgetEverything();
	giveUpSoon();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
});

const HOUR = 3_600_000;
const WORKING = { kind: 'respond', status: 200, body: { status: 'processing' } } as const;
const UNKNOWN = { kind: 'respond', status: 404, body: { detail: 'No such task' } } as const;
const fault = (action: FaultRule['action'], path = '/tasks/', times = 1) =>
	service.running().fault({ match: { path }, times, action });

const contextOf = () => callTo({ credentials: service.credentials() });

/** A call that came this many ms ago. */
const call = (ago = 0, time = HOUR) => {
	const cameAt = Date.now() - ago;
	return { context: contextOf(), cameAt, deadline: cameAt + ago + time };
};

const known = (...items: WaitingItem[]) => knownOfItems(contextOf(), items);

it('At a slow service, a repeat takes the answer that came too late for the call before', async () => {
	const taskId = await service.completedTask();
	const state = known({ taskId });
	fault({ kind: 'delay', ms: 300 });
	jest.replaceProperty(RETRY, 'brief', 100);
	await expect(hasEndedAtService(call(0, 100), state, { taskId })).rejects.toThrow(Undecided);
	await until(() => state.ended.size > 0);
	expect(await hasEndedAtService(call(), state, { taskId })).toBe(true);
	expect(service.lines()).toHaveLength(1);
});

describe('For a call that is not verified', () => {
	it('the service is asked, and what it says is noted', async () => {
		const taskId = await service.completedTask();
		const state = known({ taskId });
		expect(await hasEndedAtService(call(), state, { taskId })).toBe(true);
		expect(keysIn(state)).toMatchObject({
			ended: [`task ${taskId}`],
			completed: [`task ${taskId}`],
		});
		expect(await hasEndedAtService(call(), state, { taskId })).toBe(true);
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${taskId}`]);
	});

	it('the service is not asked about what is known to have ended: it may have been removed since', async () => {
		const taskId = await service.completedTask();
		const state = known({ taskId });
		await hasEndedAtService(call(), state, { taskId });
		fault(UNKNOWN);
		const { at } = state.asked.get(`task ${taskId}`) ?? { at: 0 };
		expect(await hasEndedAtService({ ...call(), cameAt: at + HOUR }, state, { taskId })).toBe(true);
		expect(service.lines()).toHaveLength(1);
	});

	it('a bot that is called off has ended once it has been so for two minutes', async () => {
		const state = known({ botId: 'b' });
		fault({ kind: 'respond', status: 200, body: { status: 'cancelled' } }, '/meeting/b', 3);
		const began = Date.now();
		const clock = jest.spyOn(Date, 'now');
		const ended: boolean[] = [];
		for (const after of [0, 119_999, 120_000 + RESUME.askAgain]) {
			clock.mockReturnValue(began + after);
			ended.push(await hasEndedAtService(call(), state, { botId: 'b' }));
		}
		expect(ended).toEqual([false, false, true]);
	});

	it('the service is asked about a bot by its id', async () => {
		const botId = await service.bot();
		expect(await hasEndedAtService(call(), known({ botId }), { botId })).toBe(false);
		expect(service.lines()).toEqual([`GET /api/v1/meeting/${botId}`]);
	});

	it('an answer counts for ten seconds, but "not yet" decides nothing for a later call', async () => {
		expect(RESUME.askAgain).toBe(10_000);
		const taskId = await service.pendingTask();
		const state = known({ taskId });
		const first = call();
		expect(await hasEndedAtService(first, state, { taskId })).toBe(false);
		expect(await hasEndedAtService(first, state, { taskId })).toBe(false);
		const later = { ...first, cameAt: first.cameAt + 9_000 };
		await expect(hasEndedAtService(later, state, { taskId })).rejects.toThrow(Undecided);
		expect(service.lines()).toHaveLength(1);
	});

	it('the service is asked again after ten seconds', async () => {
		const taskId = await service.pendingTask();
		const state = known({ taskId });
		const began = Date.now();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
		const first = call();
		await hasEndedAtService(first, state, { taskId });
		clock.mockReturnValue(began + 10_000);
		expect(await hasEndedAtService({ ...first, cameAt: began + 10_000 }, state, { taskId })).toBe(
			false,
		);
		expect(service.lines()).toHaveLength(2);
	});

	it('the service is asked once in ten seconds, also while it answers 500', async () => {
		fault({ kind: 'respond', status: 500 }, '/tasks/c', 1e6);
		const state = known({ taskId: 'c' });
		const first = call();
		for (let each = 0; each < 50; each++) {
			const later = { ...first, cameAt: first.cameAt + each * 199 };
			await expect(hasEndedAtService(later, state, { taskId: 'c' })).rejects.toThrow();
		}
		expect(service.lines().filter((line) => line.endsWith('/c'))).toHaveLength(1);
	});

	it('an answer that does not come in time decides nothing', async () => {
		fault({ kind: 'stall' });
		const state = known({ taskId: 'a' });
		await expect(hasEndedAtService(call(0, 40), state, { taskId: 'a' })).rejects.toThrow();
		expect(keysIn(state).ended).toEqual([]);
	});

	it('a request that fails is not repeated', async () => {
		fault({ kind: 'respond', status: 503 }, '/tasks/', 2);
		const asking = hasEndedAtService(call(), known({ taskId: 'b' }), { taskId: 'b' });
		await expect(asking).rejects.toThrow(ServiceError);
		// The request for "a" of the test before may still arrive.
		expect(service.lines().filter((line) => line.endsWith('/b'))).toHaveLength(1);
	});
});

describe('For a verified delivery', () => {
	it('nothing is asked if all have ended', async () => {
		const items = { 0: { taskId: 'a', ended: true }, 1: { botId: 'b', ended: true } };
		const state = knownOf(contextOf(), asleep(items));
		expect(await haveAllEnded(call(), state, asleep(items))).toBe(true);
		expect(service.lines()).toEqual([]);
	});

	it('the others are asked about one after the other, up to the first that goes on', async () => {
		const [a, b, c] = [
			await service.completedTask(),
			await service.pendingTask(),
			await service.completedTask(),
		];
		const items = { 0: { taskId: a }, 1: { taskId: b }, 2: { taskId: c } };
		const state = known();
		expect(await haveAllEnded(call(), state, asleep(items))).toBe(false);
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${a}`, `GET /api/v1/tasks/${b}`]);
		service.running().finish(b);
		service.running().requests.splice(0);
		// What has ended is not asked about again.
		expect(await haveAllEnded(call(), state, asleep(items))).toBe(true);
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${b}`, `GET /api/v1/tasks/${c}`]);
	});

	it('an answer that came after it counts, and an older one does not', async () => {
		const taskId = await service.pendingTask();
		const state = known();
		const items = asleep({ 0: { taskId } });
		expect(await haveAllEnded(call(), state, items)).toBe(false);
		// Another delivery that came earlier, and waited for its turn.
		expect(await haveAllEnded(call(5_000), state, items)).toBe(false);
		expect(service.lines()).toHaveLength(1);
		const { at } = state.asked.get(`task ${taskId}`) ?? { at: 0 };
		const sameMoment = { ...call(), cameAt: at };
		expect(await haveAllEnded(sameMoment, state, items)).toBe(false);
		expect(service.lines()).toHaveLength(1);
		expect(await haveAllEnded({ ...call(), cameAt: at + 1 }, state, items)).toBe(false);
		expect(service.lines()).toHaveLength(2);
	});

	it('an answer of a later time is an old one: the clock was set back since', async () => {
		const taskId = await service.pendingTask();
		const state = known();
		const items = asleep({ 0: { taskId } });
		const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + HOUR);
		expect(await haveAllEnded(call(), state, items)).toBe(false);
		clock.mockRestore();
		service.running().finish(taskId);
		expect(await haveAllEnded(call(), state, items)).toBe(true);
	});

	it('a bot that is called off is not worth waiting for, but it is if a later look shows it at work', async () => {
		const state = known();
		const items = asleep({ 0: { botId: 'b' } });
		const says = (status: string) =>
			fault({ kind: 'respond', status: 200, body: { bot_id: 'b', status } }, '/meeting/b');
		says('cancelled');
		expect(await haveAllEnded(call(), state, items)).toBe(true);
		const { at } = state.asked.get('bot b') ?? { at: 0 };
		says('recording');
		expect(await haveAllEnded({ ...call(), cameAt: at + 1 }, state, items)).toBe(false);
	});

	it('a request that failed a moment ago is not repeated', async () => {
		const state = known();
		const items = asleep({ 0: { taskId: 'a' } });
		fault({ kind: 'respond', status: 503 }, '/tasks/', 9);
		const first = call();
		await expect(haveAllEnded(first, state, items)).rejects.toThrow(ServiceError);
		const later = { ...first, cameAt: first.cameAt + 9_000 };
		await expect(haveAllEnded(later, state, items)).rejects.toThrow(Undecided);
		expect(service.lines()).toHaveLength(1);
		const muchLater = { ...first, cameAt: Date.now() + 10_000 };
		await expect(haveAllEnded(muchLater, state, items)).rejects.toThrow(ServiceError);
		expect(service.lines()).toHaveLength(2);
	});

	it('nothing is asked about the others either while one request has just failed', async () => {
		const state = known();
		const items = asleep({ 0: { taskId: 'a' }, 1: { taskId: 'b' } });
		fault({ kind: 'respond', status: 503 }, '/tasks/', 9);
		const first = call();
		await expect(haveAllEnded(first, state, items)).rejects.toThrow(ServiceError);
		const later = { ...first, cameAt: first.cameAt + 9_000 };
		await expect(haveAllEnded(later, state, items)).rejects.toThrow(Undecided);
		expect(service.lines()).toEqual(['GET /api/v1/tasks/a']);
	});

	describe('with a submission that the service does not know', () => {
		/** A delivery so many ms after the first look, or before it. */
		async function delivery(
			state: KnownEndings,
			items: Record<string, WaitingItem>,
			after: number,
		) {
			const clock = jest.spyOn(Date, 'now').mockReturnValue(began + after);
			try {
				const now = { context: contextOf(), cameAt: began + after, deadline: began + after + HOUR };
				return await haveAllEnded(now, state, asleep(items)).catch((error: Error) => error);
			} finally {
				clock.mockRestore();
			}
		}
		let began: number;
		beforeEach(() => {
			began = Date.now();
			fault(UNKNOWN, '/tasks/gone', 1e6);
		});
		const gone = { 0: { taskId: 'gone' } };

		it('it is undecided, until the service has not known it for two minutes', async () => {
			expect(POLL.refused).toBe(120_000);
			const state = known();
			expect(await delivery(state, gone, 0)).toBeInstanceOf(Undecided);
			expect(await delivery(state, gone, 119_999)).toBeInstanceOf(Undecided);
			expect(await delivery(state, gone, 120_000)).toBeInstanceOf(Undecided);
			expect(await delivery(state, gone, 130_000)).toBe(true);
		});

		it('it is asked about once in ten seconds, and the others each time', async () => {
			const state = known();
			const other = await service.pendingTask();
			const items = { ...gone, 1: { taskId: other } };
			expect(await delivery(state, items, 0)).toBe(false);
			expect(await delivery(state, items, 9_999)).toBe(false);
			expect(service.lines().filter((line) => line.endsWith('gone'))).toHaveLength(1);
			service.running().finish(other);
			expect(await delivery(state, items, 10_000)).toBeInstanceOf(Undecided);
			expect(service.lines().filter((line) => line.endsWith('gone'))).toHaveLength(2);
			expect(await delivery(state, items, 130_000)).toBe(true);
		});

		it.each<[string, FaultRule['action']]>([
			['is known again', WORKING],
			['cannot be asked about', { kind: 'respond', status: 503 }],
		])('the two minutes begin anew after it %s', async (_what, between) => {
			const state = known();
			const items = { 0: { taskId: 'other' } };
			fault(UNKNOWN, '/tasks/other');
			await delivery(state, items, 0);
			fault(between, '/tasks/other');
			await delivery(state, items, 60_000);
			fault(UNKNOWN, '/tasks/other', 9);
			expect(await delivery(state, items, 130_000)).toBeInstanceOf(Error);
			expect(await delivery(state, items, 249_999)).toBeInstanceOf(Undecided);
			expect(await delivery(state, items, 260_000)).toBe(true);
		});

		it('one of two that is unknown for long does not decide for the other', async () => {
			const state = known();
			await delivery(state, gone, 0);
			fault(UNKNOWN, '/tasks/new', 9);
			expect(await delivery(state, { ...gone, 1: { taskId: 'new' } }, 130_000)).toBeInstanceOf(
				Undecided,
			);
		});
	});
});
