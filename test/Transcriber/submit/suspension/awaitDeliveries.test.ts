/** 'Wait for the Transcript (Webhook)': whether a run suspends the execution, and with what in its memory. */
// Also covers suspendUntilDelivery.ts.

import type { IDataObject, IRunExecutionData } from 'n8n-workflow';

import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import {
	remember,
	type AcceptedMemory,
} from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import type { Suspension } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import {
	awaitDeliveries,
	checkNotRefusedBefore,
	resumeAddress,
} from '../../../../nodes/Transcriber/submit/suspension/suspendUntilDelivery';
import { WAIT_DEFAULTS } from '../../../../nodes/Transcriber/wait/waitOptions';
import { resumeUrlOf } from '../../../../nodes/shared/n8nInternals/resumeUrl';
import { idFields, type SubmissionIds } from '../../../../nodes/shared/api/submission';
import type { RoutingRequest } from '../../../../nodes/shared/api/types';
import { refuse } from '../../../../nodes/shared/parameters/refuse';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import type { FaultRule } from '../../../simulator/index';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { BOT, LINK } from '../../../support/parameters';
import { giveUpSoon } from '../../../support/scale';
import { itemsOf, serviceForTests } from '../../../support/service';

const service = serviceForTests();

const HOUR = 3_600_000;
const MINUTE = 60_000;
const AWAIT = { ...LINK, onCompletion: 'awaitWebhook' };
const GOES_ON: ItemPlace = { node: { onError: 'continueRegularOutput' } };

beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.005);
	jest.replaceProperty(WAIT_DEFAULTS, 'timeout', 60);
});
const WORKING = { kind: 'respond', status: 200, body: { status: 'processing' } } as const;
const fault = (action: FaultRule['action'], times = 1, path = '/tasks/[^/]+$') =>
	service.running().fault({ match: { method: 'GET', path }, times, action });

interface Item {
	tasks: SubmissionIds[];
	memory?: Partial<AcceptedMemory>;
	isFresh?: boolean;
	/** What the service has answered to the submit, besides the ids. */
	answer?: IDataObject;
}

interface Options extends ItemPlace {
	parameters?: object;
	suspension?: Partial<Suspension>;
	/** Another item of the run has failed before. */
	hasFailed?: boolean;
	/** Another item of the run polls. */
	hasPolling?: boolean;
}

/** A run over these items, all of which the service has accepted. */
async function run(items: Item[], options: Options = {}) {
	const { parameters = {}, suspension, hasFailed, hasPolling, ...place } = options;
	const saved: IDataObject & { suspension?: Suspension } = {};
	if (suspension) {
		saved.suspension = { run: 0, until: 0, items: {}, refused: {}, asleep: true, ...suspension };
	}
	const contexts = items.map((_, itemIndex) =>
		itemContext(
			{ ...AWAIT, ...parameters },
			{
				saved,
				credentials: service.credentials(),
				items: itemsOf(...items.map(() => ({}))),
				itemIndex,
				...place,
			},
		),
	);
	const [first] = contexts;
	if (!first) throw new Error('No item');
	const nodeRun = NodeRun.of(first);
	items.forEach((_, index) => nodeRun.register(index));
	if (hasFailed) {
		const stopsNode = place.node?.onError === undefined;
		nodeRun.fail(7, refuse(first, 'Item 7 has failed', ''), { stopsNode, isStopped: false });
	}
	if (hasPolling) {
		nodeRun.register(8);
		void nodeRun.waitForAll('submitted', 8).then(() => nodeRun.leave(8));
	}
	const outputs = await Promise.all(
		contexts.map(async (context, itemIndex) => {
			const {
				tasks,
				memory,
				isFresh = true,
				answer = { status: 'pending' },
			} = items[itemIndex] as Item;
			const answers = tasks.map((ids) => ({ ...idFields(ids), ...answer }));
			const accepted: AcceptedMemory = {
				state: 'accepted',
				submissions: answers.map((one, index) => ({
					answer: one,
					sealedSecret: `sealed ${index}`,
				})),
				at: Date.now(),
				deliversTo: resumeUrlOf(context),
				executionId: '41',
				...memory,
			};
			const submitted = answers.map((one, index) => ({
				index,
				answer: one,
				ids: tasks[index] ?? {},
				state: one as IDataObject,
			}));
			try {
				const output = await awaitDeliveries(context, submitted, { accepted, isFresh }, nodeRun);
				return output.map(({ json }) => json);
			} catch (error) {
				nodeRun.fail(itemIndex, error as never, {
					stopsNode: !context.continueOnFail(),
					isStopped: false,
				});
				return (error as Error).message;
			} finally {
				nodeRun.leave(itemIndex);
			}
		}),
	);
	const wakesAt = contexts.map((context) => {
		const { runExecutionData } = context as object as { runExecutionData: IRunExecutionData };
		return runExecutionData.waitTill?.getTime();
	});
	return { outputs, suspension: saved.suspension, wakesAt, isSuspended: nodeRun.isSuspended };
}

const looks = () => service.lines().filter((line) => !line.endsWith('/result'));

describe('A run of which all tasks are new', () => {
	it('suspends the execution once, with all that a delivery needs, and asks nothing', async () => {
		const began = Date.now();
		const { outputs, suspension, wakesAt, isSuspended } = await run([
			{
				tasks: [{ taskId: 'a' }, { taskId: 'b' }],
				answer: { status: 'pending', error: 'shown later' },
			},
			{ tasks: [{ botId: 'c' }] },
		]);
		expect(outputs).toEqual([
			[
				{ task_id: 'a', status: 'pending' },
				{ task_id: 'b', status: 'pending' },
			],
			[{ bot_id: 'c', status: 'pending' }],
		]);
		expect(suspension).toEqual({
			run: 0,
			until: expect.any(Number),
			items: {
				0: { taskId: 'a', sealedSecret: 'sealed 0', ended: false, calledOff: false },
				'0.1': { taskId: 'b', sealedSecret: 'sealed 1', ended: false, calledOff: false },
				1: { botId: 'c', sealedSecret: 'sealed 0', ended: false, calledOff: false },
			},
			refused: {},
			asleep: true,
		});
		expect(suspension?.until).toBeGreaterThanOrEqual(began + HOUR);
		expect(wakesAt).toEqual([suspension?.until, undefined]);
		expect([isSuspended, service.lines()]).toEqual([true, []]);
	});

	it('sleeps until the latest of its deadlines', async () => {
		const start = Date.now() + 5 * HOUR;
		const { suspension } = await run([
			{ tasks: [{ botId: 'a' }], answer: { scheduled_start_at: new Date(start).toISOString() } },
			{ tasks: [{ botId: 'b' }] },
		]);
		expect(suspension?.until).toBe(start + HOUR);
	});

	it('suspends the execution also beside an item that polls, once that has ended', async () => {
		const { isSuspended } = await run([{ tasks: [{ taskId: 'a' }] }], { hasPolling: true });
		expect(isSuspended).toBe(true);
	});

	it('begins anew in another round of a loop', async () => {
		const { suspension } = await run([{ tasks: [{ taskId: 'a' }] }], {
			runIndex: 3,
			suspension: {
				run: 1,
				until: Date.now() + 9 * HOUR,
				items: { 0: { taskId: 'old' } },
				resumed: true,
			},
		});
		expect(suspension).toMatchObject({ run: 3, items: { 0: { taskId: 'a' } } });
		expect(suspension?.until).toBeLessThan(Date.now() + 2 * HOUR);
		expect(Object.keys(suspension ?? {})).not.toContain('resumed');
	});
});

describe('A run with a task that cannot be delivered to this execution', () => {
	it('polls for all of its items', async () => {
		const [a, b] = [await service.completedTask(), await service.completedTask()];
		const { outputs, suspension, wakesAt } = await run([
			{ tasks: [{ taskId: a }], memory: { deliversTo: 'https://other.example.com/' } },
			{ tasks: [{ taskId: b }] },
		]);
		expect(outputs).toMatchObject([
			[{ task_id: a, status: 'completed', text: expect.any(String) }],
			[{ task_id: b, status: 'completed', text: expect.any(String) }],
		]);
		expect([suspension, wakesAt]).toEqual([undefined, [undefined, undefined]]);
	});

	it('waits for the start of a scheduled bot', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		jest.replaceProperty(WAIT_DEFAULTS, 'timeout', 20 / MINUTE);
		fault({ kind: 'respond', status: 200, body: { status: 'scheduled' } }, 12, '/meeting/[^/]+$');
		const answer = { scheduled_start_at: new Date(Date.now() + HOUR).toISOString() };
		const memory = { deliversTo: '' };
		const { outputs } = await run([{ tasks: [{ botId }], memory, answer }], { parameters: BOT });
		expect(outputs).toMatchObject([[{ bot_id: botId, status: 'completed' }]]);
	});
});

describe('A run that has failed', () => {
	it('does not suspend the execution if the failure stops the node', async () => {
		const { outputs, suspension } = await run([{ tasks: [{ taskId: 'a' }] }], { hasFailed: true });
		expect(outputs).toEqual([[{ task_id: 'a', status: 'pending' }]]);
		expect([suspension, service.lines()]).toEqual([undefined, []]);
	});

	it('suspends it if the node goes on, and remembers why the others failed', async () => {
		const { suspension } = await run([{ tasks: [{ taskId: 'a' }] }], {
			...GOES_ON,
			hasFailed: true,
		});
		expect(suspension).toMatchObject({ asleep: true, refused: { 7: 'Item 7 has failed' } });
	});

	it('at its looks does not suspend it either', async () => {
		const body = { status: 'pending', awaiting_balance: true };
		const [a, b] = [await service.pendingTask(), await service.pendingTask()];
		fault({ kind: 'respond', status: 200, body }, 1, `/tasks/${b}$`);
		const parameters = { waitOptions: { onInsufficientBalance: 'fail' } };
		const items = [{ tasks: [{ taskId: a }] }, { tasks: [{ taskId: b }] }];
		const { outputs, suspension, isSuspended } = await run(items, { parameters });
		expect(outputs).toEqual([
			[{ task_id: a, status: 'pending' }],
			expect.stringContaining(`Task ${b} waits because the balance is too low`),
		]);
		expect([suspension?.asleep, isSuspended]).toEqual([undefined, false]);
		fault({ kind: 'respond', status: 200, body }, 1, `/tasks/${b}$`);
		const second = await run(items, { ...GOES_ON, parameters });
		expect(second.suspension).toMatchObject({
			asleep: true,
			items: { 0: { taskId: a } },
			refused: { 1: expect.stringContaining('balance is too low') },
		});
	});

	it('because the balance is too low already when it is accepted asks nothing', async () => {
		const parameters = { waitOptions: { onInsufficientBalance: 'fail' } };
		const answer = { status: 'awaiting_balance' };
		const { outputs } = await run([{ tasks: [{ taskId: 'a' }], answer }], { parameters });
		expect(outputs).toEqual([expect.stringContaining('balance is too low')]);
		expect(service.lines()).toEqual([]);
	});
});

describe('A run of which some tasks are older', () => {
	const OLD = { at: 0 };

	it('does not wait for what has ended, and suspends the execution for the others', async () => {
		const [a, b] = [await service.completedTask(), await service.pendingTask()];
		const { suspension, isSuspended } = await run([
			{ tasks: [{ taskId: a }, { taskId: b }], memory: OLD },
		]);
		expect(suspension?.items).toMatchObject({
			0: { taskId: a, ended: true },
			'0.1': { taskId: b, ended: false },
		});
		expect([isSuspended, looks().length]).toEqual([true, 2]);
	});

	it('is not suspended if all have ended, and each task is looked at once', async () => {
		const [a, b] = [await service.completedTask(), await service.completedTask()];
		const { outputs, suspension, isSuspended } = await run([
			{ tasks: [{ taskId: a }], memory: OLD },
			{ tasks: [{ taskId: b }], memory: OLD },
		]);
		expect(outputs).toMatchObject([
			[{ task_id: a, status: 'completed', text: expect.any(String) }],
			[{ task_id: b, status: 'completed', text: expect.any(String) }],
		]);
		expect([suspension, isSuspended, looks().length]).toEqual([undefined, false, 2]);
	});

	it('polls for a bot that was called off, because it may get a task soon', async () => {
		const botId = await service.bot();
		service.running().endMeeting(botId);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		fault({ kind: 'respond', status: 200, body: { status: 'cancelled' } }, 3, '/meeting/[^/]+$');
		const { outputs, isSuspended } = await run([{ tasks: [{ botId }], memory: OLD }], {
			parameters: BOT,
		});
		expect(outputs).toMatchObject([[{ bot_id: botId, status: 'completed' }]]);
		expect(isSuspended).toBe(false);
	});

	it('looks again at what has not ended, once for all items, if the looks were slow', async () => {
		const [a, b] = [await service.completedTask(), await service.pendingTask()];
		fault(WORKING, 1, `/tasks/${a}$`);
		const { now } = Date;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_000 * looks().length);
		const { suspension } = await run([
			{ tasks: [{ taskId: a }], memory: OLD },
			{ tasks: [{ taskId: b }], memory: OLD },
		]).finally(() => clock.mockRestore());
		expect(suspension?.items).toMatchObject({ 0: { ended: true }, 1: { ended: false } });
		expect(looks().filter((line) => line.endsWith(a))).toHaveLength(2);
	});
});

describe('After the execution was suspended', () => {
	it('a delivery has woken it: the results are fetched', async () => {
		const taskId = await service.completedTask();
		const suspension = { resumed: true, items: { 0: { taskId, completed: true } } };
		const { outputs, wakesAt } = await run([{ tasks: [{ taskId }], isFresh: false }], {
			suspension,
		});
		expect(outputs).toMatchObject([[{ task_id: taskId, status: 'completed' }]]);
		expect([looks(), wakesAt]).toEqual([[], [undefined]]);
	});

	it('what is submitted only now is polled', async () => {
		const taskId = await service.completedTask();
		fault(WORKING, 2);
		const suspension = { resumed: true, items: {} };
		const { outputs } = await run([{ tasks: [{ taskId }] }], { suspension });
		expect(outputs).toMatchObject([[{ task_id: taskId, status: 'completed' }]]);
		expect(looks()).toHaveLength(3);
	});

	it.each<[string, Partial<AcceptedMemory>]>([
		['by this execution', { executionId: '41' }],
		['by an older version, which did not note the execution', { executionId: undefined }],
	])('its time is up: what was submitted %s and goes on is an error', async (_what, memory) => {
		const taskId = await service.pendingTask();
		const suspension = { items: { 0: { taskId } } };
		const items = [{ tasks: [{ taskId }], isFresh: false, memory }];
		const { outputs } = await run(items, { suspension, runIndex: 1 });
		expect(outputs).toEqual([expect.stringContaining(`Task ${taskId} has not ended within`)]);
	});

	it('its time was up: a Retry polls for what goes on', async () => {
		const taskId = await service.completedTask();
		fault(WORKING, 2);
		const suspension = { items: { 0: { taskId } } };
		const memory = { executionId: '40', deliversTo: 'https://other.example.com/' };
		const items = [{ tasks: [{ taskId }], isFresh: false, memory }];
		const { outputs } = await run(items, { suspension, runIndex: 1 });
		expect(outputs).toMatchObject([[{ task_id: taskId, status: 'completed' }]]);
	});

	it('a delivery had woken it: a Retry fetches the results', async () => {
		const taskId = await service.completedTask();
		const suspension = { resumed: true, items: { 0: { taskId, completed: true } } };
		const items = [{ tasks: [{ taskId }], isFresh: false, memory: { executionId: '40' } }];
		const { outputs } = await run(items, { suspension });
		expect(outputs).toMatchObject([[{ task_id: taskId, status: 'completed' }]]);
		expect(looks()).toEqual([]);
	});

	it('a suspension of which n8n has saved only the beginning is none', async () => {
		const suspension = { asleep: undefined, items: { 0: { taskId: 'old' } } };
		const { isSuspended } = await run([{ tasks: [{ taskId: 'a' }] }], { suspension });
		expect(isSuspended).toBe(true);
	});
});

describe('An item that failed before its execution was suspended', () => {
	const WOKEN = { run: 0, until: 0, items: {}, asleep: true, resumed: true };
	const REFUSED = { ...WOKEN, refused: { 0: 'The reason' } };
	const LATE = { ...REFUSED, resumed: undefined };
	const SENT = { state: 'sent', at: 0 } as const;

	function check(suspension?: object, memory?: Parameters<typeof remember>[1], runIndex = 0) {
		const context = itemContext(AWAIT, {
			saved: { ...(suspension && { suspension: suspension as IDataObject }) },
			runIndex,
		});
		if (memory) remember(context, memory);
		try {
			checkNotRefusedBefore(context);
		} catch (error) {
			const { message, description } = error as { message: string; description: string };
			return { message, description };
		}
		return undefined;
	}
	const OTHERS = 'The other items of this run were waited for.';

	it('is refused with the same reason', () => {
		expect(check(REFUSED)).toEqual({ message: 'The reason', description: OTHERS });
		expect(check(LATE, undefined, 1)).toEqual({ message: 'The reason', description: OTHERS });
	});

	it('is submitted if nothing is known against it', () => {
		expect(check()).toBeUndefined();
		expect(check({ ...WOKEN, refused: {} })).toBeUndefined();
		expect(check({ ...WOKEN, refused: { 1: 'Another one' } })).toBeUndefined();
		expect(check({ ...REFUSED, run: 5 })).toBeUndefined();
	});

	it('is sent again with its key if the service may have accepted it and the execution was woken', () => {
		expect(check(REFUSED, { ...SENT, key: 'k' })).toBeUndefined();
	});

	it('is left to the rule for what must not be repeated if it has no key', () => {
		expect(check(REFUSED, SENT)).toBeUndefined();
		expect(check(LATE, SENT, 1)).toBeUndefined();
	});

	it('is not sent again when the time is up', () => {
		const refusal = check(LATE, { ...SENT, key: 'k' }, 1);
		expect(refusal).toEqual({ message: 'The reason', description: OTHERS });
	});
});

describe('The address for deliveries', () => {
	const request = {
		options: { baseURL: 'http://127.0.0.1:9/api/v1', url: '/transcribe-url' },
	} as RoutingRequest;
	const address = (parameters: object = {}, place: ItemPlace = {}) =>
		resumeAddress(itemContext({ ...AWAIT, ...parameters }, place), request);

	it('is that of the execution and the node', () => {
		const path = 'http://localhost:5678/webhook-waiting/41/6f1a4f0e-5b0c-4f5e-9c55-1d2f3a4b5c6d';
		expect(address()).toMatch(new RegExp(`^${path}(\\?|$)`));
	});

	it('is refused if the service cannot reach it', () => {
		const far = {
			options: { ...request.options, baseURL: 'https://service.example.com/api/v1' },
		} as RoutingRequest;
		const credentials = { baseUrl: 'https://service.example.com', apiKey: 'test-api-key' };
		expect(() => resumeAddress(itemContext(AWAIT, { credentials }), far)).toThrow(
			'The webhook address of this n8n',
		);
	});

	it('is none for an AI agent, which has no execution that could be suspended', () => {
		expect(() => address({}, { call: {} })).toThrow('cannot be used by an AI agent');
	});
});
