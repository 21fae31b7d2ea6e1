/** "Patience" in the contract: a recording that is refused because of too many tasks is sent again only when there is room. */
// Also covers countTasksInProgress.ts.

// First, before the node is loaded.
import { forgetEverything } from '../../support/ownMemory';

import type { IHttpRequestOptions, INode } from 'n8n-workflow';
import { countTasksInProgress } from '../../../nodes/shared/api/countTasksInProgress';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { RETRY, pauseWhenFull } from '../../../nodes/shared/api/delayBeforeRetry';
import { Room } from '../../../nodes/shared/api/roomForTasks';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { shortenRetries, shortenWindow } from '../../support/scale';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import type { Caller } from '../../../nodes/shared/api/types';
import { FILE, LINK } from '../../support/parameters';
import { atLength, few, long } from '../../support/long';

const service = serviceForTests();

const SIZE = 100_000;

const files = (count: number) =>
	Array.from({ length: count }, (_, index) => itemWithFile(Buffer.alloc(SIZE, `${index} `)));
const submits = () => service.running().requests.filter(({ method }) => method === 'POST');
const looks = () => service.running().requests.filter(({ path }) => path === '/api/v1/tasks');
const refused = () => submits().filter(({ status }) => status === 429);
const refuse = (more: Partial<FaultRule> & { headers?: Record<string, string> } = {}) => {
	const { headers, ...rule } = more;
	const match = { method: 'POST', path: '/transcribe' };
	const action = { kind: 'respond', status: 429, readBody: true, headers } as const;
	service.running().fault({ match, times: 1, action, ...rule });
};
const list = (body: unknown, status = 200, times = 10_000) =>
	service.running().fault({
		match: { method: 'GET', path: '/tasks$' },
		times,
		action: { kind: 'respond', status, body },
	});
const tasks = (count: number, more: object) =>
	Array.from({ length: count }, (_, index) => ({ task_id: `task ${index}`, ...more }));

/** So that `count` tasks of somebody else are in progress. */
const fill = async (count = 20) =>
	await Promise.all(Array.from({ length: count }, async () => await service.pendingTask()));

const finishAll = () => {
	const open = service
		.running()
		.tasks()
		.filter(({ status }) => status === 'pending');
	for (const { id } of open) service.running().finish(id);
};

beforeEach(() => {
	// What is known of an account outlives a test.
	forgetEverything();
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	shortenRetries(200);
	// Only the pauses: a busy machine must not use up the patience, or the time for reading the list.
	for (const patience of ['patienceWhenFull', 'patienceWhenBusy', 'patienceWhenBroken'] as const) {
		jest.replaceProperty(RETRY, patience, 120_000);
	}
	jest.replaceProperty(RETRY, 'brief', 8_000);
	jest.replaceProperty(RETRY, 'room', 60_000);
});

long.it(
	'60 recordings, 20 tasks in progress, a minute each: few bytes are sent twice',
	async () => {
		shortenRetries(60);
		jest.replaceProperty(RETRY, 'patienceWhenFull', 120_000);
		// The account is full at first, also if the uploads are slower than the tasks.
		await fill();
		service.running().configure({
			clockRate: 60,
			processingSeconds: 60,
			queueSeconds: 0,
			shapes: { refuseUploads: 'afterBody' },
		});
		const run = service.run(FILE, { items: files(60) });
		await until(() => refused().length > 0);
		finishAll();
		const { json, error } = await run;
		service.running().configure({ clockRate: 1000, processingSeconds: undefined });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(60);
		expect(refused().length).toBeGreaterThan(0);
		const sent = submits().reduce((sum, { bodyBytes }) => sum + bodyBytes, 0);
		expect(sent / (60 * SIZE)).toBeLessThan(1.2);
	},
);

few.it.each([
	['recordings', FILE],
	['links', LINK],
])(
	'%s that were refused wait until the list shows room, and as many are sent as there is',
	async (_what, parameters) => {
		const [first = ''] = await fill();
		const run = service.run(parameters, { items: files(3) });
		await until(() => looks().length > 6);
		expect(submits().length).toBeLessThanOrEqual(3);
		const before = submits().length;
		service.running().finish(first);
		await until(() => submits().length > before);
		const seen = looks().length;
		await until(() => looks().length > seen + 4);
		expect(
			submits()
				.slice(before)
				.map(({ status }) => status),
		).toEqual([200]);
		finishAll();
		expect((await run).json).toHaveLength(3);
		expect(submits().length).toBe(before + 3);
	},
);

long.it('who comes while others wait is not sent to find out', async () => {
	const [first = ''] = await fill();
	const waiting = service.run(FILE, { items: files(1) });
	await until(() => looks().length > 0);
	const newcomer = service.run(FILE, { items: files(1) });
	const seen = looks().length;
	await until(() => looks().length > seen + 4);
	expect(submits()).toHaveLength(1);
	service.running().finish(first);
	await until(() => submits().length === 2);
	finishAll();
	expect((await Promise.all([waiting, newcomer])).map(({ json }) => json.length)).toEqual([1, 1]);
});

describe('the list', () => {
	/** What the node makes of these pages, one after the other; then come empty ones. */
	const count = async (...pages: unknown[]) => {
		for (const page of pages) list(page, 200, 1);
		list([]);
		const { url, apiKey } = service.running();
		const httpRequestWithAuthentication = async (_type: string, request: IHttpRequestOptions) => {
			const query = new URLSearchParams(request.qs as Record<string, string>);
			const headers = { 'X-API-Key': apiKey };
			const answer = await fetch(`${request.baseURL}${request.url}?${query}`, { headers });
			return { statusCode: answer.status, headers: {}, body: await answer.json() };
		};
		return await countTasksInProgress({
			getNode: () => ({}) as INode,
			getCredentials: async <T extends object>() => ({ baseUrl: url, apiKey }) as object as T,
			helpers: { httpRequestWithAuthentication } as Caller['helpers'],
		});
	};

	few.it.each<[string, unknown[], number | undefined]>([
		['no tasks', [[]], 0],
		['tasks under a name', [{ tasks: tasks(3, { status: 'processing' }) }], 3],
		['an empty list under a name', [{ tasks: [] }], 0],
		[
			'tasks that wait for balance, by their flag',
			[tasks(3, { status: 'pending', awaiting_balance: true })],
			0,
		],
		[
			'tasks that wait for balance, by their queue',
			[tasks(3, { status: 'pending', queue_state: 'awaiting_balance' })],
			0,
		],
		[
			'tasks that have ended, where the filter is not heeded',
			[tasks(3, { status: 'completed' })],
			0,
		],
		[
			'the same page again and again',
			Array.from({ length: 9 }, () => tasks(3, { status: 'pending' })),
			3,
		],
		['tasks without a status', [tasks(3, {})], undefined],
	])('holds %s', async (_what, pages, result) => {
		expect(await count(...pages)).toBe(result);
	});

	it('may be cut into pages smaller than asked for', async () => {
		const all = tasks(17, { status: 'processing' });
		expect(await count(all.slice(0, 7), all.slice(7, 14), all.slice(14))).toBe(17);
	});

	it('that never ends is given up', async () => {
		const pages = Array.from({ length: 100 }, (_, page) =>
			tasks(3, { status: 'completed', page }).map((task) => ({
				...task,
				task_id: `${task.task_id} of page ${page}`,
			})),
		);
		expect(await count(...pages)).toBeUndefined();
		expect(looks().length).toBeLessThan(10);
	});

	it('without a list in it is not read as room', async () => {
		await expect(count({})).rejects.toThrow('holds no list of tasks');
	});

	it('shows room, but the service refuses: one at a time tries, after growing pauses', async () => {
		list([]);
		const count = atLength(6, 5);
		refuse({ times: count });
		const { json } = await service.run(FILE, { items: files(count) });
		expect(json).toHaveLength(count);
		const times = refused().map(({ at }) => at);
		expect(times).toHaveLength(count);
		// The first three were under way together.
		const pauses = times.slice(3).map((time, index) => time - (times[index + 2] ?? 0));
		for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(RETRY.tryBase / 2 - 5);
	});

	few.it.each<[string, unknown, number]>([
		['is refused', { detail: 'no' }, 403],
		['is a web page', '<html>', 200],
		['is nothing', {}, 200],
	])('%s: the recording is sent again after growing pauses', async (_what, body, status) => {
		list(body, status);
		refuse({ times: 3 });
		const { json } = await service.run(FILE, { items: files(1) });
		expect(json).toHaveLength(1);
		const times = submits().map(({ at }) => at);
		expect(times).toHaveLength(4);
		const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
		pauses.forEach((pause, index) => {
			expect(pause).toBeGreaterThanOrEqual((RETRY.tryBase * 2 ** index) / 2 - 5);
		});
	});
});

it('the pauses grow from 10 s to 5 minutes', () => {
	shortenRetries(1);
	const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
	expect([1, 2, 3, 4, 5, 6, 60].map(pauseWhenFull)).toEqual(
		[10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1000),
	);
	chance.mockRestore();
});

it('Retry-After is waited for before the first look', async () => {
	refuse({ headers: { 'Retry-After': '1' } });
	const { json } = await service.run(FILE, { items: files(1) });
	expect(json).toHaveLength(1);
	const [first, again] = service.running().requests;
	expect(again?.method).toBe('GET');
	expect(Number(looks()[0]?.at) - Number(first?.at)).toBeGreaterThanOrEqual(990);
});

it('Retry-After longer than the patience ends in the error at once', async () => {
	refuse({ headers: { 'Retry-After': '3600' } });
	jest.replaceProperty(RETRY, 'patienceWhenFull', 30 * 60_000);
	const { error } = await service.run(FILE, { items: files(1) });
	expect(error).toMatchObject({ httpCode: '429' });
	expect(service.lines()).toHaveLength(1);
});

long.it(
	'20 recordings that find no room give up together when the patience ends, not one after the other',
	async () => {
		await fill();
		jest.replaceProperty(RETRY, 'patienceWhenFull', 1500);
		const { items } = await service.run(FILE, {
			items: files(20),
			node: { onError: 'continueRegularOutput' },
		});
		expect(items.map(({ json }) => json.error)).toEqual(
			Array.from({ length: 20 }, () =>
				expect.stringContaining('The service takes no more recordings for now'),
			),
		);
		expect(submits().length).toBeLessThanOrEqual(3);
	},
);

long.it(
	'a recording that comes after others have given up is sent when there is room by then',
	async () => {
		await fill();
		jest.replaceProperty(RETRY, 'patienceWhenFull', 300);
		expect((await service.run(FILE, { items: files(1) })).error).toBeDefined();
		finishAll();
		const sent = submits().length;
		await new Promise((resolve) => setTimeout(resolve, 2 * RETRY.look));
		const { json, error } = await service.run(FILE, { items: files(1) });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(1);
		expect(submits()).toHaveLength(sent + 1);
	},
);

long.it(
	'120 links of 13 minutes each at a service that takes 20 at a time: all are accepted, however long the first one waits',
	async () => {
		const MINUTE = 60_000 / 400;
		shortenRetries(400);
		shortenWindow(400);
		service
			.running()
			.configure({ clockRate: 400, rateLimits: true, processingSeconds: 13 * 60, queueSeconds: 0 });
		const { json, error } = await service.run(LINK, { items: files(120) });
		service
			.running()
			.configure({ clockRate: 1000, rateLimits: false, processingSeconds: undefined });
		expect(error).toBeUndefined();
		expect(json).toHaveLength(120);
		const [first, last] = [submits()[0], submits().at(-1)];
		expect(Number(last?.at) - Number(first?.at)).toBeGreaterThan(30 * MINUTE);
	},
);

it('a long upload that began before a refusal does not keep the refused one from trying', async () => {
	jest.replaceProperty(RETRY, 'patienceWhenFull', 2000);
	const room = new Room();
	const nothingInProgress = async () => 0;
	await room.enter(nothingInProgress, Date.now());
	await new Promise((resolve) => setTimeout(resolve, 5));
	const leave = await room.enter(nothingInProgress, Date.now());
	leave({ path: '/transcribe', status: 429 });
	await expect(room.enter(nothingInProgress, Date.now())).resolves.toBeDefined();
});

it.each<[string, number | undefined]>([
	['shows room', 3],
	['cannot be read', undefined],
])(
	'a long upload that tries after a refusal is alone for the longest pause, and then holds up nobody, if the list %s',
	async (_what, inProgress) => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 5000);
		jest.replaceProperty(RETRY, 'tryCap', 200);
		const room = new Room();
		const count = async () => inProgress;
		(await room.enter(count, Date.now()))({ path: '/transcribe', status: 429 });
		const times: number[] = [];
		for (let uploads = 0; uploads < 4; uploads++) {
			await room.enter(count, Date.now());
			times.push(Date.now());
		}
		const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
		for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(RETRY.tryCap - 5);
	},
);

it('the patience counts from the first refusal after the last accepted link', async () => {
	refuse();
	await service.run(LINK, { items: itemsOf({}) });
	jest.replaceProperty(RETRY, 'patienceWhenFull', 300);
	await new Promise((resolve) => setTimeout(resolve, 400));
	refuse();
	const { error } = await service.run(LINK, { items: itemsOf({}) });
	expect(error).toBeUndefined();
});

long.it(
	'a run that begins when others have waited for long still has a patience of its full length',
	async () => {
		await fill();
		jest.replaceProperty(RETRY, 'patienceWhenFull', 1500);
		const first = service.run(FILE, { items: files(1) });
		await new Promise((resolve) => setTimeout(resolve, 1200));
		const second = service.run(FILE, { items: files(1) });
		expect((await first).error).toBeDefined();
		finishAll();
		expect((await second).error).toBeUndefined();
	},
);

it('a cancelled execution leaves the others in the queue', async () => {
	const [first = ''] = await fill();
	const other = service.run(FILE, { items: files(1) });
	await until(() => looks().length > 2);
	const { error } = await service.run(FILE, {
		items: files(3),
		cancelWhen: () => looks().length > 6,
	});
	expect(error?.message).toMatch(/^The execution was cancelled/);
	service.running().finish(first);
	expect((await other).json).toHaveLength(1);
	expect(submits()).toHaveLength(2);
});

it('when nobody has waited for a while, the next one is sent without a look', async () => {
	refuse();
	await service.run(FILE, { items: files(1) });
	jest.replaceProperty(RETRY, 'room', 10);
	await new Promise((resolve) => setTimeout(resolve, 50));
	service.running().requests.length = 0;
	await service.run(LINK, { items: itemsOf({}) });
	expect(service.lines()).toEqual(['POST /api/v1/transcribe-url']);
});
