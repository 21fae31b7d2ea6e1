// Also covers fetchPatiently.ts, waitErrors.ts, waitOptions.ts, nodes/shared/api/fetchResults.ts,
// nodes/shared/exportFormats.ts, nodes/shared/sharedFields.ts, nodes/Transcriber/item/givenIdempotencyKey.ts.

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, IDataObject, INodeParameters } from 'n8n-workflow';

import { NodeRun } from '../../../nodes/Transcriber/item/nodeRun';
import { fetchPatiently } from '../../../nodes/Transcriber/wait/fetchPatiently';
import { finishedTask } from '../../../nodes/Transcriber/wait/finishedTask';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { NotThereYet, SILENT, transcript } from '../../../nodes/shared/api/fetchResults';
import { itemContext, type ItemPlace } from '../../support/itemContext';
import { giveUpSoon } from '../../support/scale';
import {
	byId,
	failureOf,
	fileIn,
	itemsOf,
	itemWithFile,
	serviceForTests,
} from '../../support/service';
import { few } from '../../support/long';
import { until } from '../../simulator/testing-client';

const service = serviceForTests();

const WAIT = { resource: 'task', operation: 'wait' };
const LATER = { content: 'a document', format: 'srt' };

async function waitFor(id: string, waitOptions = {}) {
	return await service.run({
		resource: 'task',
		operation: 'wait',
		taskId: byId(id),
		waitOptions: { pollInterval: 0.05, ...waitOptions },
	});
}

async function exportOf(id: string, parameters = {}) {
	return await service.run({
		resource: 'task',
		operation: 'export',
		taskId: byId(id),
		...parameters,
	});
}

function answer(path: string, body: unknown, status = 200) {
	service.running().fault({
		match: { path },
		times: 1e3,
		action: { kind: 'respond', status, body },
	});
}

// An odd answer is asked for again for two minutes.
beforeEach(giveUpSoon);

describe('the output of a finished task', () => {
	it.each([
		[
			{ status: 'r', task_id: 'r', bot_id: 'r' },
			{ status: 'f', task_id: 'f', bot_id: 'f' },
			'f f f',
		],
		[
			{ status: 'r', task_id: 'r', bot_id: 'r' },
			{ status: null, task_id: '', progress: 100 },
			'r r r',
		],
	])('has its ids and status from the task %j, if it has them %j', (result, facts, values) => {
		const output = transcript({ segments: [], extra: 1, ...result }, facts);
		expect([output.task_id, output.bot_id, output.status].join(' ')).toBe(values);
		expect(Object.keys(output).slice(0, 3)).toEqual(['task_id', 'bot_id', 'status']);
		expect(Object.keys(output).at(-1)).toBe('segments');
	});

	it('has no id without a value, but an empty text is a value', () => {
		const output = transcript({ text: '', summary: null }, { task_id: null, bot_id: '', a: '' });
		expect(Object.entries(output)).toEqual([
			['text', ''],
			['summary', null],
			['a', ''],
		]);
	});

	it('begins with what people look for, and ends with the long segments', async () => {
		const id = await service.completedTask();
		const { json } = await waitFor(id);
		expect(Object.keys(json[0] ?? {})).toEqual([
			'text',
			'summary',
			'speakers',
			'task_id',
			'status',
			'segments',
		]);
	});

	it('has no text if includeResult is the text FALSE, as spreadsheets write it', async () => {
		const id = await service.completedTask();
		const { json } = await waitFor(id, { includeResult: "={{ 'FALSE' }}" });
		expect(json).toMatchObject([{ task_id: id, status: 'completed' }]);
		expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`]);
	});

	it('names the bot of a meeting after the task', async () => {
		const outcome = service.run({
			resource: 'meeting',
			operation: 'sendBot',
			meetingUrl: 'https://meet.example.com/abc',
			consentAcknowledged: true,
			onCompletion: 'poll',
			waitOptions: { pollInterval: 0.05 },
		});
		await until(() => service.running().bots().length > 0);
		const bot = service.running().bots()[0]?.id ?? '';
		await until(() => service.lines().includes(`GET /api/v1/meeting/${bot}`));
		service.running().endMeeting(bot);
		await until(() => service.running().tasks().length > 0);
		const task = service.running().tasks()[0]?.id ?? '';
		service.running().finish(task);
		const { json } = await outcome;
		expect(json).toMatchObject([{ task_id: task, bot_id: bot, status: 'completed' }]);
		expect(Object.keys(json[0] ?? {}).slice(2, 7)).toEqual([
			'speakers',
			'task_id',
			'bot_id',
			'status',
			'segments',
		]);
	});

	it('has what the service adds before the segments, and the task ID of the task', async () => {
		const id = await service.completedTask();
		answer('/result$', { segments: [], words: 7, text: 'a', task_id: 'other', status: 'ok' });
		const { json } = await waitFor(id);
		expect(json).toEqual([{ text: 'a', task_id: id, status: 'completed', words: 7, segments: [] }]);
		expect(Object.keys(json[0] ?? {})).toEqual(['text', 'task_id', 'status', 'words', 'segments']);
	});

	it('is the same where the service puts the result into an object of its answer', async () => {
		const id = await service.completedTask();
		answer('/result$', { result: { text: 'a' } });
		expect((await waitFor(id)).json).toEqual([{ text: 'a', task_id: id, status: 'completed' }]);
	});

	few.it.each([[{}], [''], [[]], [{ words: null }], [{ text: null, message: 'Later' }]])(
		'is refused by name where the answer %j holds no result',
		async (body) => {
			const id = await service.completedTask();
			answer('/result$', body);
			const { error, json } = await waitFor(id);
			expect(json).toEqual([]);
			expect(error).toMatchObject(
				failureOf(0, `The answer of the service holds no result of task ${id}`),
			);
		},
	);

	it('keeps a transcript that comes under a name that the document does not show', async () => {
		const id = await service.completedTask();
		answer('/result$', { words: ['a', 'b'] });
		const { json } = await waitFor(id);
		expect(json).toEqual([{ task_id: id, status: 'completed', words: ['a', 'b'] }]);
	});

	it('may be an empty text: nothing was said in the recording', async () => {
		const id = await service.completedTask();
		answer('/result$', { text: '', segments: [], summary: '', speakers: [] });
		expect((await waitFor(id)).json).toMatchObject([{ text: '', task_id: id, segments: [] }]);
	});
});

describe('a result whose parts are all null', () => {
	const NULLS = { text: null, segments: null, summary: null, speakers: null };
	const get = async (id: string) =>
		await service.run({ resource: 'task', operation: 'getResult', taskId: byId(id) });

	beforeEach(() => jest.replaceProperty(SILENT, 'pauseMs', 20));

	few.it.each<[string, unknown]>([
		['as it is documented', NULLS],
		['without some of the parts', { text: null }],
		['with empty lists', { ...NULLS, segments: [], speakers: [] }],
		['under data', { data: NULLS }],
		['in a list', [NULLS]],
		['beside what else is known', { ...NULLS, language: 'ru', duration: 12.5 }],
		['beside the state of the task', { task_id: 'a', status: 'completed', error: null, ...NULLS }],
	])('is an empty text where the task has completed: nothing was said, %s', async (_, body) => {
		const id = await service.completedTask();
		answer('/result$', body);
		const { error, json } = await waitFor(id);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ text: '', task_id: id, status: 'completed' }]);
		expect((await get(id)).json).toMatchObject([{ text: '' }]);
	});

	few.it.each([
		['nothing', {}],
		['an object of an unknown name', { metadata: { model: 'large-v3', words: 0 } }],
		['a list of an unknown name', { models: ['large-v3'] }],
		['the task', { task: { id: 't1', status: 'completed' } }],
	])('is the transcript that follows a moment later, with %s beside it', async (_, beside) => {
		const id = await service.completedTask();
		service.running().fault({
			match: { path: '/result$' },
			action: { kind: 'respond', status: 200, body: { ...NULLS, ...beside } },
		});
		expect((await waitFor(id)).json).toMatchObject([{ text: expect.stringMatching(/\w/) }]);
	});

	it('is what stands beside it under an unknown name, if nothing follows', async () => {
		const id = await service.completedTask();
		answer('/result$', { ...NULLS, utterances: [{ words: 'Hello' }] });
		expect((await waitFor(id)).json).toMatchObject([
			{ text: null, utterances: [{ words: 'Hello' }], task_id: id },
		]);
		expect(service.lines().filter((line) => line.endsWith('/result'))).toHaveLength(2);
	});

	few.it.each<[string, unknown, unknown]>([
		['an unfinished task', { status: 'processing' }, NULLS],
		['a task without a status', {}, NULLS],
		['a task with a status that nobody knows', { status: 'done' }, NULLS],
		['an answer that says "not yet" itself', undefined, { ...NULLS, status: 'processing' }],
	])('is no success of %s', async (_, state, body) => {
		const id = await service.completedTask();
		answer('/result$', body);
		// The first look of a wait sees the end, the next one does not.
		if (state) {
			service.running().fault({
				match: { method: 'GET', path: '/tasks/[^/]+$' },
				skip: 1,
				times: 1e3,
				action: { kind: 'respond', status: 200, body: state },
			});
		}
		expect((await waitFor(id)).json).toEqual([]);
		expect((await get(id)).json).toEqual([]);
	});
});

describe('with On Error = Continue, the output says that a second submit is charged, too', () => {
	const node = { onError: 'continueRegularOutput' } as const;
	const url = 'https://files.example.com/a.mp3';
	const LINK = { resource: 'transcription', operation: 'transcribeUrl', url, onCompletion: 'poll' };
	const short = { pollInterval: 0.05, timeout: 0.005 };
	const CHARGED =
		/Task .*Transcript: (Wait Until Finished|Get Result|Export or Get Result).*charged, too/;

	it('for a recording that has not ended in time', async () => {
		const { json } = await service.run({ ...LINK, waitOptions: short }, { node });
		expect(json).toEqual([{ error: expect.stringMatching(CHARGED) }]);
	});

	it('for a recording that waits for a top-up', async () => {
		service.running().configure({ balance: 0 });
		const waitOptions = { ...short, onInsufficientBalance: 'fail' };
		const { json } = await service.run({ ...LINK, waitOptions }, { node });
		expect(json).toEqual([{ error: expect.stringMatching(CHARGED) }]);
	});

	it('for a result that cannot be fetched', async () => {
		answer('/result$', { detail: 'gone' }, 400);
		const run = service.run({ ...LINK, waitOptions: { pollInterval: 0.05 } }, { node });
		await until(() => service.running().tasks().length === 1);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		expect((await run).json).toEqual([{ error: expect.stringMatching(CHARGED) }]);
	});

	it('for an answer that holds no result', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 50);
		answer('/result$', { status: 'processing' });
		const run = service.run({ ...LINK, waitOptions: { pollInterval: 0.05 } }, { node });
		await until(() => service.running().tasks().length === 1);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		expect((await run).json).toEqual([
			{ error: expect.stringMatching(/task .*Get Result\. A second submit is charged, too/) },
		]);
	});

	it('for a link with an own Idempotency Key, which the service knows for files only', async () => {
		const options = { idempotencyKey: 'mine' };
		const { json } = await service.run({ ...LINK, options, waitOptions: short }, { node });
		expect(json).toEqual([{ error: expect.stringMatching(CHARGED) }]);
	});

	it('but with a status that nobody knows, it names Get Result', async () => {
		answer('/tasks/[^/]+$', { status: 'done' });
		const waitOptions = { ...short, timeout: 0.04 };
		const { json } = await service.run({ ...LINK, waitOptions }, { node });
		expect(json).toEqual([{ error: expect.stringMatching(/If it has finished, .*Get Result/) }]);
	});

	it('but of a file with an own Idempotency Key, only if the key is another one', async () => {
		const FILE = { ...LINK, operation: 'transcribeFile', options: { idempotencyKey: 'mine' } };
		const items = [itemWithFile()];
		const { json } = await service.run({ ...FILE, waitOptions: short }, { node, items });
		expect(json[0]?.error).toContain('Fetch it later');
		expect(json[0]?.error).toContain(
			"charged, too, unless it has the same 'Idempotency Key' as the first",
		);
	});

	it('but not where nothing was submitted: Wait Until Finished', async () => {
		const taskId = byId(await service.pendingTask());
		const wait = { resource: 'task', operation: 'wait', taskId, waitOptions: short };
		const { json } = await service.run(wait, { node });
		expect(json[0]?.error).not.toContain('charged');
	});
});

it('with On Error = Continue, a failed task of an own Idempotency Key says that the key has to change', async () => {
	const parameters = {
		resource: 'transcription',
		operation: 'transcribeFile',
		onCompletion: 'poll',
		waitOptions: { pollInterval: 0.05 },
		options: { idempotencyKey: 'mine' },
	};
	const node = { onError: 'continueRegularOutput' } as const;
	const run = service.run(parameters, { items: [itemWithFile()], node });
	await until(() => service.running().tasks().length === 1);
	for (const { id } of service.running().tasks()) {
		service.running().finish(id, { status: 'failed', error: 'no audio track' });
	}
	const words =
		/no audio track.*To submit it again, submit this item alone with another 'Idempotency Key'/;
	expect((await run).json).toEqual([{ error: expect.stringMatching(words) }]);
});

it.each([
	'https://pbx.example.com/record.php?id=1',
	'https://pbx.example.com/record.aspx',
	'https://pbx.example.com/record.cgi',
	'https://files.example.com/talk.mp3/stream',
])('a link to a script, or to no file, names no document: %s', async (url) => {
	const waitOptions = { pollInterval: 0.05, exportFormat: 'srt' };
	const LINK = { resource: 'transcription', operation: 'transcribeUrl', url, onCompletion: 'poll' };
	const run = service.run({ ...LINK, waitOptions });
	await until(() => service.running().tasks().length === 1);
	const [task] = service.running().tasks();
	service.running().finish(task?.id ?? '');
	expect(fileIn((await run).items[0]).fileName).toBe(`${task?.id}.srt`);
});

it('a file without a name names no document', async () => {
	const waitOptions = { pollInterval: 0.05, exportFormat: 'srt' };
	const FILE = { resource: 'transcription', operation: 'transcribeFile', onCompletion: 'poll' };
	const { binary: { data } = {} } = itemWithFile();
	const items = [{ json: {}, binary: { data: { ...data, fileName: undefined } as IBinaryData } }];
	const run = service.run({ ...FILE, waitOptions }, { items });
	await until(() => service.running().tasks().length === 1);
	const [task] = service.running().tasks();
	service.running().finish(task?.id ?? '');
	expect(fileIn((await run).items[0]).fileName).toBe(`${task?.id}.srt`);
});

it('the document of a given task has no name of a file that the item holds for something else', async () => {
	const id = await service.completedTask();
	const waitOptions = { pollInterval: 0.05, exportFormat: 'srt' };
	const items = [itemWithFile('another recording')];
	const outcome = await service.run({ ...WAIT, taskId: byId(id), waitOptions }, { items });
	expect(fileIn(outcome.items[0]).fileName).toBe(`${id}.srt`);
});

/** What waiting for a task or bot gives in the context of an item, and what its run then knows to be over. */
async function finishedIn(
	parameters: INodeParameters,
	submitted: IDataObject,
	place: ItemPlace = {},
) {
	const credentials = service.credentials();
	const context = itemContext(parameters, { credentials, ...place });
	const run = NodeRun.of(context);
	const ended = jest.spyOn(run.submitted, 'endWithoutTranscript');
	let failure = '';
	const output = await finishedTask(context, submitted, { run }).catch((error: Error) => {
		failure = error.message;
		return [];
	});
	return { output, failure, ended: ended.mock.calls.flat() };
}

it('an exported document for an AI agent is text, because n8n gives an agent no file', async () => {
	const id = await service.completedTask();
	const waitOptions = { pollInterval: 0.005, exportFormat: 'srt', exportAs: 'file' };
	const place = { call: {} };
	const { output, failure } = await finishedIn({ ...WAIT, waitOptions }, { task_id: id }, place);
	expect(failure).toBe('');
	expect(output).toMatchObject([{ json: { export: expect.stringContaining('-->') } }]);
	expect(output[0]?.binary).toBeUndefined();
});

describe('what has ended without a transcript is nothing that a Retry could continue with', () => {
	const waitOptions = { pollInterval: 0.005 };

	it('if it is a task', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed' });
		const { ended, failure } = await finishedIn({ ...WAIT, waitOptions }, { task_id: id });
		expect({ failure, ended }).toEqual({
			failure: `Task ${id} failed: The recording could not be processed`,
			ended: [`task ${id}`],
		});
	});

	it('but not if it is a bot that was called off: its transcript may follow', async () => {
		const id = await service.bot();
		service.running().fault({
			match: { path: '/meeting/' },
			times: 1e3,
			action: { kind: 'respond', status: 200, body: { status: 'cancelled' } },
		});
		const wait = { resource: 'meeting', operation: 'wait', waitOptions };
		const { ended, failure } = await finishedIn(wait, { bot_id: id });
		expect({ failure, ended }).toEqual({ failure: `Meeting bot ${id} was cancelled`, ended: [] });
		const node = { onError: 'continueRegularOutput' as const };
		const output = await finishedIn(wait, { bot_id: id }, { node });
		expect(output.failure).toMatch(/was cancelled\. If it had recorded, .* look with Meeting: Get/);
	});
});

it('a bot of unknown schedule is waited for from the later reading of a start without a time zone', async () => {
	// Read in UTC, the bot has started; the tests run in a time zone behind UTC (jest.config.js).
	expect(new Date().getTimezoneOffset()).toBeGreaterThan(60);
	const id = await service.bot();
	service.running().endMeeting(id);
	service.running().finish(service.running().tasks()[0]?.id ?? '');
	const scheduled_start_at = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19);
	service.running().fault({
		match: { path: '/meeting/' },
		action: { kind: 'respond', status: 200, body: { status: 'scheduled', scheduled_start_at } },
	});
	const { now } = Date;
	// The first look comes at once, and the second after Timeout.
	jest
		.spyOn(Date, 'now')
		.mockImplementation(() => now() + (service.lines().length > 0 ? 7_000 : 0));
	const waitOptions = { pollInterval: 0.005, timeout: 0.1 };
	const wait = { resource: 'meeting', operation: 'wait', waitOptions };
	const { output, failure } = await finishedIn(wait, { bot_id: id });
	expect(failure).toBe('');
	expect(output).toMatchObject([{ json: { bot_id: id, status: 'completed' } }]);
});

describe('a result that is not there yet', () => {
	it('is asked for after a 429 for longer than after another refusal', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 5_000);
		jest.replaceProperty(RETRY, 'patienceWhenRefused', 0);
		const id = await service.completedTask();
		service.running().fault({
			match: { path: '/result$' },
			action: { kind: 'respond', status: 429 },
		});
		expect((await waitFor(id)).json).toMatchObject([{ task_id: id, text: expect.any(String) }]);
	});

	it('is asked for at the front of the queue for the rate limit, but not the first time', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 5_000);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 5_000);
		const context = itemContext(WAIT);
		const places: unknown[] = [];
		await fetchPatiently(context, '7f3c', 'result', async ({ isRepeat }) => {
			places.push(isRepeat);
			if (places.length < 3) throw new NotThereYet(context.getNode(), 'Not yet');
			return await Promise.resolve({});
		});
		expect(places).toEqual([false, true, true]);
	});
});

describe('a result that is a list of several', () => {
	const LIST = [{ text: 'One' }, { text: 'Two', task_id: 'x' }];
	const EXPORT = { exportFormat: 'srt' };

	beforeEach(() => jest.replaceProperty(SILENT, 'pauseMs', 20));

	it.each([
		['Wait Until Finished', { resource: 'task', operation: 'wait' }],
		['Get Result', { resource: 'task', operation: 'getResult' }],
	])('is one item for each of them: %s', async (_name, operation) => {
		const ids = [await service.completedTask(), await service.completedTask()];
		answer('/result$', LIST);
		const parameters = { ...operation, taskId: byId('={{ $json.id }}') };
		const { items, error } = await service.run(parameters, {
			items: itemsOf(...ids.map((id) => ({ id }))),
		});
		expect(error).toBeUndefined();
		expect(items.map(({ json, pairedItem }) => [json.text, pairedItem])).toEqual([
			['One', { item: 0 }],
			['Two', { item: 0 }],
			['One', { item: 1 }],
			['Two', { item: 1 }],
		]);
	});

	it('names the task in each, and has the document of the task in the first', async () => {
		const id = await service.completedTask();
		answer('/result$', LIST);
		const { items } = await waitFor(id, EXPORT);
		const facts = { task_id: id, status: 'completed' };
		expect(items).toMatchObject([
			{ json: { text: 'One', ...facts }, binary: { data: {} } },
			{ json: { text: 'Two', ...facts } },
		]);
		expect(items[1]?.binary).toBeUndefined();
	});

	few.it.each(['transcribeFile', 'transcribeUrl'])('comes out of %s', async (operation) => {
		answer('/result$', LIST);
		const url = 'https://files.example.com/a.mp3';
		const waitOptions = { pollInterval: 0.05 };
		const run = service.run(
			{ resource: 'transcription', operation, url, waitOptions, onCompletion: 'poll' },
			{ items: [itemWithFile()], node: { onError: 'continueRegularOutput' } },
		);
		await until(() => service.running().tasks().length === 1);
		for (const { id } of service.running().tasks()) service.running().finish(id);
		expect((await run).json).toMatchObject([{ text: 'One' }, { text: 'Two' }]);
	});

	it('may have a part in which nothing was said', async () => {
		const id = await service.completedTask();
		answer('/result$', [{ text: 'One' }, { text: null, segments: null }]);
		expect((await waitFor(id)).json).toMatchObject([{ text: 'One' }, { text: '' }]);
	});

	it('is no result if one of them is none', async () => {
		const id = await service.completedTask();
		answer('/result$', [{ text: 'One' }, { status: 'processing' }]);
		expect((await waitFor(id)).error?.message).toContain(`holds no result of task ${id}`);
	});
});

describe('an exported document', () => {
	const BODIES = [{}, '', [], null, { content: null }, { content: {} }, { format: 'srt' }];

	few.it.each(BODIES)('is refused by name where the answer %j has no content', async (body) => {
		const id = await service.completedTask();
		answer('/export$', body);
		const message = `The answer of the service holds no exported document of task ${id}`;
		for (const { error, items } of [
			await exportOf(id),
			await exportOf(id, { format: 'json', output: 'json' }),
			await waitFor(id, { exportFormat: 'srt' }),
		]) {
			expect(items).toEqual([]);
			expect(error).toMatchObject(failureOf(0, message));
		}
	});

	it('is an empty file where it is an empty text', async () => {
		const id = await service.completedTask();
		answer('/export$', { ...LATER, content: '' });
		expect(fileIn((await exportOf(id)).items[0]).content).toBe('');
		expect(fileIn((await waitFor(id, { exportFormat: 'srt' })).items[0]).content).toBe('');
	});

	it('is the field export of the output, before the segments, where exportAs asks for text', async () => {
		const id = await service.completedTask();
		answer('/export$', LATER);
		const { items } = await waitFor(id, { exportFormat: 'srt', exportAs: 'text' });
		expect(items[0]?.binary).toBeUndefined();
		expect(items[0]?.json).toMatchObject({ task_id: id, export: LATER.content });
		expect(Object.keys(items[0]?.json ?? {}).slice(-2)).toEqual(['export', 'segments']);
	});

	it('is never the JSON of an object in a file of subtitles', async () => {
		const id = await service.completedTask();
		answer('/export$', { content: { text: 'a' }, format: 'srt' });
		expect((await exportOf(id)).items).toEqual([]);
	});
});

describe('an exported document that the service refuses', () => {
	const requests = (end: string) => service.lines().filter((line) => line.endsWith(end));

	it.each([422, 500])(
		'is named in the error, and the result is fetched once however often it is tried (%s)',
		async (status) => {
			const id = await service.completedTask();
			answer('/export$', { detail: 'no segments, no srt' }, status);
			const { error } = await waitFor(id, { exportFormat: 'srt' });
			expect(error?.message).toContain(
				`Task ${id} has finished, but its srt document cannot be exported: `,
			);
			expect(error?.description).toContain('no segments, no srt');
			expect(error?.description).toMatch(/not lost.*Transcript: Export.*Transcript: Get Result/);
			expect(requests('/result')).toHaveLength(1);
		},
	);

	it('is exported in the end, beside the result that was fetched before', async () => {
		const id = await service.completedTask();
		service.running().fault({
			match: { path: '/export$' },
			times: 1,
			action: { kind: 'respond', status: 500 },
		});
		const { items } = await waitFor(id, { exportFormat: 'srt' });
		expect(items[0]?.json).toMatchObject({ task_id: id, text: expect.any(String) });
		expect(fileIn(items[0]).fileName).toBe(`${id}.srt`);
		expect(requests('/result')).toHaveLength(1);
		expect(requests('/export')).toHaveLength(2);
	});
});

describe('a task that ends without a transcript', () => {
	it('was not charged if it failed', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'Noise' });
		const { error } = await waitFor(id);
		expect(error).toMatchObject(failureOf(0, `Task ${id} failed: Noise`));
		expect(error?.description).toMatch(/^A failed task is not charged\./);
	});

	it('is an error that n8n does not take for a cancelled execution, whatever the service says', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'Processing canceled: noise' });
		const { error } = await waitFor(id);
		expect(error).toMatchObject(failureOf(0, `Task ${id} failed: Processing cancelled: noise`));
	});

	it('says nothing of charges if it was cancelled', async () => {
		const id = await service.pendingTask();
		await service.ask(`POST /tasks/${id}/cancel`);
		const { error } = await waitFor(id);
		expect(error).toMatchObject(failureOf(0, `Task ${id} was cancelled`));
		expect(error?.description).toMatch(/^A cancelled task has no transcript\./);
		expect(error?.description).not.toMatch(/charged|Correct/);
	});

	it.each<[string, INodeParameters, boolean]>([
		['transcribeFile', { idempotencyKey: 'file-17' }, true],
		['transcribeUrl', { idempotencyKey: 'link-17' }, true],
		['transcribeFile', {}, false],
	])(
		'needs another key if the user gave one: %s with %j',
		async (operation, options, needsAnother) => {
			const running = service.run(
				{
					resource: 'transcription',
					operation,
					...(operation === 'transcribeUrl' && { url: 'https://files.example.com/a.mp3' }),
					options,
					waitOptions: { pollInterval: 0.05 },
				},
				{ items: [itemWithFile('sound')] },
			);
			await until(() => service.running().tasks().length > 0);
			const id = service.running().tasks()[0]?.id ?? '';
			service.running().finish(id, { status: 'failed', error: 'Noise' });
			const { error } = await running;
			expect(error?.message).toContain('failed: Noise');
			const next =
				"Change 'Idempotency Key' for that: with the same key, the service returns the same";
			expect(error?.description?.includes(next)).toBe(needsAnother);
		},
	);

	it('may be a bot: its link is what to check', async () => {
		const id = await service.bot();
		answer('/meeting/', { bot_id: id, status: 'failed', error: 'not admitted' });
		const wait = { resource: 'meeting', operation: 'wait', botId: id };
		const { error } = await service.run(wait);
		expect(error).toMatchObject(failureOf(0, `Meeting bot ${id} failed: not admitted`));
		expect(error?.description).toMatch(/^Check the link of the meeting/);
	});
});

describe('the words of the service are in the error', () => {
	const SHORT = { timeout: 0.04, pollInterval: 0.1 };

	it.each([
		{ status: 'error', error: 'Bad codec' },
		{ status: 'failed', error: { code: 7, message: 'Bad codec' } },
		{ status: 'failed', message: 'Bad codec' },
		{ status: 'failed', detail: { message: 'Bad codec' } },
		{ status: 'failed', error_message: 'Bad codec' },
		{ status: 'cancelled', error: 'Bad codec' },
		{ success: false, error: 'Bad codec' },
	])('of a task that is %j', async (state) => {
		const id = await service.pendingTask();
		answer('/tasks/', { task_id: id, ...state });
		const wait = { resource: 'task', operation: 'wait', taskId: id, waitOptions: SHORT };
		expect((await service.run(wait)).error?.message).toContain('Bad codec');
	});

	it.each([
		[{ code: 0, message: 'success', data: { status: 'cancelled' } }, 'was cancelled'],
		[{ success: true, message: 'OK', data: { status: 'failed', error: null } }, 'failed'],
		[{ status: 'failed', error: {}, reason: 0 }, 'failed'],
	])('but not what is no reason: %j', async (state, words) => {
		const id = await service.pendingTask();
		answer('/tasks/', { task_id: id, ...state });
		const wait = { resource: 'task', operation: 'wait', taskId: id, waitOptions: SHORT };
		expect((await service.run(wait)).error?.message).toBe(`Task ${id} ${words} [item 0]`);
	});

	it('of a bot that has completed, but has no task yet, are that it goes on', async () => {
		const id = await service.bot();
		answer('/meeting/', { bot_id: id, status: 'completed' });
		const wait = { resource: 'meeting', operation: 'wait', botId: id, waitOptions: SHORT };
		const { error } = await service.run(wait);
		expect(error?.description).toMatch(/^It continues at the service and is not lost/);
	});

	it.each(['denied', 'kicked'])('of a bot whose status %s may be its end', async (status) => {
		const id = await service.bot();
		answer('/meeting/', { bot_id: id, status, error: 'The host said no' });
		const wait = { resource: 'meeting', operation: 'wait', botId: id, waitOptions: SHORT };
		const { error } = await service.run(wait);
		expect(error?.message).toContain(`(status: ${status}; the service says: The host said no)`);
		expect(error?.description).toMatch(
			/^The service does not document this status, so the bot may/,
		);
	});

	it.each([
		['result', { success: false, error: 'Deleted after 30 days' }],
		['dictionary/preview', { ok: false, message: 'Deleted after 30 days' }],
	])('of a request for a %s that is refused with a success', async (path, body) => {
		const taskId = await service.completedTask();
		answer(`/${path}$`, body);
		const { error } = await service.run(
			path === 'result'
				? { resource: 'task', operation: 'getResult', taskId }
				: { resource: 'dictionary', operation: 'preview', taskId, terms: 'a' },
		);
		expect(error?.message).toContain('the request has failed: Deleted after 30 days');
	});

	it('of a task that has not ended, as far as the document tells', async () => {
		const taskId = await service.pendingTask();
		answer('/tasks/[^/]*$', { task_id: taskId, status: 'error', error: 'Bad codec' });
		const { error } = await service.run({ resource: 'task', operation: 'getResult', taskId });
		expect(error?.message).toContain('(status: error): Bad codec');
		expect(error?.description).toContain('The service does not document this status');
	});
});

describe('an exported file that n8n cannot store', () => {
	const refuseToStore = (code: string) =>
		jest
			.spyOn(Container.get(BinaryDataService), 'store')
			.mockRejectedValue(Object.assign(new Error(`${code}: write`), { code }));
	few.it.each([
		['ENOSPC', 'its disk is full'],
		['EDQUOT', 'its disk is full'],
		['EROFS', 'its disk is read-only'],
		['EACCES', 'it may not write to its disk'],
		['EIO', 'EIO: write'],
	])('is named in the error, and not tried again: %s', async (code, reason) => {
		const id = await service.completedTask();
		const store = refuseToStore(code);
		for (const run of [exportOf, waitFor]) {
			store.mockClear();
			service.running().requests.length = 0;
			const { error } = await run(id, { exportFormat: 'srt' });
			expect(error?.message).toBe(
				`n8n could not store the exported file '${id}.srt': ${reason} [item 0]`,
			);
			expect(error?.description).toMatch(/The transcript is not lost/);
			expect(store).toHaveBeenCalledTimes(1);
			expect(service.lines().filter((line) => line.endsWith('/export'))).toHaveLength(1);
		}
	});
});
