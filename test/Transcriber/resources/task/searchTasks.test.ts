import { LIST_NAMES } from '../../../../nodes/shared/api/undocumented/taskLists';
import { listTasks } from '../../../support/editor';
import { serviceForTests } from '../../../support/service';
import { few } from '../../../support/long';

const service = serviceForTests({ tasksInProgress: 1000 });

const list = async (filter?: string, token?: string) =>
	await listTasks(service.credentials(), filter, token);

/** Lets the service list these tasks, whatever page is asked for first, and then none. */
function listed(...pages: object[][]): void {
	for (const tasks of [...pages, []]) {
		service.running().fault({
			match: { path: '/tasks$' },
			times: 1,
			action: { kind: 'respond', status: 200, body: JSON.stringify({ tasks }) },
		});
	}
}

function at(day: number, more: object = {}) {
	return {
		task_id: `t${day}`,
		status: 'completed',
		created_at: `2030-01-${day}T10:00:00Z`,
		...more,
	};
}

describe('taskId from a list', () => {
	it('asks for GET /tasks with limit and offset', async () => {
		await service.completedTask();
		await list();
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: '/api/v1/tasks',
			query: { limit: '100', offset: '0' },
		});
		expect(service.sent().headers['x-api-key']).toBe('test-api-key');
	});

	it('is refused with what to do where no task has a readable ID', async () => {
		listed([{ transcript_ref: 'a', status: 'completed' }, { task_id: 0 }]);
		await expect(list()).rejects.toMatchObject({
			message: 'The tasks in the list of the service have no readable ID',
			description: expect.stringContaining("Choose 'By ID'"),
		});
	});

	it('leaves out only the tasks without a readable ID', async () => {
		listed([{ transcript_ref: 'a' }, at(5)], [{ transcript_ref: 'b' }]);
		expect((await list()).results).toMatchObject([{ value: 't5' }]);
	});

	it('shows id and status of a task, and yields its id', async () => {
		const id = await service.completedTask();
		expect((await list()).results).toEqual([{ name: `${id} (completed)`, value: id }]);
	});

	few.it.each(['array', ...LIST_NAMES] as const)(
		'reads a list of the shape "%s"',
		async (taskList) => {
			service.running().configure({ shapes: { taskList } });
			const id = await service.completedTask();
			expect((await list()).results).toMatchObject([{ value: id }]);
		},
	);

	it('an account without tasks has an empty list', async () => {
		expect(await list()).toEqual({ results: [], paginationToken: undefined });
	});
});

describe('taskId from a list: newest first', () => {
	it("in the service's own order where a task carries no date", async () => {
		const older = await service.completedTask();
		const newer = await service.completedTask();
		expect((await list()).results.map(({ value }) => value)).toEqual([newer, older]);
	});

	it('by date where a task carries one, also if the service lists the oldest first', async () => {
		listed([at(10), at(11)], [at(12), at(13)]);
		const { results, paginationToken } = await list();
		expect(results.map(({ value }) => value)).toEqual(['t13', 't12', 't11', 't10']);
		expect(paginationToken).toBeUndefined();
	});

	it('one request is enough if the service lists the newest first', async () => {
		listed([at(13), at(12)], [at(11), at(10)]);
		const { results } = await list();
		expect(results.map(({ value }) => value)).toEqual(['t13', 't12']);
		expect(service.lines()).toHaveLength(1);
	});

	it.each([
		['ISO 8601', '2030-01-31T10:00:00Z'],
		['seconds', 1896084000],
		['milliseconds', 1896084000000],
	])('shows the date, given in %s', async (_form, created) => {
		listed([{ task_id: 't', status: 'failed', created }]);
		expect((await list()).results).toEqual([{ name: 't (failed, 2030-01-31 10:00)', value: 't' }]);
	});

	it("shows the date in the workflow's time zone", async () => {
		listed([at(31)]);
		const { results } = await listTasks(service.credentials(), '', undefined, 'Europe/Moscow');
		expect(results).toMatchObject([{ name: 't31 (completed, 2030-01-31 13:00)' }]);
	});

	it('shows the name of the recording, should a task carry one', async () => {
		listed([at(31, { file_name: 'interview.mp3' })]);
		expect((await list()).results).toEqual([
			{ name: 'interview.mp3 (completed, 2030-01-31 10:00)', value: 't31' },
		]);
	});
});

describe('taskId from a list: search as you type', () => {
	it('finds by a part of the id, whatever its case', async () => {
		const id = await service.completedTask();
		await service.completedTask();
		const { results } = await list(id.slice(2, 20).toUpperCase());
		expect(results.map(({ value }) => value)).toEqual([id]);
	});

	it('finds by status', async () => {
		const pending = await service.pendingTask();
		await service.completedTask();
		expect((await list('pend')).results.map(({ value }) => value)).toEqual([pending]);
	});

	it('finds by id, date and name together', async () => {
		listed([at(12, { file_name: 'talk.mp3' }), at(11, { file_name: 'talk.mp3' })]);
		expect((await list('talk 01-11')).results.map(({ value }) => value)).toEqual(['t11']);
		listed([at(12, { file_name: 'talk.mp3' }), at(11, { file_name: 'talk.mp3' })]);
		expect((await list('t12')).results.map(({ value }) => value)).toEqual(['t12']);
	});

	it('looks on later pages too', async () => {
		const oldest = await service.completedTask();
		for (let others = 0; others < 3; others++) await service.completedTask();
		service.running().configure({ shapes: { taskListMaximum: 2 } });
		const { results } = await list(oldest);
		expect(results.map(({ value }) => value)).toEqual([oldest]);
	});

	it('looks on later pages however many tasks the first one has', async () => {
		const many = Array.from({ length: 100 }, (_, index) => ({ task_id: `other-${index}` }));
		listed(many, [{ task_id: 'wanted' }]);
		expect((await list('wanted')).results.map(({ value }) => value)).toEqual(['wanted']);
	});

	it('stops after 10 pages, and goes on from there when asked for more', async () => {
		const oldest = await service.completedTask();
		for (let others = 0; others < 12; others++) await service.completedTask();
		service.running().configure({ shapes: { taskListMaximum: 1 } });
		const first = await list(oldest);
		expect(first).toEqual({ results: [], paginationToken: '10' });
		expect(service.lines()).toHaveLength(10);
		const second = await list(oldest, first.paginationToken as string);
		expect(second.results.map(({ value }) => value)).toEqual([oldest]);
	});
});

describe('taskId from a list: page by page', () => {
	it('all tasks come once, whatever page size the service has', async () => {
		const ids: string[] = [];
		for (let tasks = 0; tasks < 5; tasks++) ids.unshift(await service.completedTask());
		service.running().configure({ shapes: { taskListMaximum: 2 } });
		const shown: unknown[] = [];
		let token: string | undefined;
		do {
			const { results, paginationToken } = await list('', token);
			shown.push(...results.map(({ value }) => value));
			token = paginationToken as string | undefined;
		} while (token !== undefined);
		expect(shown).toEqual(ids);
	});

	it.each([404, 416, 422])(
		'ends where the service refuses what follows the last page with %d',
		async (status) => {
			const ids = [await service.completedTask(), await service.completedTask()].reverse();
			const { results, paginationToken } = await list();
			expect(results.map(({ value }) => value)).toEqual(ids);
			service.running().fault({
				match: { path: '/tasks$' },
				times: 9,
				action: { kind: 'respond', status, body: { detail: 'Not found' } },
			});
			expect(await list('', paginationToken as string)).toEqual({
				results: [],
				paginationToken: undefined,
			});
		},
	);

	it('a proxy that has lost its way to the service is no end of the list', async () => {
		await service.completedTask();
		const { paginationToken } = await list();
		service.running().fault({
			match: { path: '/tasks$' },
			times: 9,
			action: {
				...{ kind: 'respond', status: 404, body: '404 page not found' },
				headers: { 'content-type': 'text/plain' },
			},
		});
		await expect(list('', paginationToken as string)).rejects.toThrow();
	});

	it('a refusal of the key is no end of the list', async () => {
		await service.completedTask();
		const { paginationToken } = await list();
		const scrolling = listTasks(
			service.credentials({ apiKey: 'wrong' }),
			'',
			paginationToken as string,
		);
		await expect(scrolling).rejects.toMatchObject({
			message: 'The service does not accept the API key',
		});
	});

	it('ends where a server does not heed the offset', async () => {
		listed([at(10)], [at(10)], [at(10)]);
		const { results, paginationToken } = await list('nothing like this');
		expect({ results, paginationToken }).toEqual({ results: [], paginationToken: undefined });
		expect(service.lines()).toHaveLength(2);
	});

	it('a refusal keeps the words of the service', async () => {
		await expect(listTasks(service.credentials({ apiKey: 'wrong' }))).rejects.toMatchObject({
			message: 'The service does not accept the API key',
			httpCode: '401',
		});
	});
});
