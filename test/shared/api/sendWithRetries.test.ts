/** "Every request" in the contract: what is tried again, when, and for how long. */
// Also covers callService.ts, waitForTurn.ts, types.ts.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import {
	ExecuteContext,
	ExecuteSingleContext,
	HookContext,
	LoadOptionsContext,
	PollContext,
	WebhookContext,
} from 'n8n-core';

import { NodeApiError, type INode } from 'n8n-workflow';

import { Transcriber } from '../../../nodes/Transcriber/Transcriber.node';
import {
	delayBeforeRetry,
	patienceFor,
	RETRY,
	TIMEOUTS,
} from '../../../nodes/shared/api/delayBeforeRetry';
import { problemOf, type Problem } from '../../../nodes/shared/api/noUsableAnswer';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { listTasks } from '../../support/editor';
import { runNode, storedBinary } from '../../support/engine';
import { EVERY_OPERATION, WITH_SUMMARY_REGENERATION } from '../../support/everyOperation';
import { shortenRetries } from '../../support/scale';
import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { REPEATABLE, type Policy } from '../../../nodes/shared/api/types';
import { ACCOUNT, FILE, LINK } from '../../support/parameters';
import { few, long } from '../../support/long';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);

/** What a broken connection must not repeat: it would cost twice, or the first answer is lost. */
const NEVER_REPEATED = [
	'transcription.transcribeUrl',
	'meeting.sendBot',
	'task.regenerateSummary',
	'apiKey.rotate',
];
const REPEATED = EVERY_OPERATION.filter(({ name }) => !NEVER_REPEATED.includes(name));

function fault(action: FaultRule['action'], times = 1, match: FaultRule['match'] = {}): void {
	service.running().fault({ match, times, action });
}

/** Returns a function that runs an operation of the table. */
async function runExample(name: string) {
	const example = EVERY_OPERATION.find((candidate) => candidate.name === name);
	if (!example) throw new Error(`No such operation: ${name}`);
	const item = await example.input(service);
	return async () => await service.run(example.parameters, { items: [item] });
}

beforeEach(() => shortenRetries(100));

describe('the wait before the next attempt', () => {
	const busy: Problem = { path: '/account', status: 429 };
	const submit: Policy = { limit: 'submit', repeatable: true, upload: true };
	const unsafe: Policy = { limit: 'meeting', repeatable: false };

	beforeEach(() => shortenRetries(1));

	it('grows exponentially from 1 s and is capped at 30 s', () => {
		const chance = jest.spyOn(Math, 'random').mockReturnValue(1);
		const waits = [1, 2, 3, 4, 5, 6, 20].map((tries) => delayBeforeRetry(busy, tries, Infinity));
		expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
		chance.mockRestore();
	});

	it('has full jitter: anything from nothing to all of it', () => {
		const waits = Array.from({ length: 500 }, () => delayBeforeRetry(busy, 5, Infinity) ?? -1);
		expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
		expect(Math.min(...waits)).toBeLessThan(1600);
		expect(Math.max(...waits)).toBeGreaterThan(14_400);
		expect(Math.max(...waits)).toBeLessThanOrEqual(16_000);
	});

	it('is what Retry-After says, whatever the backoff', () => {
		const wait = (retryAfter: number) => delayBeforeRetry({ ...busy, retryAfter }, 1, Infinity);
		expect(wait(45_000)).toBe(45_000);
		expect(wait(1)).toBe(1);
	});

	it('is a backoff where Retry-After is 0, so that there is a pause and an end', () => {
		const chance = jest.spyOn(Math, 'random').mockReturnValue(0.5);
		expect(delayBeforeRetry({ ...busy, retryAfter: 0 }, 1, Infinity)).toBe(500);
		chance.mockRestore();
	});

	const minutes = 60_000;
	few.it.each<[string, Problem, Policy, number]>([
		['429', busy, REPEATABLE, 3 * minutes],
		['429 for a submit', busy, submit, 30 * minutes],
		['429 for a request that must not be repeated: it was refused', busy, unsafe, 30 * minutes],
		['503', { path: '/account', status: 503 }, REPEATABLE, 2 * minutes],
		[
			'503 for a request that must not be repeated',
			{ path: '/', status: 503, isBlank: true },
			unsafe,
			2 * minutes,
		],
		['409 for a keyed submit', { path: '/transcribe', status: 409 }, submit, 30 * minutes],
		...['request_in_progress', 'idempotency_key_in_use', 'PROCESSING', 'conflict', 'http_409'].map(
			(errorCode): [string, Problem, Policy, number] => [
				`409 for a keyed submit, with the code ${errorCode}`,
				{ path: '/transcribe', status: 409, errorCode },
				submit,
				30 * minutes,
			],
		),
		[
			'409 for a keyed submit, with a code and a time to wait',
			{ path: '/transcribe', status: 409, errorCode: 'not_now', retryAfter: 1000 },
			submit,
			30 * minutes,
		],
		['a broken connection', { path: '/', transport: 'broken' }, REPEATABLE, 2 * minutes],
		['a timeout', { path: '/', transport: 'timeout' }, REPEATABLE, 2 * minutes],
		['502 of a gateway', { path: '/', status: 502 }, REPEATABLE, 2 * minutes],
		['504 of a gateway', { path: '/', status: 504 }, REPEATABLE, 2 * minutes],
		['520 of Cloudflare', { path: '/', status: 520 }, REPEATABLE, 2 * minutes],
		['408 of a proxy', { path: '/', status: 408 }, REPEATABLE, 2 * minutes],
		['530 of Cloudflare', { path: '/', status: 530 }, REPEATABLE, 2 * minutes],
		['524 of Cloudflare', { path: '/', status: 524 }, REPEATABLE, 2 * minutes],
		['a refused connection', { path: '/', transport: 'unreachable' }, REPEATABLE, 15_000],
	])('is given for %s until the patience has an end', (_name, problem, policy, ms) => {
		const patience = patienceFor(problem, policy);
		expect(patience && RETRY[patience]).toBe(ms);
		expect(delayBeforeRetry(problem, 1, 1000)).toBeDefined();
		expect(delayBeforeRetry(problem, 1, -1)).toBeUndefined();
	});

	it('is a handful of whole uploads in half an hour where 409 holds an upload up, the last at its end', () => {
		const problem = { path: '/transcribe', status: 409, recordingBytes: 8 * 1024 ** 3 };
		let [waited, uploads, left] = [0, 1, RETRY.patienceWhenFull];
		for (;;) {
			const delay = delayBeforeRetry(problem, uploads, left);
			if (delay === undefined) break;
			waited += delay;
			left = RETRY.patienceWhenFull - waited;
			uploads += 1;
		}
		expect(waited).toBe(RETRY.patienceWhenFull);
		expect(uploads).toBeLessThanOrEqual(20);
		expect(delayBeforeRetry({ ...problem, retryAfter: 7_000 }, 1, 10_000)).toBe(7_000);
	});

	it('does not come where Retry-After asks for more than is left of the patience', () => {
		expect(delayBeforeRetry({ ...busy, retryAfter: 3_600_000 }, 1, 180_000)).toBeUndefined();
	});

	it.each<[string, Problem, Policy]>([
		['409 without a key', { path: '/tasks/1/cancel', status: 409 }, REPEATABLE],
		['409 for a request that must not be repeated', { path: '/', status: 409 }, unsafe],
		...[
			'idempotency_key_reused',
			'duplicate_recording',
			'account_blocked',
			'already_processed',
		].map((errorCode): [string, Problem, Policy] => [
			`409 for a keyed submit that has another reason, ${errorCode}`,
			{ path: '/transcribe', status: 409, errorCode },
			submit,
		]),
		['a broken connection, not safe', { path: '/', transport: 'broken' }, unsafe],
		['a timeout, not safe', { path: '/', transport: 'timeout' }, unsafe],
		['408 of a proxy, not safe', { path: '/', status: 408 }, unsafe],
		['524 of Cloudflare, not safe', { path: '/', status: 524 }, unsafe],
		['502, not safe', { path: '/', status: 502 }, unsafe],
		['503 of a gateway, not safe', { path: '/', status: 503, isWebPage: true }, unsafe],
		['400', { path: '/', status: 400 }, REPEATABLE],
		['401', { path: '/', status: 401 }, REPEATABLE],
		['413', { path: '/', status: 413 }, submit],
		['500', { path: '/', status: 500 }, REPEATABLE],
		['an unknown host', { path: '/', transport: 'unknownHost' }, REPEATABLE],
		['an untrusted certificate', { path: '/', transport: 'tls' }, REPEATABLE],
		['a redirect', { path: '/', status: 302, transport: 'redirect' }, REPEATABLE],
		['an answer that is not JSON', { path: '/', status: 200, transport: 'notJson' }, REPEATABLE],
	])('does not come for %s', (_name, problem, policy) => {
		expect(patienceFor(problem, policy)).toBeUndefined();
	});
});

describe('each operation', () => {
	it('of the node is in the tables of this file', () => {
		const inNode = new Transcriber().description.properties
			.filter(({ name }) => name === 'operation')
			.flatMap(({ options = [], displayOptions }) =>
				options.map(
					(option) => `${displayOptions?.show?.resource?.[0]}.${'value' in option && option.value}`,
				),
			);
		expect(EVERY_OPERATION.map(({ name }) => name).sort()).toEqual(inNode.sort());
		for (const name of NEVER_REPEATED) expect(inNode).toContain(name);
	});

	few.it.each(EVERY_OPERATION)('$name is tried again after 429 and after 503', async ({ name }) => {
		const run = await runExample(name);
		fault({ kind: 'respond', status: 429 });
		fault({ kind: 'respond', status: 503 });
		const { error } = await run();
		expect(error).toBeUndefined();
		const [first, second, third] = service.running().requests.map(({ status }) => status);
		expect([first, second, third]).toEqual([429, 503, 200]);
	});

	few.it.each(REPEATED)('$name is repeated after a broken connection', async ({ name }) => {
		const run = await runExample(name);
		fault({ kind: 'cut', when: 'beforeBody' });
		fault({ kind: 'cut', when: 'afterBody' });
		const { error } = await run();
		expect(error).toBeUndefined();
		const [first, second, third] = service.running().requests.map(({ status }) => status);
		expect([first, second, third]).toEqual([undefined, undefined, 200]);
	});

	few.it.each(
		NEVER_REPEATED.flatMap((name) =>
			(['beforeBody', 'afterBody', 'afterProcessing'] as const).map((when) => ({ name, when })),
		),
	)('$name is never repeated when the connection breaks $when', async ({ name, when }) => {
		const run = await runExample(name);
		fault({ kind: 'cut', when });
		const { error } = await run();
		expect(error?.message).toMatch(/^The connection to the service broke before it answered/);
		expect(service.lines()).toHaveLength(1);
	});

	few.it.each(NEVER_REPEATED)('%s is never repeated after 502, 504 or a timeout', async (name) => {
		for (const action of [
			{ kind: 'respond', status: 502 },
			{ kind: 'respond', status: 504 },
			{ kind: 'stall' },
		] as const) {
			const run = await runExample(name);
			if (action.kind === 'stall') jest.replaceProperty(TIMEOUTS, 'request', 700);
			service.running().requests.length = 0;
			fault(action);
			expect((await run()).error).toBeDefined();
			expect(service.lines()).toHaveLength(1);
		}
		jest.replaceProperty(TIMEOUTS, 'request', 60_000);
	});
});

describe('a keyed submit', () => {
	few.it.each([
		['before its body was read', { kind: 'cut', when: 'beforeBody' }],
		['in the middle of its body', { kind: 'cut', when: 'midBody', afterBytes: 500_000 }],
		['after its body was read', { kind: 'cut', when: 'afterBody' }],
		['after it was accepted', { kind: 'cut', when: 'afterProcessing' }],
	] as const)(
		'whose connection breaks %s is repeated with the same key and the whole file: one task',
		async (_when, action) => {
			const content = Buffer.alloc(2_000_000, 'recording');
			const files = [
				itemWithFile(content),
				{ json: {}, binary: { data: await storedBinary(content, 'talk.mp3', 'audio/mpeg') } },
			];
			for (const file of files) {
				service.running().reset();
				fault(action);
				const { json, error } = await service.run(FILE, { items: [file] });
				expect(error).toBeUndefined();
				const [task, ...others] = service.running().tasks();
				expect(others).toEqual([]);
				expect(json).toEqual([{ task_id: task?.id, status: 'pending' }]);
				expect(task?.file?.size).toBe(content.length);
				const keys = service.running().requests.map(({ headers }) => headers['idempotency-key']);
				expect(keys).toHaveLength(2);
				expect(new Set(keys).size).toBe(1);
			}
		},
	);

	it('that a parallel request with its key holds up (409) is tried again until that has ended', async () => {
		fault({ kind: 'respond', status: 409 }, 3, { path: '/transcribe$' });
		const { json } = await service.run(FILE, { items: [itemWithFile()] });
		expect(json).toHaveLength(1);
		expect(service.running().requests.map(({ status }) => status)).toEqual([409, 409, 409, 200]);
	});
});

it('409 is not tried again where there is no key: a task that has ended cannot be cancelled', async () => {
	const id = await service.completedTask();
	const { error } = await service.run({ resource: 'task', operation: 'cancel', taskId: byId(id) });
	expect(error).toMatchObject({ httpCode: '409' });
	expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
});

describe('Retry-After', () => {
	it('as seconds is waited for', async () => {
		fault({ kind: 'respond', status: 429, headers: { 'Retry-After': '0.3' } });
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 5000);
		await service.run(ACCOUNT);
		const [refused, accepted] = service.running().requests.map(({ at }) => at);
		const waited = (accepted ?? 0) - (refused ?? 0);
		expect(waited).toBeGreaterThanOrEqual(295);
	});

	few.it.each([
		['ahead', 3600],
		['behind', -3600],
	])(
		'as a date is read by the clock of the service, which is an hour %s',
		async (_words, clockAheadSeconds) => {
			service.running().configure({ clockAheadSeconds });
			const until = new Date(Date.now() + clockAheadSeconds * 1000 + 3000).toUTCString();
			fault({ kind: 'respond', status: 429, headers: { 'Retry-After': until } });
			jest.replaceProperty(RETRY, 'patienceWhenBusy', 5000);
			await service.run(ACCOUNT);
			const [refused, accepted] = service.running().requests.map(({ at }) => at);
			const waited = (accepted ?? 0) - (refused ?? 0);
			// Both dates have whole seconds only. Without Retry-After, the pause is 10 ms at most.
			expect(waited).toBeGreaterThanOrEqual(995);
		},
	);

	it('longer than the patience ends in the error at once', async () => {
		fault({ kind: 'respond', status: 503, headers: { 'Retry-After': '3600' } });
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject({ httpCode: '503' });
	});
});

describe('the patience has an end, and then it is the service’s own error', () => {
	few.it.each([
		[429, /^The service has had too many requests with this API key/],
		[503, /^The service is temporarily unavailable/],
	])('for %i', async (status, message) => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 50);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 50);
		fault({ kind: 'respond', status }, 1000);
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject({
			httpCode: String(status),
			message: expect.stringMatching(message),
			description: expect.stringContaining('“Simulated fault”'),
		});
		expect(service.lines().length).toBeGreaterThan(1);
	});

	it('for a service that never answers: the clock runs on while the node waits for answers', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 800);
		const time = jest.replaceProperty(TIMEOUTS, 'request', 500);
		fault({ kind: 'stall' }, 1000);
		const { error } = await service.run(ACCOUNT);
		time.restore();
		expect(error?.message).toMatch(/^The service did not answer in time/);
		expect(service.lines().length).toBeGreaterThan(1);
		expect(service.lines().length).toBeLessThanOrEqual(5);
	});
});

it('more than 20 tasks in progress (429): the submit waits for capacity', async () => {
	service.running().configure({ tasksInProgress: 2 });
	const run = service.run(LINK, { items: itemsOf({}, {}, {}) });
	await until(() => service.running().requests.filter(({ status }) => status === 429).length > 1);
	const [finished] = service.running().tasks();
	service.running().finish(finished?.id ?? '');
	const { json } = await run;
	expect(json).toHaveLength(3);
	expect(service.running().tasks()).toHaveLength(3);
});

describe('cancelling the execution', () => {
	const isAnswered = () => service.running().requests[0]?.status !== undefined;

	it('stops waiting for the next attempt at once', async () => {
		shortenRetries(1);
		fault({ kind: 'respond', status: 429, headers: { 'Retry-After': '60' } }, 100);
		const { error } = await service.run(ACCOUNT, { cancelWhen: isAnswered });
		expect(error?.message).toMatch(/^The execution was cancelled/);
		expect(service.lines()).toHaveLength(1);
	});

	long.it('breaks off an upload, and nothing is sent after that', async () => {
		fault({ kind: 'slowRead', bytesPerSecond: 100_000 }, 100);
		const items = [itemWithFile(Buffer.alloc(20_000_000))];
		await service.run(FILE, { items, cancelWhen: () => service.lines().length === 1 });
		expect(service.lines()).toHaveLength(1);
		expect(service.running().tasks()).toEqual([]);
	});
});

describe('while an editor list or a webhook call waits for the service', () => {
	it('there are 8 seconds in all', () => {
		shortenRetries(1);
		expect(RETRY.brief).toBe(8_000);
	});

	long.it(
		'an editor list ends with the reason when they are over, whatever the patience',
		async () => {
			shortenRetries(1);
			jest.replaceProperty(RETRY, 'brief', 1000);
			jest.replaceProperty(RETRY, 'base', 100);
			fault({ kind: 'respond', status: 429 }, 1000);
			await expect(listTasks(service.credentials())).rejects.toThrow(
				'The service has had too many requests with this API key',
			);
			expect(service.lines().length).toBeGreaterThan(1);
		},
	);

	it('all pages of an editor list share them', async () => {
		shortenRetries(1);
		jest.replaceProperty(RETRY, 'brief', 700);
		for (let page = 0; page < 5; page++) await service.pendingTask();
		service.running().configure({ shapes: { taskListMaximum: 1 } });
		fault({ kind: 'delay', ms: 300 }, 1000);
		await expect(listTasks(service.credentials(), 'no such task')).rejects.toThrow(
			'The service did not answer in time',
		);
		expect(service.lines().length).toBeLessThanOrEqual(3);
	});

	it.each([
		['an editor list', LoadOptionsContext, true],
		['a webhook call', WebhookContext, true],
		['an execution', ExecuteSingleContext, false],
		['a whole execution', ExecuteContext, false],
		['the activation of a workflow', HookContext, false],
		['a poll', PollContext, false],
	])('%s is known by the methods that n8n gives it', (_who, { prototype }, isBrief) => {
		expect('getRequestObject' in prototype || 'getCurrentNodeParameter' in prototype).toBe(isBrief);
	});
});

describe('time limits', () => {
	afterEach(() => {
		jest.replaceProperty(TIMEOUTS, 'request', 60_000);
		jest.replaceProperty(TIMEOUTS, 'uploadIdle', 300_000);
	});

	long.it('an upload has none as a whole, as long as it moves', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 100);
		jest.replaceProperty(TIMEOUTS, 'uploadIdle', 1000);
		const content = Buffer.alloc(24 * MEGABYTE);
		const files = [
			{ json: {}, binary: { data: await storedBinary(content, 'talk.mp3', 'audio/mpeg') } },
			itemWithFile(content),
		];
		const reader = await startSlowReader(content.length - 8 * MEGABYTE);
		const started = Date.now();
		const { json } = await runNode({
			parameters: FILE,
			items: files,
			credentials: { baseUrl: reader.url, apiKey: 'key of this test' },
		});
		await reader.close();
		expect(json).toHaveLength(2);
		expect(Date.now() - started).toBeGreaterThan(1000);
		expect(reader.uploads()).toBe(2);
	});

	it('an upload that stands still is broken off, and repeated', async () => {
		const idle = jest.replaceProperty(TIMEOUTS, 'uploadIdle', 700);
		fault({ kind: 'stall' });
		const run = service.run(FILE, { items: [itemWithFile()] });
		await until(() => service.lines().length === 1);
		idle.restore();
		const { json } = await run;
		expect(json).toHaveLength(1);
		expect(service.lines()).toHaveLength(2);
	});

	it('everything else has 60 s', async () => {
		expect(TIMEOUTS.request).toBe(60_000);
		jest.replaceProperty(TIMEOUTS, 'request', 2_000);
		fault({ kind: 'stall' });
		const { json } = await service.run(ACCOUNT);
		expect(json).toHaveLength(1);
		expect(service.lines()).toHaveLength(2);
	});
});

const MEGABYTE = 1024 * 1024;

/**
 * A service that pauses after each megabyte, but reads the rest at once: what is left in the buffers
 * of the connection is none of the sender's movement.
 */
async function startSlowReader(slowBytes: number) {
	let uploads = 0;
	const server = createServer(async (request, response) => {
		uploads += 1;
		let read = 0;
		for await (const chunk of request as AsyncIterable<Buffer>) {
			const megabytes = Math.floor(read / MEGABYTE);
			read += chunk.length;
			if (read < slowBytes && Math.floor(read / MEGABYTE) > megabytes) await sleep(80);
		}
		response.setHeader('Content-Type', 'application/json');
		response.end(JSON.stringify({ task_id: '7f3c', status: 'pending' }));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		uploads: () => uploads,
		close: async () =>
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

it.each(['ECONNRESET', 'EPIPE'])(
	'a broken connection is known on n8n 1 too, which keeps %s as httpCode only',
	(code) => {
		const node = {
			id: '1',
			name: 'a',
			type: 't',
			typeVersion: 1,
			position: [0, 0],
			parameters: {},
		};
		const error = new NodeApiError(node as INode, { message: 'socket hang up' });
		Object.assign(error, { httpCode: code, cause: undefined, errorResponse: undefined });
		expect(problemOf(error, '/meeting', {})).toMatchObject({ transport: 'broken' });
		Object.assign(error, { httpCode: '500' });
		expect(problemOf(error, '/meeting', {})).toBeUndefined();
	},
);
