/** Contract, "Trigger node": POST on the trigger's URL is a delivery. */
// Also covers TranscriberTrigger.node.ts, triggerSettings.ts, askServiceWithoutSecret.ts,
// triggerFields.ts, triggerOutput.ts, nodes/shared/webhook/answerInTime.ts.

import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import type { INodeParameters } from 'n8n-workflow';

import { CALLED_OFF } from '../../nodes/shared/api/calledOffBot';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { read } from '../structure/read';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { few, long } from '../support/long';
import { deliver, handOverTo, post, put, putAll, sign } from './client';
import { TriggerHost, newProcess, type HostSettings } from './host';

const service = serviceForTests();
const SECRET = 'whsec_of_the_task';
const API_KEY = 'test-api-key';

let host: TriggerHost;
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 50);
	// All tests together ask the service more often than the limit of a minute allows.
	jest.replaceProperty(LIMITS, 'other', 10_000);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await host.close();
});

/** Unless a test says otherwise, the trigger asks the service for nothing. */
async function open(parameters: INodeParameters = {}, settings: Partial<HostSettings> = {}) {
	const credentials = service.credentials();
	const options = { includeResult: false, ...(parameters.options as INodeParameters) };
	host = await new TriggerHost({
		parameters: { ...parameters, options },
		credentials,
		...settings,
	}).open();
	return host;
}

/** The trigger answers within a moment, until it gets the time again that it has as shipped. */
function answerSoon(): () => void {
	const times = [
		jest.replaceProperty(ANSWER, 'withinMs', 300),
		jest.replaceProperty(RETRY, 'brief', 300),
	];
	return () => {
		for (const time of times) time.restore();
	};
}

/** The service has answered all that it was asked, and n8n has the answers. */
async function allAnswered(): Promise<void> {
	await until(() => service.running().requests.every(({ status }) => status !== undefined));
	await sleep(50);
}

/** A trigger that knows the secret of task `7f3c`. In test mode memory is the store, so nothing has to be waited for. */
async function openWithTask(parameters: INodeParameters = {}, id = '7f3c') {
	await open(parameters, { mode: 'manual' });
	await put(host.url, id, SECRET, API_KEY);
}

/** Delivers, and hangs up before the answer. */
async function hangUp(body: object): Promise<void> {
	const raw = JSON.stringify(body);
	const hungUp = fetch(host.url, {
		method: 'POST',
		body: raw,
		headers: { 'x-service-signature': sign(raw, SECRET) },
		signal: AbortSignal.timeout(300),
	});
	await expect(hungUp).rejects.toThrow('timeout');
}

const json = () => host.executions.flat().map((item) => item.json);

describe('200: a delivery that is signed with the secret of its submission', () => {
	it('starts one execution, with the fields as they came', async () => {
		await openWithTask();
		const answer = await deliver(host.url, { task_id: '7f3c', note: 'new' }, SECRET);
		expect(answer).toEqual({ status: 200, body: { message: 'Accepted' } });
		expect(host.executions).toHaveLength(1);
		expect(json()).toEqual([{ task_id: '7f3c', note: 'new' }]);
	});

	it('that repeats its own secret does not output it', async () => {
		await openWithTask();
		await deliver(
			host.url,
			{ task_id: '7f3c', to: `https://n8n.example.com/?s=${SECRET}` },
			SECRET,
		);
		expect(json()).toEqual([{ task_id: '7f3c', to: 'https://n8n.example.com/?s=***' }]);
	});

	it('of a meeting', async () => {
		await openWithTask({}, 'bot-1');
		const body = {
			event: 'meeting.transcript.completed',
			bot_id: 'bot-1',
			task_id: '7f3c',
			status: 'completed',
			result_url: '/api/v1/tasks/7f3c/result',
		};
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(json()).toEqual([body]);
	});

	it('needs no call to the service', async () => {
		await openWithTask();
		await deliver(host.url, { task_id: '7f3c' }, SECRET);
		expect(service.lines()).toEqual([]);
	});

	it('leaves no parameter in what this process remembers: a meeting link may hold a passcode', async () => {
		const meetingUrl = 'https://meet.example.com/j/1?pwd=passcode';
		await openWithTask({ source: 'meeting', meetingUrl });
		const set = jest.spyOn(Map.prototype, 'set');
		const { status } = await deliver(host.url, { task_id: '7f3c' }, SECRET);
		const keys = set.mock.calls
			.filter((_, index) => set.mock.contexts[index]?.constructor.name === 'BoundedMap')
			.map(([key]) => String(key));
		set.mockRestore();
		expect(status).toBe(200);
		expect(keys.length).toBeGreaterThan(0);
		expect(keys.filter((key) => key.includes('passcode'))).toEqual([]);
	});

	it('is verified over the bytes that came, whatever they hold', async () => {
		await openWithTask();
		const raw = Buffer.from('{ "task_id" : "7f3c",\r\n "title":"Совещание \\u20ac" }\n');
		const headers = { 'x-service-signature': sign(raw, SECRET) };
		expect((await post(host.url, raw, headers)).status).toBe(200);
		expect(json()).toEqual([{ task_id: '7f3c', title: 'Совещание €' }]);
	});

	it('a webhook_secret in it does not reach the output', async () => {
		await openWithTask();
		await deliver(host.url, { task_id: '7f3c', webhook_secret: SECRET }, SECRET);
		expect(json()).toEqual([{ task_id: '7f3c' }]);
	});

	it("of a submission whose secret was never handed over, with the credential's Webhook Secret", async () => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		expect((await deliver(host.url, { task_id: 'other' }, 'for all')).status).toBe(200);
		expect(json()).toEqual([{ task_id: 'other' }]);
	});
});

describe('Also genuine', () => {
	it('a task whose id is a number', async () => {
		await openWithTask({}, '7');
		expect((await deliver(host.url, { task_id: 7 }, SECRET)).status).toBe(200);
	});

	it('a body with a field that n8n cannot save: it comes without that field', async () => {
		await openWithTask();
		const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
		const raw = `{"task_id":"7f3c","note":1,"deep":${nested}}`;
		const headers = { 'x-service-signature': sign(raw, SECRET) };
		expect((await post(host.url, raw, headers)).status).toBe(200);
		expect(json()).toEqual([{ task_id: '7f3c', note: 1 }]);
	});

	it('a digest in capitals', async () => {
		await openWithTask();
		const raw = JSON.stringify({ task_id: '7f3c' });
		const signature = sign(raw, SECRET).replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase());
		expect((await post(host.url, raw, { 'x-service-signature': signature })).status).toBe(200);
	});

	it('a body with a byte order mark in front', async () => {
		await openWithTask();
		const raw = '\uFEFF{"task_id":"7f3c"}';
		const headers = { 'x-service-signature': sign(raw, SECRET) };
		expect((await post(host.url, raw, headers)).status).toBe(200);
		expect(json()).toEqual([{ task_id: '7f3c' }]);
	});
});

describe('401: a signature that is missing, malformed or wrong; no execution starts', () => {
	const raw = JSON.stringify({ task_id: '7f3c' });
	const right = sign(raw, SECRET);
	const hex = right.slice('sha256='.length);
	const flipped = `${hex.slice(0, -1)}${(Number.parseInt(hex.slice(-1), 16) ^ 1).toString(16)}`;

	few.it.each<[string, string | string[] | undefined]>([
		['missing', undefined],
		['empty', ''],
		['too short', right.slice(0, -1)],
		['too long', `${right}0`],
		['in capitals, prefix included', right.toUpperCase()],
		['without its prefix', hex],
		['of another algorithm', `sha1=${hex}`],
		['one bit flipped', `sha256=${flipped}`],
		["another task's secret", sign(raw, 'whsec_of_another')],
		['of another body', sign(`${raw} `, SECRET)],
		['of the parsed body', sign(JSON.stringify(JSON.parse(raw), null, 1), SECRET)],
		['a blank secret', sign(raw, '')],
		['the API key', sign(raw, API_KEY)],
		['twice', [right, right]],
		['twice, once wrong', [right, `sha256=${flipped}`]],
		['huge', `sha256=${'a'.repeat(8000)}`],
	])('%s', async (_, signature) => {
		await openWithTask();
		const headers = signature === undefined ? {} : { 'x-service-signature': signature };
		const answer = await post(host.url, raw, headers);
		expect(answer).toEqual({ status: 401, body: { message: 'Signature refused' } });
		expect(host.executions).toEqual([]);
		expect(host.thrown).toEqual([]);
	});

	few.it.each([
		['empty', ''],
		['not JSON', 'task_id=7f3c'],
		['a list', '[{"task_id":"7f3c"}]'],
		['a text', '"7f3c"'],
		['null', 'null'],
		['without an id', '{"status":"completed"}'],
		['an id that is no text', '{"task_id":{"toString":"7f3c"}}'],
		['an id that is very long', JSON.stringify({ task_id: 'x'.repeat(100_000) })],
		['deeply nested', `{"task_id":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
		['another charset', Buffer.from('{"task_id":"7f3c"}', 'utf16le')],
	])('a body that names no submission: %s', async (_, body) => {
		await openWithTask();
		const headers = { 'x-service-signature': sign(body, SECRET) };
		expect((await post(host.url, body, headers)).status).toBe(401);
		expect(host.executions).toEqual([]);
		expect(host.thrown).toEqual([]);
	});

	it('a compressed body is what it is when unpacked, so its compressed bytes need not be signed', async () => {
		await openWithTask();
		const packed = gzipSync(raw);
		const headers = { 'content-encoding': 'gzip', 'x-service-signature': sign(packed, SECRET) };
		expect((await post(host.url, packed, headers)).status).toBe(401);
		expect(
			(await post(host.url, packed, { ...headers, 'x-service-signature': right })).status,
		).toBe(200);
	});

	it("the credential's Webhook Secret proves no delivery of a submission that has a secret", async () => {
		const credentials = service.credentials({ webhookSecret: 'for all' });
		await open({}, { mode: 'manual', credentials });
		await put(host.url, '7f3c', SECRET, API_KEY);
		expect((await deliver(host.url, { task_id: '7f3c' }, 'for all')).status).toBe(401);
	});

	it("a bot's secret proves no delivery of a task that has a secret", async () => {
		await openWithTask();
		await put(host.url, 'bot-1', 'whsec_of_the_bot', API_KEY);
		const body = { task_id: '7f3c', bot_id: 'bot-1', status: 'failed' };
		expect((await deliver(host.url, body, 'whsec_of_the_bot')).status).toBe(401);
	});
});

describe('413: a body over 1 MB', () => {
	it.each([
		['one byte more than allowed', 1_000_001, 413],
		['exactly as large as allowed', 1_000_000, 200],
	])('%s', async (_, size, status) => {
		await openWithTask();
		const body = { task_id: '7f3c', note: '' };
		body.note = 'x'.repeat(size - JSON.stringify(body).length);
		expect((await deliver(host.url, body, SECRET)).status).toBe(status);
	});

	it('is not parsed, be it signed or a hand-over', async () => {
		await openWithTask();
		const parse = jest.spyOn(JSON, 'parse');
		const raw = '['.repeat(2_000_000);
		expect((await post(host.url, raw, { 'x-service-signature': sign(raw, SECRET) })).status).toBe(
			413,
		);
		expect((await post(host.url, raw, {}, 'PUT')).status).toBe(413);
		// Nor without a signature: the header is looked at first.
		expect((await post(host.url, raw)).status).toBe(401);
		expect((await post(host.url, '{"task_id":"7f3c"}')).status).toBe(401);
		const parsed = parse.mock.calls.map(([text]) => text);
		parse.mockRestore();
		expect(parsed.filter((text) => text.startsWith('[') || text.includes('7f3c'))).toEqual([]);
	});
});

describe('400: a signed body that is not the documented shape', () => {
	few.it.each([
		['a status that is not final', { task_id: '7f3c', status: 'processing' }],
		['a status that is no text', { task_id: '7f3c', bot_id: 'bot-1', status: 7 }],
		['an event that is no text', { task_id: '7f3c', bot_id: 'bot-1', event: {} }],
		['a bot that is no id', { task_id: '7f3c', bot_id: {}, status: 'completed' }],
		['a meeting without a status', { task_id: '7f3c', bot_id: 'bot-1' }],
	])('%s', async (_, body) => {
		await openWithTask();
		expect((await deliver(host.url, body, SECRET)).status).toBe(400);
		expect(host.executions).toEqual([]);
	});

	few.it.each([
		['a result_url that is no text', { result_url: { txt: '/a' } }],
		['a blank bot_id', { bot_id: ' ' }],
	])('but not for a transcription with %s, which the document does not show', async (_, more) => {
		await openWithTask();
		const body = { task_id: '7f3c', status: 'completed', ...more };
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it("also when it is signed with the credential's Webhook Secret", async () => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		expect((await deliver(host.url, { status: 'completed' }, 'for all')).status).toBe(400);
	});
});

describe('503: the service tries again', () => {
	it('while the secret is not there yet', async () => {
		await open({}, { mode: 'manual' });
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(503);
		await put(host.url, '7f3c', SECRET, API_KEY);
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('when the result that includeResult asks for cannot be had now', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		await openWithTask({ options: { includeResult: true } });
		const match = { path: '/tasks/' };
		service.running().fault({ match, action: { kind: 'respond', status: 500 } });
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(503);
		expect(host.executions).toEqual([]);
	});
});

describe('What the service says later, or never', () => {
	it('a failure starts the workflow although its reason cannot be had', async () => {
		await openWithTask({ options: { includeResult: true } }, 'gone');
		expect((await deliver(host.url, { task_id: 'gone', status: 'failed' }, SECRET)).status).toBe(
			200,
		);
		expect(json()).toEqual([{ task_id: 'gone', status: 'failed' }]);
	});

	it.each([
		['the result', { includeResult: true }, { task_id: 'gone', status: 'completed' }],
		['the exported file', { exportFormat: 'srt' }, { task_id: 'gone', status: 'completed' }],
		['the state', { includeResult: true }, { task_id: 'gone' }],
	])(
		'%s that the service refuses for minutes: the event starts the workflow, and says why',
		async (_, options, body) => {
			await openWithTask({ options }, 'gone');
			expect((await deliver(host.url, body, SECRET)).status).toBe(503);
			expect((await deliver(host.url, body, SECRET)).status).toBe(503);
			jest.replaceProperty(PATIENCE, 'refusedMs', 0);
			expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			expect(json()).toEqual([{ ...body, error: expect.any(String) }]);
		},
	);

	few.it.each([401, 429, 500])(
		'a result that is answered with %i is asked for again, however long',
		async (status) => {
			jest.replaceProperty(PATIENCE, 'refusedMs', 0);
			jest.replaceProperty(RETRY, 'patienceWhenBusy', 0);
			const id = await service.completedTask();
			await openWithTask({ options: { includeResult: true } }, id);
			const match = { path: '/result$' };
			service.running().fault({ match, action: { kind: 'respond', status } });
			const body = { task_id: id, status: 'completed' };
			const { lines, release } = captureLogs();
			expect((await deliver(host.url, body, SECRET)).status).toBe(503);
			release();
			expect(lines.filter((line) => line.includes('could not start the workflow'))).toEqual([
				expect.stringMatching(`task ${id} .* with Transcript: Get Result. The reason: The service`),
			]);
			expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			expect(json()).toMatchObject([{ text: expect.any(String) }]);
		},
	);

	few.it.each([
		['', 'data'],
		[', with an option that gives another value each time', "={{ 'at ' + $now.toMillis() }}"],
	])(
		'a result that takes longer than a delivery may wait: the next repeat takes it up%s',
		async (_, exportBinaryPropertyName) => {
			const id = await service.completedTask();
			await openWithTask({ options: { includeResult: true, exportBinaryPropertyName } }, id);
			service.running().fault({
				match: { path: '/result$' },
				times: 9,
				action: { kind: 'delay', ms: 1_500 },
			});
			jest.replaceProperty(ANSWER, 'withinMs', 1_000);
			const body = { task_id: id, status: 'completed' };
			const { lines, release } = captureLogs();
			expect((await deliver(host.url, body, SECRET)).status).toBe(503);
			release();
			expect(lines.filter((line) => line.includes(`task ${id} could not start`))).toEqual([
				expect.stringMatching(/with Transcript: Get Result.*longer than a delivery may wait/),
			]);
			expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}/result`]);
			expect(host.executions).toHaveLength(1);
		},
	);

	it("a delivery of a meeting that cannot start the workflow now leaves the bot's name in n8n's log", async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		await openWithTask({ options: { includeResult: true } }, 'bot-1');
		const action = { kind: 'respond', status: 500 } as const;
		service.running().fault({ match: { path: '/meeting/' }, action });
		const { lines, release } = captureLogs();
		const body = { event: 'meeting.transcript.completed', bot_id: 'bot-1', status: 'completed' };
		expect((await deliver(host.url, body, SECRET)).status).toBe(503);
		release();
		expect(lines.filter((line) => line.includes('could not start the workflow'))).toEqual([
			expect.stringMatching(/for bot bot-1 .* with Meeting: Get and Transcript: Get Result\./),
		]);
	});

	it('a task that has a secret and had failed is completed later: another event', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		for (const status of ['failed', 'completed', 'completed', 'failed']) {
			await deliver(host.url, { task_id: '7f3c', status }, SECRET);
			host.restart();
		}
		expect(json().map(({ status }) => status)).toEqual(['failed', 'completed']);
		const forged = { task_id: '7f3c', status: 'completed', attempt: 2 };
		expect((await deliver(host.url, forged, 'another')).status).toBe(401);
	});

	it.each([
		['of a recording that nobody has handed over', 'b-1', SECRET, /Call a URL When Ready/],
		['with a signature that does not fit', '7f3c', 'another', /signature does not fit/],
	])("a refused delivery %s leaves a line in n8n's log", async (_, id, secret, words) => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		const { lines, release } = captureLogs();
		const { status } = await deliver(host.url, { task_id: id, status: 'completed' }, secret);
		release();
		expect(status).not.toBe(200);
		expect(lines.filter((line) => line.includes('A delivery was refused'))).toEqual([
			expect.stringMatching(words),
		]);
		expect(lines.join()).not.toContain(id);
	});

	few.it.each<[string, object, number, RegExp]>([
		[
			'of a meeting without a status',
			{ event: 'meeting.transcript.completed', bot_id: '7f3c', task_id: '8a4d' },
			400,
			/7f3c.*not as documented, or its recording has not ended/,
		],
		[
			'that is larger than 1 MB',
			{ task_id: '7f3c', status: 'completed', text: 'x'.repeat(1_100_000) },
			413,
			/body is larger than 1 MB/,
		],
	])("a genuine delivery %s leaves a line in n8n's log", async (_, body, status, words) => {
		await openWithTask();
		const { lines, release } = captureLogs();
		expect((await deliver(host.url, body, SECRET)).status).toBe(status);
		release();
		expect(lines.filter((line) => line.includes('was refused'))).toEqual([
			expect.stringMatching(words),
		]);
	});

	it("a delivery that has lost its signature on the way leaves a line in n8n's log", async () => {
		await openWithTask();
		const { lines, release } = captureLogs();
		expect((await post(host.url, '{"task_id":"7f3c"}')).status).toBe(401);
		release();
		expect(lines.filter((line) => line.includes('was refused'))).toEqual([
			expect.stringMatching(/X-Service-Signature is missing or malformed.*proxy/),
		]);
	});

	it('two deliveries at once start two executions with emitDuplicates, which share no item', async () => {
		const id = await service.completedTask();
		await open({ options: { emitDuplicates: true, includeResult: true, exportFormat: 'srt' } });
		await handOverTo(host.url, id, SECRET, API_KEY);
		const body = { task_id: id, status: 'completed' };
		const both = [deliver(host.url, body, SECRET), deliver(host.url, body, SECRET)];
		const answers = (await Promise.all(both)).map(({ status }) => status);
		expect(answers.sort()).toEqual([200, 503]);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		const [one, other] = host.executions.map(([item]) => item);
		expect(one?.binary?.data?.fileExtension).toBe('srt');
		expect(other).toEqual(expect.objectContaining({ json: one?.json }));
		expect(other).not.toBe(one);
		expect(other?.binary?.data).not.toBe(one?.binary?.data);
	});

	few.it.each(['success', 'done', 'COMPLETED', 'ready'])(
		'a transcription whose status is called %s: the service is asked',
		async (status) => {
			const id = await service.completedTask();
			await openWithTask({}, id);
			for (const attempt of [1, 2]) {
				expect((await deliver(host.url, { task_id: id, status, attempt }, SECRET)).status).toBe(
					200,
				);
			}
			expect(json()).toEqual([{ task_id: id, status: 'completed', attempt: 1 }]);
		},
	);

	it.each([false, true])(
		'and 400 where the service says that it has not ended (emitDuplicates: %s)',
		async (emitDuplicates) => {
			const id = await service.pendingTask();
			await openWithTask({ options: { emitDuplicates } }, id);
			expect((await deliver(host.url, { task_id: id, status: 'ready' }, SECRET)).status).toBe(400);
			service.running().finish(id);
			expect((await deliver(host.url, { task_id: id, status: 'ready' }, SECRET)).status).toBe(200);
			expect(host.executions).toHaveLength(1);
		},
	);

	it('a slow answer that it has not ended refuses no repeat that comes after its end', async () => {
		const time = jest.replaceProperty(ANSWER, 'withinMs', 300);
		const id = await service.pendingTask();
		await openWithTask({}, id);
		// The answer shows the state before the delay.
		const slow = { kind: 'delay', ms: 600, processed: true } as const;
		service.running().fault({ match: { path: `/tasks/${id}$` }, times: 1, action: slow });
		const done = { task_id: id, status: 'done' };
		expect((await deliver(host.url, done, SECRET)).status).toBe(503);
		time.restore();
		service.running().finish(id);
		await allAnswered();
		expect((await deliver(host.url, done, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('a delivery of a meeting that names no bot is an event of a meeting', async () => {
		const events = ['meetingCompleted', 'meetingFailed'];
		await openWithTask({ events });
		const body = { event: 'meeting.transcript.completed', task_id: '7f3c', status: 'completed' };
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(json()).toEqual([body]);
	});
});

describe('503: parameters that cannot be used', () => {
	it.each<[string, INodeParameters]>([
		['Trigger On gives nothing', { events: '={{ undefined }}' }],
		['Trigger On has nothing ticked', { events: [] }],
		['Trigger On has the names of the panel', { events: '={{ ["Transcription Completed"] }}' }],
		['Export Format is not known', { options: { exportFormat: 'pdf' } }],
		['Include Result is neither true nor false', { options: { includeResult: '={{ "no" }}' } }],
	])(
		'%s: no transcript is thrown away, and it is emitted once they are corrected',
		async (_, parameters) => {
			await openWithTask(parameters);
			const body = { task_id: '7f3c', status: 'completed' };
			expect((await deliver(host.url, body, SECRET)).status).toBe(503);
			host.node.parameters = {
				events: ['transcriptionCompleted'],
				options: { includeResult: false },
			};
			expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			expect(host.executions).toHaveLength(1);
		},
	);

	it.each<[INodeParameters, string]>([
		[{ events: [] }, "'Trigger On' names no event"],
		[{ options: { exportFormat: 'pdf' } }, "'Export Format' has to be"],
	])(
		'%j: a Transcriber node that asks before it submits is refused by name',
		async (parameters, reason) => {
			await open(parameters);
			const answer = await putAll(host.url, [], API_KEY);
			expect(answer.status).toBe(422);
			expect(answer.body['message']).toContain(reason);
		},
	);

	it('texts that mean a list or a boolean are read as such', async () => {
		await openWithTask({
			events: '={{ "transcriptionCompleted, transcriptionFailed" }}',
			options: { includeResult: '={{ "false" }}' },
		});
		const body = { task_id: '7f3c', status: 'completed' };
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect([host.executions.length, service.lines()]).toEqual([1, []]);
	});
});

describe('Deliveries are retried by the service, so each (task, final status) is emitted once', () => {
	it('a repeat gets 200 and starts nothing', async () => {
		await openWithTask();
		const body = { task_id: '7f3c' };
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('also after a restart, and at another process', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		await deliver(host.url, { task_id: '7f3c' }, SECRET);
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('the secret of a finished task is dropped, and nothing that is signed with it starts anything', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		expect(host.stored.secrets).not.toBe('');
		await deliver(host.url, { task_id: '7f3c', status: 'completed' }, SECRET);
		expect(host.stored.secrets).toBe('');
		const other = { task_id: '7f3c', status: 'failed' };
		const known = { status: 200, body: { message: 'Known' } };
		expect(await deliver(host.url, other, SECRET)).toEqual(known);
		expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(200);
		expect(await deliver(host.url, other, SECRET)).toEqual(known);
		expect(host.executions).toHaveLength(1);
	});

	it('of a finished task, neither the id nor the secret is stored in the clear', async () => {
		await open();
		const id = 'task-7f3c-of-a-recording';
		await handOverTo(host.url, id, SECRET, API_KEY);
		await deliver(host.url, { task_id: id, status: 'completed' }, SECRET);
		expect(host.stored).toMatchObject({
			secrets: '',
			endings: expect.stringMatching(/^[\w-]{12} own c [\w-]{22} [\w-]{11};$/),
			spent: expect.stringMatching(/^[\w-]{12} [\w-]{40,};$/),
		});
		for (const text of [id, SECRET, Buffer.from(SECRET).toString('base64url')])
			expect(host.saved).not.toContain(text);
	});

	it('a repeat that comes while n8n still starts the execution is asked to come again', async () => {
		await openWithTask();
		host.executionMs = 200;
		const body = { task_id: '7f3c' };
		const answers = await Promise.all([1, 2, 3].map(() => deliver(host.url, body, SECRET)));
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 503, 503]);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	long.it(
		'50 at once, saved in any order: a moment later, all are stored and survive a restart',
		async () => {
			await open({}, { saveMs: 60 });
			host.executionMs = 20;
			const ids = Array.from({ length: 50 }, (_, index) => `task-${index}`);
			await Promise.all(ids.map((id) => handOverTo(host.url, id, SECRET, API_KEY)));
			for (let round = 0; round < 3; round++) {
				const answers = await Promise.all(
					ids.map((id) => deliver(host.url, { task_id: id }, SECRET)),
				);
				expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
				// Each of the 50 ends with a semicolon.
				await until(() => host.saving === 0 && host.stored.endings.split(';').length === 51);
				if (round > 0) host.restart();
			}
			expect(host.executions).toHaveLength(50);
		},
	);

	it('no other call saves that it is known before n8n has saved its execution', async () => {
		await open();
		for (const id of ['slow', 'fast']) await handOverTo(host.url, id, SECRET, API_KEY);
		const endings = () => host.stored.endings.split(';').length - 1;
		let executions = 0;
		Object.defineProperty(host, 'executionMs', {
			get: () => (++executions === 1 ? 1_000 : 0),
		});
		const slow = deliver(host.url, { task_id: 'slow' }, SECRET);
		await until(() => executions === 1);
		await deliver(host.url, { task_id: 'fast' }, SECRET);
		expect([host.executions.length, endings()]).toEqual([1, 1]);
		await slow;
		expect([host.executions.length, endings()]).toEqual([2, 2]);
	});

	it('a delivery that n8n could not save as an execution is not taken for known', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		host.isDatabaseFull = true;
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(500);
		host.isDatabaseFull = false;
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	long.it('nor one whose sender has hung up before n8n could not save it', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		host.isDatabaseFull = true;
		host.executionMs = 2_000;
		await hangUp({ task_id: '7f3c' });
		const status = async () => (await deliver(host.url, { task_id: '7f3c' }, SECRET)).status;
		expect(await status()).toBe(503);
		while ((await status()) !== 500) await sleep(20);
		host.isDatabaseFull = false;
		expect(await status()).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	long.it('whatever the letters of the statuses', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		for (const status of ['FAILED', 'COMPLETED', 'Completed']) {
			await deliver(host.url, { task_id: '7f3c', status }, SECRET);
			host.restart();
		}
		expect(json().map(({ status }) => status)).toEqual(['failed', 'completed']);
	});

	it('another final status is another event', async () => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		for (const status of ['failed', 'completed', 'failed', 'completed']) {
			expect((await deliver(host.url, { task_id: '7f3c', status }, 'for all')).status).toBe(200);
		}
		expect(json().map(({ status }) => status)).toEqual(['failed', 'completed']);
	});

	it('emitDuplicates: every delivery starts an execution, and still none that is forged', async () => {
		await openWithTask({ options: { emitDuplicates: true } });
		const body = { task_id: '7f3c' };
		await deliver(host.url, body, SECRET);
		await deliver(host.url, body, SECRET);
		expect((await deliver(host.url, body, 'another')).status).toBe(401);
		expect(host.executions).toHaveLength(2);
	});

	it('emitDuplicates: the secret of a finished task stays stored', async () => {
		await open({ options: { emitDuplicates: true } });
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		const { secrets } = host.stored;
		await deliver(host.url, { task_id: '7f3c', status: 'completed' }, SECRET);
		expect(host.executions).toHaveLength(1);
		expect(host.stored.secrets).toBe(secrets);
	});
});

describe('A genuine repeat whose body differs, by an attempt counter or a time', () => {
	it('gets 200 and starts nothing', async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		for (const attempt of [1, 2, 3]) {
			expect((await deliver(host.url, { task_id: '7f3c', attempt }, SECRET)).status).toBe(200);
			if (attempt === 2) host.restart();
		}
		expect(host.executions).toHaveLength(1);
		expect((await deliver(host.url, { task_id: '7f3c', attempt: 4 }, 'another')).status).toBe(401);
	});

	describe('of a meeting that came before its hand-over, where the account has one secret', () => {
		const body = {
			event: 'meeting.transcript.completed',
			bot_id: 'bot-1',
			task_id: '7f3c',
			status: 'completed',
			result_url: '/api/v1/tasks/7f3c/result',
		};
		const handOver = async () =>
			await putAll(host.url, [{ id: 'bot-1', kind: 'bot', secret: SECRET }], API_KEY);
		const again = async (attempt: number, more = {}) =>
			await deliver(host.url, { ...body, ...more, attempt }, SECRET);

		const openWithSecret = async (parameters: INodeParameters = {}) =>
			await open(parameters, {
				credentials: service.credentials({ webhookSecret: SECRET }),
				mode: 'manual',
			});

		it('gets 200 and starts nothing', async () => {
			await openWithSecret();
			await again(1);
			await handOver();
			expect(await again(2)).toEqual({ status: 200, body: { message: 'Known' } });
			expect(host.executions).toHaveLength(1);
		});

		it('is still another event with another final status', async () => {
			await openWithSecret();
			await again(1, { status: 'failed' });
			await handOver();
			for (const attempt of [2, 3]) expect((await again(attempt)).status).toBe(200);
			expect(json().map(({ status }) => status)).toEqual(['failed', 'completed']);
		});

		it('is asked to come again while the service is asked about the first', async () => {
			await openWithSecret({ options: { includeResult: true } });
			const action = { kind: 'delay', ms: 400 } as const;
			service.running().fault({ match: { path: '/tasks/7f3c$' }, action });
			const first = again(1, { status: 'failed' });
			await until(() => service.lines().length > 0);
			await handOver();
			expect((await again(2, { status: 'failed' })).status).toBe(503);
			expect((await first).status).toBe(200);
			expect((await again(3, { status: 'failed' })).status).toBe(200);
			expect(host.executions).toHaveLength(1);
		});
	});

	it('also after the API key was rotated', async () => {
		const credentials = service.credentials();
		await open({}, { credentials });
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		await deliver(host.url, { task_id: '7f3c', attempt: 1 }, SECRET);
		credentials.apiKey = 'another-api-key';
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c', attempt: 2 }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});
});

few.it.each(['failed', 'cancelled'])(
	'A genuine delivery of a completed task that says %s is known: the service need not repeat it',
	async (status) => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		expect((await deliver(host.url, { task_id: '7f3c', status: 'completed' }, SECRET)).status).toBe(
			200,
		);
		const later = { task_id: '7f3c', status };
		expect(await deliver(host.url, later, SECRET)).toEqual({
			status: 200,
			body: { message: 'Known' },
		});
		host.restart();
		expect((await deliver(host.url, later, SECRET)).status).toBe(200);
		expect((await deliver(host.url, later, 'another')).status).toBe(401);
		expect(host.executions).toHaveLength(1);
	},
);

describe("The credential's Webhook Secret", () => {
	it('never proves a delivery of a task that has a secret, also not after its ending', async () => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		const status = async (secret: string, body: object) =>
			(await deliver(host.url, { task_id: '7f3c', ...body }, secret)).status;
		expect(await status('for all', { status: 'failed' })).toBe(401);
		expect(await status(SECRET, { status: 'completed' })).toBe(200);
		expect(await status('for all', { status: 'failed' })).toBe(401);
		expect(await status('for all', { status: 'completed' })).toBe(401);
		host.restart();
		expect(await status('for all', { status: 'failed' })).toBe(401);
		expect(host.executions).toHaveLength(1);
	});

	few.it.each(['', ' ', '\t'])('verifies nothing when it is blank (%j)', async (webhookSecret) => {
		await open({}, { credentials: service.credentials({ webhookSecret }) });
		const body = { task_id: '7f3c', status: 'completed' };
		expect((await deliver(host.url, body, webhookSecret)).status).toBe(503);
		expect(host.executions).toEqual([]);
	});

	it('tells all endings of a task apart: cancelled, completed, failed', async () => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		for (const status of ['cancelled', 'completed', 'canceled', 'failed', 'completed']) {
			expect((await deliver(host.url, { task_id: '7f3c', status }, 'for all')).status).toBe(200);
		}
		expect(json().map(({ status }) => status)).toEqual(['cancelled', 'completed', 'failed']);
	});
});

describe('a failed meeting whose task_id means that there is none', () => {
	const failed = (id: string, none: unknown) => ({
		event: 'meeting.transcript.completed',
		bot_id: id,
		task_id: none,
		status: 'failed',
		result_url: '',
	});
	const NONE = ['None', 'null', '00000000-0000-0000-0000-000000000000', 0, null, ''];

	few.it.each(NONE)('gives the reason of the bot, and no such id: %j', async (none) => {
		await open({ options: { includeResult: true } }, { mode: 'manual' });
		await putAll(host.url, [{ id: 'bot-1', kind: 'bot', secret: SECRET }], API_KEY);
		const body = { bot_id: 'bot-1', status: 'failed', task_id: none, error: 'Not let in' };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/meeting/bot-1$' }, action });
		expect((await deliver(host.url, failed('bot-1', none), SECRET)).status).toBe(200);
		expect(json()).toMatchObject([{ bot_id: 'bot-1', status: 'failed', error: 'Not let in' }]);
		expect(json()[0]).not.toHaveProperty('task_id');
	});

	few.it.each(NONE)('is not taken for another one: %j', async (none) => {
		await open({}, { credentials: service.credentials({ webhookSecret: 'for all' }) });
		for (const id of ['bot-1', 'bot-2']) await deliver(host.url, failed(id, none), 'for all');
		expect(json().map(({ bot_id: id }) => id)).toEqual(['bot-1', 'bot-2']);
	});
});

describe('Trigger On', () => {
	const meeting = { event: 'meeting.transcript.completed', bot_id: 'bot-1', task_id: '7f3c' };
	it.each([
		['transcriptionCompleted', { task_id: '7f3c', status: 'completed' }],
		['transcriptionFailed', { task_id: '7f3c', status: 'failed' }],
		['transcriptionFailed', { task_id: '7f3c', status: 'cancelled' }],
		['meetingCompleted', { ...meeting, status: 'completed' }],
		['meetingFailed', { ...meeting, status: 'failed' }],
	])('%s starts the workflow for %j, and the other events do not', async (name, body) => {
		const all = [
			'transcriptionCompleted',
			'transcriptionFailed',
			'meetingCompleted',
			'meetingFailed',
		];
		await openWithTask({ events: [name] });
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
		await host.close();
		await openWithTask({ events: all.filter((other) => other !== name) });
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toEqual([]);
	});

	it.each([
		['completed', 'transcriptionCompleted', 1],
		['completed', 'transcriptionFailed', 0],
		['failed', 'transcriptionCompleted', 0],
		['failed', 'transcriptionFailed', 1],
	])(
		'a delivery without a status of a task that is %s: the service is asked, as %s alone is wanted',
		async (status, name, executions) => {
			const id = await service.pendingTask();
			service.running().finish(id, { status });
			await openWithTask({ events: [name] }, id);
			expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
			expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`]);
			expect(host.executions).toHaveLength(executions);
		},
	);

	it.each([true, false])(
		'a delivery without a status of a task that has failed is not the transcript that follows (includeResult: %s)',
		async (includeResult) => {
			const id = await service.pendingTask();
			service.running().finish(id, { status: 'failed' });
			await openWithTask({ events: ['transcriptionCompleted'], options: { includeResult } }, id);
			const notSelected = { status: 200, body: { message: 'Not selected' } };
			expect(await deliver(host.url, { task_id: id }, SECRET)).toEqual(notSelected);
			const result = { kind: 'respond', status: 200, body: { text: 'Later' } } as const;
			service.running().fault({ match: { path: '/result$' }, action: result });
			for (const attempt of [1, 2]) {
				const body = { task_id: id, status: 'completed', attempt };
				expect((await deliver(host.url, body, SECRET)).status).toBe(200);
			}
			const text = includeResult ? { text: 'Later' } : {};
			expect(json()).toEqual([{ task_id: id, status: 'completed', attempt: 1, ...text }]);
		},
	);
});

it('A delivery that starts nothing ends its task, too: its secret is dropped', async () => {
	await open({ events: ['transcriptionFailed'] });
	await handOverTo(host.url, '7f3c', SECRET, API_KEY);
	expect(await deliver(host.url, { task_id: '7f3c', status: 'completed' }, SECRET)).toEqual({
		status: 200,
		body: { message: 'Not selected' },
	});
	await until(() => host.stored.endings !== '');
	expect(host.stored.secrets).toBe('');
});

describe('A recording on its way while the trigger gets Source: One Meeting', () => {
	it("starts nothing when it ends, which n8n's log says", async () => {
		await open();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		host.node.parameters = { source: 'meeting', events: ['meetingCompleted'] };
		const logs = captureLogs();
		const answer = await deliver(host.url, { task_id: '7f3c', status: 'completed' }, SECRET);
		logs.release();
		expect(answer).toEqual({ status: 200, body: { message: 'Not selected' } });
		expect(logs.lines.join('')).toMatch(/Task 7f3c has ended.*'Source' is One Meeting now/);
	});
});

describe('includeResult and exportFormat', () => {
	it('output the result beside the delivered fields', async () => {
		const id = await service.completedTask();
		await openWithTask({ options: { includeResult: true } }, id);
		await deliver(host.url, { task_id: id }, SECRET);
		const { body: result } = await service.ask(`GET /tasks/${id}/result`);
		expect(json()).toEqual([
			expect.objectContaining({ ...result, task_id: id, status: 'completed' }),
		]);
	});

	few.it.each(['completed', undefined])(
		'output an empty text where nothing was said in the recording (status %s)',
		async (status) => {
			const id = await service.completedTask();
			await openWithTask({ options: { includeResult: true } }, id);
			service.running().fault({
				match: { path: '/result$' },
				times: 1e3,
				action: { kind: 'respond', status: 200, body: { text: null, segments: null } },
			});
			expect((await deliver(host.url, { task_id: id, status }, SECRET)).status).toBe(200);
			expect(json()).toMatchObject([{ task_id: id, status: 'completed', text: '' }]);
		},
	);

	few.it.each(['COMPLETED', undefined, 'done'])(
		'output the result where the service nests the state (status %s)',
		async (status) => {
			const id = await service.completedTask();
			await openWithTask({ options: { includeResult: true } }, id);
			service.running().configure({ dialect: 'stateInJSend' });
			expect((await deliver(host.url, { task_id: id, status }, SECRET)).status).toBe(200);
			expect(json()).toMatchObject([{ task_id: id, status: 'completed' }]);
		},
	);

	it('output the reason of a failure', async () => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'No speech was found' });
		await openWithTask({ options: { includeResult: true } }, id);
		await deliver(host.url, { task_id: id }, SECRET);
		expect(json()).toMatchObject([{ task_id: id, status: 'failed', error: 'No speech was found' }]);
	});

	it('output a file in the field exportBinaryPropertyName', async () => {
		const id = await service.completedTask();
		const options = { exportFormat: 'srt', exportBinaryPropertyName: 'subtitles' };
		await openWithTask({ options }, id);
		await deliver(host.url, { task_id: id, status: 'completed' }, SECRET);
		const { body } = await service.ask(`GET /tasks/${id}/export?format=srt`);
		const file = host.executions[0]?.[0]?.binary?.['subtitles'];
		expect(Buffer.from(file?.data ?? '', 'base64').toString()).toBe(body['content']);
		expect(file).toMatchObject({ fileName: `${id}.srt`, mimeType: 'application/x-subrip' });
		expect(json()).toEqual([{ task_id: id, status: 'completed' }]);
	});

	few.it.each([
		['Meeting 12.05 with Anna', 'Meeting 12.05 with Anna.srt'],
		['interview.mp3', 'interview.srt'],
	])('output a file that has the title %j as %j', async (title, fileName) => {
		const id = await service.completedTask();
		await openWithTask({ options: { exportFormat: 'srt' } }, id);
		await deliver(host.url, { task_id: id, status: 'completed', title }, SECRET);
		expect(host.executions[0]?.[0]?.binary?.data?.fileName).toBe(fileName);
	});

	it('text, summary and speakers come first, segments last, unless the option is off', async () => {
		const id = await service.completedTask();
		const credentials = service.credentials();
		await host?.close();
		host = await new TriggerHost({ parameters: {}, credentials, mode: 'manual' }).open();
		await put(host.url, id, SECRET, API_KEY);
		await deliver(host.url, { task_id: id, note: 'new' }, SECRET);
		const [output = {}] = json();
		const names = Object.keys(output);
		expect(names.slice(0, 5)).toEqual(['text', 'summary', 'speakers', 'task_id', 'status']);
		expect(names.at(-1)).toBe('segments');
		expect(output).toMatchObject({ task_id: id, status: 'completed', note: 'new' });
	});

	it('a task that has not ended after all: 503', async () => {
		const id = await service.pendingTask();
		await openWithTask({ options: { includeResult: true } }, id);
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		service.running().finish(id);
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('a service that takes longer than 8 seconds: 503 within 10, and nothing has changed', async () => {
		expect(ANSWER.withinMs).toBe(8_000);
		const time = jest.replaceProperty(ANSWER, 'withinMs', 800);
		const id = await service.completedTask();
		await openWithTask({ options: { includeResult: true } }, id);
		service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 1_200 } });
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		time.restore();
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it("n8n reads the credential for too long: 503, and a line in n8n's log says what to do", async () => {
		await open();
		host.credentialMs = 1_500;
		const time = jest.replaceProperty(ANSWER, 'withinMs', 500);
		const { lines, release } = captureLogs();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(503);
		release();
		time.restore();
		expect(lines.filter((line) => line.includes('answered now'))).toEqual([
			expect.stringMatching(/has to repeat it.*Transcript: Get Result/),
		]);
	});

	it('a service that cannot be asked now: 503, and the repeat is emitted once', async () => {
		const id = await service.completedTask();
		await openWithTask({ options: { includeResult: true } }, id);
		service.running().fault({
			match: { path: '/result$' },
			action: { kind: 'respond', status: 500 },
		});
		const body = { task_id: id };
		expect((await deliver(host.url, body, SECRET)).status).toBe(503);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	long.it(
		'a sender that hangs up while the result is fetched: a restart later knows the ending, and nothing is rejected',
		async () => {
			jest.replaceProperty(STORE, 'safeAfterMs', 100);
			jest.replaceProperty(STORE, 'mayWaitMs', 100);
			const rejected: unknown[] = [];
			const note = (reason: unknown) => void rejected.push(reason);
			process.on('unhandledRejection', note);
			const id = await service.completedTask();
			await open({ options: { includeResult: true } });
			await handOverTo(host.url, id, SECRET, API_KEY);
			host.restart();
			service
				.running()
				.fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 1_000 } });
			await hangUp({ task_id: id, status: 'completed' });
			await until(() => host.stored.endings !== '');
			host.restart();
			expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
			process.off('unhandledRejection', note);
			expect([host.executions.length, rejected]).toEqual([1, []]);
		},
	);

	it('two deliveries at once get the transcript of their own task each', async () => {
		const ids = [await service.completedTask(), await service.completedTask()];
		await open({ options: { includeResult: true } }, { mode: 'manual' });
		const delay = { kind: 'delay', ms: 200 } as const;
		service.running().fault({ match: { path: '/result$' }, times: 2, action: delay });
		for (const id of ids) await put(host.url, id, SECRET, API_KEY);
		await Promise.all(
			ids.map((id) => deliver(host.url, { task_id: id, status: 'completed' }, SECRET)),
		);
		expect(service.lines().sort()).toEqual(
			ids.map((id) => `GET /api/v1/tasks/${id}/result`).sort(),
		);
		expect(
			json()
				.map((output) => output.task_id)
				.sort(),
		).toEqual([...ids].sort());
	});

	it('a repeat while the result is being fetched is asked to come again', async () => {
		const id = await service.completedTask();
		await openWithTask({ options: { includeResult: true } }, id);
		service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 300 } });
		const answers = await Promise.all([1, 2].map(() => deliver(host.url, { task_id: id }, SECRET)));
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 503]);
		expect(host.executions).toHaveLength(1);
	});
});

describe('Key rotation while a task is pending', () => {
	async function rotated(status?: string, parameters: INodeParameters = {}) {
		const id = await service.pendingTask();
		const credentials = service.credentials();
		await open(parameters, { credentials });
		await handOverTo(host.url, id, SECRET, credentials.apiKey);
		const { body } = await service.ask('POST /api-key/generate');
		credentials.apiKey = String(body['api_key']);
		host.restart();
		if (status) service.running().finish(id, { status });
		service.running().requests.splice(0);
		return id;
	}

	it('a sealed secret that cannot be read any more: what the service says of the task counts', async () => {
		const id = await rotated('failed');
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(json()).toMatchObject([{ task_id: id, status: 'failed' }]);
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('a process that has read the former key a moment ago reads it again, and the service is not asked', async () => {
		const credentials = service.credentials();
		await open({}, { credentials });
		host.processes = [newProcess(), newProcess()];
		const at = (place: number) => host.url.replace('/webhook/', `/process-${place}/webhook/`);
		expect((await deliver(at(0), { task_id: 'other' }, SECRET)).status).toBe(503);
		credentials.apiKey = 'the key of now';
		await handOverTo(at(1), '7f3c', SECRET, credentials.apiKey);
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 2_000);
		expect((await deliver(at(0), { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(service.lines()).toEqual([]);
	});

	it.each([null, ''])('a reason that is none (%j) is not in the output', async (error) => {
		const id = await rotated('completed');
		const body = { task_id: id, status: 'completed', error };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: `/tasks/${id}$` }, action });
		expect((await postUnsigned({ task_id: id })).status).toBe(200);
		expect(json()).toEqual([{ task_id: id, status: 'completed' }]);
	});

	it("a delivery for a task that has not ended is refused, and n8n's log says why", async () => {
		const id = await rotated();
		const body = { task_id: id, status: 'completed' };
		const { lines, release } = captureLogs();
		expect((await deliver(host.url, body, SECRET)).status).toBe(401);
		release();
		expect(lines.filter((line) => line.includes('A delivery was refused'))).toEqual([
			expect.stringMatching(/no secret for it can be read.*Transcript: Get Result/),
		]);
		expect(host.executions).toEqual([]);
	});

	few.it.each(['before the rotation', 'after it'])(
		'a task that failed %s is completed later: another event, and only one',
		async (when) => {
			const isBefore = when === 'before the rotation';
			const id = await service.pendingTask();
			const credentials = service.credentials();
			await open({}, { credentials });
			await handOverTo(host.url, id, SECRET, credentials.apiKey);
			const failed = { task_id: id, status: 'failed' };
			if (isBefore) expect((await deliver(host.url, failed, SECRET)).status).toBe(200);
			const { body } = await service.ask('POST /api-key/generate');
			credentials.apiKey = String(body['api_key']);
			host.restart();
			service.running().finish(id, { status: 'failed' });
			if (!isBefore) expect((await deliver(host.url, failed, SECRET)).status).toBe(200);
			host.restart();
			const nowSays = (status: string) =>
				service.running().fault({
					match: { path: `/tasks/${id}$` },
					times: 1,
					action: { kind: 'respond', status: 200, body: { task_id: id, status } },
				});
			// A stranger says so before the service does.
			nowSays('cancelled');
			const early = { task_id: id, status: 'completed', attempt: 0 };
			expect((await postUnsigned(early)).status).toBe(401);
			host.restart();
			nowSays('completed');
			for (const attempt of [1, 2]) {
				const completed = { task_id: id, status: 'completed', attempt };
				expect((await deliver(host.url, completed, SECRET)).status).toBe(200);
			}
			expect(json().map(({ status }) => status)).toEqual(['failed', 'completed']);
		},
	);

	describe('a bot that the service calls cancelled before its recording is a task', () => {
		/** The service calls the bot cancelled for so many looks. `finish` delivers its transcript. */
		async function cancelledBot(looks: number) {
			const bot = await service.bot();
			const credentials = service.credentials();
			await open({}, { credentials });
			await handOverTo(host.url, bot, SECRET, credentials.apiKey);
			const { body } = await service.ask('POST /api-key/generate');
			credentials.apiKey = String(body['api_key']);
			host.restart();
			const cancelled = { bot_id: bot, status: 'cancelled', task_id: '' };
			service.running().fault({
				match: { path: `/meeting/${bot}$` },
				times: looks,
				action: { kind: 'respond', status: 200, body: cancelled },
			});
			const finish = async () => {
				service.running().endMeeting(bot);
				const task = String(service.running().bot(bot).taskId);
				service.running().finish(task);
				const event = { event: 'meeting.transcript.completed', bot_id: bot, task_id: task };
				const genuine = { ...event, status: 'completed', result_url: '/x' };
				return await deliver(host.url, genuine, SECRET);
			};
			return { finish, ask: async () => (await postUnsigned({ bot_id: bot })).status };
		}

		it('has not ended, and its transcript starts the workflow', async () => {
			const { finish, ask } = await cancelledBot(1);
			expect(await ask()).toBe(401);
			host.restart();
			expect((await finish()).status).toBe(200);
			expect(json().map(({ status }) => status)).toEqual(['completed']);
		});

		it('has ended when it stays so for two minutes; a transcript that follows still starts the workflow', async () => {
			const { finish, ask } = await cancelledBot(3);
			const began = Date.now();
			const clock = jest.spyOn(Date, 'now');
			const answers: number[] = [];
			for (const share of [0, 0.9, 1]) {
				clock.mockReturnValue(began + share * CALLED_OFF.mayGetTaskMs);
				answers.push(await ask());
			}
			expect(answers).toEqual([401, 401, 200]);
			clock.mockRestore();
			host.restart();
			expect((await finish()).status).toBe(200);
			expect(json().map(({ status }) => status)).toEqual(['cancelled', 'completed']);
		});
	});

	it('a service that cannot be asked: 503', async () => {
		const id = await rotated('completed');
		service
			.running()
			.fault({ match: { path: '/tasks/' }, action: { kind: 'respond', status: 500 } });
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		// Asked about one id at most once in 10 seconds.
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		expect(service.lines()).toHaveLength(1);
		host.restart();
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	const UNSIGNED = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
	const postUnsigned = async (body: object) => await post(host.url, JSON.stringify(body), UNSIGNED);

	it('only what the service says is output, no field of the unsigned body', async () => {
		const id = await rotated('completed');
		const body = {
			task_id: id,
			status: 'failed',
			event: 'meeting.transcript.completed',
			result_url: '@evil.example/steal',
			text: 'Pay 1 000 000 to …',
			customer: 'injected',
		};
		expect((await postUnsigned(body)).status).toBe(200);
		expect(json()).toEqual([{ task_id: id, status: 'completed' }]);
	});

	few.it.each(['0', 'none', '00000000-0000-0000-0000-000000000000'])(
		'a state whose bot_id means that there is none is that of a transcription: %j',
		async (none) => {
			const id = await rotated('completed', { events: ['transcriptionCompleted'] });
			const body = { task_id: id, bot_id: none, status: 'completed' };
			service.running().fault({
				match: { path: `/tasks/${id}$` },
				times: 1,
				action: { kind: 'respond', status: 200, body },
			});
			expect((await postUnsigned({ task_id: id, bot_id: 'none' })).status).toBe(200);
			expect(json()).toEqual([{ task_id: id, status: 'completed' }]);
		},
	);

	it('the genuine delivery that follows is answered 200 and starts nothing', async () => {
		const id = await rotated('completed');
		expect((await postUnsigned({ task_id: id })).status).toBe(200);
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		const withStatus = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, withStatus, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('with Emit Duplicates, forged and unsigned calls start one execution for a task that has ended, and no more', async () => {
		const id = await rotated('completed', { options: { emitDuplicates: true } });
		for (const attempt of [1, 2, 3]) await postUnsigned({ task_id: id, attempt });
		await deliver(host.url, { task_id: id, status: 'completed' }, 'invented');
		expect((await post(host.url, JSON.stringify({ task_id: id }))).status).toBe(401);
		expect(json()).toEqual([{ task_id: id, status: 'completed' }]);
	});

	it('a task and a bot that do not belong together are refused, and the bot is still waited for', async () => {
		const other = await service.completedTask();
		const bot = await service.bot();
		service.running().endMeeting(bot);
		const task = String(service.running().bot(bot).taskId);
		service.running().finish(task);
		const credentials = service.credentials();
		await open({}, { credentials });
		await handOverTo(host.url, bot, SECRET, credentials.apiKey);
		const { body } = await service.ask('POST /api-key/generate');
		credentials.apiKey = String(body['api_key']);
		host.restart();
		const about = (taskId: string) => ({ bot_id: bot, task_id: taskId, status: 'completed' });
		expect((await postUnsigned(about(other))).status).toBe(401);
		expect(host.executions).toEqual([]);
		const genuine = { event: 'meeting.transcript.completed', ...about(task) };
		expect((await deliver(host.url, genuine, SECRET)).status).toBe(200);
		expect(json()).toMatchObject([{ bot_id: bot, task_id: task, status: 'completed' }]);
	});

	few.it.each(['.', '..', ' .. ', ''])('the id %j names no submission', async (taskId) => {
		await rotated('completed');
		expect((await postUnsigned({ task_id: taskId, status: 'completed' })).status).toBe(401);
		expect(service.lines()).toEqual([]);
	});

	it('at a slow service, a repeat takes the answer that came too late for the delivery before', async () => {
		const takeTime = answerSoon();
		const id = await rotated('completed');
		service
			.running()
			.fault({ match: { method: 'GET' }, times: 9, action: { kind: 'delay', ms: 600 } });
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		takeTime();
		await allAnswered();
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
		expect(service.lines()).toHaveLength(1);
	});

	it('at a slow service, a repeat never takes an answer that may have changed', async () => {
		const takeTime = answerSoon();
		const id = await rotated('failed');
		const get = { method: 'GET' } as const;
		service.running().fault({ match: get, action: { kind: 'delay', ms: 600 } });
		const about = (status: string) => ({ task_id: id, status });
		expect((await deliver(host.url, about('failed'), SECRET)).status).toBe(503);
		takeTime();
		await allAnswered();
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 30_000);
		const completed = { kind: 'respond', status: 200, body: about('completed') } as const;
		service.running().fault({ match: get, action: completed });
		expect((await deliver(host.url, about('completed'), SECRET)).status).toBe(200);
		expect(json()).toEqual([about('completed')]);
	});

	it('a question goes on for a minute at most, because anybody can make the trigger ask', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 300);
		const id = await rotated('completed');
		const action = { kind: 'respond', status: 503 } as const;
		service.running().fault({ match: { method: 'GET' }, action });
		const { now } = Date;
		// The first answer comes after a minute.
		const late = () => (service.lines().length > 0 ? 61_000 : 0);
		jest.spyOn(Date, 'now').mockImplementation(() => now() + late());
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		expect(host.executions).toEqual([]);
	});

	it('one question without an answer holds no delivery for longer than ten seconds', async () => {
		const takeTime = answerSoon();
		const id = await rotated('completed');
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'stall' } });
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(503);
		takeTime();
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + 15_000);
		expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
	});

	long.it(
		'100 unsigned requests about one task at once are one look, later ones none for 10 seconds',
		async () => {
			const id = await rotated();
			const answers = await Promise.all(
				Array.from({ length: 100 }, () => postUnsigned({ task_id: id })),
			);
			expect(answers.filter(({ status }) => ![401, 503].includes(status))).toEqual([]);
			expect((await postUnsigned({ task_id: id })).status).toBe(503);
			expect(service.lines()).toEqual([`GET /api/v1/tasks/${id}`]);
		},
	);
});

it('outputs the fields, in their order, that the editor shows before anything has come', async () => {
	const id = await service.completedTask();
	await openWithTask({ options: { includeResult: true } }, id);
	await deliver(host.url, { task_id: id }, SECRET);
	const schema = read('nodes/TranscriberTrigger/__schema__/v1.0.0.json');
	const { properties } = JSON.parse(schema) as { properties: object };
	expect(json().map(Object.keys)).toEqual([Object.keys(properties)]);
});

long.it(
	'after a rotation of the key, 20 tasks that end at once all start the workflow at their first delivery',
	async () => {
		const credentials = service.credentials();
		await open({}, { credentials, mode: 'manual' });
		const ids: string[] = [];
		while (ids.length < 20) ids.push(await service.pendingTask());
		await putAll(
			host.url,
			ids.map((id) => ({ id, kind: 'task' as const })),
			credentials.apiKey,
		);
		for (const id of ids) service.running().finish(id);
		await Promise.all(ids.map(async (id) => await deliver(host.url, { task_id: id }, 'unknown')));
		expect(
			json()
				.map(({ task_id: id }) => id)
				.sort(),
		).toEqual([...ids].sort());
	},
);
