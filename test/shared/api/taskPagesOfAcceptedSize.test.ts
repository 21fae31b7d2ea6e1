import { TaskPagesOfAcceptedSize } from '../../../nodes/shared/api/taskPagesOfAcceptedSize';
import type { Caller } from '../../../nodes/shared/api/types';
import { itemContext } from '../../support/itemContext';
import { additionalDataFor, credentialsHelper } from '../../support/n8n';
import { itemsOf, failureOf, serviceForTests } from '../../support/service';
import { listTasks } from '../../support/editor';
import { few, long } from '../../support/long';
import { until } from '../../simulator/testing-client';
import { contextsWith } from '../n8nInternals/contexts';

const service = serviceForTests({ tasksInProgress: 10_000 });

async function getMany(parameters = {}) {
	return await service.run({ resource: 'task', operation: 'getAll', ...parameters });
}

function answer(body: unknown, { status = 200, times = 1000, skip = 0 } = {}) {
	service.running().fault({
		match: { path: '/tasks$' },
		times,
		skip,
		action: { kind: 'respond', status, body },
	});
}

const limits = () => service.running().requests.map(({ query }) => query['limit']);
const idsOf = (json: Array<{ task_id?: unknown }>) => json.map(({ task_id: id }) => id);

async function tasks(count: number): Promise<string[]> {
	const ids: string[] = [];
	for (let made = 0; made < count; made += 1) ids.unshift(await service.pendingTask());
	return ids;
}

function refuseAbove(taskListMaximum: number, more = {}) {
	const shapes = { taskListMaximum, taskListAboveMaximum: 'refused', ...more } as const;
	service.running().configure({ shapes });
}

describe('a page that the service refuses because it is too large', () => {
	few.it.each([
		[50, ['100', '50', '50']],
		[20, ['100', '50', '20', '20']],
		[10, ['100', '50', '20', '10', '10']],
	])('of more than %d tasks is asked for smaller, once', async (taskListMaximum, sent) => {
		refuseAbove(taskListMaximum);
		const ids = await tasks(3);
		const { json } = await getMany({ returnAll: true });
		expect(idsOf(json)).toEqual(ids);
		expect(limits()).toEqual(sent);
	});

	it('is not asked for again in the size that was refused, also if as many tasks are wanted', async () => {
		refuseAbove(20);
		const ids = await tasks(2);
		expect(idsOf((await getMany({ limit: 50 })).json)).toEqual(ids);
		expect(limits()).toEqual(['50', '20', '20']);
	});

	few.it.each([400, 413, 416, 422])('may be refused with %d', async (invalidParameterStatus) => {
		refuseAbove(20, { invalidParameterStatus });
		const ids = await tasks(2);
		expect(idsOf((await getMany({ limit: 30 })).json)).toEqual(ids);
		expect(limits()).toEqual(['30', '20', '20']);
	});

	few.it.each([302, 401, 403, 404, 500])('is not asked for again after %d', async (status) => {
		answer({}, { status });
		const { error } = await getMany();
		expect(error?.httpCode).toBe(String(status));
		expect(service.lines()).toHaveLength(1);
	});

	it('ends with the refusal of the service where no size is taken', async () => {
		answer({ detail: { message: 'Never' } }, { status: 422 });
		const { error } = await getMany({ returnAll: true });
		expect(limits()).toEqual(['100', '50', '20', '10']);
		expect(error?.description).toContain('Never');
	});

	it('is asked for smaller by the list of the editor too', async () => {
		refuseAbove(20);
		const [id] = await tasks(1);
		const { results } = await listTasks(service.credentials());
		expect(results.map(({ value }) => value)).toEqual([id]);
		expect(limits()).toEqual(['100', '50', '20']);
	});
});

describe('the shape of a list', () => {
	it.each([
		{ data: { tasks: [{ task_id: 'a' }] } },
		{ results: { items: [{ task_id: 'a' }] }, next: null },
		{ data: [{ task_id: 'a' }], links: { next: '/x' } },
		[{ task_id: 'a' }],
	])('may be %j', async (body) => {
		answer(body, { times: 2 });
		expect((await getMany({ limit: 1 })).json).toEqual([{ task_id: 'a' }]);
		const { results } = await listTasks(service.credentials());
		expect(results).toEqual([{ name: 'a', value: 'a' }]);
	});

	it('is read where the simulator nests it', async () => {
		service.running().configure({ shapes: { taskList: 'nested' } });
		const ids = await tasks(2);
		expect(idsOf((await getMany({ returnAll: true })).json)).toEqual(ids);
	});

	few.it.each([[{}], [''], [{ message: 'OK' }]])(
		'%j is no list, which is no success',
		async (body) => {
			answer(body);
			const message = 'The answer of the service holds no list of tasks';
			expect((await getMany()).error).toMatchObject(failureOf(0, message));
			await expect(listTasks(service.credentials())).rejects.toMatchObject({ message });
		},
	);

	it('is not there if the service says no, and the error says why', async () => {
		answer({ success: false, message: 'Key disabled' });
		const { error } = await getMany();
		expect(error?.message).toContain('gave no list of tasks, and says: Key disabled');
	});

	it('is not in a text, which is no answer of the service', async () => {
		answer('OK');
		const message = 'Something other than the service answered at this address';
		expect((await getMany()).error).toMatchObject(failureOf(0, message));
	});

	it('is empty where the answer has no content (204), which is no error', async () => {
		answer('', { status: 204 });
		expect(await getMany()).toMatchObject({ json: [], error: undefined });
		expect((await listTasks(service.credentials())).results).toEqual([]);
	});

	it('outputs elements that are no objects under the name value', async () => {
		answer(['a', 'b'], { times: 1 });
		expect((await getMany({ limit: 2 })).json).toEqual([{ value: 'a' }, { value: 'b' }]);
	});
});

describe('the end of a list', () => {
	few.it.each([
		[200, { tasks: null, total: 3 }],
		[200, ''],
		[204, ''],
		[404, { detail: 'Not found' }],
		[416, {}],
		[400, { detail: 'offset' }],
		[422, { detail: 'offset' }],
	])('comes where the page past it is answered %d %j', async (status, body) => {
		const ids = await tasks(3);
		answer(body, { status, skip: 1 });
		const { json, error } = await getMany({ returnAll: true });
		expect(error).toBeUndefined();
		expect(idsOf(json)).toEqual(ids);
	});

	it.each([401, 403])('does not come where a further page is refused with %d', async (status) => {
		await tasks(3);
		answer({}, { status, skip: 1 });
		expect((await getMany({ returnAll: true })).error?.httpCode).toBe(String(status));
	});

	few.it.each([[100], [10]])(
		'does not come where the service refuses a large offset, with pages of %d',
		async (taskListMaximum) => {
			service.running().configure({ shapes: { taskListLargestOffset: 200, taskListMaximum } });
			service.running().seed(450);
			const { error } = await getMany({ returnAll: true });
			const shown = taskListMaximum === 100 ? 300 : 210;
			expect(error?.message).toContain(`refuses to list more than the first ${shown} tasks`);
			expect(error?.description).toContain('offset must be 200 at most');
		},
	);

	few.it.each([2, 500])(
		'does not come where the place before the refused one shows that %d tasks follow',
		async (following) => {
			service.running().configure({ shapes: { taskListLargestOffset: 199 } });
			service.running().seed(200 + following - 1);
			const { error } = await getMany({ returnAll: true });
			expect(error?.message).toContain('refuses to list more than the first 200 tasks');
		},
	);

	long.it('comes where the service counts in pages and shows the last page again', async () => {
		const ids = await tasks(100);
		service.running().configure({ shapes: { taskListLargestOffset: 99 } });
		const page = { tasks: ids.map((id) => ({ task_id: id, status: 'pending' })) };
		answer(page, { skip: 2, times: 1 });
		expect((await getMany({ returnAll: true })).json).toHaveLength(100);
		expect(service.lines()).toHaveLength(3);
	});

	it('comes where the last page is shown again, and its tasks of meetings have gone on', async () => {
		const page = (progress: number) => ({
			tasks: Array.from({ length: 100 }, (_none, index) => ({
				id: `t${index}`,
				bot_id: `b${index}`,
				status: 'processing',
				progress,
			})),
		});
		answer(page(1), { times: 1 });
		answer({ detail: 'offset' }, { status: 400, times: 1 });
		answer(page(2), { times: 1 });
		const { items, error } = await getMany({ returnAll: true });
		expect(error).toBeUndefined();
		expect(items).toHaveLength(100);
	});

	it('comes at the largest offset where no task stands behind it', async () => {
		service.running().configure({ shapes: { taskListLargestOffset: 99 } });
		service.running().seed(100);
		expect((await getMany({ returnAll: true })).json).toHaveLength(100);
	});

	it.each([
		['a shorter page, without another look', 35, ['0', '20', '35']],
		['a full page whose last task the service shows', 40, ['0', '20', '40', '39']],
	])('comes where the service refuses the place behind %s', async (_words, count, offsets) => {
		const shapes = { taskListLargestOffset: count - 1, taskListMaximum: 20 };
		service.running().configure({ shapes });
		service.running().seed(count);
		expect((await getMany({ returnAll: true })).json).toHaveLength(count);
		expect(service.running().requests.map(({ query }) => query['offset'])).toEqual(offsets);
	});

	it('is not known where the service fails to show the task before the refused place', async () => {
		service.running().seed(100);
		answer({}, { status: 500, skip: 2 });
		answer({}, { status: 416, skip: 1, times: 1 });
		const { error } = await getMany({ returnAll: true });
		expect(error?.httpCode).toBe('500');
		expect(service.lines()).toHaveLength(3);
	});

	it('is not known where the answer about the place before the refused one holds no list', async () => {
		service.running().seed(100);
		answer({ detail: 'maintenance' }, { skip: 2 });
		answer({}, { status: 416, skip: 1, times: 1 });
		const { error } = await getMany({ returnAll: true });
		expect(error?.message).toContain('holds no list of tasks');
	});

	it('comes where no offset is heeded and the tasks have no id that is known', async () => {
		answer([{ status: 'completed', uuid: 'a' }]);
		const { json } = await getMany({ returnAll: true });
		expect(json).toEqual([{ status: 'completed', uuid: 'a' }]);
		expect(service.lines().length).toBeLessThanOrEqual(3);
	});

	long.it('is limit, also when two new tasks arrive between two pages', async () => {
		const ids = await tasks(150);
		service.running().fault({
			match: { method: 'GET', path: '/tasks$' },
			skip: 1,
			action: { kind: 'delay', ms: 150 },
		});
		const outcome = getMany({ limit: 101 });
		await until(() => service.running().requests.length >= 2);
		for (const name of ['a', 'b']) {
			const url = `https://example.com/${name}.mp3`;
			await service.ask('POST /transcribe-url', { json: { url } });
		}
		expect(idsOf((await outcome).json)).toEqual(ids.slice(0, 101));
		expect(limits()).toEqual(['100', '100']);
	});
});

describe('a place in the list, of a reader that goes to and fro', () => {
	const list = () =>
		new TaskPagesOfAcceptedSize(itemContext({}, { credentials: service.credentials() }), {}, 20);
	const page = (from: number, count = 20) =>
		Array.from({ length: count }, (_, index) => ({ task_id: `t${from + index}` }));
	const answers = (...bodies: unknown[]) =>
		bodies.forEach((body) => answer({ tasks: body }, { times: 1 }));
	const refuseNext = () => answer({ detail: 'offset' }, { status: 416, times: 1 });
	const offsets = () => service.running().requests.map(({ query }) => query['offset']);

	it('counts as behind the end, for want of a page that leads up to it, until a page does', async () => {
		const pages = list();
		answers(page(0));
		refuseNext();
		await pages.page(0);
		expect(await pages.page(40)).toEqual([]);
		expect([pages.isGuess(40), pages.isGuess(20)]).toEqual([true, false]);
		expect(offsets()).toEqual(['0', '40']);
		answers(page(20));
		refuseNext();
		answers(page(39, 1));
		await pages.page(20);
		expect(await pages.page(40)).toEqual([]);
		expect(pages.isGuess(40)).toBe(false);
	});

	it('that an empty page shows leads up to nothing', async () => {
		const pages = list();
		answers(page(0), []);
		refuseNext();
		for (const offset of [0, 100, 60]) await pages.page(offset);
		expect(offsets()).toEqual(['0', '100', '60']);
		expect(pages.isGuess(60)).toBe(true);
	});

	it('that is certainly the end is not asked about twice', async () => {
		const pages = list();
		answers(page(0));
		refuseNext();
		answers(page(19, 1));
		refuseNext();
		await pages.page(0);
		expect([await pages.page(20), await pages.page(20)]).toEqual([[], []]);
		expect(offsets()).toEqual(['0', '20', '19', '20']);
	});

	it('is known to be reached also after an earlier page was read again', async () => {
		const pages = list();
		answers(page(0), page(20), page(0));
		refuseNext();
		answers(page(39, 2));
		for (const offset of [0, 20, 0]) await pages.page(offset);
		await expect(pages.page(40)).rejects.toThrow('more than the first 40 tasks');
	});

	it('is the end if the last page is shown again as it was read last, with a new task before it', async () => {
		const pages = list();
		answers(page(0), page(20), page(19));
		refuseNext();
		answers(page(19));
		for (const offset of [0, 20, 20]) await pages.page(offset);
		expect(await pages.page(40)).toEqual([]);
	});

	it('is not the end only because a page has fewer tasks than one that was longer than asked for', async () => {
		const pages = list();
		answers(page(0, 30), page(30));
		refuseNext();
		answers(page(49, 2));
		for (const offset of [0, 30]) await pages.page(offset);
		await expect(pages.page(50)).rejects.toThrow('more than the first 50 tasks');
	});

	it('is not the end where a page has shown tasks before, although the last page was short', async () => {
		const pages = list();
		answers(page(0), page(20, 5));
		refuseNext();
		answers(page(19, 6));
		for (const offset of [0, 20]) await pages.page(offset);
		await expect(pages.page(20)).rejects.toThrow('refuses to list more than');
	});

	it('is not the end because something other than the service answers for the place before', async () => {
		const pages = list();
		answers(page(0));
		refuseNext();
		answer('OK', { times: 1 });
		await pages.page(0);
		await expect(pages.page(20)).rejects.toMatchObject({ problem: { transport: 'notJson' } });
	});

	it('is looked at no longer than the deadline allows', async () => {
		const pages = list();
		answers(page(0));
		refuseNext();
		service.running().fault({ match: {}, times: 9, action: { kind: 'stall' } });
		await pages.page(0);
		await expect(pages.page(20, Date.now() + 500)).rejects.toMatchObject({
			problem: { transport: 'timeout' },
		});
	});

	it('is none where n8n does not give the credential: the error is that of n8n, at once', async () => {
		let readings = 0;
		const credentials = credentialsHelper(service.credentials(), () => {
			readings += 1;
			throw new Error('no database');
		});
		const { poll } = contextsWith(additionalDataFor(credentials));
		const pages = new TaskPagesOfAcceptedSize(poll as unknown as Caller);
		await expect(pages.page(0)).rejects.toThrow('no database');
		expect([readings, service.lines()]).toEqual([1, []]);
	});
});

describe('the list of the editor', () => {
	it('shows what was found when the service fails on a later page', async () => {
		const oldest = { task_id: 'a', created_at: '2030-01-10T10:00:00Z' };
		const newer = { task_id: 'b', created_at: '2030-01-11T10:00:00Z' };
		answer([oldest, newer], { times: 1 });
		answer({}, { status: 500 });
		const { results, paginationToken } = await listTasks(service.credentials());
		expect(results.map(({ value }) => value)).toEqual(['b', 'a']);
		expect(paginationToken).toBe('2');
	});
});

few.describe.each<[string, string, object]>([
	['account.get', '/account$', {}],
	['dictionary.get', '/dictionary$', {}],
	['dictionary.preview', '/preview$', { taskId: 'a', terms: 'n8n' }],
	['dictionary.replace', '/dictionary$', { terms: 'n8n' }],
	['task.get', '/tasks/a$', { taskId: 'a' }],
	['task.cancel', '/cancel$', { taskId: 'a' }],
	['meeting.get', '/meeting/a$', { botId: 'a' }],
	['meeting.cancel', '/meeting/a$', { botId: 'a' }],
])('%s', (name, path, parameters) => {
	const [resource = '', operation = ''] = name.split('.');
	const run = async (body: unknown) => {
		service.running().fault({
			match: { path },
			times: 2,
			action: { kind: 'respond', status: 200, body },
		});
		const items = itemsOf({ n: 1 }, { n: 2 });
		return (await service.run({ resource, operation, ...parameters }, { items })).items;
	};

	it('makes an item of each element where a list comes', async () => {
		const each = (item: number) => [
			{ json: { a: 1 }, pairedItem: { item } },
			{ json: { value: 'text' }, pairedItem: { item } },
			{ json: { value: 3 }, pairedItem: { item } },
		];
		expect(await run([{ a: 1 }, 'text', 3])).toEqual([...each(0), ...each(1)]);
	});

	it('takes an empty list as an empty answer', async () => {
		expect(await run([])).toEqual([
			{ json: {}, pairedItem: { item: 0 } },
			{ json: {}, pairedItem: { item: 1 } },
		]);
	});
});
