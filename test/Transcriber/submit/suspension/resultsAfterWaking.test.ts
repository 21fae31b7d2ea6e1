/** 'Wait for the Transcript (Webhook)': the results of an item after its execution was woken or its time was up. */
import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import type {
	Suspension,
	WaitingItem,
} from '../../../../nodes/Transcriber/submit/once/suspensionState';
import {
	AFTER_WAKING,
	lookNow,
	resultsAfterWaking,
} from '../../../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { WAIT_DEFAULTS } from '../../../../nodes/Transcriber/wait/waitOptions';
import type { SubmissionIds } from '../../../../nodes/shared/api/submission';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import type { FaultRule } from '../../../simulator/index';
import { until } from '../../../simulator/testing-client';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { BOT, LINK } from '../../../support/parameters';
import { giveUpSoon } from '../../../support/scale';
import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const HOUR = 3_600_000;
const asShipped = [{ ...POLL }, { ...AFTER_WAKING }] as const;
beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.005);
	jest.replaceProperty(AFTER_WAKING, 'leastMs', 0);
});

const respond = (status: number, body?: object): FaultRule['action'] => ({
	kind: 'respond',
	status,
	body,
});
const fault = (action: FaultRule['action'], path: string, times = 1e6) =>
	service.running().fault({ match: { method: 'GET', path: `${path}$` }, times, action });
const TASK = '/tasks/[^/]+';

interface Woken extends ItemPlace {
	parameters?: object;
	suspension?: Partial<Suspension>;
	/** The tasks of the item. The first one waits under the number of the item. */
	tasks?: SubmissionIds[];
}

/** The output of an item, or its failure, and what the run knows afterwards. */
async function woken(items: Record<string, WaitingItem>, more: Woken = {}) {
	const { parameters = {}, suspension = {}, ...place } = more;
	const context = itemContext(
		{ ...LINK, onCompletion: 'awaitWebhook', ...parameters },
		{
			credentials: service.credentials(),
			...place,
		},
	);
	const run = NodeRun.of(context);
	run.register(0);
	const ended = jest.spyOn(run.submitted, 'endWithoutTranscript');
	const tasks = (more.tasks ?? Object.values(items)).map(({ taskId, botId }, index) => ({
		index,
		answer: {},
		ids: { taskId, botId },
		state: {},
	}));
	const asleep = { run: 0, until: Date.now(), items, refused: {}, asleep: true, ...suspension };
	const outcome = await resultsAfterWaking(context, tasks, asleep, run).then(
		(output) => ({ json: output.map(({ json }) => json), message: undefined }),
		({ message }: Error) => ({ json: undefined, message }),
	);
	return { ...outcome, lines: service.lines(), ended: ended.mock.calls.flat() };
}
const RESUMED = { suspension: { resumed: true } };

describe('After a delivery has woken the execution', () => {
	it('a task that is known to be completed is not looked at, and its result is fetched', async () => {
		const taskId = await service.completedTask();
		const { json, lines } = await woken({ 0: { taskId, completed: true } }, RESUMED);
		expect(json).toMatchObject([
			{ task_id: taskId, status: 'completed', text: expect.any(String) },
		]);
		expect(lines).toEqual([`GET /api/v1/tasks/${taskId}/result`]);
	});

	it.each<[string, object, WaitingItem]>([
		['of whose end nothing is known', {}, {}],
		['whose state is the output', { waitOptions: { includeResult: false } }, { completed: true }],
	])('a task %s is looked at once', async (_which, parameters, item) => {
		const taskId = await service.completedTask();
		const { json, lines } = await woken({ 0: { taskId, ...item } }, { ...RESUMED, parameters });
		expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		expect(lines.filter((line) => line.endsWith(taskId))).toHaveLength(1);
	});

	it('the recording of a bot is known from the delivery, also if the service has removed the bot', async () => {
		const recording = await service.completedTask();
		const { json, lines } = await woken(
			{ 0: { botId: 'gone', recording, completed: true } },
			RESUMED,
		);
		expect(json).toMatchObject([{ task_id: recording, bot_id: 'gone', status: 'completed' }]);
		expect(lines).toEqual([`GET /api/v1/tasks/${recording}/result`]);
	});

	it('a bot of which only the end is known is looked at', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		const { json, lines } = await woken(
			{ 0: { botId, completed: true } },
			{ ...RESUMED, parameters: BOT },
		);
		expect(json).toMatchObject([{ bot_id: botId, status: 'completed' }]);
		expect(lines[0]).toBe(`GET /api/v1/meeting/${botId}`);
	});

	it('a bot that has failed, with a status that nobody knows, is an error at once', async () => {
		const botId = await service.bot();
		fault(
			respond(200, { bot_id: botId, status: 'kicked_out', error: 'No one let it in' }),
			'/meeting/[^/]+',
		);
		const { message, ended } = await woken(
			{ 0: { botId, failed: true } },
			{ ...RESUMED, parameters: BOT },
		);
		expect(message).toBe(`Meeting bot ${botId} failed: No one let it in`);
		expect(ended).toEqual([`bot ${botId}`]);
	});

	it('the reason of a bot that has failed may stand under another name', async () => {
		const botId = await service.bot();
		const state = { bot_id: botId, status: 'kicked_out', reason: 'No one let it in' };
		fault(respond(200, state), '/meeting/[^/]+');
		const { message } = await woken(
			{ 0: { botId, failed: true } },
			{ ...RESUMED, parameters: BOT },
		);
		expect(message).toBe(`Meeting bot ${botId} failed: No one let it in`);
	});

	it.each<[string, Array<FaultRule['action']>]>([
		['is in progress again', [respond(200, { status: 'processing' })]],
		['cannot be looked at', [respond(500)]],
	])('a task that has failed and %s is waited for', async (_what, answers) => {
		const taskId = await service.completedTask();
		for (const answer of answers) fault(answer, TASK, 1);
		const until = Date.now() + HOUR;
		const { json } = await woken(
			{ 0: { taskId, failed: true } },
			{ suspension: { resumed: true, until } },
		);
		expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
	});

	it('a task whose status does not show its end is waited for, until its time is up', async () => {
		const taskId = await service.pendingTask();
		const { message, lines } = await woken(
			{ 0: { taskId } },
			{ suspension: { resumed: true, until: 0 } },
		);
		expect(message).toMatch(
			`Task ${taskId} has not ended although the service has reported its end`,
		);
		expect(lines).toHaveLength(1);
	});

	it('a task whose status cannot be read is not said to go on', async () => {
		const taskId = await service.completedTask();
		fault(respond(401), TASK);
		const { message } = await woken(
			{ 0: { taskId } },
			{ suspension: { resumed: true, until: Date.now() + 2_000 } },
		);
		expect(message).toContain(
			`Task ${taskId}: n8n could not read its status although the service has reported its end (status: not known; the last look: The service does not accept the API key, “Simulated fault”)`,
		);
		expect(message).not.toContain('has not ended');
	});

	it.each([
		['two minutes from now', { least: HOUR, until: 0 }],
		['the time of the execution', { least: 0, until: HOUR }],
	])('such a task is waited for until %s, whichever is later', async (_what, { least, until }) => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', least);
		const taskId = await service.completedTask();
		fault(respond(200, { status: 'done' }), TASK, 3);
		const suspension = { resumed: true, until: until && Date.now() + until };
		const { json, lines } = await woken({ 0: { taskId } }, { suspension });
		expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		expect(lines).toHaveLength(5);
	});

	it('the looks keep to the interval, also after one that failed', async () => {
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 3_600);
		fault(respond(500), TASK);
		const until = Date.now() + 200;
		const { lines } = await woken(
			{ 0: { taskId: '7f3c' } },
			{ suspension: { resumed: true, until } },
		);
		expect(lines.length).toBeLessThanOrEqual(2);
	});

	it('two minutes are the least', () => {
		expect(asShipped[1].leastMs).toBe(120_000);
	});

	it('an item that the execution did not wait for is looked at once', async () => {
		const [a, b] = [await service.completedTask(), await service.pendingTask()];
		const tasks = [{ taskId: a }, { taskId: b }];
		const { message } = await woken({ 0: { taskId: a, completed: true } }, { ...RESUMED, tasks });
		expect(message).toContain(`Task ${b} has not ended so far`);
		// The result of the other one is on its way.
		await until(() => service.running().requests.at(-1)?.status === 200);
		await until(() => service.lines().includes(`GET /api/v1/tasks/${a}/result`));
	});
});

describe('After the time of the execution is up', () => {
	it('a task that has ended meanwhile is fetched, and looked at once', async () => {
		const taskId = await service.completedTask();
		const { json, lines } = await woken({ 0: { taskId } });
		expect(json).toMatchObject([
			{ task_id: taskId, status: 'completed', text: expect.any(String) },
		]);
		expect(lines).toEqual([`GET /api/v1/tasks/${taskId}`, `GET /api/v1/tasks/${taskId}/result`]);
	});

	it('a task that goes on is an error with its status', async () => {
		const taskId = await service.pendingTask();
		const { message, lines } = await woken(
			{ 0: { taskId } },
			{ parameters: { waitOptions: { timeout: 7 } } },
		);
		expect(message).toContain(`Task ${taskId} has not ended within 7 minutes (status: pending)`);
		expect(lines).toHaveLength(1);
	});

	describe('a bot that was called off', () => {
		const calledOff = (times?: number) =>
			fault(respond(200, { status: 'cancelled' }), '/meeting/[^/]+', times);

		it('is waited for, because stopping a recording also cancels its bot', async () => {
			jest.replaceProperty(AFTER_WAKING, 'leastMs', HOUR);
			const botId = await service.bot();
			service.running().endMeeting(botId);
			service.running().finish(service.running().tasks()[0]?.id ?? '');
			calledOff(3);
			const { json } = await woken({ 0: { botId } }, { parameters: BOT });
			expect(json).toMatchObject([{ bot_id: botId, status: 'completed' }]);
		});

		it('is an error when the two minutes are over', async () => {
			const botId = await service.bot();
			calledOff();
			const { message, lines } = await woken({ 0: { botId } }, { parameters: BOT });
			expect(message).toMatch(`Meeting bot ${botId} was cancelled`);
			expect(lines).toHaveLength(1);
		});
	});

	it('a look that fails is named in the error', async () => {
		jest.replaceProperty(AFTER_WAKING, 'leastMs', 100);
		fault(respond(403, { detail: 'Not yours' }), TASK);
		const { message } = await woken({ 0: { taskId: '7f3c' } });
		expect(message).toMatch(
			/Task 7f3c: n8n could not read its status within .*\(status: not known; the last look: /,
		);
	});

	it('the error that stops the node names all other open tasks', async () => {
		const [a, b] = [await service.pendingTask(), await service.completedTask()];
		const items = {
			0: { taskId: a },
			'0.1': { taskId: b },
			1: { taskId: 'other' },
			2: { botId: 'bot' },
			3: { taskId: 'over', ended: true },
		};
		const { message } = await woken(items, { tasks: [{ taskId: a }, { taskId: b }] });
		expect(message).toMatch(/\. Not ended either: task other, bot bot$/);
	});

	it('the error of one item among others does not, if the node goes on', async () => {
		const taskId = await service.pendingTask();
		const node = { onError: 'continueRegularOutput' } as const;
		const { message } = await woken(
			{ 0: { taskId }, 1: { taskId: 'other' } },
			{ node, tasks: [{ taskId }] },
		);
		expect(message).toContain(`Task ${taskId} has not ended`);
		expect(message).not.toContain('other');
	});

	it('an error names no others if there are none', async () => {
		const { message } = await woken({ 0: { taskId: await service.pendingTask() } });
		expect(message).not.toContain('either');
	});

	it('an item that was not waited for has the reason from before, or has not ended so far', async () => {
		const taskId = await service.pendingTask();
		const tasks = [{ taskId }];
		const refused = { 0: 'The reason from before' };
		expect((await woken({}, { tasks, suspension: { refused } })).message).toBe(refused[0]);
		expect((await woken({}, { tasks })).message).toContain('has not ended so far');
		// The item was waited for, so its reason is what is known now.
		const waited = await woken({ 0: { taskId } }, { suspension: { refused } });
		expect(waited.message).toContain('has not ended within');
	});
});

describe('If n8n wakes the execution too early', () => {
	it('a task that it waits for is polled until the time is really up', async () => {
		const taskId = await service.completedTask();
		fault(respond(200, { status: 'processing' }), TASK, 3);
		const { json, lines } = await woken(
			{ 0: { taskId } },
			{ suspension: { until: Date.now() + HOUR } },
		);
		expect(json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		expect(lines).toHaveLength(5);
	});

	it('a task that goes on is an error when the time is really up, whenever this run has begun', async () => {
		const taskId = await service.pendingTask();
		const { now } = Date;
		// Each look takes five seconds.
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 5_000 * service.lines().length);
		const suspension = { until: now() + 20_000 };
		const { message, lines } = await woken({ 0: { taskId } }, { suspension });
		expect(message).toContain(`Task ${taskId} has not ended within`);
		expect(lines.length).toBeLessThanOrEqual(5);
	});

	it('a task that it does not wait for is an error at once', async () => {
		const taskId = await service.pendingTask();
		const suspension = { until: Date.now() + HOUR };
		const { message } = await woken({}, { tasks: [{ taskId }], suspension });
		expect(message).toContain('has not ended so far');
	});

	it('by a few seconds, its time is up', async () => {
		const taskId = await service.pendingTask();
		const { message, lines } = await woken(
			{ 0: { taskId } },
			{ suspension: { until: Date.now() + 8_000 } },
		);
		expect(message).toContain(`Task ${taskId} has not ended within`);
		expect(lines).toHaveLength(1);
	});

	it('the looks keep to the interval, also after one that failed', async () => {
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 3_600);
		fault(respond(500), TASK);
		const stop = new AbortController();
		const running = woken(
			{ 0: { taskId: '7f3c' } },
			{ suspension: { until: Date.now() + HOUR }, cancel: stop.signal },
		);
		await until(() => service.running().requests[0]?.status === 500);
		await new Promise((resolve) => setTimeout(resolve, 150));
		stop.abort(new Error('stopped'));
		const { message, lines } = await running;
		expect(message).toBe('stopped');
		expect(lines).toHaveLength(1);
	});
});

describe('A look', () => {
	it('that the user ends is no failure of the service', async () => {
		const stop = new AbortController();
		const credentials = service.credentials();
		fault({ kind: 'stall' }, TASK);
		const looking = lookNow(itemContext({}, { credentials, cancel: stop.signal }), {
			taskId: '7f3c',
		});
		setTimeout(() => stop.abort(new Error('stopped')), 30);
		await expect(looking).rejects.toThrow('stopped');
	});

	it('takes a minute at most', async () => {
		expect(asShipped[0].look).toBe(60_000);
		jest.replaceProperty(POLL, 'look', 40);
		fault({ kind: 'stall' }, TASK);
		const { state, hasEnded, failure } = await lookNow(
			itemContext({}, { credentials: service.credentials() }),
			{ taskId: '7f3c' },
		);
		expect([state, hasEnded, failure]).toEqual([{}, undefined, expect.any(Error)]);
	});
});

it('several tasks of an item are all fetched, and each waits under its own number', async () => {
	const [a, b] = [await service.completedTask(), await service.completedTask()];
	const items = { 0: { taskId: a, completed: true }, '0.1': { taskId: b, completed: true } };
	const { json, lines } = await woken(items, { ...RESUMED, items: itemsOf({}) });
	expect(json?.map(({ task_id }) => task_id)).toEqual([a, b]);
	expect(lines).toHaveLength(2);
});
