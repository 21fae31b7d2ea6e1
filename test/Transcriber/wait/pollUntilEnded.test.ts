/** Contract, "Waiting": the looks at a task or bot, with a real service, in the context of an item. */
// Also covers nodes/shared/api/calledOffBot.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { CALLED_OFF } from '../../../nodes/shared/api/calledOffBot';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { ServiceError } from '../../../nodes/shared/api/serviceError';
import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { untilEnded, type Polling } from '../../../nodes/Transcriber/wait/pollUntilEnded';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { contextsWith } from '../../shared/n8nInternals/contexts';
import { itemContext } from '../../support/itemContext';
import { additionalDataFor } from '../../support/n8n';
import { giveUpSoon, replaceValues } from '../../support/scale';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

const asShipped = { ...POLL };

function fault(action: FaultRule['action'], match: FaultRule['match'], times = 1e6): void {
	service.running().fault({ match, action, times });
}

const looks = () => service.lines().filter((line) => /^GET .*\/(tasks|meeting)\/[^/]+$/.test(line));

const HOUR = 3_600_000;
const TASK = { method: 'GET', path: '/tasks/[^/]+$' };
const HTML = { 'Content-Type': 'text/html' };
const BOT = { method: 'GET', path: '/meeting/[^/]+$' };
beforeEach(giveUpSoon);

/** Looks every millisecond. `statuses`: those that `check` was given. */
async function poll(ids: Polling['ids'], more: Partial<Polling> = {}) {
	const { item } = contextsWith(additionalDataFor(service.credentials()));
	const statuses: unknown[] = [];
	const outlook = await untilEnded(item as unknown as IExecutePaginationFunctions, {
		ids,
		state: {},
		pollInterval: 1,
		deadlineFor: () => Date.now() + HOUR,
		check: ({ status }) => void statuses.push(status),
		...more,
	});
	return { ...outlook, statuses };
}

const respond = (status: number, body?: object): FaultRule['action'] => ({
	kind: 'respond',
	status,
	body,
});

it('a task is looked at until it has ended, and each state on the way is checked', async () => {
	const taskId = await service.completedTask();
	fault(respond(200, { status: 'processing' }), TASK, 2);
	expect(await poll({ taskId })).toMatchObject({
		state: { task_id: taskId, status: 'completed' },
		hasEnded: true,
		statuses: [undefined, 'processing', 'processing'],
	});
	expect(looks()).toHaveLength(3);
});

it('a state that must not be waited for ends the waiting at once', async () => {
	const taskId = await service.completedTask();
	const check = () => {
		throw new Error('no balance');
	};
	await expect(poll({ taskId }, { check })).rejects.toThrow('no balance');
	expect(looks()).toEqual([]);
});

it('a task that has just been submitted is first looked at after a pause', async () => {
	const taskId = await service.completedTask();
	const began = Date.now();
	const state = { status: 'pending' };
	await poll({ taskId }, { state, pollInterval: HOUR, deadlineFor: () => began + 60 });
	expect(Date.now() - began).toBeGreaterThanOrEqual(29);
});

it('a task of which nothing is known is looked at at once', async () => {
	const taskId = await service.completedTask();
	const { hasEnded } = await poll({ taskId }, { pollInterval: HOUR });
	expect(hasEnded).toBe(true);
});

it('after the deadline there is no look any more', async () => {
	const taskId = await service.completedTask();
	const { hasEnded } = await poll({ taskId }, { deadlineFor: () => Date.now() - 1 });
	expect([hasEnded, looks()]).toEqual([undefined, []]);
});

it('the first look tells the start of a scheduled bot, and so how long to wait', async () => {
	const botId = await service.bot();
	fault(respond(200, { status: 'scheduled' }), BOT, 1);
	fault(respond(200, { status: 'failed' }), BOT, 1);
	const { now } = Date;
	let passed = 0;
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
	const MINUTE = 60_000;
	const soon = Date.now() + MINUTE;
	const deadlineFor: Polling['deadlineFor'] = ({ status }) => {
		if (status !== 'scheduled') return soon;
		// The next look comes after the deadline of a bot without a start.
		passed = MINUTE + 500;
		return soon + HOUR;
	};
	const polling = poll({ botId }, { deadlineFor, pollInterval: MINUTE });
	const { hasEnded } = await polling.finally(() => clock.mockRestore());
	expect(hasEnded).toBe(true);
});

it('a task that has ended, or whose waiting has, slows no other of the same key', async () => {
	const taskId = await service.completedTask();
	const state = { status: 'pending' };
	await poll({ taskId });
	const failing = () => {
		throw new Error('no balance');
	};
	await expect(poll({ taskId }, { check: failing })).rejects.toThrow('no balance');
	jest.replaceProperty(POLL, 'perTask', HOUR);
	let hasEnded = false;
	void poll({ taskId }, { state }).then(() => (hasEnded = true));
	await until(() => hasEnded);
});

describe('a first look at an id that the user has given', () => {
	const given = { reportsRefusal: true };

	it.each<[string, FaultRule['action']]>([
		['400', respond(400)],
		['403', respond(403)],
		['404', respond(404)],
		['499', respond(499)],
		['a redirect', { kind: 'redirect', status: 302, location: 'https://other.example.com' }],
		['a web page', { kind: 'respond', status: 200, body: '<p>Hello</p>', headers: HTML }],
	])('is reported if the answer is %s: no look can succeed', async (_, action) => {
		const taskId = await service.completedTask();
		fault(action, TASK);
		await expect(poll({ taskId }, given)).rejects.toBeInstanceOf(ServiceError);
	});

	it.each([429, 500, 503])('may fail with %i: the next one succeeds', async (status) => {
		const taskId = await service.completedTask();
		fault(respond(status), TASK, 1);
		expect(await poll({ taskId }, given)).toMatchObject({ hasEnded: true });
	});

	it('is the only one that is reported: a later one that is refused is "not yet"', async () => {
		const taskId = await service.completedTask();
		fault(respond(200, { status: 'processing' }), TASK, 1);
		fault(respond(403), TASK, 1);
		const { failure, hasEnded } = await poll({ taskId }, given);
		expect([failure, hasEnded]).toEqual([undefined, true]);
	});

	it('at a bot is no refusal if only its task is unknown for a moment', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		fault(respond(404), TASK, 1);
		expect(await poll({ botId }, given)).toMatchObject({ hasEnded: true });
		fault(respond(404), BOT, 1);
		await expect(poll({ botId }, given)).rejects.toMatchObject({ httpCode: '404' });
		fault(respond(403), TASK, 1);
		await expect(poll({ botId }, given)).rejects.toMatchObject({ httpCode: '403' });
	});
});

it('a first look at an id that the service gave is "not yet", however it is refused', async () => {
	const taskId = await service.completedTask();
	fault(respond(403), TASK, 1);
	expect(await poll({ taskId })).toMatchObject({ hasEnded: true });
});

describe('a refusal that lasts', () => {
	it.each([401, 404, 410])('with %i ends the waiting, with the last state', async (status) => {
		jest.replaceProperty(POLL, 'refused', 0);
		const taskId = await service.completedTask();
		fault(respond(status), TASK);
		expect(await poll({ taskId })).toMatchObject({
			isRefused: true,
			failure: { httpCode: String(status) },
			state: {},
		});
		expect(looks()).toHaveLength(1);
	});

	it.each([400, 403, 500])('with %i does not: it says nothing of the task', async (status) => {
		jest.replaceProperty(POLL, 'refused', 0);
		const taskId = await service.completedTask();
		fault(respond(status), TASK, 2);
		expect(await poll({ taskId })).toMatchObject({ hasEnded: true });
	});

	it('is none of the service if n8n cannot read the credential for a moment', async () => {
		jest.replaceProperty(POLL, 'refused', 0);
		const taskId = await service.completedTask();
		const { baseUrl, apiKey } = service.credentials();
		let readings = 0;
		const credentials = {
			baseUrl,
			get apiKey() {
				readings += 1;
				if (readings === 2) throw new Error('the database is locked');
				return apiKey;
			},
		};
		const { now } = Date;
		let later = 0;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + later);
		const outlook = await untilEnded(itemContext({}, { credentials }), {
			ids: { taskId },
			state: {},
			pollInterval: 1,
			deadlineFor: () => now() + HOUR,
			// Each look is so late that the credential is read again.
			check: () => void (later += 2_000),
		}).finally(() => clock.mockRestore());
		expect(outlook).toMatchObject({ hasEnded: true });
		expect(readings).toBe(3);
	});

	it.each<[string, FaultRule['action']]>([
		['a state', respond(200, { status: 'processing' })],
		['another failure', respond(500)],
	])('begins anew after %s', async (_, between) => {
		const taskId = await service.completedTask();
		let now = Date.now();
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
		for (const action of [respond(404), between, respond(404)]) fault(action, TASK, 1);
		// A minute and a half lies between two looks.
		const check = () => void (now += 90_000);
		const outlook = await poll({ taskId }, { check }).finally(() => clock.mockRestore());
		expect(outlook).toMatchObject({ hasEnded: true });
	});
});

describe('a bot that was cancelled', () => {
	const cancelled = (times: number) => fault(respond(200, { status: 'cancelled' }), BOT, times);

	it('may still get a task, because stopping a recording also cancels the bot', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		cancelled(CALLED_OFF.looks - 1);
		expect(await poll({ botId })).toMatchObject({
			state: { status: 'completed' },
			hasEnded: true,
		});
	});

	it('has ended after twelve looks without one', async () => {
		const botId = await service.bot();
		cancelled(1e6);
		expect(await poll({ botId })).toMatchObject({
			state: { status: 'cancelled' },
			hasEnded: true,
		});
		expect(looks()).toHaveLength(12);
	});

	it('has ended after two minutes without one', async () => {
		jest.replaceProperty(CALLED_OFF, 'mayGetTaskMs', 0);
		const botId = await service.bot();
		cancelled(1e6);
		expect(await poll({ botId })).toMatchObject({ hasEnded: true });
		expect(looks()).toHaveLength(1);
	});

	it('has ended at once if it has a task, and that was cancelled', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		fault(respond(200, { status: 'cancelled' }), TASK);
		expect(await poll({ botId })).toMatchObject({ hasEnded: true });
		expect(looks()).toHaveLength(2);
	});
});

it('a deadline that passes during a look is no failure of the service', async () => {
	const taskId = await service.pendingTask();
	fault({ kind: 'stall' }, TASK);
	const deadline = Date.now() + 40;
	const outlook = await poll({ taskId }, { deadlineFor: () => deadline });
	expect(outlook.failure).toBeUndefined();
});

describe('Between the looks', () => {
	it('there is a pause, also after a first look that came at once', async () => {
		const taskId = await service.pendingTask();
		const deadline = Date.now() + 300;
		await poll({ taskId }, { pollInterval: HOUR, deadlineFor: () => deadline });
		expect(looks().length).toBeLessThanOrEqual(2);
	});

	/** Polls which a test can cancel, and whose pauses for each other never end by themselves. */
	function together() {
		replaceValues(POLL, { perTask: HOUR, recheck: 5 });
		return async (taskId: string, state: Polling['state'] = {}, cancel?: AbortSignal) => {
			const credentials = service.credentials();
			const polling = { ids: { taskId }, state, pollInterval: 1, check: () => {} };
			const deadlineFor = () => Date.now() + HOUR * 100;
			return await untilEnded(itemContext({}, { credentials, cancel }), {
				...polling,
				deadlineFor,
			});
		};
	}
	const looksAt = (taskId: string) => looks().filter((line) => line.endsWith(taskId)).length;

	it('there is a longer pause as long as other tasks are polled with the same key', async () => {
		const pollTogether = together();
		const [a, b] = [await service.pendingTask(), await service.pendingTask()];
		const c = await service.completedTask();
		const stop = new AbortController();
		const [first, second] = [pollTogether(a), pollTogether(b, {}, stop.signal)];
		await until(() => looksAt(a) + looksAt(b) === 2);
		await pollTogether(c);
		service.running().finish(a);
		await sleep(50);
		expect([looksAt(a), looksAt(b)]).toEqual([1, 1]);
		stop.abort(new Error('stopped'));
		await expect(second).rejects.toThrow('stopped');
		expect(await first).toMatchObject({ hasEnded: true });
	});

	it('the first look of a task waits only for those that began before it', async () => {
		const pollTogether = together();
		const [a, b] = [await service.completedTask(), await service.completedTask()];
		const state = { status: 'pending' };
		const [first, second] = [pollTogether(a, state), pollTogether(b, state)];
		expect(await first).toMatchObject({ hasEnded: true });
		expect(await second).toMatchObject({ hasEnded: true });
		expect(looks().map((line) => line.split('/').at(-1))).toEqual([a, b]);
	});
});

describe('The deadline', () => {
	it('leaves no request behind if it has passed before the first look', async () => {
		const taskId = await service.completedTask();
		await poll({ taskId }, { deadlineFor: () => Date.now() - 1 });
		await sleep(50);
		expect(looks()).toEqual([]);
	});

	it('ends the looks at a task that goes on', async () => {
		const taskId = await service.pendingTask();
		const deadline = Date.now() + 2_000;
		const { hasEnded, failure } = await poll({ taskId }, { deadlineFor: () => deadline });
		expect([hasEnded, failure]).toEqual([false, undefined]);
	});

	it('is followed by no look if the computer was awake', async () => {
		const taskId = await service.pendingTask();
		const deadline = Date.now() + 2_000;
		const more = { state: { status: 'pending' }, pollInterval: HOUR, deadlineFor: () => deadline };
		await poll({ taskId }, more);
		expect(looks().filter((line) => line.endsWith(taskId))).toHaveLength(1);
	});

	it('is not moved by a later state: only the first one tells the start of a bot', async () => {
		const taskId = await service.pendingTask();
		fault(respond(200, { status: 'processing' }), TASK, 1);
		const soon = Date.now() + 2_000;
		const deadlineFor: Polling['deadlineFor'] = ({ status }) =>
			status === 'pending' ? soon + HOUR : soon;
		const { state } = await poll({ taskId }, { deadlineFor });
		expect(state).toMatchObject({ status: 'pending' });
	});

	it('that is far away is not reached by a look that gets no answer', async () => {
		const taskId = await service.completedTask();
		jest.replaceProperty(POLL, 'look', 40);
		fault({ kind: 'stall' }, TASK, 1);
		const polling = poll({ taskId });
		await until(() => looks().length > 0);
		// The next look gets its answer, however long that takes.
		jest.replaceProperty(POLL, 'look', asShipped.look);
		expect(await polling).toMatchObject({ hasEnded: true, failure: undefined });
	});

	describe('that passed while the computer slept', () => {
		/** Polls, and sleeps for two hours in the pause before the first look. */
		async function oversleep(ids: Polling['ids']) {
			const { now } = Date;
			let slept = 0;
			const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + slept);
			setTimeout(() => (slept = 2 * HOUR), 10);
			const deadline = now() + HOUR;
			const more = { state: { status: 'pending' }, deadlineFor: () => deadline };
			return await poll(ids, { ...more, pollInterval: 40 }).finally(() => clock.mockRestore());
		}

		it('is followed by one look, which finds the end', async () => {
			const taskId = await service.completedTask();
			expect(await oversleep({ taskId })).toMatchObject({ hasEnded: true });
			expect(looks()).toHaveLength(1);
		});

		it('is followed by one look only, which may find the task still there', async () => {
			const taskId = await service.pendingTask();
			expect(await oversleep({ taskId })).toMatchObject({ hasEnded: false });
			expect(looks()).toHaveLength(1);
		});

		it('is followed by a look whose refusal is shown', async () => {
			const taskId = await service.pendingTask();
			fault(respond(403), TASK);
			expect(await oversleep({ taskId })).toMatchObject({ failure: { httpCode: '403' } });
			expect(looks()).toHaveLength(1);
		});

		it('is followed by a look that may take its time, and whose missing answer says nothing', async () => {
			const taskId = await service.pendingTask();
			jest.replaceProperty(POLL, 'lateLook', 1_000);
			fault({ kind: 'stall' }, TASK);
			expect((await oversleep({ taskId })).failure).toBeUndefined();
			await until(() => looks().length === 1);
		});
	});
});

describe('A look that fails', () => {
	const given = { reportsRefusal: true };

	it('is repeated at once if it is the first one at an id of the user, and only then', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', HOUR);
		const taskId = await service.completedTask();
		const attempts = async (more: Partial<Polling>, ...answers: Array<FaultRule['action']>) => {
			for (const action of answers) fault(action, TASK, 1);
			return (await poll({ taskId }, more)).statuses.length;
		};
		const [down, processing] = [respond(503), respond(200, { status: 'processing' })];
		expect(await attempts(given, down)).toBe(1);
		expect(await attempts({}, down)).toBe(2);
		expect(await attempts(given, processing, down)).toBe(3);
	});

	it.each<[string, FaultRule['action']]>([
		['429', respond(429)],
		['500', respond(500)],
		['a connection that breaks', { kind: 'cut', when: 'afterBody' }],
	])('at an id of the user is "not yet" if the answer is %s', async (_what, action) => {
		for (const patience of ['patienceWhenBusy', 'patienceWhenBroken'] as const) {
			jest.replaceProperty(RETRY, patience, 0);
		}
		const taskId = await service.completedTask();
		fault(action, TASK, 1);
		expect(await poll({ taskId }, given)).toMatchObject({
			hasEnded: true,
			statuses: [undefined, undefined],
		});
	});

	it.each([
		['unknownHost', { code: 'ENOTFOUND' }],
		['tls', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
		['blocked', { name: 'SsrfBlockedIpError' }],
	])(
		'at an id of the user is reported if there is no way to the service: %s',
		async (transport, error) => {
			const { item } = contextsWith(additionalDataFor(service.credentials()));
			const helpers = {
				httpRequestWithAuthentication: async () =>
					await Promise.reject(Object.assign(new Error('no way'), error)),
			};
			const context = Object.assign(Object.create(item) as IExecutePaginationFunctions, {
				helpers,
			});
			const polling = { ids: { taskId: '7f3c' }, state: {}, pollInterval: 1, check: () => {} };
			const deadlineFor = () => Date.now() + HOUR;
			await expect(
				untilEnded(context, { ...polling, ...given, deadlineFor }),
			).rejects.toMatchObject({
				problem: { transport },
			});
		},
	);

	describe('because the API key was removed from the credential', () => {
		/** Polls with a credential whose key is away for some of the checks, two seconds apart. */
		async function withoutKey(isAway: (checks: number) => boolean, more: Partial<Polling> = {}) {
			const credentials = service.credentials();
			const { apiKey } = credentials;
			const { now } = Date;
			let checks = 0;
			const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + checks * 2_000);
			const check = () => {
				checks += 1;
				credentials.apiKey = isAway(checks) ? '' : apiKey;
			};
			const taskId = await service.completedTask();
			const polling = { ids: { taskId }, state: {}, pollInterval: 1, check, ...more };
			const deadlineFor = () => now() + HOUR;
			const context = itemContext({}, { credentials });
			return await untilEnded(context, { ...polling, deadlineFor }).finally(() =>
				clock.mockRestore(),
			);
		}

		it('is "not yet"', async () => {
			expect(await withoutKey((checks) => checks === 1)).toMatchObject({ hasEnded: true });
		});

		it('is reported if it is the first look at an id of the user', async () => {
			await expect(withoutKey(() => true, given)).rejects.toThrow(
				"The 'API Key' of the credential is empty",
			);
		});
	});
});

it('the looks at a bot count as those at a cancelled one only once it is cancelled', async () => {
	jest.replaceProperty(CALLED_OFF, 'mayGetTaskMs', 120_000);
	jest.replaceProperty(CALLED_OFF, 'looks', 2);
	const botId = await service.bot();
	service.running().endMeeting(botId);
	service.running().finish(service.running().tasks()[0]?.id ?? '');
	fault(respond(200, { status: 'joining' }), BOT, 3);
	fault(respond(200, { status: 'cancelled' }), BOT, 1);
	expect(await poll({ botId })).toMatchObject({ state: { status: 'completed' }, hasEnded: true });
});
