/** Every task that ends after activation starts the workflow once, whatever the list of tasks looks like. */
// Also covers TranscriberAccountTrigger.node.ts, readInEarlierPolls.ts, endedTaskFinder.ts, openTasks.ts, newestTranscript.ts, rememberedBetweenPolls.ts,
// longestPollInterval.ts, endOfList.ts, fetchTranscripts.ts, pollLimits.ts.

import type { INodeParameters } from 'n8n-workflow';

import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import type { Shapes } from '../simulator/index';
import { captureLogs } from '../support/logs';
import { replaceValues } from '../support/scale';
import { serviceForTests } from '../support/service';
import { atLength, few, long } from '../support/long';
import { AccountHost } from './host';

/** Many requests, on a machine that may be busy. */
jest.setTimeout(120_000);

const service = serviceForTests({ tasksInProgress: 1000, hashUploads: false });

const LISTS: Record<string, Partial<Shapes>> = {
	'newest first': {},
	'oldest first': { taskListOrder: 'oldestFirst' },
	'in an order that nobody knows': { taskListOrder: 'byId' },
	'newest first, cut at 10': { taskListMaximum: 10 },
	'oldest first, cut at 10': { taskListMaximum: 10, taskListOrder: 'oldestFirst' },
	'oldest first, cut at 20': { taskListMaximum: 20, taskListOrder: 'oldestFirst' },
	'oldest first, cut at 50': { taskListMaximum: 50, taskListOrder: 'oldestFirst' },
	'in an unknown order, cut at 20': { taskListMaximum: 20, taskListOrder: 'byId' },
	'refused above 50': { taskListMaximum: 50, taskListAboveMaximum: 'refused' },
	'refused above 10, oldest first': {
		taskListMaximum: 10,
		taskListAboveMaximum: 'refused',
		taskListOrder: 'oldestFirst',
	},
	'the same for every offset': { taskListIgnores: ['offset'] },
	'the same for every status': { taskListIgnores: ['status'] },
	'the same for every status, oldest first': {
		taskListIgnores: ['status'],
		taskListOrder: 'oldestFirst',
	},
	'the same for every status, in an unknown order': {
		taskListIgnores: ['status'],
		taskListOrder: 'byId',
	},
	'a bare array': { taskList: 'array' },
	'nested under data': { taskList: 'nested' },
	'with dates': { taskListDates: 'created_at' },
	'with numbers for ids': { taskIds: 'number' },
	'with tasks that are "canceled"': { cancelledStatus: 'canceled' },
};

async function active(seeded = 0, shapes: Partial<Shapes> = {}): Promise<AccountHost> {
	service.running().configure({ shapes });
	service.running().seed(seeded);
	const host = new AccountHost(service.credentials());
	await host.activate();
	return host;
}

/** Random numbers that are the same in every run. */
function dice(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return Math.floor((state / 2 ** 31) * below);
	};
}

few.describe.each(Object.entries(LISTS))('a list %s', (name, shapes) => {
	it('every task that ends after activation starts the workflow once, in any course of things', async () => {
		const simulator = service.running();
		const throwDice = dice(name.length);
		const waiting: string[] = [];
		simulator.configure({ shapes });
		simulator.seed(throwDice(250));
		for (let count = 0; count < 5; count++) waiting.push(await service.pendingTask());
		const host = new AccountHost(service.credentials());
		await host.activate();
		expect(host.executions).toEqual([]);
		const expected: string[] = [];
		for (let turn = 0; turn < atLength(12, 5); turn++) {
			for (let count = throwDice(5); count > 0; count--) waiting.push(await service.pendingTask());
			for (let count = throwDice(6); count > 0 && waiting.length > 0; count--) {
				const [id = ''] = waiting.splice(throwDice(waiting.length), 1);
				const status = ['completed', 'completed', 'failed', shapes.cancelledStatus ?? 'cancelled'];
				simulator.finish(id, { status: status[throwDice(4)] });
				expected.push(id);
			}
			if (throwDice(4) === 0) await host.restart();
			else if (throwDice(6) === 0) await host.activate('update');
			else await host.poll();
		}
		for (let poll = 0; poll < 15 && host.started.length < expected.length; poll++)
			await host.poll();
		// Nothing starts it twice.
		await host.polls(2);
		expect([...host.started].sort()).toEqual([...expected].sort());
	});
});

long.describe.each([
	['newest first', {}],
	['oldest first', { taskListOrder: 'oldestFirst' }],
	['newest first, cut at 10', { taskListMaximum: 10 }],
	['oldest first, cut at 10', { taskListMaximum: 10, taskListOrder: 'oldestFirst' }],
	['in an unknown order', { taskListOrder: 'byId' }],
] as Array<[string, Partial<Shapes>]>)('an account with 1000 tasks, %s', (_, shapes) => {
	it('starts nothing with what was there, and once with what ends, also at once after activation', async () => {
		const simulator = service.running();
		simulator.configure({ shapes });
		const early = await service.pendingTask();
		simulator.seed(1000);
		const host = new AccountHost(service.credentials());
		await host.activate();
		expect(simulator.requests.length).toBeLessThanOrEqual(45);
		const expected = [await service.completedTask()];
		await host.poll();
		simulator.finish(early);
		expected.push(early, await service.completedTask());
		await host.restart();
		expected.push(await service.completedTask());
		await host.polls(5);
		expect([...host.started].sort()).toEqual(expected.sort());
	});
});

long.it('a burst of more tasks than a page between two polls starts it once for each', async () => {
	const host = await active(50, { taskListMaximum: 20, taskListOrder: 'oldestFirst' });
	const expected: string[] = [];
	for (let count = 0; count < 70; count++) expected.push(await service.completedTask());
	await host.polls(10);
	expect([...host.started].sort()).toEqual(expected.sort());
});

long.it(
	'keeps a bounded number of tasks in mind, also of an account that grows without end',
	async () => {
		replaceValues(ACCOUNT_MEMORY, { done: 100, census: 80, tail: 20 });
		const host = await active(300);
		const expected: string[] = [];
		for (let turn = 0; turn < 24; turn++) {
			for (let count = 0; count < 7; count++) expected.push(await service.completedTask());
			await host.poll();
			expect(host.saved.length).toBeLessThan(3_000);
		}
		await host.polls(5);
		expect([...host.started].sort()).toEqual(expected.sort());
	},
);

it('what ended while n8n was down starts it when n8n is up again', async () => {
	const host = await active(10);
	const open = await service.pendingTask();
	await host.poll();
	service.running().finish(open);
	const other = await service.completedTask();
	await host.restart();
	expect([...host.started].sort()).toEqual([open, other].sort());
});

it('what ended while the workflow was not published does not start it', async () => {
	jest.replaceProperty(ACCOUNT_MEMORY, 'sameActivation', -1);
	const host = await active(10);
	await service.completedTask();
	await host.activate('activate');
	await host.poll();
	expect(host.started).toEqual([]);
	const next = await service.completedTask();
	await host.poll();
	expect(host.started).toEqual([next]);
});

it('goes on with a new version of the published workflow, and with another name of the node', async () => {
	const host = await active(10);
	const [first, second] = [await service.completedTask(), await service.completedTask()];
	await host.poll();
	const third = await service.completedTask();
	host.node.name = 'Renamed';
	await host.activate('update');
	await host.poll();
	expect([...host.started].sort()).toEqual([first, second, third].sort());
});

describe('a new version of the workflow', () => {
	const HOUR = 3_600_000;
	const everyWeek = { item: [{ mode: 'everyWeek', hour: 9, minute: 0, weekday: '1' }] };
	const onDay = (dayOfMonth: number) => ({
		item: [{ mode: 'everyMonth', hour: 9, minute: 0, dayOfMonth }],
	});
	const onDays = (days: string) => ({
		item: [{ mode: 'custom', cronExpression: `0 9 ${days} * *` }],
	});
	const atTimes = { item: [{ mode: 'custom', cronExpression: '*/5 * * * *' }] };

	/** The process polls, nothing polls for so long, and a new version is published. */
	async function publishedAfter(hours: number, pollTimes: object | undefined, again: boolean) {
		const host = await active(10);
		host.pollTimes = (pollTimes ?? {}) as INodeParameters;
		await host.activate('update');
		const id = await service.completedTask();
		const now = Date.now() + hours * HOUR;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + performance.now());
		const logs = captureLogs();
		try {
			if (again) host.forget();
			await host.activate('update');
			await host.polls(2);
		} finally {
			logs.release();
			clock.mockRestore();
		}
		return { started: host.started, id, lines: logs.of(host.node.name) };
	}

	few.it.each([
		[720, undefined, false],
		[720, atTimes, false],
		[720, undefined, true],
		[720, everyWeek, true],
		[33 * 24, onDay(28), false],
		[45 * 24, onDays('1,15,30'), false],
		[45 * 24, onDays('1-31'), false],
	])(
		'%i hours after the last poll, at %j (new process: %s), enables a disabled node: what ended in between starts nothing',
		async (hours, pollTimes, again) => {
			const { started, lines } = await publishedAfter(hours, pollTimes, again);
			expect(started).toEqual([]);
			const what = again ? 'has saved nothing' : 'was not polled';
			expect(lines).toEqual([expect.stringMatching(new RegExp(`${what} since 20.*starts afresh`))]);
		},
	);

	few.it.each([
		[1, undefined, false],
		[150, everyWeek, false],
		[20, undefined, true],
		[150, everyWeek, true],
		[61 * 24, onDay(31), false],
		[45 * 24, onDays('29-31'), false],
	])(
		'%i hours after the last poll, at %j (new process: %s), continues',
		async (hours, pollTimes, again) => {
			const { started, id, lines } = await publishedAfter(hours, pollTimes, again);
			expect(started).toEqual([id]);
			expect(lines).toEqual([]);
		},
	);
});

it('begins with what is there when the credential is one of another account', async () => {
	const host = await active(0);
	service.running().seed(30);
	host.node.credentials = { transcriberApi: { id: '2', name: 'Other' } };
	await host.activate('update');
	await host.poll();
	expect(host.started).toEqual([]);
});

it('two polls at the same time start it once', async () => {
	const host = await active(3);
	const id = await service.completedTask();
	await Promise.all([host.poll(), host.poll(), host.poll()]);
	await host.poll();
	expect(host.started).toEqual([id]);
});

it('a poll that comes while another is under way ends after that one: n8n 2 then resolves no more credentials for either', async () => {
	const host = await active(3);
	const id = await service.completedTask();
	service.running().fault({ match: { path: '/tasks$' }, action: { kind: 'delay', ms: 400 } });
	const ended: string[] = [];
	const first = host.poll().then(() => ended.push('first'));
	await Promise.all([first, host.poll().then(() => ended.push('second'))]);
	expect([ended, host.started]).toEqual([['first', 'second'], [id]]);
});

it('a crash that loses what the last poll saved starts it twice at most, and loses nothing', async () => {
	const host = await active(3);
	const before = host.saved;
	const id = await service.completedTask();
	await host.poll();
	host.saved = before;
	await host.restart();
	expect(host.started).toEqual([id, id]);
});
