/**
 * Lists that change while they are read, that say little, or that are empty in a bad moment.
 */
// Also covers pagesWithinBudget.ts.

import { captureLogs } from '../support/logs';

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { INodeParameters } from 'n8n-workflow';

import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import type { Shapes } from '../simulator/index';
import { serviceForTests } from '../support/service';
import { atLength, few, long } from '../support/long';
import { AccountHost } from './host';

jest.setTimeout(120_000);

const service = serviceForTests({ tasksInProgress: 1000, hashUploads: false });

const DAY = 24 * 3_600_000;

async function active(seeded: number, shapes: Partial<Shapes> = {}): Promise<AccountHost> {
	service.running().configure({ shapes });
	service.running().seed(seeded);
	const host = new AccountHost(service.credentials());
	await host.activate();
	return host;
}

/** In the order in which the service lists them. */
function listed(order: Shapes['taskListOrder'] = 'newestFirst'): string[] {
	const ids = service
		.running()
		.tasks()
		.map(({ id }) => id);
	return order === 'oldestFirst' ? ids.reverse() : ids;
}

function deletes(ids: string[]): void {
	for (const id of ids) service.running().discard(id);
}

/** Does something to the service just before it answers its n-th request from now on. */
function before(nth: number, change: () => void): void {
	const { requests } = service.running();
	const { push } = requests;
	let count = 0;
	requests.push = (...entries) => {
		count += 1;
		if (count === nth) change();
		return push.apply(requests, entries);
	};
}

const LISTS: Array<[string, Partial<Shapes>]> = [
	['newest first', {}],
	['oldest first', { taskListOrder: 'oldestFirst' }],
	['newest first, cut at 10', { taskListMaximum: 10 }],
	['oldest first, cut at 10', { taskListMaximum: 10, taskListOrder: 'oldestFirst' }],
	['newest first, cut at 20', { taskListMaximum: 20 }],
];

few.describe.each(LISTS)('tasks that the service deletes, in a list %s:', (_, shapes) => {
	long.it.each([1, 7, 35])(
		'%i at its beginning, after activation: no old one starts the workflow',
		async (count) => {
			const host = await active(700, shapes);
			deletes(listed(shapes.taskListOrder).slice(0, count));
			await host.polls(12);
			expect(host.started).toEqual([]);
			const ids = [await service.completedTask(), await service.completedTask()];
			await host.polls(3);
			expect([...host.started].sort()).toEqual(ids.sort());
		},
	);

	long.it(
		'some at every poll: each new one starts the workflow once, no old one does',
		async () => {
			const host = await active(600, shapes);
			const ids: string[] = [];
			for (let turn = 0; turn < 15; turn++) {
				const order = listed(shapes.taskListOrder).filter((id) => !ids.includes(id));
				deletes([3, 40, 90, 200].map((place) => order[place] ?? '').filter(Boolean));
				ids.push(await service.completedTask());
				await host.poll();
			}
			await host.polls(8);
			expect([...host.started].sort()).toEqual(ids.sort());
		},
	);

	long.it.each([2, 3, 5])(
		'while the list is read for the first time, before request %i: none is missed',
		async (nth) => {
			service.running().configure({ shapes });
			service.running().seed(250);
			const doomed = listed(shapes.taskListOrder).slice(0, 4);
			const host = new AccountHost(service.credentials());
			before(nth, () => deletes(doomed));
			await host.activate();
			await host.polls(20);
			expect(host.started).toEqual([]);
		},
	);

	it('nearly all at once: what ends afterwards starts the workflow, nothing else does', async () => {
		const before = atLength(600, 200);
		const host = await active(before, shapes);
		await host.polls(2);
		deletes(listed(shapes.taskListOrder).slice(0, before - 40));
		await host.polls(atLength(6, 4));
		expect(host.started).toEqual([]);
		const ids = [await service.completedTask(), await service.completedTask()];
		await host.polls(4);
		expect([...host.started].sort()).toEqual(ids.sort());
	});
});

few.describe.each<[string, Partial<Shapes>]>([
	['', {}],
	[', oldest first', { taskListOrder: 'oldestFirst' }],
	[', cut at 10', { taskListMaximum: 10 }],
	[' and does not heed `status`', { taskListIgnores: ['status'] }],
	[
		' and does not heed `status`, oldest first',
		{ taskListIgnores: ['status'], taskListOrder: 'oldestFirst' },
	],
])('a list that does not say `status`%s', (_, shapes) => {
	it('starts nothing with what had ended, and once with each task that ends afterwards', async () => {
		service.running().configure({ shapes: { ...shapes, taskListStatus: 'hidden' } });
		service.running().seed(atLength(60, 25));
		const open = [await service.pendingTask(), await service.pendingTask()];
		const host = new AccountHost(service.credentials());
		await host.activate();
		await host.polls(3);
		expect(host.started).toEqual([]);
		const [first = '', second = ''] = open;
		service.running().finish(first);
		service.running().finish(second, { status: 'failed', error: 'No speech' });
		const ids = [...open];
		for (let count = 0; count < atLength(12, 4); count++) {
			ids.push(await service.completedTask());
		}
		const late = await service.pendingTask();
		await host.polls(6);
		expect([...host.started].sort()).toEqual(ids.sort());
		service.running().finish(late);
		await host.polls(3);
		expect([...host.started].sort()).toEqual([...ids, late].sort());
		const outputs = new Map(host.executions.flat().map(({ json }) => [json.task_id, json]));
		expect(outputs.get(first)).toMatchObject({ status: 'completed', text: expect.any(String) });
		expect(outputs.get(second)).toMatchObject({ status: 'failed', error: 'No speech' });
	});

	it('costs few requests, and shows "Execute step" a finished transcript', async () => {
		const host = await active(60, { ...shapes, taskListStatus: 'hidden' });
		for (let count = 0; count < 3; count++) {
			const before = service.running().requests.length;
			await host.poll();
			expect(service.running().requests.length - before).toBeLessThanOrEqual(25);
		}
		const [item] = await host.executeStep();
		expect(item?.json).toMatchObject({ status: 'completed', text: expect.any(String) });
	});
});

describe('a list that is empty in a bad moment', () => {
	const emptyLists = (times: number, body: object = { tasks: [] }) =>
		service.running().fault({
			match: { path: '/tasks$' },
			times,
			action: { kind: 'respond', status: 200, body },
		});

	it('at activation, once: it is looked at again, and nothing old starts the workflow', async () => {
		service.running().seed(30);
		emptyLists(1);
		const host = new AccountHost(service.credentials());
		await host.activate();
		const id = await service.completedTask();
		await host.polls(3);
		expect(host.started).toEqual([id]);
	});

	it('at activation, while the service shows finished tasks elsewhere: the activation fails', async () => {
		service.running().seed(30);
		emptyLists(2);
		const host = new AccountHost(service.credentials());
		await expect(host.activate()).rejects.toMatchObject({
			message: expect.stringContaining('list of tasks is empty'),
		});
		expect(host.saved).toBe('{}');
	});

	it('all the time of the activation: tasks that are dated before it start nothing', async () => {
		service.running().configure({ shapes: { taskListDates: 'created_at' } });
		service.running().seed(30, 2 * DAY);
		emptyLists(3);
		const host = new AccountHost(service.credentials());
		await host.activate();
		const id = await service.completedTask();
		await host.polls(3);
		expect(host.started).toEqual([id]);
	});

	long.it(
		'later, once, oldest first: the next task starts the workflow at the next poll',
		async () => {
			const host = await active(290, { taskListOrder: 'oldestFirst', taskListMaximum: 10 });
			await host.polls(8);
			emptyLists(1, []);
			await host.poll();
			const id = await service.completedTask();
			await host.poll();
			expect(host.started).toEqual([id]);
		},
	);

	it('later: nothing is forgotten', async () => {
		const host = await active(30);
		emptyLists(9);
		await host.poll();
		const id = await service.completedTask();
		await host.polls(4);
		expect(host.started).toEqual([id]);
	});
});

few.it.each<[string, Partial<Shapes>]>([
	['a short list', {}],
	['a list of several pages', { taskListMaximum: 10 }],
])(
	'a meeting that was scheduled two days before activation starts the workflow (%s)',
	async (_, shapes) => {
		const host = await active(25, { ...shapes, taskListDates: 'created_at' });
		await host.polls(2);
		const [id = ''] = service.running().seed(1, 2 * DAY);
		await host.polls(3);
		expect(host.started).toEqual([id]);
	},
);

it('a web page of a proxy in place of a task finishes no task, however often it comes', async () => {
	const host = await active(10);
	const id = await service.pendingTask();
	await host.poll();
	service.running().finish(id);
	const list = { tasks: [{ task_id: 'another', status: 'pending' }] };
	const page = {
		status: 404,
		headers: { 'content-type': 'text/html' },
		body: '<html>404 Not Found</html>',
	};
	const { fault } = service.running();
	fault({
		match: { path: '/tasks$' },
		times: 999,
		action: { kind: 'respond', status: 200, body: list },
	});
	fault({ match: { path: `/tasks/${id}$` }, times: 7, action: { kind: 'respond', ...page } });
	await host.polls(10);
	expect(host.started).toEqual([id]);
});

few.it.each(['0001-01-01T00:00:00Z', '1970-01-01T00:00:00', 0, -62_135_596_800])(
	'a date that was never set (%p) is no date: a new task starts the workflow',
	async (created) => {
		const host = await active(1);
		const id = await service.completedTask();
		const tasks = listed().map((one) => ({
			task_id: one,
			status: 'completed',
			submitted_at: created,
		}));
		service.running().fault({
			match: { path: '/tasks$' },
			times: 1,
			action: { kind: 'respond', status: 200, body: { tasks } },
		});
		await host.polls(1);
		expect(host.started).toEqual([id]);
	},
);

few.describe.each<[string, Partial<Shapes>]>([
	['newest first', {}],
	['oldest first', { taskListOrder: 'oldestFirst' }],
	['oldest first, cut at 10', { taskListOrder: 'oldestFirst', taskListMaximum: 10 }],
])('a list with a largest offset, %s', (_, order) => {
	const shapes = { ...order, taskListLargestOffset: 200 };

	it('that hides tasks: the activation fails, and says why', async () => {
		const activation = active(450, shapes);
		await expect(activation).rejects.toMatchObject({
			message: expect.stringContaining('refuses to list more than the first'),
		});
	});

	it('that hides none: each new task starts the workflow, and no old one does', async () => {
		const host = await active(150, shapes);
		expect(host.started).toEqual([]);
		const ids = [await service.completedTask(), await service.completedTask()];
		await host.polls(3);
		expect([...host.started].sort()).toEqual(ids.sort());
	});

	long.it('that hides tasks later on: the log says so', async () => {
		const host = await active(150, shapes);
		service.running().seed(300, 2 * DAY);
		const logs = captureLogs();
		try {
			await host.polls(8);
		} finally {
			logs.release();
		}
		expect(logs.lines.join('\n')).toContain('refuses to list more than the first');
	});
});

/** A service of another make: `answer` is what it says to GET /tasks. */
async function anotherService(
	answer: (list: { status: string | null; offset: number; limit: number }) => unknown,
	parameters: INodeParameters = {},
) {
	const server = createServer((request, response) => {
		const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
		const [, id, isResult] = /\/tasks\/([^/]+)(\/result)?$/.exec(pathname) ?? [];
		const number = (name: string) => Number(searchParams.get(name) ?? 0);
		const said = isResult
			? { text: `text of ${id}` }
			: id
				? { task_id: id, status: 'completed' }
				: answer({
						status: searchParams.get('status'),
						offset: number('offset'),
						limit: number('limit'),
					});
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify(said));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	servers.push(server);
	const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	const host = new AccountHost(service.credentials({ baseUrl }), parameters);
	await host.activate();
	return host;
}

const servers: Server[] = [];
afterEach(() => {
	for (const server of servers.splice(0)) {
		server.close();
		server.closeAllConnections();
	}
});

describe('A list that is not read to its end yet, and that is short for one poll', () => {
	long.it.each([
		['empty', 0],
		['only its first three tasks', 3],
	])('%s: none of the old tasks starts the workflow', async (_, shown) => {
		const created_at = new Date(Date.now() - 60 * DAY).toISOString();
		const task = (task_id: string) => ({ task_id, status: 'completed', created_at });
		const tasks = Array.from({ length: 1500 }, (__, number) => task(`old ${number}`));
		let isShort = false;
		const host = await anotherService(({ status, offset, limit }) => {
			const some = isShort ? tasks.slice(0, shown) : tasks;
			const asked = some.filter((one) => status === null || one.status === status);
			return { data: asked.slice(offset, offset + Math.min(20, limit)) };
		});
		isShort = true;
		await host.poll();
		isShort = false;
		tasks.unshift({ ...task('new'), created_at: new Date().toISOString() });
		await host.polls(8);
		expect(host.started).toEqual(['new']);
	});

	long.it(
		'for good: after some polls it is believed, and new tasks start the workflow',
		async () => {
			const task = (task_id: string) => ({ task_id, status: 'completed' });
			let tasks = Array.from({ length: 1500 }, (_, number) => task(`old ${number}`));
			const host = await anotherService(({ status, offset, limit }) => {
				const asked = tasks.filter((one) => status === null || one.status === status);
				return { data: asked.slice(offset, offset + Math.min(20, limit)) };
			});
			tasks = tasks.slice(0, 30);
			await host.polls(5);
			tasks.unshift(task('new'));
			await host.polls(3);
			expect(host.started).toEqual(['new']);
		},
	);
});

describe('A list that is short behind what is known, for one poll', () => {
	const old = (count: number) =>
		Array.from({ length: count }, (_, number) => ({
			task_id: `old ${number}`,
			status: 'completed',
			created_at: new Date(Date.now() - (60 + number) * DAY).toISOString(),
		}));

	long.it(
		'the one after publishing, without its end: none of the old tasks starts the workflow',
		async () => {
			const tasks = old(700);
			let shown = 700;
			const host = await anotherService(({ status, offset, limit }) => {
				const asked = tasks
					.slice(0, shown)
					.filter((one) => status === null || one.status === status);
				return { data: asked.slice(offset, offset + Math.min(10, limit)) };
			});
			// As far as the trigger has read at activation, and two pages.
			const [, frontier] = /"frontier":(\d+)/.exec(host.saved) ?? [];
			shown = Number(frontier) + 20;
			await host.poll();
			shown = 700;
			await host.polls(15);
			expect(host.started).toEqual([]);
		},
	);

	it('the one at publishing: none of the old tasks starts the workflow', async () => {
		const tasks = old(250);
		let shown = 100;
		const host = await anotherService(({ status, offset, limit }) => {
			const asked = tasks.slice(0, shown).filter((one) => status === null || one.status === status);
			return { data: asked.slice(offset, offset + limit) };
		});
		shown = 250;
		await host.polls(10);
		expect(host.started).toEqual([]);
	});
});

long.describe('A list of which only the first page is known yet, ten tasks a page', () => {
	let fewer: { restore: () => void };
	beforeEach(() => (fewer = jest.replaceProperty(ACCOUNT_POLL, 'firstRequests', 14)));
	afterEach(() => fewer.restore());

	async function barelyRead(seeded: number): Promise<AccountHost> {
		service.running().configure({ shapes: { taskListMaximum: 10 } });
		service.running().seed(seeded);
		const host = new AccountHost(service.credentials(), { options: { includeResult: false } });
		await host.activate();
		expect(host.saved).toContain('"frontier":10,');
		return host;
	}

	async function completed(count: number): Promise<string[]> {
		const ids: string[] = [];
		while (ids.length < count) ids.push(await service.completedTask());
		return ids;
	}

	it.each([12, 16, 29])(
		'%i tasks that end before the next poll all start the workflow',
		async (count) => {
			const host = await barelyRead(400);
			const ids = await completed(count);
			await host.polls(8);
			expect([...host.started].sort()).toEqual(ids.sort());
			const later = await completed(3);
			await host.polls(3);
			expect([...host.started].sort()).toEqual([...ids, ...later].sort());
		},
	);

	it('as many that end in a long pause as the first polls cannot read', async () => {
		const host = await barelyRead(400);
		const now = Date.now() + 3_600_000 - performance.now();
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + performance.now());
		const ids = await completed(200);
		await host.polls(30).finally(() => clock.mockRestore());
		expect([...host.started].sort()).toEqual(ids.sort());
	});

	it('the known tasks are deleted, and new ones come: nothing old starts the workflow', async () => {
		const host = await barelyRead(400);
		deletes(listed().slice(0, 10));
		await completed(12);
		await host.polls(10);
		const later = await completed(3);
		await host.polls(3);
		const old = service
			.running()
			.tasks()
			.slice(-390)
			.map(({ id }) => id);
		expect(host.started.filter((id) => old.includes(id))).toEqual([]);
		expect(host.started).toEqual(expect.arrayContaining(later));
	});
});

describe('A list of more than 8000 tasks, oldest first', () => {
	const task = (task_id: string) => ({ task_id, status: 'completed' });

	few.it.each<[string, number, number]>([
		['its first 5', 0, 5],
		['its first 250', 0, 250],
		['5 in the middle', 4_000, 5],
		['its last 5', 9_000 - 5, 5],
		['its last 99', 9_000 - 99, 99],
	])(
		'%s are deleted and as many added between two polls: each new one starts the workflow once, no old one does',
		async (_, first, count) => {
			const tasks = Array.from({ length: 9_000 }, (__, number) => task(`old ${number}`));
			const host = await anotherService(
				({ status, offset, limit }) =>
					tasks
						.filter((one) => status === null || one.status === status)
						.slice(offset, offset + limit),
				{ options: { includeResult: false } },
			);
			await host.poll();
			tasks.splice(first, count);
			for (let number = 0; number < count; number++) tasks.push(task(`new ${number}`));
			await host.polls(4);
			tasks.push(task('last'));
			await host.polls(2);
			const all = tasks.map(({ task_id: id }) => id).filter((id) => !id.startsWith('old'));
			expect([...host.started].sort()).toEqual(all.sort());
		},
	);

	long.it(
		'all tasks that the trigger knows at its end are deleted: what ends some polls later starts the workflow, no old one does, and the log says what is lost',
		async () => {
			const tasks = Array.from({ length: 9_000 }, (__, number) => task(`old ${number}`));
			const host = await anotherService(({ status, offset, limit }) =>
				tasks
					.filter((one) => status === null || one.status === status)
					.slice(offset, offset + limit),
			);
			tasks.splice(-150);
			const logs = captureLogs();
			try {
				await host.polls(8);
			} finally {
				logs.release();
			}
			expect(logs.lines.join('\n')).toContain('has deleted the last tasks of the list');
			tasks.push(task('new 1'), task('new 2'));
			await host.polls(2);
			expect([...host.started].sort()).toEqual(['new 1', 'new 2']);
		},
	);

	long.it('that ends too early for four polls: no old task starts the workflow', async () => {
		const tasks = Array.from({ length: 9_000 }, (__, number) => task(`old ${number}`));
		let shown = 9_000;
		const host = await anotherService(({ status, offset, limit }) =>
			tasks
				.slice(0, shown)
				.filter((one) => status === null || one.status === status)
				.slice(offset, offset + limit),
		);
		shown = 8_500;
		await host.polls(4);
		shown = 9_000;
		tasks.push(task('new'));
		shown += 1;
		await host.polls(4);
		expect(host.started).toEqual(['new']);
	});
});

long.it(
	'many meetings in a list with `id` and `bot_id` that end while n8n is down all start the workflow',
	async () => {
		const meeting = (number: number) => ({
			id: `task ${number}`,
			bot_id: `bot ${number}`,
			status: 'completed',
		});
		const tasks = Array.from({ length: 100 }, (_, number) => meeting(number));
		const host = await anotherService(({ status, offset, limit }) =>
			tasks
				.filter((task) => status === null || task.status === status)
				.slice(offset, offset + Math.min(20, limit)),
		);
		await host.polls(3);
		tasks.unshift(...Array.from({ length: 70 }, (_, number) => meeting(1000 + number)));
		await host.polls(15);
		expect(new Set(host.started).size).toBe(70);
		expect(host.started).toHaveLength(70);
	},
);

it('a task with the same number as its bot starts the workflow', async () => {
	const tasks = [{ task_id: 1, bot_id: null as number | null, status: 'completed' }];
	const host = await anotherService(({ status, offset, limit }) =>
		tasks.filter((task) => status === null || task.status === status).slice(offset, offset + limit),
	);
	tasks.unshift({ task_id: 7, bot_id: 7, status: 'completed' });
	await host.polls(3);
	expect(host.started.map(String)).toEqual(['7']);
});

it('a list that calls the id of a task `id`, also beside a `bot_id`: files and meetings start the workflow', async () => {
	const tasks: Array<Record<string, unknown>> = [{ id: 'old', bot_id: null, status: 'completed' }];
	const host = await anotherService(({ status, offset, limit }) =>
		tasks.filter((task) => status === null || task.status === status).slice(offset, offset + limit),
	);
	tasks.unshift({ id: 'file', bot_id: null, status: 'completed' });
	tasks.unshift({ id: 'meeting', bot_id: 'bot 1', status: 'completed' });
	await host.polls(3);
	expect([...host.started].sort()).toEqual(['file', 'meeting']);
});
