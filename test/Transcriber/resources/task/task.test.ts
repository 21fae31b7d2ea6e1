// Also covers nodes/Transcriber/item/idParameters.ts, nodes/Transcriber/resources/commonFields.ts,
// nodes/Transcriber/resources/sendCancel.ts, index.ts, cancel.ts, summaryPath.ts, export.ts, get.ts, getAll.ts, getResult.ts, regenerateSummary.ts, requestFromFinishedTask.ts,
// wait.ts.

import { describeWaiting } from '../../../support/completion';
import { byId, failureOf, fileIn, itemsOf, serviceForTests } from '../../../support/service';
import { FAULTS_IN_SUCCESS } from '../../../support/faultsInSuccess';
import { few } from '../../../support/long';
import { OUTPUT } from '../../../../nodes/Transcriber/resources/task/getAll';
import { LIMITS } from '../../../../nodes/shared/api/rateLimits';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { until } from '../../../simulator/testing-client';

const service = serviceForTests();

const UNKNOWN_TASK = 'The service has no task with this ID';

function run(operation: string, parameters = {}, more = {}) {
	return service.run({ resource: 'task', operation, ...parameters }, more);
}

describe('task.get', () => {
	it('sends GET /tasks/{id} without query or body', async () => {
		const id = await service.pendingTask();
		await run('get', { taskId: byId(id) });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: `/api/v1/tasks/${id}`,
			query: {},
			bodyBytes: 0,
		});
		expect(service.sent().headers['x-api-key']).toBe('test-api-key');
		expect(service.sent().headers).not.toHaveProperty('idempotency-key');
	});

	it('outputs the task with the names of the service', async () => {
		const id = await service.pendingTask();
		const { items } = await run('get', { taskId: byId(id) });
		expect(items).toEqual([
			{
				json: {
					task_id: id,
					status: 'pending',
					progress: 0,
					queue_position: 1,
					queue_total: 1,
					queue_state: 'queued',
					awaiting_balance: false,
				},
				pairedItem: { item: 0 },
			},
		]);
	});

	it('a failed task is output with its error: looking it up did not fail', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'No speech was found' });
		const { json, error } = await run('get', { taskId: byId(id) });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: id, status: 'failed', error: 'No speech was found' }]);
	});

	it('takes the task from the list of the resource locator as well', async () => {
		const id = await service.pendingTask();
		await run('get', { taskId: { __rl: true, mode: 'list', value: id, cachedResultName: 'x' } });
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`]);
	});

	it('takes the task from an expression per item', async () => {
		const ids = [await service.pendingTask(), await service.pendingTask()];
		const { json } = await run(
			'get',
			{ taskId: byId('={{ $json.task_id }}') },
			{ items: itemsOf({ task_id: ids[1] }, { task_id: ids[0] }) },
		);
		expect(json.map(({ task_id: id }) => id)).toEqual([ids[1], ids[0]]);
	});

	it('a task that the service does not know is an error that names the parameter', async () => {
		const { error } = await run('get', { taskId: byId('nobody') });
		expect(error).toMatchObject(failureOf(0, UNKNOWN_TASK));
		expect(error?.httpCode).toBe('404');
		expect(error?.description).toContain("'Task'");
	});
});

describe('task.getAll', () => {
	/** Newest first, as the service lists them. */
	const tasks = async (count: number) => {
		const ids: string[] = [];
		for (let made = 0; made < count; made += 1) ids.unshift(await service.pendingTask());
		return ids;
	};
	const idsOf = (json: Array<{ task_id?: unknown }>) => json.map(({ task_id: id }) => id);
	const queries = () => service.running().requests.map(({ query }) => query);
	const more = { returnAll: true };

	beforeEach(() => service.running().configure({ tasksInProgress: 1000 }));

	it('sends GET /tasks with limit and offset, by default for 50 tasks', async () => {
		await tasks(1);
		await run('getAll', { limit: 1 });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: '/api/v1/tasks',
			query: { limit: '1', offset: '0' },
			bodyBytes: 0,
		});
		service.running().requests.length = 0;
		await run('getAll');
		expect(queries()[0]).toEqual({ limit: '50', offset: '0' });
	});

	it('outputs one item per task, newest first, all paired with the one input', async () => {
		const ids = await tasks(3);
		const { items } = await run('getAll');
		expect(items).toEqual(
			ids.map((id) => ({
				json: expect.objectContaining({ task_id: id, status: 'pending', queue_total: 3 }),
				pairedItem: { item: 0 },
			})),
		);
	});

	it('outputs no more than limit', async () => {
		const ids = await tasks(3);
		expect(idsOf((await run('getAll', { limit: 2 })).json)).toEqual(ids.slice(0, 2));
		expect(queries()).toEqual([{ limit: '2', offset: '0' }]);
	});

	it('outputs no more than limit, also when the service gives more than it was asked for', async () => {
		const body = { tasks: ['a', 'b', 'c'].map((id) => ({ task_id: id })) };
		service.running().fault({
			match: { path: '/tasks$' },
			action: { kind: 'respond', status: 200, body },
		});
		expect(idsOf((await run('getAll', { limit: 2 })).json)).toEqual(['a', 'b']);
	});

	it('ends when the service gives the same page whatever the offset', async () => {
		const body = { tasks: ['a', 'b'].map((id) => ({ task_id: id })) };
		service.running().fault({
			match: { path: '/tasks$' },
			times: 10,
			action: { kind: 'respond', status: 200, body },
		});
		expect(idsOf((await run('getAll', more)).json)).toEqual(['a', 'b']);
		expect(service.lines().length).toBeLessThanOrEqual(3);
	});

	it('tells tasks apart that have no id that it knows', async () => {
		const body = { tasks: [{ number: 1 }, { number: 2 }] };
		service.running().fault({
			match: { path: '/tasks$' },
			action: { kind: 'respond', status: 200, body },
		});
		expect((await run('getAll', { limit: 2 })).json).toEqual(body.tasks);
	});

	it('returnAll reads page after page, 100 tasks each, until a page is empty', async () => {
		service.running().seed(101);
		const ids = service
			.running()
			.tasks()
			.map(({ id }) => id);
		expect(idsOf((await run('getAll', more)).json)).toEqual(ids);
		expect(queries()).toEqual([
			{ limit: '100', offset: '0' },
			{ limit: '100', offset: '100' },
			{ limit: '100', offset: '101' },
		]);
	});

	few.it.each([
		[1, 3],
		[2, 5],
		[2, 4],
	])('a page maximum of %d at the service does not end the list early', async (maximum, count) => {
		service.running().configure({ shapes: { taskListMaximum: maximum } });
		const ids = await tasks(count);
		expect(idsOf((await run('getAll', more)).json)).toEqual(ids);
		expect(idsOf((await run('getAll', { limit: count - 1 })).json)).toEqual(ids.slice(0, -1));
	});

	it('of more tasks than n8n can take, says what to choose instead', async () => {
		const replaced = jest.replaceProperty(OUTPUT, 'most', 3);
		const ids = await tasks(4);
		const { error, items } = await run('getAll', more);
		expect(items).toEqual([]);
		expect(error?.message).toContain('more than 3 such tasks');
		expect(error?.description).toMatch(/a 'Limit' of at most 3, .* 'Status'/);
		expect(idsOf((await run('getAll', { limit: 3 })).json)).toEqual(ids.slice(0, 3));
		expect((await run('getAll', { limit: 4 })).error?.message).toContain('more than 3 such tasks');
		service.running().reset();
		const few = await tasks(2);
		expect(idsOf((await run('getAll', { limit: 1_000_000 })).json)).toEqual(few);
		replaced.restore();
	});

	it('filters.status goes to the service with every page', async () => {
		service.running().configure({ shapes: { taskListMaximum: 1 } });
		const ids = [await service.completedTask(), await service.completedTask()];
		await service.pendingTask();
		const { json } = await run('getAll', { ...more, filters: { status: 'completed' } });
		expect(idsOf(json)).toEqual(ids.reverse());
		expect(queries().map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
	});

	it.each(['completed', 'failed', 'pending', 'processing'])(
		'filters.status may be %s',
		async (status) => {
			const { error } = await run('getAll', { filters: { status } });
			expect(error).toBeUndefined();
			expect(queries()[0]).toMatchObject({ status });
		},
	);

	it.each(['array', 'tasks', 'items', 'data', 'results'] as const)(
		'reads the list in the shape "%s"',
		async (taskList) => {
			service.running().configure({ shapes: { taskList } });
			const ids = await tasks(2);
			expect(idsOf((await run('getAll', more)).json)).toEqual(ids);
		},
	);

	it('outputs nothing for an empty list', async () => {
		const { items, error } = await run('getAll', more);
		expect(error).toBeUndefined();
		expect(items).toEqual([]);
		expect(queries()).toEqual([{ limit: '100', offset: '0' }]);
	});

	describe('when a new task arrives between two pages', () => {
		/** Delays the second page until another task has been submitted. */
		const withNewTask = async (parameters: object) => {
			service.running().fault({
				match: { method: 'GET', path: '/tasks$' },
				skip: 1,
				action: { kind: 'delay', ms: 150 },
			});
			const outcome = run('getAll', parameters);
			await until(() => service.running().requests.length >= 2);
			await service.ask('POST /transcribe-url', { json: { url: 'https://example.com/new.mp3' } });
			return idsOf((await outcome).json);
		};

		few.it.each([1, 2, 3])(
			'none comes twice and none is left out, with pages of %d',
			async (taskListMaximum) => {
				service.running().configure({ shapes: { taskListMaximum } });
				const ids = await tasks(6);
				expect(await withNewTask(more)).toEqual(ids);
			},
		);

		it('limit is reached', async () => {
			service.running().configure({ shapes: { taskListMaximum: 2 } });
			const ids = await tasks(6);
			expect(await withNewTask({ limit: 3 })).toEqual(ids.slice(0, 3));
		});
	});
});

describe('task.getResult', () => {
	it('sends GET /tasks/{id}/result without query or body', async () => {
		const id = await service.completedTask();
		await run('getResult', { taskId: byId(id) });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: `/api/v1/tasks/${id}/result`,
			query: {},
			bodyBytes: 0,
		});
	});

	it('outputs the result with the names of the service, segments last, paired', async () => {
		const id = await service.completedTask();
		const { items } = await run('getResult', { taskId: byId(id) });
		const { body } = await service.ask(`GET /tasks/${id}/result`);
		expect(items).toEqual([{ json: body, pairedItem: { item: 0 } }]);
		expect(Object.keys(body)).toEqual(['text', 'segments', 'summary', 'speakers']);
		const names = Object.keys(items[0]?.json ?? {});
		expect(names).toEqual(['text', 'summary', 'speakers', 'segments']);
	});

	few.it.each([
		[['text']],
		[['segments']],
		[['summary']],
		[['speakers']],
		[['summary', 'speakers']],
		[['text', 'segments', 'summary', 'speakers']],
	])('include %j outputs these parts alone', async (include) => {
		const id = await service.completedTask();
		const { json } = await run('getResult', { taskId: byId(id), include });
		expect(Object.keys(json[0] ?? {}).sort()).toEqual([...include].sort());
	});

	it.each(['["text", "summary"]', 'text, summary'])(
		'include may be the text %s',
		async (include) => {
			const id = await service.completedTask();
			const { json } = await run('getResult', { taskId: byId(id), include: `={{ '${include}' }}` });
			expect(Object.keys(json[0] ?? {}).sort()).toEqual(['summary', 'text']);
		},
	);

	it('include does not drop what the service adds beyond the documented parts', async () => {
		service.running().fault({
			match: { path: '/result$' },
			action: { kind: 'respond', status: 200, body: { text: 'a', summary: 'b', task_id: 'c' } },
		});
		const { json } = await run('getResult', { taskId: byId('c'), include: ['text'] });
		expect(json).toEqual([{ text: 'a', task_id: 'c' }]);
	});

	it('a task that is not completed is an error with the words of the service', async () => {
		const id = await service.pendingTask();
		const { error } = await run('getResult', { taskId: byId(id) });
		const message = `Task ${id} has not finished yet (status: pending)`;
		expect(error).toMatchObject(failureOf(0, message));
		expect(error?.httpCode).toBe('400');
		expect(error?.description).toContain('The task is pending, not completed');
	});
});

describe('task.getResult of a task whose status nobody knows', () => {
	const TEXT = { text: 'Hello', segments: [], summary: '', speakers: [] };
	const UNDER_ANOTHER_NAME = { transcription: 'Hello, hello. '.repeat(20), language: 'en' };

	few.it.each([
		['beside the result', { status: 'succeeded', ...TEXT }, undefined],
		['beside and at the task', { status: 'done', ...TEXT }, 'done'],
		['beside a result under another name', { status: 'ready', data: TEXT }, 'ready'],
		['at the task of a result with unknown parts', UNDER_ANOTHER_NAME, 'succeeded'],
	])('outputs the result: %s', async (_where, body, status = 'succeeded') => {
		const answer = (path: string, answered: unknown) =>
			service
				.running()
				.fault({ match: { path }, action: { kind: 'respond', status: 200, body: answered } });
		answer('/tasks/a/result$', body);
		answer('/tasks/a$', { task_id: 'a', status });
		const { json, error } = await run('getResult', { taskId: byId('a') });
		expect(error).toBeUndefined();
		expect(JSON.stringify(json)).toContain('Hello');
	});

	it.each(['pending', 'processing', 'failed', 'cancelled'])(
		'outputs no part of a result that comes with the status %s',
		async (status) => {
			const answer = (path: string, body: unknown) =>
				service
					.running()
					.fault({ match: { path }, action: { kind: 'respond', status: 200, body } });
			answer('/tasks/a/result$', { status, text: 'Hel' });
			answer('/tasks/a$', { task_id: 'a', status });
			const { error } = await run('getResult', { taskId: byId('a') });
			expect(error?.message).toMatch(/^Task a (has not finished yet|failed|was cancelled)/);
		},
	);
});

describe('the status request for an answer without content', () => {
	it.each(['getResult', 'export'])(
		'%s: is one request, and does not hold the turn of the answer',
		async (operation) => {
			jest.replaceProperty(LIMITS, 'other', 1);
			const answer = (path: string, body: unknown) =>
				service
					.running()
					.fault({ match: { path }, action: { kind: 'respond', status: 200, body } });
			answer('/(result|export)$', { text: '', summary: '', content: '' });
			answer('/tasks/a$', { task_id: 'a', status: 'completed' });
			const { error } = await run(operation, { taskId: byId('a') });
			expect(error).toBeUndefined();
			expect(service.lines()).toEqual([
				`GET /api/v1/tasks/a/${operation === 'export' ? 'export' : 'result'}`,
				'GET /api/v1/tasks/a',
			]);
		},
	);
});

describe('task.export', () => {
	const FORMATS = [
		['txt', 'text/plain'],
		['srt', 'application/x-subrip'],
		['vtt', 'text/vtt'],
		['json', 'application/json'],
	];
	const exported = async (id: string, format: string) => {
		const { body } = await service.ask(`GET /tasks/${id}/export?format=${format}`);
		return String(body['content']);
	};

	it('sends GET /tasks/{id}/export, by default with format srt', async () => {
		const id = await service.completedTask();
		await run('export', { taskId: byId(id) });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: `/api/v1/tasks/${id}/export`,
			query: { format: 'srt' },
			bodyBytes: 0,
		});
	});

	it.each(FORMATS)(
		'%s as a file (default): name, MIME type and content',
		async (format, mimeType) => {
			const id = await service.completedTask();
			const { items } = await run('export', { taskId: byId(id), format });
			expect(service.sent().query).toEqual({ format });
			expect(items).toHaveLength(1);
			expect(items[0]?.json).toEqual({ task_id: id, format });
			expect(items[0]?.pairedItem).toEqual({ item: 0 });
			expect(fileIn(items[0])).toEqual({
				fileName: `${id}.${format}`,
				mimeType,
				content: await exported(id, format),
			});
		},
	);

	few.it.each(FORMATS)('%s as JSON: content and format, and no file', async (format) => {
		const id = await service.completedTask();
		const { items } = await run('export', { taskId: byId(id), format, output: 'json' });
		expect(items).toEqual([
			{
				json: { task_id: id, content: await exported(id, format), format },
				pairedItem: { item: 0 },
			},
		]);
	});

	it('keeps letters of all languages in the file', async () => {
		const content = '1\n00:00:00,000 --> 00:00:01,500\nАнна: Привет, 世界 😀\n';
		service.running().fault({
			match: { path: '/export$' },
			action: { kind: 'respond', status: 200, body: { content, format: 'srt' } },
		});
		const { items } = await run('export', { taskId: byId('a') });
		expect(fileIn(items[0]).content).toBe(content);
	});

	it('takes a JSON export that comes parsed, and not as text', async () => {
		const content = { text: 'Привет', segments: [] };
		service.running().fault({
			match: { path: '/export$' },
			action: { kind: 'respond', status: 200, body: { content, format: 'json' } },
		});
		const { items } = await run('export', { taskId: byId('a'), format: 'json' });
		expect(JSON.parse(fileIn(items[0]).content)).toEqual(content);
	});

	it('puts the file into the field binaryPropertyName', async () => {
		const id = await service.completedTask();
		const { items } = await run('export', { taskId: byId(id), binaryPropertyName: 'subtitles' });
		expect(Object.keys(items[0]?.binary ?? {})).toEqual(['subtitles']);
	});

	few.it.each([
		['interview.srt', 'interview.srt'],
		['interview.SRT', 'interview.SRT'],
		['interview', 'interview.srt'],
		['interview.v2', 'interview.v2.srt'],
		['Встреча 17', 'Встреча 17.srt'],
		[17, '17.srt'],
		['', '{id}.srt'],
		['../../etc/passwd', '.._.._etc_passwd.srt'],
	])('options.fileName %j makes it %j', async (fileName, expected) => {
		const id = await service.completedTask();
		const { items } = await run('export', { taskId: byId(id), options: { fileName } });
		expect(fileIn(items[0]).fileName).toBe(expected.replace('{id}', id));
	});

	few.it.each([
		['talk.mp3 (completed, 2030-01-31 10:00)', 'talk'],
		['Budget (draft) (completed)', 'Budget (draft)'],
		['Version 2.1 (completed)', 'Version 2.1'],
		['{id} (completed)', '{id}'],
		['', '{id}'],
	])('a task that the list names %j makes it %j', async (cachedResultName, expected) => {
		const id = await service.completedTask();
		const named = cachedResultName.replace('{id}', id);
		const taskId = { __rl: true, mode: 'list', value: id, cachedResultName: named };
		const { items } = await run('export', { taskId });
		expect(fileIn(items[0]).fileName).toBe(`${expected.replace('{id}', id)}.srt`);
	});

	it('the name that the list once showed is not that of another task, which an expression gives', async () => {
		const id = await service.completedTask();
		const cachedResultName = 'talk.mp3 (completed)';
		const taskId = { __rl: true, mode: 'list', value: '={{ $json.id }}', cachedResultName };
		const { items } = await run('export', { taskId }, { items: itemsOf({ id }) });
		expect(fileIn(items[0]).fileName).toBe(`${id}.srt`);
	});

	it('takes task, format and file name from expressions per item', async () => {
		const ids = [await service.completedTask(), await service.completedTask()];
		const { items } = await run(
			'export',
			{
				taskId: byId('={{ $json.id }}'),
				format: '={{ $json.format }}',
				options: { fileName: '={{ $json.name }}' },
			},
			{
				items: itemsOf(
					{ id: ids[0], format: 'vtt', name: 'first' },
					{ id: ids[1], format: 'txt', name: 'second' },
				),
			},
		);
		expect(items.map(({ json }) => json)).toEqual([
			{ task_id: ids[0], format: 'vtt' },
			{ task_id: ids[1], format: 'txt' },
		]);
		expect(items.map((item) => fileIn(item).fileName)).toEqual(['first.vtt', 'second.txt']);
	});
});

describe('an empty transcript of a task whose status cannot be read', () => {
	const EMPTY = { text: '', segments: [], summary: '', speakers: [], content: '', format: 'srt' };

	it.each([
		['getResult', {}],
		['export', { format: 'srt' }],
	])(
		'is no success of %s, because the task may not have finished',
		async (operation, parameters) => {
			const id = await service.completedTask();
			const answer = (path: string, status: number, body: unknown) =>
				service.running().fault({ match: { path }, action: { kind: 'respond', status, body } });
			answer('/(result|export)', 200, EMPTY);
			answer(`/tasks/${id}$`, 403, {});
			const { error } = await run(operation, { taskId: byId(id), ...parameters });
			expect(error?.message).toContain(`an empty transcript of task ${id}`);
			expect(error?.description).toContain('Look at its status');
		},
	);
});

describe('task.cancel', () => {
	it('sends POST /tasks/{id}/cancel without fields', async () => {
		const id = await service.pendingTask();
		await run('cancel', { taskId: byId(id) });
		const request = service.sent();
		expect(request).toMatchObject({
			method: 'POST',
			path: `/api/v1/tasks/${id}/cancel`,
			query: {},
		});
		expect(request.body ?? {}).toEqual({});
		expect(service.running().task(id).status).toBe('cancelled');
	});

	it('outputs what the service answers, paired', async () => {
		const id = await service.pendingTask();
		const { items } = await run('cancel', { taskId: byId(id) });
		expect(items).toEqual([
			{
				json: expect.objectContaining({ task_id: id, status: 'cancelled' }),
				pairedItem: { item: 0 },
			},
		]);
	});

	it.each([
		['message', { message: 'Done' }],
		['empty', {}],
	] as const)('reads the answer in the shape "%s"', async (cancelAnswer, json) => {
		service.running().configure({ shapes: { cancelAnswer } });
		const id = await service.pendingTask();
		const { items } = await run('cancel', { taskId: byId(id) });
		expect(items).toEqual([{ json, pairedItem: { item: 0 } }]);
	});

	it('looks at the task after a refusal before everything else that waits for its turn', async () => {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'windowMs', 150);
		const ids = await Promise.all([1, 2, 3, 4, 5].map(async () => await service.pendingTask()));
		const id = await service.completedTask();
		const items = itemsOf(...ids.map((one) => ({ id: one })));
		const others = run('get', { taskId: byId('={{ $json.id }}') }, { items });
		await until(() => service.lines().length > 0);
		await run('cancel', { taskId: byId(id) });
		const sent = service.lines().indexOf(`POST /api/v1/tasks/${id}/cancel`);
		expect(service.lines().slice(sent, sent + 2)).toEqual([
			`POST /api/v1/tasks/${id}/cancel`,
			`GET /api/v1/tasks/${id}`,
		]);
		await others;
	});

	it('reads an answer without a body (HTTP 204)', async () => {
		service.running().fault({
			match: { path: '/cancel$' },
			action: { kind: 'respond', status: 204, body: '' },
		});
		const { items, error } = await run('cancel', { taskId: byId('a') });
		expect(error).toBeUndefined();
		expect(items).toEqual([{ json: {}, pairedItem: { item: 0 } }]);
	});

	it('a task that has ended is an error that says so, with the words of the service', async () => {
		const id = await service.completedTask();
		const { error } = await run('cancel', { taskId: byId(id) });
		expect(error).toMatchObject(failureOf(0, 'The task has already ended (completed)'));
		expect(error?.httpCode).toBe('409');
		expect(error?.description).toContain('A task that is completed cannot be cancelled');
		expect(service.lines()).toEqual([`POST /api/v1/tasks/${id}/cancel`, `GET /api/v1/tasks/${id}`]);
	});
});

describe('task.regenerateSummary', () => {
	const PATH = '/tasks/{taskId}/summary';
	const regenerate = async (id: string, parameters = {}, setup = {}) =>
		await run('regenerateSummary', { taskId: byId(id), path: PATH, ...parameters }, setup);

	it.each(['POST', 'PUT', 'PATCH'])(
		'sends the method %s to the path that the user gives',
		async (method) => {
			service.running().configure({ shapes: { regenerateSummary: { method, path: PATH } } });
			const id = await service.completedTask();
			const { items, error } = await regenerate(id, { method });
			expect(error).toBeUndefined();
			expect(service.sent()).toMatchObject({
				method,
				path: `/api/v1/tasks/${id}/summary`,
				query: {},
				bodyBytes: 0,
			});
			expect(items).toEqual([
				{
					json: { task_id: id, summary: expect.stringContaining('regenerated: general') },
					pairedItem: { item: 0 },
				},
			]);
		},
	);

	it('sends nothing more once a failure has stopped the node', async () => {
		service.running().configure({ shapes: { regenerateSummary: { method: 'POST', path: PATH } } });
		jest.replaceProperty(LIMITS, 'windowMs', 1_000);
		jest.replaceProperty(LIMITS, 'summary', 2);
		const id = await service.completedTask();
		const ids = [{ id: 'unknown' }, { id }, { id }];
		const { error } = await regenerate('={{ $json.id }}', {}, { items: itemsOf(...ids) });
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		expect(error?.message).toContain('no task with this ID [item 0]');
		expect(service.lines().length).toBeLessThan(3);
	});

	it('keeps the templates of items apart that share one object in bodyJson, which stays as it is', async () => {
		service.running().configure({ shapes: { regenerateSummary: { method: 'POST', path: PATH } } });
		const id = await service.completedTask();
		const items = itemsOf({ body: { tone: 'x' }, tpl: 'meeting' }, { tpl: 'lecture' }, { tpl: '' });
		const bodyJson = '={{ $("Source").first().json.body }}';
		await run(
			'regenerateSummary',
			{ taskId: byId(id), path: PATH, bodyJson, summaryTemplate: '={{ $json.tpl }}' },
			{ items },
		);
		const bodies = service.running().requests.map(({ body }) => body);
		expect(bodies).toEqual([
			{ tone: 'x', summary_template: 'meeting' },
			{ tone: 'x', summary_template: 'lecture' },
			{ tone: 'x' },
		]);
		expect(items[0]?.json).toEqual({ body: { tone: 'x' }, tpl: 'meeting' });
	});

	few.it.each([{ ok: false, message: 'No such template' }, ...FAULTS_IN_SUCCESS])(
		'is an error where the service answers a success that says no, and is not asked for again: %j',
		async (body) => {
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { method: 'POST' }, action, times: 3 });
			const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
			const { error } = await regenerate('a', {}, { node });
			expect(service.lines()).toHaveLength(1);
			expect(error?.message).toMatch(/whether the service writes a new summary/);
			// The whole workflow may submit the recording again.
			expect(error?.description).toMatch(/^Look at the summary.* ask again for this task alone/);
		},
	);

	it.each(['/meeting/{botId}/summary', '/tasks/{task_id}/summary'])(
		'refuses a placeholder other than {taskId}: %s',
		async (path) => {
			const { error } = await regenerate('a', { path });
			expect(error?.message).toMatch(/^'Path' has an unknown placeholder: \{\w+\}/);
			expect(service.lines()).toEqual([]);
		},
	);

	it('sends the fields of bodyJson, as text or by expression, and the template as summary_template', async () => {
		service.running().configure({ shapes: { regenerateSummary: { method: 'POST', path: PATH } } });
		const id = await service.completedTask();
		await regenerate(id, { summaryTemplate: 'lecture', bodyJson: '{ "tone": "formal" }' });
		expect(service.sent().body).toEqual({ tone: 'formal', summary_template: 'lecture' });
		service.running().requests.length = 0;
		await regenerate(id, { bodyJson: '={{ { deep: { er: true } } }}' });
		expect(service.sent().body).toEqual({ deep: { er: true } });
		service.running().requests.length = 0;
		// The field of the panel counts more than one of the same name in the body.
		await regenerate(id, {
			summaryTemplate: 'lecture',
			bodyJson: '{ "summary_template": "meeting" }',
		});
		expect(service.sent().body).toEqual({ summary_template: 'lecture' });
	});

	it('invents nothing: without a path it is refused', async () => {
		const { error } = await regenerate('a', { path: '={{ "" }}' });
		expect(error).toMatchObject(failureOf(0, "The parameter 'Path' is empty"));
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		'tasks/{taskId}/summary',
		'https://elsewhere.example.com/summary',
		'//elsewhere.example.com/summary',
		'/../../admin',
		'/tasks/./summary',
		'/\\elsewhere.example.com',
		'/tasks\\..\\..\\admin',
		'/%2e%2e/%2E%2E/admin',
		'/tasks/.%2e/%2E./admin',
		'/../v1/../admin?x=/api/v1/',
		'/.\t./admin',
	])('refuses the path %s, which does not stay below /api/v1', async (path) => {
		const { error } = await regenerate('a', { path });
		expect(error).toMatchObject(failureOf(0, `'Path' is not a path below /api/v1: '${path}'`));
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		['/api-key/generate?x={taskId}', 'a'],
		['/tasks/{taskId}/%2e%2e/%2e%2e/api-key/generate', 'a'],
		['/tasks/{taskId}/..\\..\\api-key\\generate', 'a'],
		['/{taskId}/generate', 'api-key'],
		['/api%2Dkey//generate', 'a'],
		['/meeting?x={taskId}', 'a'],
		['/m%65eting?x={taskId}', 'a'],
		['/Transcribe-URL', 'a'],
		['/dictionary/', 'a'],
		['/tasks/{taskId}/cancel', 'a'],
	])('sends nothing to %s, because another operation has safeguards for it', async (path, id) => {
		const { error } = await regenerate(id, { path });
		expect(error?.message).toMatch(/^'Path' (leads to another operation|is not a path below)/);
		expect(service.lines()).toEqual([]);
	});

	it('takes a path as the service document writes it, with /api/v1 in front', async () => {
		await regenerate('a', { path: '/api/v1/tasks/{taskId}/summary' });
		expect(service.lines()).toEqual(['POST /api/v1/tasks/a/summary']);
	});

	it('puts the id into the path encoded', async () => {
		// POST is the default.
		await regenerate('a/b?c');
		expect(service.lines()).toEqual(['POST /api/v1/tasks/a%2Fb%3Fc/summary']);
	});

	const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
	const retried = async (...ids: string[]) =>
		await service.run(
			{
				resource: 'task',
				operation: 'regenerateSummary',
				taskId: byId('={{ $json.id }}'),
				path: '/tasks/{taskId}/again',
			},
			{ items: itemsOf(...ids.map((id) => ({ id }))), node: RETRY_ON_FAIL },
		);
	const answered = (path: string, status: number, body: unknown) => {
		const action = { kind: 'respond', status, body } as const;
		service.running().fault({ match: { path }, times: 9, action });
	};

	it.each([null, '', 'none'])(
		'is sent once where the answer has an `error` that is %j',
		async (value) => {
			answered('/again$', 200, { summary: 'new', error: value });
			const { json } = await retried('a');
			expect(json).toEqual([{ summary: 'new', service_error: value }]);
			expect(service.lines()).toHaveLength(1);
		},
	);

	it('is not sent again for an item beside which another one fails', async () => {
		answered('/a/again$', 200, { summary: 'new' });
		answered('/b/again$', 422, { detail: 'No' });
		const { error } = await retried('a', 'b');
		expect(error?.message).toMatch(/^The service refused the request/);
		expect(service.lines().filter((line) => line.includes('/a/'))).toHaveLength(1);
		expect(service.lines().filter((line) => line.includes('/b/'))).toHaveLength(3);
	});

	it('is not sent again where its answer was lost', async () => {
		answered('/again$', 502, '');
		const { error } = await retried('a');
		expect(error?.message).toMatch(/^It is not known whether the service writes a new summary/);
		expect(service.lines()).toHaveLength(1);
	});
});

describe('task.wait', () => {
	it('asks at once, and for a task that has ended only once', async () => {
		const id = await service.completedTask();
		const { items } = await run('wait', { taskId: byId(id) });
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`, `GET /api/v1/tasks/${id}/result`]);
		expect(items).toEqual([
			{
				json: expect.objectContaining({ task_id: id, status: 'completed' }),
				pairedItem: { item: 0 },
			},
		]);
	});

	it('waits for several tasks at once, outputs in the order of the items', async () => {
		jest.replaceProperty(POLL, 'perTask', 50);
		const ids = [await service.pendingTask(), await service.pendingTask()];
		const outcome = run(
			'wait',
			{ taskId: byId('={{ $json.id }}'), waitOptions: { pollInterval: 0.05 } },
			{ items: itemsOf({ id: ids[0] }, { id: ids[1] }) },
		);
		await until(() => service.lines().length > 3);
		for (const id of [...ids].reverse()) service.running().finish(id);
		const { items } = await outcome;
		expect(items.map(({ json }) => json['task_id'])).toEqual(ids);
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
	});

	it('a task that the service does not know is an error at once', async () => {
		const { error } = await run('wait', { taskId: byId('nobody') });
		expect(error).toMatchObject(failureOf(0, UNKNOWN_TASK));
	});

	describeWaiting({
		service,
		startWaiting: async (waitOptions) => {
			const taskId = await service.pendingTask();
			const outcome = run('wait', { taskId: byId(taskId), waitOptions });
			return { taskId, outcome };
		},
		fileNameFor: (taskId) => taskId,
		mayAwaitBalance: true,
		isShownElsewhere: true,
	});
});
