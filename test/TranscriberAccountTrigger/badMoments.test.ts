/** One failed poll or one broken task makes no other task miss its start, and none start twice. */
// Also covers countedRequests.ts.

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { ONE_TASK } from '../../nodes/TranscriberAccountTrigger/openTasks';
import { SILENT } from '../../nodes/shared/api/fetchResults';
import { tasksIn } from '../../nodes/shared/api/undocumented/taskLists';
import { replaceValues } from '../support/scale';
import { serviceForTests } from '../support/service';
import { atLength, few, long } from '../support/long';
import { AccountHost, takeAllTurns } from './host';

jest.setTimeout(120_000);

const service = serviceForTests({ tasksInProgress: 1000 });

const bounds = { ...ACCOUNT_POLL };
const oneTask = { ...ONE_TASK };
beforeEach(() => {
	replaceValues(RETRY, { base: 1, cap: 1, patienceWhenBroken: 20, patienceWhenBusy: 20 });
});

async function active(): Promise<AccountHost> {
	const host = new AccountHost(service.credentials());
	await host.activate();
	return host;
}

async function completed(count: number): Promise<string[]> {
	const ids: string[] = [];
	while (ids.length < count) ids.push(await service.completedTask());
	return ids;
}

function oldestFirst(tasks: number): void {
	service.running().configure({ shapes: { taskListOrder: 'oldestFirst' } });
	service.running().seed(tasks);
}

const resultsAsked = () => service.lines().filter((line) => line.endsWith('/result')).length;

const respond = (path: string, status: number, times = 1, skip = 0) =>
	service.running().fault({ match: { path }, times, skip, action: { kind: 'respond', status } });

describe('a page that fails at activation', () => {
	long.it('costs no transcript that ends afterwards its start', async () => {
		oldestFirst(250);
		respond('/tasks$', 500, 1, 1);
		const host = new AccountHost(service.credentials());
		await expect(host.activate()).rejects.toThrow('HTTP 500');
		await host.activate();
		const ids = await completed(3);
		await host.polls(10);
		expect([...host.started].sort()).toEqual(ids.sort());
	});

	it('lets the activation fail where the end of the list cannot be found', async () => {
		oldestFirst(250);
		respond('/tasks$', 500, 99, 1);
		const host = new AccountHost(service.credentials());
		await expect(host.activate()).rejects.toMatchObject({
			message: expect.stringMatching(/\w/),
		});
		expect(host.saved).toBe('{}');
	});
});

few.it.each([404, 422])('a page behind the end that is answered %i is the end', async (status) => {
	oldestFirst(30);
	const host = await active();
	const ids = await completed(3);
	// After the first page, the tasks in two states, and the page with the last five known tasks.
	respond('/tasks$', status, 1, 4);
	await host.poll();
	const offsets = service.running().requests.map(({ query }) => query['offset']);
	expect([...host.started].sort()).toEqual(ids.sort());
	expect(offsets).toContain('33');
});

it('null under the name of the list is an empty list, and nothing under it is none', () => {
	expect(tasksIn({ tasks: null })).toEqual([]);
	expect(tasksIn({ data: { items: null } })).toEqual([]);
	expect(tasksIn({ message: null })).toBeUndefined();
});

it('a poll that finds the rate limit used up is no failure, and the next one starts what has ended', async () => {
	const host = await active();
	const ids = await completed(1);
	const release = await takeAllTurns(host.credentials.apiKey);
	jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 50);
	expect(await host.poll().finally(release)).toEqual([]);
	jest.replaceProperty(ACCOUNT_POLL, 'maxMs', bounds.maxMs);
	await host.poll();
	expect(host.started).toEqual(ids);
});

describe('a task that is not well', () => {
	few.it.each([500, 503])(
		'with a result that is %i for ever holds up none behind it',
		async (status) => {
			const host = await active();
			const [sick = '', ...others] = await completed(4);
			respond(`/tasks/${sick}/result$`, status, 9999);
			await host.polls(3);
			expect([...host.started].sort()).toEqual(others.sort());
		},
	);

	long.it('with a result that never comes holds up none behind it', async () => {
		const host = await active();
		jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 1500);
		const [sick = '', ...others] = await completed(4);
		service.running().fault({
			match: { path: `/tasks/${sick}/result$` },
			times: 9999,
			action: { kind: 'stall' },
		});
		await host.polls(3);
		expect([...host.started].sort()).toEqual(others.sort());
	});

	long.it.each(['/result$', '/tasks/[^/]+$'])(
		'or only slower (%s) than its share of the time, starts the workflow with its text',
		async (path) => {
			jest.replaceProperty(ONE_TASK, 'maxMs', 300);
			const host = await active();
			if (path !== '/result$') {
				service.running().configure({ shapes: { taskListStatus: 'hidden' } });
			}
			const ids = await completed(3);
			service.running().fault({
				match: { path },
				times: 9999,
				action: { kind: 'delay', ms: 1000 },
			});
			// The last of the first poll, and those that have failed in it in the second, may take all the time left.
			await host.polls(2);
			expect([...host.started].sort()).toEqual(ids.sort());
			expect(host.executions.flat().map(({ json }) => typeof json.text)).toEqual(
				ids.map(() => 'string'),
			);
		},
	);

	few.it.each([404, 503])(
		'starts the workflow with its text if only the document is answered %i, and says what is missing',
		async (status) => {
			jest.replaceProperty(ACCOUNT_POLL, 'failures', 3);
			jest.replaceProperty(ACCOUNT_POLL, 'refusals', 3);
			const parameters = { options: { exportFormat: 'srt' } };
			const host = new AccountHost(service.credentials(), parameters);
			await host.activate();
			const [id = ''] = await completed(1);
			respond('/export$', status, 9999);
			await host.polls(2);
			expect(host.started).toEqual([]);
			await host.polls(2);
			const error = expect.stringMatching(/^The exported document cannot be fetched: \w/);
			expect(host.executions.flat()).toMatchObject([
				{ json: { task_id: id, status: 'completed', text: expect.any(String), error } },
			]);
		},
	);

	it('starts the workflow with its document if only the result is refused', async () => {
		jest.replaceProperty(ACCOUNT_POLL, 'refusals', 2);
		const parameters = { options: { exportFormat: 'srt', exportAs: 'text' } };
		const host = new AccountHost(service.credentials(), parameters);
		await host.activate();
		const [id = ''] = await completed(1);
		respond('/result$', 404, 9999);
		await host.polls(3);
		const error = expect.stringMatching(/^The result cannot be fetched: \w/);
		expect(host.executions.flat()).toMatchObject([
			{ json: { task_id: id, export: expect.any(String), error } },
		]);
	});

	it('of which the result and the document are refused says why the result is missing', async () => {
		jest.replaceProperty(ACCOUNT_POLL, 'refusals', 1);
		const parameters = { options: { exportFormat: 'srt' } };
		const host = new AccountHost(service.credentials(), parameters);
		await host.activate();
		const [id = ''] = await completed(1);
		respond('/(result|export)$', 404, 9999);
		await host.polls(2);
		const error = expect.stringMatching(/^The result cannot be fetched: \w/);
		expect(host.executions.flat()).toMatchObject([{ json: { task_id: id, error } }]);
	});

	it('is none of which the result finds the rate limit used up: it starts the workflow with its text', async () => {
		const [host, another] = [await active(), await active()];
		// The last one may wait for its turn until the end of the poll, the others only briefly.
		const ids = await completed(2);
		const linesBefore = service.lines().length;
		await another.poll();
		const results = resultsAsked();
		const forLists = service.lines().length - linesBefore - results;
		const limits = { ...LIMITS };
		replaceValues(LIMITS, { windowMs: 10_000, other: forLists + LIMITS.keptForUrgent });
		jest.replaceProperty(ONE_TASK, 'maxMs', 100);
		jest.replaceProperty(ACCOUNT_POLL, 'failures', 1);
		const items = await host.poll().finally(() => replaceValues(LIMITS, limits));
		jest.replaceProperty(ONE_TASK, 'maxMs', oneTask.maxMs);
		expect([items, resultsAsked()]).toEqual([[], results]);
		const started = await host.poll();
		expect(started.map(({ json }) => json.task_id).sort()).toEqual(ids.sort());
		for (const { json } of started) {
			expect(json).toMatchObject({ text: expect.any(String) });
			expect(json).not.toHaveProperty('error');
		}
	});

	it('starts the workflow without its result in the end, and says why', async () => {
		jest.replaceProperty(ACCOUNT_POLL, 'failures', 4);
		const host = await active();
		const [sick = ''] = await completed(1);
		respond(`/tasks/${sick}/result$`, 500, 9999);
		await host.polls(3);
		expect(host.started).toEqual([]);
		await host.polls(2);
		expect(host.executions.flat()).toMatchObject([
			{
				json: { task_id: sick, error: expect.stringMatching(/^The result cannot be fetched: \w/) },
			},
		]);
	});
});

long.it.each([
	['50', 'short', 180],
	['3 000', 'long', 160],
	['3 000', 'long', 70],
])(
	'a list of %s tasks that takes a fifth of the time of a poll or more for a page leaves time for the results (%s list, %i ms)',
	async (tasks, _length, ms) => {
		service.running().seed(Number(tasks.replace(' ', '')));
		const host = await active();
		await host.polls(4);
		jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 800);
		service.running().fault({
			match: { path: '/tasks$' },
			times: 9999,
			action: { kind: 'delay', ms },
		});
		const ids = await completed(2);
		await host.polls(2);
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

it('a new version that is published while results are fetched starts each task once', async () => {
	const host = await active();
	const ids = await completed(3);
	service.running().fault({
		match: { path: '/result$' },
		times: 1,
		action: { kind: 'delay', ms: 800 },
	});
	const poll = host.poll();
	while (!service.lines().some((line) => line.endsWith('/result'))) {
		await new Promise((resolve) => setImmediate(resolve));
	}
	await host.activate('update');
	await poll;
	await host.polls(2);
	expect([...host.started].sort()).toEqual(ids.sort());
});

it('"Execute step" outputs the newest of many tasks that are listed oldest first, ten at a time', async () => {
	oldestFirst(300);
	service.running().configure({
		shapes: { taskListMaximum: 10, taskListOrder: 'oldestFirst', taskListDates: 'created_at' },
	});
	const [id] = await completed(1);
	const [item] = await new AccountHost(service.credentials()).executeStep();
	expect(item?.json.task_id).toBe(id);
});

long.it(
	'a poll makes 25 requests at most, those for single tasks and results included',
	async () => {
		const host = await active();
		service.running().configure({ shapes: { taskListMaximum: 10 } });
		service.running().seed(40);
		const ids = await completed(60);
		for (let count = 0; count < 12; count++) {
			const before = service.running().requests.length;
			await host.poll();
			expect(service.running().requests.length - before).toBeLessThanOrEqual(25);
		}
		expect(host.started).toEqual(expect.arrayContaining(ids));
	},
);

long.describe('Recordings in which nothing was said, which cost three requests each,', () => {
	beforeEach(() => {
		jest.replaceProperty(SILENT, 'pauseMs', 1);
		service.running().fault({
			match: { path: '/result$' },
			times: 1e4,
			action: { kind: 'respond', status: 200, body: { text: null, segments: null } },
		});
	});

	few.it.each([
		['25 requests', 3_600_000, 25],
		['45 requests after a pause', 0, 45],
	])('leave a poll at %s', async (_, pauseMs, most) => {
		jest.replaceProperty(ACCOUNT_POLL, 'pauseMs', pauseMs);
		const host = await active();
		const ids = await completed(atLength(30, 12));
		while (host.started.length < ids.length) {
			const before = service.running().requests.length;
			expect(await host.poll()).not.toEqual([]);
			expect(service.running().requests.length - before).toBeLessThanOrEqual(most);
		}
		expect([...host.started].sort()).toEqual(ids.sort());
	});
});

long.it(
	'a list that is refused again and again, and then comes, leaves requests for a result',
	async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 5_000);
		const host = await active();
		const ids = await completed(1);
		respond('/tasks$', 503, 50);
		await host.poll();
		expect(host.started).toEqual(ids);
	},
);

long.describe('After a pause since the last poll', () => {
	beforeEach(() => {
		jest.replaceProperty(ACCOUNT_POLL, 'pauseMs', 0);
	});

	long.it(
		'a poll makes up to 45 requests: of a daily poll, 30 transcripts a day all start the workflow on that day',
		async () => {
			const host = await active();
			for (let day = 0; day < 4; day++) {
				const ids = await completed(30);
				const before = service.running().requests.length;
				await host.poll();
				expect(service.running().requests.length - before).toBeLessThanOrEqual(45);
				expect(host.started).toEqual(expect.arrayContaining(ids));
			}
		},
	);
});
