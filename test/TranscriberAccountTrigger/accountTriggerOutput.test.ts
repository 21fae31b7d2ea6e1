/** What the workflow starts with, and what happens when the service is not well. */
// Also covers accountTriggerFields.ts, nodes/shared/parameters/outputOptions.ts.

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import { SILENT } from '../../nodes/shared/api/fetchResults';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { hashOf } from '../../nodes/TranscriberAccountTrigger/taskHashes';
import { replaceValues } from '../support/scale';
import { fileIn, serviceForTests } from '../support/service';
import { few, long } from '../support/long';
import { AccountHost } from './host';

const service = serviceForTests({ tasksInProgress: 1000 });

beforeEach(() => {
	replaceValues(RETRY, {
		base: 1,
		cap: 1,
		patienceWhenBroken: 20,
		patienceWhenBusy: 20,
		patienceWhenUnreachable: 20,
	});
});

async function active(parameters = {}): Promise<AccountHost> {
	const host = new AccountHost(service.credentials(), parameters);
	await host.activate();
	return host;
}

const respond = (path: string, status: number, times = 1) =>
	service.running().fault({ match: { path }, times, action: { kind: 'respond', status } });

describe('the output', () => {
	it('is text, summary and speakers first, then the task, and the long segments last', async () => {
		const host = await active();
		const id = await service.completedTask();
		const [item] = await host.poll();
		expect(item?.json).toMatchObject({
			text: expect.stringMatching(/\w/),
			summary: expect.any(String),
			speakers: expect.any(Array),
			task_id: id,
			status: 'completed',
			segments: expect.any(Array),
		});
		expect(Object.keys(item?.json ?? {}).slice(0, 5)).toEqual([
			'text',
			'summary',
			'speakers',
			'task_id',
			'status',
		]);
		expect(Object.keys(item?.json ?? {}).at(-1)).toBe('segments');
	});

	it('of a failed task says why', async () => {
		const host = await active();
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'No speech was found' });
		const [item] = await host.poll();
		expect(item?.json).toMatchObject({
			task_id: id,
			status: 'failed',
			error: 'No speech was found',
		});
	});

	describe('of a task that the list calls failed although the task itself', () => {
		async function listedAsFailed(parameters = {}) {
			const host = await active(parameters);
			const id = await service.pendingTask();
			const body = { tasks: [{ task_id: id, status: 'failed' }] };
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/tasks$' }, times: 999, action });
			return { host, id };
		}

		it.each([[['transcriptCompleted', 'transcriptFailed']], [['transcriptCompleted']]])(
			'has completed is its transcript with %j',
			async (events) => {
				const { host, id } = await listedAsFailed({ events });
				service.running().finish(id);
				await host.polls(3);
				expect(host.executions.flat().map(({ json }) => json)).toMatchObject([
					{ task_id: id, status: 'completed', text: expect.stringMatching(/\w/) },
				]);
			},
		);

		it('has completed is nothing if only failures are wanted', async () => {
			const { host, id } = await listedAsFailed({ events: ['transcriptFailed'] });
			service.running().finish(id);
			await host.polls(3);
			expect(host.executions).toEqual([]);
		});

		it('has failed is nothing if only transcripts are wanted, until it completes', async () => {
			const { host, id } = await listedAsFailed({ events: ['transcriptCompleted'] });
			const failed = { kind: 'respond', status: 200, body: { status: 'failed' } } as const;
			service.running().fault({ match: { path: `/${id}$` }, times: 1, action: failed });
			await host.polls(3);
			expect(host.executions).toEqual([]);
		});

		it('is in progress again waits for its end, however long that takes', async () => {
			jest.replaceProperty(ACCOUNT_POLL, 'failures', 2);
			const { host, id } = await listedAsFailed();
			await host.polls(3);
			expect(host.executions).toEqual([]);
			service.running().finish(id);
			await host.polls(3);
			expect(host.executions.flat().map(({ json }) => json)).toMatchObject([
				{ task_id: id, status: 'completed', text: expect.any(String) },
			]);
		});
	});

	long.it(
		'of a transcript comes although the list calls many tasks failed that are in progress again',
		async () => {
			jest.replaceProperty(ACCOUNT_POLL, 'inAll', 8);
			const host = await active();
			const again = await Promise.all(Array.from({ length: 9 }, () => service.pendingTask()));
			const id = await service.completedTask();
			const tasks = again.map((task_id) => ({ task_id, status: 'failed' }));
			const body = { tasks: [...tasks, { task_id: id, status: 'completed' }] };
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/tasks$' }, times: 999, action });
			await host.polls(6);
			expect(host.executions.flat().map(({ json }) => json.task_id)).toEqual([id]);
		},
	);

	it.each(['is in progress again', 'has completed'])(
		'of Execute step is an older task that has failed, if the newest of those that the list calls failed %s',
		async (otherwise) => {
			const host = new AccountHost(service.credentials(), { events: ['transcriptFailed'] });
			const older = await service.pendingTask();
			service.running().finish(older, { status: 'failed', error: 'No speech' });
			const id = await service.pendingTask();
			if (otherwise === 'has completed') service.running().finish(id);
			const failed = { task_id: older, status: 'failed', error: 'No speech' };
			const body = { tasks: [{ task_id: id, status: 'failed' }, failed] };
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/tasks$' }, times: 999, action });
			expect(await host.executeStep()).toMatchObject([{ json: failed }]);
		},
	);

	few.it.each([null, ''])(
		'of a failed task says why if the list has %j for the reason',
		async (error) => {
			const host = await active();
			const id = await service.pendingTask();
			service.running().finish(id, { status: 'failed', error: 'No speech was found' });
			const body = { tasks: [{ task_id: id, status: 'failed', error }] };
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/tasks$' }, times: 999, action });
			await host.polls(2);
			expect(host.executions.flat()).toMatchObject([
				{ json: { task_id: id, error: 'No speech was found' } },
			]);
		},
	);

	it('is an empty text where nothing was said in the recording', async () => {
		jest.replaceProperty(SILENT, 'pauseMs', 10);
		const host = await active();
		const id = await service.completedTask();
		service.running().fault({
			match: { path: '/result$' },
			times: 1e3,
			action: { kind: 'respond', status: 200, body: { text: null, segments: null } },
		});
		await host.poll();
		expect(host.executions.flat()).toMatchObject([
			{ json: { task_id: id, status: 'completed', text: '' } },
		]);
	});

	describe('of a result that is a list of several', () => {
		beforeEach(() => {
			const body = [{ text: 'One' }, { text: 'Two', task_id: 'x' }] as unknown as IDataObject;
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/result$' }, times: 1e3, action });
		});

		it('is one item for each of them, and each names the task', async () => {
			const host = await active();
			const id = await service.completedTask();
			await host.polls(2);
			const facts = { task_id: id, status: 'completed' };
			expect(host.executions).toMatchObject([
				[{ json: { text: 'One', ...facts } }, { json: { text: 'Two', ...facts } }],
			]);
		});

		few.it.each(['file', 'text'])(
			'has the document of the task in the first: %s',
			async (exportAs) => {
				const host = await active({ options: { exportFormat: 'srt', exportAs } });
				await service.completedTask();
				const items = await host.poll();
				expect(items.map(({ json }) => json.text)).toEqual(['One', 'Two']);
				expect(items.map(({ json, binary }) => Boolean(json.export ?? binary))).toEqual([
					true,
					false,
				]);
			},
		);

		it('comes without a document that the service refuses for good, and says so', async () => {
			const host = await active({ options: { exportFormat: 'srt' } });
			await service.completedTask();
			respond('/export$', 400, 1e3);
			await host.polls(ACCOUNT_POLL.refusals);
			const error = expect.stringMatching(/^The exported document cannot be fetched: \w/);
			expect(host.executions).toMatchObject([
				[{ json: { text: 'One', error } }, { json: { text: 'Two', error } }],
			]);
		});

		it('is what "Execute step" shows', async () => {
			await service.completedTask();
			const items = await new AccountHost(service.credentials()).executeStep();
			expect(items).toMatchObject([{ json: { text: 'One' } }, { json: { text: 'Two' } }]);
		});
	});

	few.it.each(['stateUnderData', 'stateUnderItsKind', 'stateInJSend', 'stateInJsonRpc'] as const)(
		'has what a task says that the list does not (%s)',
		async (dialect) => {
			service.running().configure({ shapes: { taskListStatus: 'hidden' } });
			const id = await service.pendingTask();
			const host = await active();
			service.running().configure({ dialect, shapes: { taskListStatus: 'hidden' } });
			service.running().finish(id, { status: 'failed', error: 'No speech was found' });
			await host.polls(3);
			expect(host.executions.flat()).toMatchObject([
				{ json: { task_id: id, status: 'failed', error: 'No speech was found' } },
			]);
		},
	);

	it('without the result asks for none', async () => {
		const host = await active({ options: { includeResult: false } });
		const id = await service.completedTask();
		const [item] = await host.poll();
		expect(item?.json).toMatchObject({ task_id: id, status: 'completed' });
		expect(item?.json).not.toHaveProperty('text');
		expect(service.lines().filter((line) => line.endsWith('/result'))).toEqual([]);
	});

	it('has an exported file beside it, or its text in a field', async () => {
		const host = await active({
			options: { exportFormat: 'srt', exportBinaryPropertyName: 'subtitles' },
		});
		await service.completedTask();
		const [item] = await host.poll();
		expect(fileIn(item, 'subtitles').content).toContain(' --> ');
		host.node.parameters.options = { exportFormat: 'srt', exportAs: 'text' };
		await host.activate('update');
		await service.completedTask();
		const [asText] = await host.poll();
		expect(asText?.json.export).toContain(' --> ');
		expect(asText?.binary).toBeUndefined();
	});

	few.it.each([
		['Meeting 12.05 with Anna', 'Meeting 12.05 with Anna.srt'],
		['call.3gp', 'call.srt'],
		['interview.mp3', 'interview.srt'],
	])('has the title %j as the name of its file: %j', async (title, fileName) => {
		const host = await active({ options: { exportFormat: 'srt' } });
		const id = await service.completedTask();
		const body = { tasks: [{ task_id: id, status: 'completed', title }] };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/tasks$' }, times: 9, action });
		const [item] = await host.poll();
		expect(fileIn(item).fileName).toBe(fileName);
	});

	it('takes an option whose expression gives nothing as not set', async () => {
		const nothing = '={{ undefined }}';
		const host = await active({
			options: { includeResult: nothing, exportFormat: nothing, exportAs: nothing },
		});
		await service.completedTask();
		const [item] = await host.poll();
		expect(item?.json.text).toMatch(/\w/);
		expect(item?.binary).toBeUndefined();
	});

	few.it.each([
		['transcriptCompleted', 'completed'],
		['transcriptFailed', 'failed'],
	])('with %s alone, only a task that is %s starts it', async (event, status) => {
		const host = await active({ events: [event] });
		const ids = [await service.pendingTask(), await service.pendingTask()];
		service.running().finish(ids[0] ?? '', { status: 'failed' });
		service.running().finish(ids[1] ?? '');
		await host.polls(3);
		expect(host.executions.flat().map(({ json }) => json.status)).toEqual([status]);
	});

	it('never holds a webhook secret', async () => {
		const host = await active();
		const id = await service.completedTask({ webhook_url: 'https://example.com/hook' });
		await host.poll();
		const { webhookSecret = '?' } = service.running().task(id);
		expect(JSON.stringify(host.executions) + host.saved).not.toContain(webhookSecret);
		expect(host.saved).not.toContain(service.credentials().apiKey);
	});

	it("has the document within the item, and nothing of it is left in n8n's storage", async () => {
		const storing = jest.spyOn(Container.get(BinaryDataService), 'store');
		const host = await active({ options: { exportFormat: 'srt' } });
		await service.completedTask();
		const [item] = await host.poll();
		const [{ id, data = '' } = {}] = Object.values(item?.binary ?? {});
		expect(id).toBeUndefined();
		expect(Buffer.from(data, 'base64').toString()).toContain('-->');
		expect(storing).not.toHaveBeenCalled();
		storing.mockRestore();
	});
});

describe('what is stored of the tasks', () => {
	it('is the id, in the clear, while it has not ended, and a hash afterwards', async () => {
		const host = await active();
		const [open, ended] = [await service.pendingTask(), await service.completedTask()];
		await host.poll();
		expect(host.started).toEqual([ended]);
		expect(host.saved).toContain(open);
		expect(host.saved).not.toContain(ended);
		expect(host.saved).toContain(hashOf(ended));
	});
});

describe('bad weather', () => {
	it('a result that cannot be fetched comes with the next poll', async () => {
		const host = await active();
		const id = await service.completedTask();
		respond('/result$', 500);
		await host.poll();
		expect(host.started).toEqual([]);
		await host.poll();
		expect(host.started).toEqual([id]);
		expect(host.executions.flat()[0]?.json.text).toMatch(/\w/);
	});

	it('a result that the service refuses for good starts the workflow without it', async () => {
		const host = await active();
		const id = await service.completedTask();
		respond('/result$', 400, ACCOUNT_POLL.refusals);
		await host.polls(ACCOUNT_POLL.refusals - 1);
		expect(host.started).toEqual([]);
		await host.poll();
		expect(host.executions.flat()).toMatchObject([
			{ json: { task_id: id, error: expect.stringMatching(/^The result cannot be fetched: \w/) } },
		]);
		const error = host.executions.flat()[0]?.json.error;
		expect(error).toMatch(/\w\. Fetch it later with Transcript: Get Result$/);
	});

	few.it.each([
		['503', 503],
		['500', 500],
		['429', 429],
		['401', 401],
	])('a poll that is answered %s says so, and the next one loses nothing', async (_, status) => {
		const host = await active();
		const first = await service.completedTask();
		await host.poll();
		const second = await service.completedTask();
		const before = host.saved;
		service.running().configure({ apiEnabled: status !== 401 });
		if (status !== 401) respond('/tasks$', status, status === 500 ? 1 : 60);
		await expect(host.poll()).rejects.toMatchObject({ message: expect.stringMatching(/\w/) });
		expect(host.saved).toBe(before);
		service.running().configure({ apiEnabled: true });
		if (status !== 401) await eventually(async () => await host.poll());
		else await host.poll();
		expect(host.started).toEqual([first, second]);
	});

	long.it('a page that fails after the first loses nothing', async () => {
		service.running().configure({ shapes: { taskListMaximum: 10 } });
		service.running().seed(30);
		const host = await active();
		const ids = [];
		for (let count = 0; count < 25; count++) ids.push(await service.completedTask());
		service.running().fault({
			match: { path: '/tasks$' },
			skip: 1,
			times: 1,
			action: { kind: 'respond', status: 500 },
		});
		await host.polls(8);
		expect([...host.started].sort()).toEqual(ids.sort());
	});

	long.it(
		'an activation that cannot read the list to its end fails, and knows all at the next try',
		async () => {
			service
				.running()
				.configure({ shapes: { taskListMaximum: 10, taskListOrder: 'oldestFirst' } });
			service.running().seed(500);
			const host = new AccountHost(service.credentials());
			service.running().fault({
				match: { path: '/tasks$' },
				skip: 5,
				action: { kind: 'respond', status: 500 },
			});
			await expect(host.activate()).rejects.toThrow('HTTP 500');
			expect(host.saved).toBe('{}');
			await host.activate();
			const id = await service.completedTask();
			await host.poll();
			expect(host.started).toEqual([id]);
		},
	);

	it('a web page or an empty object instead of the list is no empty list', async () => {
		const host = new AccountHost(service.credentials());
		service.running().seed(5);
		service.running().fault({
			match: { path: '/tasks$' },
			action: { kind: 'respond', status: 200, body: {} },
		});
		await expect(host.activate()).rejects.toMatchObject({
			message: expect.stringMatching(/^The answer of the service holds no list of tasks\. ./),
		});
		await host.activate();
		await host.poll();
		expect(host.started).toEqual([]);
	});

	it('activation with a wrong key says so, and remembers nothing', async () => {
		const host = new AccountHost(service.credentials({ apiKey: 'a-wrong-key' }));
		await expect(host.activate()).rejects.toMatchObject({
			message: expect.stringMatching(/API key\. Check the 'API Key'/),
		});
		expect(host.saved).toBe('{}');
	});

	it('a later poll keeps title and advice apart', async () => {
		const host = await active();
		host.credentials.apiKey = 'a-wrong-key';
		await expect(host.poll()).rejects.toMatchObject({
			message: expect.not.stringContaining('Check'),
			description: expect.stringContaining('Check'),
		});
	});
});

/** Until faults that were meant for a while are used up. */
async function eventually(work: () => Promise<unknown>): Promise<void> {
	for (let tries = 0; tries < 200; tries++) {
		try {
			await work();
			return;
		} catch {
			// The service is still not well.
		}
	}
}

describe('what is wrong with the settings', () => {
	few.it.each([
		[{ events: [] }, /^The parameter 'Trigger On' is empty/],
		[{ events: '={{ undefined }}' }, /^The parameter 'Trigger On' is empty/],
		[{ events: ['meetingCompleted'] }, /^'Trigger On' has to be/],
		[{ options: { includeResult: 'perhaps' } }, /^'Include Result' has to be true or false/],
		[{ options: { exportFormat: 'docx' } }, /^'Export Format' has to be/],
		[{ options: { exportAs: 'mail' } }, /^'Export As' has to be/],
	])('%j is refused by name at activation, before anything is sent', async (parameters, words) => {
		await expect(active(parameters)).rejects.toMatchObject({
			message: expect.stringMatching(words),
		});
		expect(service.lines()).toEqual([]);
	});
});

describe('"Execute step"', () => {
	few.it.each(['newestFirst', 'oldestFirst'] as const)(
		'outputs the newest finished transcript of a list with dates, %s, and remembers nothing',
		async (taskListOrder) => {
			service.running().configure({ shapes: { taskListOrder, taskListDates: 'created_at' } });
			service.running().seed(150);
			const id = await service.completedTask();
			await service.pendingTask();
			const host = new AccountHost(service.credentials());
			const [item] = await host.executeStep();
			expect(item?.json).toMatchObject({ task_id: id, text: expect.stringMatching(/\w/) });
		},
	);

	it('says so where there is none', async () => {
		await service.pendingTask();
		const host = new AccountHost(service.credentials());
		await expect(host.executeStep()).rejects.toMatchObject({
			message: 'Your account at the service has no finished transcript to show yet',
		});
	});

	it.each([
		['No task of your account at the service has failed', []],
		[
			"The service says of no task that it has failed, but has a status that it does not document: 'halted'",
			['halted'],
		],
	])(
		'says with Transcript Failed alone, where transcripts have finished: %s',
		async (message, statuses) => {
			await service.completedTask();
			for (const status of statuses)
				service.running().finish(await service.pendingTask(), { status });
			const host = new AccountHost(service.credentials(), { events: ['transcriptFailed'] });
			await expect(host.executeStep()).rejects.toMatchObject({
				message,
				description: expect.stringMatching(/^Trigger On asks for failed tasks only/),
			});
		},
	);

	it('says with Transcript Completed alone, where a task has failed, that none has completed', async () => {
		for (const status of ['failed', 'halted']) {
			service.running().finish(await service.pendingTask(), { status });
		}
		const host = new AccountHost(service.credentials(), { events: ['transcriptCompleted'] });
		await expect(host.executeStep()).rejects.toMatchObject({
			message: expect.stringMatching(/of no task that it has completed, .*'halted'$/),
		});
	});

	it('does not say so of an account whose newest tasks only are in progress', async () => {
		service.running().configure({ tasksInProgress: 20, shapes: { taskListStatus: 'hidden' } });
		await service.completedTask();
		for (let count = 0; count < 10; count++) await service.pendingTask();
		const host = new AccountHost(service.credentials());
		await expect(host.executeStep()).rejects.toMatchObject({
			message: 'None of the newest tasks that this step has looked at is a finished transcript',
		});
	});
});

long.it('a poll asks for little: 12 lists at most, whatever the size of the account', async () => {
	service.running().configure({ shapes: { taskListMaximum: 10 } });
	service.running().seed(1000);
	const host = await active();
	for (let count = 0; count < 5; count++) {
		const before = service.running().requests.length;
		await host.poll();
		expect(service.running().requests.length - before).toBeLessThanOrEqual(12);
	}
});
