/** A result that does not come: the event starts the workflow in the end, and says what is missing. */
// Also covers triggerOutput.ts.

import { sleep, type IDataObject, type INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { few } from '../support/long';
import { deliver, put } from './client';
import { TriggerHost } from './host';

const service = serviceForTests();
const KEY = 'test-api-key';

let host: TriggerHost;
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 50);
	jest.replaceProperty(PATIENCE, 'refusedMs', 300);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
});
afterEach(async () => await host.close());

async function open(id: string, options: INodeParameters, events?: string[]) {
	const parameters = {
		events: events ?? ['transcriptionCompleted', 'transcriptionFailed'],
		options,
	};
	const credentials = service.credentials();
	host = await new TriggerHost({ parameters, credentials, mode: 'manual' }).open();
	await put(host.url, id, 'S', KEY);
}

const answer = (path: string, body: unknown) =>
	service.running().fault({
		match: { path },
		times: 1000,
		action: { kind: 'respond', status: 200, body: body as IDataObject },
	});

it.each<[string, INodeParameters, string, unknown, string]>([
	['an empty result', {}, '/result$', {}, 'holds no result of task'],
	['null for a result', {}, '/result$', null, 'holds no result of task'],
	['a result as plain text', {}, '/result$', 'Hello', 'Something other than the service answered'],
	[
		'a document that is null',
		{ includeResult: false, exportFormat: 'srt' },
		'/export$',
		{ content: null, format: 'srt' },
		'holds no exported document of task',
	],
	[
		'a document as plain text',
		{ includeResult: false, exportFormat: 'txt' },
		'/export$',
		'Hello',
		'Something other than the service answered',
	],
])(
	'%s is asked for again at first, and then goes without',
	async (_, options, path, body, words) => {
		const id = await service.completedTask();
		await open(id, options);
		answer(path, body);
		const delivery = { task_id: id, status: 'completed' };
		const first = await deliver(host.url, delivery, 'S');
		expect([first.status, host.executions]).toEqual([503, []]);
		await new Promise((resolve) => setTimeout(resolve, PATIENCE.refusedMs));
		expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
		expect(host.executions.flat().map(({ json }) => json)).toEqual([
			{ ...delivery, error: expect.stringContaining(words) },
		]);
	},
);

it.each<[string, INodeParameters, string[] | undefined]>([
	['the result is wanted', {}, undefined],
	['only one ending is wanted', { includeResult: false }, ['transcriptionCompleted']],
])(
	'A delivery without a status for a task that never ends goes out in the end, and says so: %s',
	async (_, options, events) => {
		const id = await service.pendingTask();
		await open(id, options, events);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		await new Promise((resolve) => setTimeout(resolve, PATIENCE.refusedMs));
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(200);
		expect(host.executions.flat().map(({ json }) => json)).toEqual([
			{ task_id: id, error: expect.stringContaining('does not show the end of the task') },
		]);
	},
);

it('A completed meeting waits until the service shows its task, because the text is under that', async () => {
	const bot = await service.bot();
	await open(bot, {}, ['meetingCompleted']);
	const delivery = {
		event: 'meeting.transcript.completed',
		bot_id: bot,
		status: 'completed',
	};
	expect((await deliver(host.url, delivery, 'S')).status).toBe(503);
	expect(host.executions).toEqual([]);
	service.running().endMeeting(bot);
	await until(() => service.running().tasks().length > 0);
	const task_id = service.running().tasks()[0]?.id ?? '';
	service.running().finish(task_id);
	expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
	expect(host.executions.flat().map(({ json }) => json)).toMatchObject([
		{ ...delivery, task_id, text: expect.any(String) },
	]);
});

it('A result that comes after all is in the output', async () => {
	const id = await service.completedTask();
	await open(id, {});
	const action = { kind: 'respond', status: 200, body: {} } as const;
	service.running().fault({ match: { path: '/result$' }, action });
	const delivery = { task_id: id, status: 'completed' };
	expect((await deliver(host.url, delivery, 'S')).status).toBe(503);
	expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
	expect(host.executions[0]?.[0]?.json).toMatchObject({ task_id: id, text: expect.any(String) });
	expect(host.executions[0]?.[0]?.json).not.toHaveProperty('error');
});

describe('A result that is a list of several', () => {
	const LIST = [{ text: 'One' }, { text: 'Two', task_id: 'x' }];

	it('starts the workflow once, with one item for each of them that names the task', async () => {
		const id = await service.completedTask();
		await open(id, {});
		answer('/result$', LIST);
		const delivery = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
		expect(host.executions.map((items) => items.map(({ json }) => json))).toEqual([
			[
				{ text: 'One', ...delivery },
				{ text: 'Two', ...delivery },
			],
		]);
	});

	it('has the document of the task in the first item', async () => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		answer('/result$', LIST);
		const delivery = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
		const items = host.executions.flat();
		expect(items.map(({ json }) => json.text)).toEqual(['One', 'Two']);
		expect(items.map(({ binary }) => binary !== undefined)).toEqual([true, false]);
	});

	it('comes without the document if that cannot be had, and says so', async () => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		answer('/result$', LIST);
		answer('/export$', {});
		const delivery = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, delivery, 'S')).status).toBe(503);
		await new Promise((resolve) => setTimeout(resolve, PATIENCE.refusedMs));
		expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
		const error = expect.stringContaining('holds no exported document of task');
		expect(host.executions.flat().map(({ json }) => json)).toEqual([
			{ text: 'One', ...delivery, error },
			{ text: 'Two', ...delivery, error },
		]);
	});
});

it.each([['transcriptionFailed'], ['transcriptionCompleted']])(
	'With only %s, a delivery without a status waits until the service knows the ending',
	async (event) => {
		const id = await service.pendingTask();
		await open(id, { includeResult: false }, [event]);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		expect(host.executions).toEqual([]);
		const status = event === 'transcriptionFailed' ? 'failed' : 'completed';
		service.running().finish(id, { status });
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(200);
		expect(host.executions[0]?.[0]?.json).toMatchObject({ task_id: id, status });
	},
);

it.each([null, ''])(
	'The reason of a failure is asked for if the delivery has %j',
	async (error) => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'No speech' });
		await open(id, {});
		await deliver(host.url, { task_id: id, status: 'failed', error }, 'S');
		expect(host.executions[0]?.[0]?.json).toMatchObject({ status: 'failed', error: 'No speech' });
	},
);

describe('The patience for what the service refuses', () => {
	const refused = (path: string, times: number) =>
		service.running().fault({ match: { path }, times, action: { kind: 'respond', status: 404 } });
	const passed = async () =>
		await new Promise((resolve) => setTimeout(resolve, PATIENCE.refusedMs));

	it.each<[string, string, string, INodeParameters]>([
		['state', '/tasks/[^/]+$', '/result$', {}],
		['result', '/result$', '/export$', { exportFormat: 'srt' }],
	])('for the %s is no patience used up for what comes next', async (_, path, next, options) => {
		const id = await service.completedTask();
		await open(id, options);
		refused(path, 1);
		refused(next, 1);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		await passed();
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(200);
		const [item] = host.executions[0] ?? [];
		expect(item?.json).toMatchObject({ task_id: id, text: expect.any(String) });
		expect(item?.json).not.toHaveProperty('error');
	});

	it('is the same for the result and the document if both are refused', async () => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		refused('/(result|export)$', 1000);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		await passed();
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(200);
		const error = expect.stringMatching(
			/etch it .*with Transcript: Get Result and Transcript: Export$/,
		) as unknown;
		expect(host.executions[0]?.[0]?.json).toMatchObject({ task_id: id, error });
	});

	it('begins again after a success', async () => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		refused('/result$', 1);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		await passed();
		service.running().fault({
			match: { path: '/export$' },
			times: 1,
			action: { kind: 'respond', status: 500 },
		});
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		refused('/result$', 1);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(503);
		expect((await deliver(host.url, { task_id: id }, 'S')).status).toBe(200);
		expect(host.executions[0]?.[0]?.json).toMatchObject({ text: expect.any(String) });
	});
});

describe('The patience for other failures', () => {
	const failing = (path: string, status: number, body?: IDataObject) =>
		service.running().fault({
			match: { path },
			times: 1000,
			action: { kind: 'respond', status, ...(body ? { body } : {}) },
		});
	const unavailable = { detail: { error_code: 'service_unavailable', message: 'Later' } };

	beforeEach(() => {
		jest.replaceProperty(PATIENCE, 'refusedMs', 0);
		jest.replaceProperty(PATIENCE, 'failedMs', 200);
		jest.replaceProperty(PATIENCE, 'passingMs', 3_600_000);
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 0);
	});

	const outputAfter = async (id: string, ms: number) => {
		const delivery = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, delivery, 'S')).status).toBe(503);
		await new Promise((resolve) => setTimeout(resolve, ms));
		const { status } = await deliver(host.url, delivery, 'S');
		return { status, json: host.executions[0]?.[0]?.json };
	};

	few.it.each([500, 502, 408, 499, 302])('ends too: a result that is %i', async (status) => {
		const id = await service.completedTask();
		await open(id, {});
		failing('/result$', status);
		const output = await outputAfter(id, 250);
		expect(output).toMatchObject({ status: 200, json: { task_id: id, error: expect.any(String) } });
	});

	few.it.each([500, 502, 302])('leaves the text if only the document is %i', async (status) => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		failing('/export$', status);
		const { json } = await outputAfter(id, 250);
		expect(json).toMatchObject({ text: expect.any(String), error: expect.any(String) });
	});

	few.it.each([
		[401, undefined],
		[429, undefined],
		[503, unavailable],
	])('is longer where a failure passes: %i', async (status, body) => {
		const id = await service.completedTask();
		await open(id, {});
		failing('/result$', status, body);
		expect((await outputAfter(id, 250)).status).toBe(503);
		jest.replaceProperty(PATIENCE, 'passingMs', 250);
		const delivery = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, delivery, 'S')).status).toBe(200);
	});

	it('is not spent twice if both the result and the document fail', async () => {
		const id = await service.completedTask();
		await open(id, { exportFormat: 'srt' });
		failing('/(result|export)$', 500);
		expect((await outputAfter(id, 250)).status).toBe(200);
	});
});

it('a clock that is set back does not make the patience longer', async () => {
	const id = await service.completedTask();
	await open(id, { includeResult: true });
	const body = { task_id: id, status: 'completed' };
	service.running().fault({
		match: { path: '/result$' },
		times: 1000,
		action: { kind: 'respond', status: 410, body: { detail: 'Deleted' } },
	});
	const { now } = Date;
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
	expect((await deliver(host.url, body, 'S')).status).toBe(503);
	clock.mockRestore();
	expect((await deliver(host.url, body, 'S')).status).toBe(503);
	await sleep(PATIENCE.refusedMs);
	expect((await deliver(host.url, body, 'S')).status).toBe(200);
});
