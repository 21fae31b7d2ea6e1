/** Contract, "Trigger node": PUT on the trigger's URL is the hand-over from the action node. */
// Also covers nodes/shared/webhook/deliveredId.ts.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { ExecuteSingleContext } from 'n8n-core';
import {
	Workflow,
	createRunExecutionData,
	type IExecutePaginationFunctions,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import {
	FRESH_MS,
	NOT_OPENED,
	STALE,
	openHandOvers,
	sealHandOvers,
	UNUSABLE_ID,
} from '../../nodes/shared/webhook/handOverEnvelope';
import { REPLY, whatIsWrong } from '../../nodes/Transcriber/submit/trigger/triggerReply';
import {
	HAND_OVER,
	checkTrigger,
	handOver,
} from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { checkTriggerUrl } from '../../nodes/Transcriber/submit/trigger/triggerUrl';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { Queue } from '../../nodes/shared/api/waitForTurn';
import { seal } from '../../nodes/shared/webhook/sealedSecret';
import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { startReceiver, until } from '../simulator/testing-client';
import { credentialsHelper } from '../support/n8n';
import { few, long } from '../support/long';
import { deliver, handOverTo, post, put, putAll } from './client';
import { TriggerHost, newProcess, type HostSettings } from './host';

const API_KEY = 'test-api-key';
const CREDENTIALS = { baseUrl: 'http://127.0.0.1:9', apiKey: API_KEY };
const SECRET = 'whsec_of_the_task';

let host: TriggerHost;
/** In ms. */
const SAFE_AFTER_MS = 60;

beforeEach(async () => {
	jest.replaceProperty(STORE, 'safeAfterMs', SAFE_AFTER_MS);
	await open();
});
afterEach(async () => {
	jest.restoreAllMocks();
	await host.close();
});

async function open(settings: Partial<HostSettings> = {}) {
	await host?.close();
	const parameters = { options: { includeResult: false } };
	host = await new TriggerHost({ parameters, credentials: CREDENTIALS, ...settings }).open();
}

/** How often n8n has saved the static data since then. */
function writesTo(one: TriggerHost): () => number {
	let [{ saved }, writes] = [one, 0];
	Object.defineProperty(one, 'saved', {
		get: () => saved,
		set: (data: string) => {
			saved = data;
			writes += 1;
		},
	});
	return () => writes;
}

const putRaw = async (body: unknown) =>
	await post(host.url, typeof body === 'string' ? body : JSON.stringify(body), {}, 'PUT');

describe('Nobody without the API key can plant or read a secret', () => {
	const sealed = (apiKey: string, address = host.url) =>
		sealHandOvers(apiKey, address, [{ id: '7f3c', secret: SECRET }]);

	/** What is sealed in a genuine one. */
	const IN_THE_CLEAR = {
		handOvers: [{ id: '7f3c', secret: SECRET }],
		expires: Date.now() + FRESH_MS,
	};

	few.it.each<[string, () => unknown]>([
		['sealed with another API key', () => ({ sealed: sealed('another') })],
		[
			'sealed for another trigger',
			() => ({ sealed: sealed(API_KEY, host.url.replace('5d1a', '5d1b')) }),
		],
		['sealed for another use', () => ({ sealed: seal(API_KEY, 'stored secret', '7f3c', SECRET) })],
		['cut short', () => ({ sealed: sealed(API_KEY).slice(0, -4) })],
		['empty', () => ({ sealed: '' })],
		['in the clear', () => ({ sealed: JSON.stringify(IN_THE_CLEAR) })],
		['not base64', () => ({ sealed: '\u0000\uffff€' })],
		['huge', () => ({ sealed: 'A'.repeat(900_000) })],
	])('401 for what is %s', async (_, body) => {
		const answer = await putRaw(body());
		expect(answer).toEqual({ status: 401, body: { message: NOT_OPENED } });
		expect(host.saved).toBe('{}');
	});

	few.it.each([
		['empty', ''],
		['not JSON', 'sealed=1'],
		['a list', '[]'],
		['in clear', JSON.stringify({ id: '7f3c', secret: SECRET })],
		['of the wrong type', JSON.stringify({ sealed: { length: 100 } })],
	])('400 for a body that is %s', async (_, body) => {
		const answer = await putRaw(body);
		expect(answer).toEqual({ status: 400, body: { message: 'Not a hand-over' } });
		expect(host.saved).toBe('{}');
	});

	it('413 for what is over 1 MB', async () => {
		expect((await putRaw({ sealed: 'A'.repeat(1_000_000) })).status).toBe(413);
		expect(host.saved).toBe('{}');
	});

	few.it.each(['x'.repeat(257), '.', ' .. '])(
		'400 for an id whose deliveries it would refuse, and nothing is stored: %s',
		async (id) => {
			const handOvers = [{ id, kind: 'task' as const, secret: SECRET }];
			const answer = await putRaw({ sealed: sealHandOvers(API_KEY, host.url, handOvers) });
			expect(answer).toEqual({ status: 400, body: { message: UNUSABLE_ID } });
			expect(host.saved).toBe('{}');
			const [reason] = whatIsWrong({ status: 400, isIdUnusable: true });
			expect(reason).toContain('longer than 256 characters');
		},
	);

	it('such an id does not spoil the hand-overs of other items', async () => {
		const ids = ['7f3c', 'x'.repeat(257), '8a1b'];
		const handedOver = await Promise.allSettled(
			ids.map(async (id) => await handOver(sender(), host.url, { taskId: id }, SECRET)),
		);
		expect(handedOver.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
	});

	it('a hand-over is fresh for 10 minutes: replayed later it is refused', async () => {
		const now = Date.now();
		const old = jest.spyOn(Date, 'now').mockReturnValue(now - FRESH_MS);
		const body = { sealed: sealed(API_KEY) };
		old.mockRestore();
		expect((await putRaw(body)).status).toBe(401);
	});

	it('replayed after the task has ended it brings nothing back', async () => {
		const body = { sealed: sealed(API_KEY) };
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		await deliver(host.url, { task_id: '7f3c' }, SECRET);
		expect(await putRaw(body)).toEqual({ status: 200, body: { stored: true } });
		expect(host.stored.secrets).toBe('');
	});

	it('the secret is nowhere in clear', async () => {
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		expect(host.saved.length).toBeGreaterThan(50);
		expect(host.saved).not.toContain(SECRET);
		expect(host.saved).not.toContain(Buffer.from(SECRET).toString('base64url'));
		expect(host.saved).not.toContain(API_KEY);
	});
});

describe('It is acknowledged only when it is durably stored', () => {
	it('202 until the secret was found in the saved data, then 200', async () => {
		jest.replaceProperty(STORE, 'safeAfterMs', 60_000);
		expect(await put(host.url, '7f3c', SECRET, API_KEY)).toEqual({
			status: 202,
			body: { stored: false },
		});
		expect(await put(host.url, '7f3c', SECRET, API_KEY)).toMatchObject({ status: 202 });
		jest.replaceProperty(STORE, 'safeAfterMs', SAFE_AFTER_MS);
		await sleep(SAFE_AFTER_MS);
		expect(await put(host.url, '7f3c', SECRET, API_KEY)).toEqual({
			status: 200,
			body: { stored: true },
		});
	});

	it('202 for a new secret that comes in one call before one stored long ago, and n8n saves the new one', async () => {
		// So long that the trigger does not call itself meanwhile, which would save it, too.
		jest.replaceProperty(STORE, 'safeAfterMs', 60_000);
		await put(host.url, 'old', SECRET, API_KEY);
		await until(() => host.stored.secrets !== '');
		const { now } = Date;
		const later = jest.spyOn(Date, 'now').mockImplementation(() => now() + STORE.safeAfterMs);
		expect((await put(host.url, 'old', SECRET, API_KEY)).status).toBe(200);
		const both = ['new', 'old'].map((id) => ({ id, secret: SECRET }));
		expect((await putAll(host.url, both, API_KEY)).status).toBe(202);
		await until(() => host.stored.secrets.split(';').length === 2 + 1);
		later.mockRestore();
	});

	it('never while n8n does not save', async () => {
		host.isStaticDataReadOnly = true;
		for (let tries = 0; tries < 4; tries++) {
			expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(202);
			await sleep(SAFE_AFTER_MS / 2);
		}
	});

	it('and not before a slower call could have overwritten it', async () => {
		jest.replaceProperty(STORE, 'safeAfterMs', 60_000);
		await put(host.url, '7f3c', SECRET, API_KEY);
		expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(202);
		await until(() => host.served.ended === host.served.begun);
		host.saved = '{}';
		jest.replaceProperty(STORE, 'safeAfterMs', SAFE_AFTER_MS);
		await sleep(SAFE_AFTER_MS);
		expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(202);
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
	});

	it('is idempotent', async () => {
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		const { saved } = host;
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		host.restart();
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		expect(host.saved).toBe(saved);
	});

	long.it('50 at once, saved in any order: all 50 survive a restart', async () => {
		await open({ saveMs: 60 });
		const ids = Array.from({ length: 50 }, (_, index) => `task-${index}`);
		await Promise.all(ids.map((id) => handOverTo(host.url, id, `${SECRET} ${id}`, API_KEY)));
		host.restart();
		for (const id of ids) {
			expect((await deliver(host.url, { task_id: id }, `${SECRET} ${id}`)).status).toBe(200);
		}
		expect(host.executions).toHaveLength(50);
	});

	long.it('50 at once at two processes in turn: all 50 survive a restart', async () => {
		await open({ saveMs: 60 });
		host.processes = [newProcess(), newProcess()];
		const ids = Array.from({ length: 50 }, (_, index) => `task-${index}`);
		await Promise.all(ids.map((id) => handOverTo(host.url, id, `${SECRET} ${id}`, API_KEY, 237)));
		host.restart();
		for (const id of ids) {
			expect((await deliver(host.url, { task_id: id }, `${SECRET} ${id}`)).status).toBe(200);
		}
		expect(host.executions).toHaveLength(50);
	});

	long.it(
		'50 deliveries at once at two processes in turn: soon each process knows all of them',
		async () => {
			await open({ saveMs: 60 });
			host.processes = [newProcess(), newProcess()];
			const ids = Array.from({ length: 50 }, (_, index) => `task-${index}`);
			await Promise.all(ids.map((id) => handOverTo(host.url, id, SECRET, API_KEY, 237)));
			await Promise.all(ids.map((id) => deliver(host.url, { task_id: id }, SECRET)));
			// One process has written over what the other one had saved, and nobody calls either again.
			await until(() => host.stored.endings.split(';').length === 50 + 1);
			host.restart();
			for (const id of [...ids, ...ids]) {
				expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
			}
			expect(host.executions).toHaveLength(50);
		},
	);

	long.it(
		'deliveries and hand-overs at the same time: no ending and no secret is lost',
		async () => {
			await open({ saveMs: 60 });
			const ids = Array.from({ length: 20 }, (_, index) => `old-${index}`);
			await Promise.all(ids.map((id) => handOverTo(host.url, id, SECRET, API_KEY)));
			const news = ids.map((id) => id.replace('old', 'new'));
			await Promise.all([
				...ids.map((id) => deliver(host.url, { task_id: id }, SECRET)),
				...news.map((id) => handOverTo(host.url, id, SECRET, API_KEY)),
			]);
			// One call has written over what another one had saved: the process saves it again.
			await until(() => host.stored.endings.split(';').length === 20 + 1);
			host.restart();
			for (const id of [...ids, ...news]) {
				expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
			}
			expect(host.executions).toHaveLength(40);
		},
	);

	long.it(
		'a delivery that takes long does not write over what was stored in the meantime',
		async () => {
			jest.replaceProperty(STORE, 'safeAfterMs', 50);
			await handOverTo(host.url, 'slow', SECRET, API_KEY);
			host.executionMs = 1_500;
			const slow = deliver(host.url, { task_id: 'slow' }, SECRET);
			await sleep(50);
			await handOverTo(host.url, '7f3c', SECRET, API_KEY);
			expect((await slow).status).toBe(200);
			host.restart();
			host.executionMs = 0;
			expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		},
	);

	it('a renamed node loses nothing', async () => {
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		host.restart();
		host.node.name = 'Renamed';
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
	});

	it('whatever the parameters of the trigger are by then: its recording is paid for', async () => {
		await open({ parameters: { events: [] } });
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		expect(host.stored.secrets).not.toBe('');
	});

	it('and stored again by the trigger itself if another process writes over it before it is acknowledged', async () => {
		await put(host.url, '7f3c', SECRET, API_KEY);
		await until(() => host.stored.secrets !== '');
		host.saved = '{}';
		await until(() => host.stored.secrets !== '');
	});

	it('and not saved again while it is there: another process may have saved since the call has loaded', async () => {
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		const writes = writesTo(host);
		expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(200);
		await until(() => host.served.ended === host.served.begun);
		expect(writes()).toBe(0);
	});

	it('the trigger answers the call itself, and n8n does not', async () => {
		await put(host.url, '7f3c', SECRET, API_KEY);
		await until(() => host.served.ended === host.served.begun);
		expect(host.answeredByN8n).toBe(0);
	});

	it('what other nodes keep in the static data of the workflow stays', async () => {
		host.saved = JSON.stringify({ global: { mine: [1] }, 'node:Other': { lastTime: 'today' } });
		await handOverTo(host.url, '7f3c', SECRET, API_KEY);
		await deliver(host.url, { task_id: '7f3c' }, SECRET);
		expect(JSON.parse(host.saved)).toMatchObject({
			global: { mine: [1] },
			'node:Other': { lastTime: 'today' },
		});
	});

	it('while the editor listens for a test event nothing is saved, and memory is the store', async () => {
		await open({ mode: 'manual' });
		expect((await put(host.url, '7f3c', SECRET, API_KEY)).status).toBe(200);
		expect(host.saved).toBe('{}');
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
	});
});

describe('The store is bounded, and drops the oldest', () => {
	it('of the secrets', async () => {
		jest.replaceProperty(STORE, 'secrets', 3);
		for (const id of ['a', 'b', 'c', 'd']) await handOverTo(host.url, id, SECRET, API_KEY);
		expect(host.stored.secrets.split(';')).toHaveLength(3 + 1);
		expect((await deliver(host.url, { task_id: 'a' }, SECRET)).status).toBe(503);
		expect((await deliver(host.url, { task_id: 'b' }, SECRET)).status).toBe(200);
	});

	it('of the endings', async () => {
		jest.replaceProperty(STORE, 'endings', 2);
		for (const id of ['a', 'b', 'c']) {
			await handOverTo(host.url, id, SECRET, API_KEY);
			await deliver(host.url, { task_id: id }, SECRET);
		}
		expect(host.stored.endings.split(';')).toHaveLength(2 + 1);
	});
});

/** The action node's side. */
function sender(apiKey = API_KEY, cancelled = new AbortController().signal) {
	const nodeType = new Transcriber();
	const node = {
		id: '1',
		name: 'Transcriber',
		type: 'n8n-nodes-transcriber.transcriber',
		typeVersion: 1,
		position: [0, 0] as [number, number],
		credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
		parameters: {},
	};
	const nodeTypes = { getByNameAndVersion: () => nodeType } as unknown as INodeTypes;
	const items = [{ json: {} }];
	return new ExecuteSingleContext(
		new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes }),
		node,
		{
			credentialsHelper: credentialsHelper({ ...CREDENTIALS, apiKey }),
			webhookWaitingBaseUrl: 'https://n8n.example.com/webhook-waiting',
			formWaitingBaseUrl: 'https://n8n.example.com/form-waiting',
		} as unknown as IWorkflowExecuteAdditionalData,
		'manual',
		createRunExecutionData({}),
		0,
		items,
		{ main: [items] },
		0,
		{ node, data: { main: [items] }, source: null },
		cancelled,
	) as unknown as IExecutePaginationFunctions;
}

/** The status and the body that a trigger answers with. */
type Answer = [status: number, body?: string];

const DOWN = Array<Answer>(9).fill([502]);
const NO_HOOK: Answer = [404, '{"message":"The requested webhook is not registered."}'];
const BUSY = Array<Answer>(9).fill([202, '{"stored":false}']);
const OTHER_KEY: Answer = [401, '{"message":"Hand-over refused"}'];

/** A trigger that gives these answers, and then has stored everything. */
async function triggerThatAnswers(answers: Answer[]) {
	let count = 0;
	const server = createServer((request, response) => {
		count += 1;
		request.resume();
		const [status, body = ''] = answers.shift() ?? [200, '{"stored":true}'];
		const type = body.startsWith('{') ? 'application/json' : 'text/html';
		response.writeHead(status, { 'content-type': type }).end(body);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const url = `http://127.0.0.1:${port}/webhook/1/transcriber`;
	return { url, count: () => count, close: () => void server.close() };
}

describe('A submission without a readable secret', () => {
	const SHARED = 'the signing secret of the account';
	const without = async () => {
		const hand = async () => await putAll(host.url, [{ id: '7f3c', kind: 'task' }], API_KEY);
		await hand();
		await sleep(SAFE_AFTER_MS);
		await hand();
		await sleep(SAFE_AFTER_MS);
		return await hand();
	};

	it('is handed over as that, and a delivery with the Webhook Secret of the credential starts it', async () => {
		await open({ credentials: { ...CREDENTIALS, webhookSecret: SHARED } });
		expect(await without()).toEqual({ status: 200, body: { stored: true } });
		host.restart();
		const body = { task_id: '7f3c', status: 'completed' };
		expect((await deliver(host.url, body, SHARED)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
		expect((await deliver(host.url, body, SHARED)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	long.it('without that, what the service says decides: here it cannot be asked', async () => {
		await without();
		const body = { task_id: '7f3c', status: 'completed' };
		expect((await deliver(host.url, body, 'forged')).status).toBe(503);
		expect(host.executions).toEqual([]);
	});

	it('never replaces a stored secret, and brings nothing back that has ended', async () => {
		await putAll(host.url, [{ id: '7f3c', kind: 'task', secret: SECRET }], API_KEY);
		await without();
		await deliver(host.url, { task_id: '7f3c' }, SECRET);
		expect(host.executions).toHaveLength(1);
		expect(await without()).toMatchObject({ status: 200 });
		expect(host.stored.secrets).toBe('');
	});

	it('is named in the error where a trigger of version 0.1.0 refuses it', async () => {
		jest.replaceProperty(HAND_OVER, 'patienceWhenRefused', 0);
		const receiver = await startReceiver([401, 401, 401]);
		const failure = handOver(sender(), receiver.url, { taskId: '7f3c' });
		await expect(failure).rejects.toThrow('an older version of it needs a webhook_secret');
		await receiver.close();
	});

	it('comes from the action node where the answer to the submit has no secret', async () => {
		jest.replaceProperty(HAND_OVER, 'interval', SAFE_AFTER_MS + 20);
		await handOver(sender(), host.url, { taskId: '7f3c' });
		expect(host.stored.secrets).toContain('none');
	});
});

describe('The action node', () => {
	beforeEach(() => {
		jest.replaceProperty(HAND_OVER, 'interval', SAFE_AFTER_MS + 20);
		jest.replaceProperty(HAND_OVER, 'patience', 1_000);
		jest.replaceProperty(HAND_OVER, 'patienceWhenNotActive', 250);
		jest.replaceProperty(HAND_OVER, 'patienceWhenRefused', 250);
	});

	it('hands the secret over and returns when the trigger has it durably', async () => {
		await handOver(sender(), host.url, { taskId: '7f3c' }, SECRET);
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
	});

	long.it(
		'200 at once are handed over without a lost update',
		async () => {
			await open({ saveMs: 30 });
			jest.replaceProperty(HAND_OVER, 'patience', 60_000);
			const ids = Array.from({ length: 200 }, (_, index) => `task-${index}`);
			await Promise.all(ids.map((id) => handOver(sender(), host.url, { taskId: id }, SECRET)));
			expect(host.stored.secrets.split(';')).toHaveLength(200 + 1);
		},
		60_000,
	);

	it('hands over together what waits for the same trigger, a hundred at most', async () => {
		const receiver = await startReceiver([400, 400, 400, 400]);
		const address = `${receiver.url}/together/transcriber`;
		const ids = Array.from({ length: 250 }, (_, index) => `task-${index}`);
		await Promise.allSettled(ids.map((id) => handOver(sender(), address, { taskId: id }, SECRET)));
		const numbers = receiver.received.map(({ body }) => {
			const { sealed } = body as { sealed: string };
			return openHandOvers(API_KEY, address, sealed)?.length ?? 0;
		});
		expect(numbers.reduce((sum, number) => sum + number)).toBe(250);
		expect(Math.max(...numbers)).toBe(100);
		expect(numbers.length).toBeLessThanOrEqual(4);
		await receiver.close();
	});

	it('keeps nothing of a trigger for which no hand-over waits, whether the last one was taken or refused', async () => {
		const set = jest.spyOn(Map.prototype, 'set');
		await handOver(sender(), host.url, { taskId: '7f3c' }, SECRET);
		const receiver = await startReceiver([400, 400]);
		const ids = ['a', 'b'].map((taskId) => handOver(sender(), receiver.url, { taskId }, SECRET));
		await Promise.allSettled(ids);
		const outboxes = set.mock.contexts.filter((_, index) => {
			const [, value] = set.mock.calls[index] ?? [];
			return (value as { queue?: unknown } | undefined)?.queue instanceof Queue;
		}) as Array<Map<string, unknown>>;
		set.mockRestore();
		await receiver.close();
		expect(outboxes.length).toBeGreaterThan(1);
		expect(outboxes.map(({ size }) => size)).toEqual(outboxes.map(() => 0));
	});

	it('keeps the API key in the key of no map', async () => {
		const keys: unknown[] = [];
		const set = jest.spyOn(Map.prototype, 'set');
		await handOver(sender(), host.url, { taskId: '7f3c' }, SECRET);
		for (const [key] of set.mock.calls) keys.push(key);
		set.mockRestore();
		expect(keys.length).toBeGreaterThan(0);
		expect(keys.filter((key) => typeof key === 'string' && key.includes(API_KEY))).toEqual([]);
	});

	it('sends neither the API key nor the secret in clear', async () => {
		const receiver = await startReceiver([400]);
		const failure = handOver(sender(), `${receiver.url}/x/transcriber`, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow();
		const [request] = receiver.received;
		expect(Object.keys(request?.body ?? {})).toEqual(['sealed']);
		expect(JSON.stringify(request)).not.toContain(API_KEY);
		expect(JSON.stringify(request)).not.toContain(SECRET);
		await receiver.close();
	});

	few.it.each<[string, number[], string, string]>([
		[
			'its workflow is not active',
			Array<number>(99).fill(404),
			'its workflow is not active',
			'activate) the workflow',
		],
		[
			'a proxy that asks for a password',
			Array<number>(99).fill(401),
			'answered HTTP 401',
			"'Trigger URL'",
		],
		['a redirect', [302], 'answered HTTP 302', "'Trigger URL'"],
		['another webhook', [200], 'answered HTTP 200', "'Trigger URL'"],
		['a server that is down', Array<number>(99).fill(502), 'answered HTTP 502', "'Trigger URL'"],
	])('%s: the error names what was submitted and what to do', async (_, statuses, reason, next) => {
		const receiver = await startReceiver(statuses);
		const error: unknown = await handOver(sender(), receiver.url, { taskId: '7f3c' }, SECRET).catch(
			(failure: unknown) => failure,
		);
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringContaining(`hand-over of 7f3c: `),
			description: expect.stringContaining(
				'is not lost: fetch its result with Transcript: Wait Until Finished',
			),
		});
		const { message, description } = error as { message: string; description: string };
		expect(message).toContain(reason);
		expect(description).toContain(next);
		expect(JSON.stringify(error)).not.toContain(SECRET);
		await receiver.close();
	});

	it('a trigger that cannot be reached', async () => {
		const receiver = await startReceiver();
		await receiver.close();
		const failure = handOver(sender(), receiver.url, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow('7f3c: n8n cannot reach its address');
	});

	it('a trigger that does not know of a new API key yet is asked again', async () => {
		jest.replaceProperty(HAND_OVER, 'patience', 10_000);
		jest.replaceProperty(HAND_OVER, 'patienceWhenRefused', 10_000);
		const credentials = { ...CREDENTIALS };
		await open({ credentials });
		await put(host.url, 'before', SECRET, API_KEY);
		credentials.apiKey = 'new-api-key';
		expect((await put(host.url, '7f3c', SECRET, 'new-api-key')).status).toBe(401);
		await handOver(sender('new-api-key'), host.url, { taskId: '7f3c' }, SECRET);
	});

	it('a trigger whose answer never ends holds up nothing', async () => {
		jest.replaceProperty(REPLY, 'maxMs', 100);
		jest.replaceProperty(HAND_OVER, 'patience', 300);
		const server = createServer((request, response) => {
			request.resume();
			response.writeHead(200, { 'content-type': 'application/json' });
			const drip = setInterval(() => response.write(' '), 20);
			response.on('close', () => clearInterval(drip));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		const url = `http://127.0.0.1:${port}/webhook/x/transcriber`;
		const failure = handOver(sender(), url, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow();
		server.closeAllConnections();
		server.close();
	});

	it('a trigger that never stores it', async () => {
		jest.replaceProperty(HAND_OVER, 'patience', 300);
		host.isStaticDataReadOnly = true;
		const failure = handOver(sender(), host.url, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow('has not confirmed within a minute');
	});

	it('a trigger that is just being switched on is waited for', async () => {
		const receiver = await startReceiver([404, 404]);
		const failure = handOver(sender(), receiver.url, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow();
		expect(receiver.received.length).toBeGreaterThan(1);
		await receiver.close();
	});

	few.it.each<[string, Answer[]]>([
		['is down for longer than a 404 may last, then has no active workflow yet', [...DOWN, NO_HOOK]],
		['is slow to store for longer than a 401 may last, then reads a new key', [...BUSY, OTHER_KEY]],
		['says with 200 that it is starting up', [[200, 'n8n is starting up. Please wait']]],
		['is behind a proxy that answers 408, then 425', [[408], [425]]],
	])('an n8n that %s is asked again', async (_, answers) => {
		jest.replaceProperty(HAND_OVER, 'interval', 50);
		jest.replaceProperty(HAND_OVER, 'patience', 3_000);
		jest.replaceProperty(HAND_OVER, 'patienceWhenNotActive', 300);
		jest.replaceProperty(HAND_OVER, 'patienceWhenRefused', 300);
		const trigger = await triggerThatAnswers([...answers]);
		await handOver(sender(), trigger.url, { taskId: '7f3c' }, SECRET).finally(trigger.close);
		expect(trigger.count()).toBe(answers.length + 1);
	});

	it('a trigger on a machine whose clock differs: the error names the clocks', async () => {
		const now = Date.now();
		const clock = jest.spyOn(Date, 'now').mockReturnValue(now - FRESH_MS - 1000);
		const sealed = sealHandOvers(API_KEY, host.url, [{ id: '7f3c', secret: SECRET }]);
		clock.mockRestore();
		expect(await putRaw({ sealed })).toEqual({ status: 401, body: { message: STALE } });
		const receiver = await startReceiver(Array<number>(99).fill(401), { message: STALE });
		const failure = handOver(sender(), receiver.url, { taskId: '7f3c' }, SECRET);
		await expect(failure).rejects.toThrow('the clocks of the two machines differ');
		await receiver.close();
	});

	it('cancelling the execution stops the waiting at once', async () => {
		jest.replaceProperty(STORE, 'safeAfterMs', 60_000);
		const cancel = new AbortController();
		setTimeout(() => cancel.abort(), 50);
		await expect(
			handOver(sender(API_KEY, cancel.signal), host.url, { taskId: '7f3c' }, SECRET),
		).rejects.toThrow();
	});

	it.each([
		['', 'is not a web address'],
		['n8n/webhook/1/transcriber', 'is not a web address'],
		['http://n8n.example.com/webhook/1/transcriber', 'does not start with https://'],
		['https://192.168.1.5/webhook/1/transcriber', 'is a local address'],
		['https://n8n.example.com/webhook/1/other', 'is not the address of a Transcriber Trigger'],
		['https://me:pass@n8n.example.com/webhook/1/transcriber', 'holds more than an address'],
		['https://n8n.example.com/webhook/1/transcriber?token=1', 'holds more than an address'],
	])("refuses '%s' as 'Trigger URL'", (triggerUrl, reason) => {
		const request = { options: { baseURL: 'https://service.example.com/api/v1' } } as never;
		expect(() => checkTriggerUrl(sender(), request, triggerUrl)).toThrow(`'Trigger URL' ${reason}`);
	});

	it.each([
		'https://n8n.example.com/webhook/1/transcriber',
		'https://n8n.example.com/webhook-test/1/transcriber/',
	])("takes '%s' as 'Trigger URL'", (triggerUrl) => {
		const request = { options: { baseURL: 'https://service.example.com/api/v1' } } as never;
		expect(() => checkTriggerUrl(sender(), request, triggerUrl)).not.toThrow();
	});
});

describe('Before anything is submitted', () => {
	const request = { options: { baseURL: 'http://127.0.0.1:9/api/v1' } } as never;
	beforeEach(() => {
		jest.replaceProperty(HAND_OVER, 'interval', 50);
		jest.replaceProperty(HAND_OVER, 'patienceBefore', 300);
	});

	it('a trigger that takes what the credential seals passes, and stores nothing', async () => {
		await checkTrigger(sender(), request, host.url);
		expect(host.saved).toBe('{}');
	});

	it('a trigger that sends its own bot is refused, and the error names the source to choose', async () => {
		await open({
			parameters: { source: 'meeting', meetingUrl: 'https://meet.example.com/weekly' },
		});
		const failure = checkTrigger(sender(), request, host.url);
		await expect(failure).rejects.toThrow(
			"so nothing was submitted: its own parameters cannot be used: 'Source' is One Meeting (Sends a Bot)",
		);
		await expect(failure).rejects.toThrow('Recordings Sent by Transcriber Nodes');
		expect(host.saved).toBe('{}');
	});

	it.each([
		['a bot', '/meeting', ['transcriptionCompleted', 'transcriptionFailed'], 'a meeting'],
		['a link', '/transcribe-url', ['meetingCompleted', 'meetingFailed'], 'a transcription'],
	])('%s is refused for a trigger that would never start for it', async (_, url, events, what) => {
		await open({ parameters: { events } });
		const submit = { options: { baseURL: 'http://127.0.0.1:9/api/v1', url } } as never;
		const reason = `'Trigger On' has no event of ${what}`;
		await expect(checkTrigger(sender(), submit, host.url)).rejects.toThrow(reason);
		await open({
			parameters: { events: [`${events[0]}`, 'meetingFailed', 'transcriptionFailed'] },
		});
		await checkTrigger(sender(), submit, host.url);
	});

	it.each([
		['a bot', '/meeting', 'meetingCompleted'],
		['a link', '/transcribe-url', 'transcriptionFailed'],
	])('%s passes at a trigger that would start for nothing else', async (_, url, event) => {
		await open({ parameters: { events: [event] } });
		const submit = { options: { baseURL: 'http://127.0.0.1:9/api/v1', url } } as never;
		await expect(checkTrigger(sender(), submit, host.url)).resolves.toBeUndefined();
	});

	it('a trigger that cannot use its credential is refused with that as what to check', async () => {
		jest.replaceProperty(HAND_OVER, 'patienceBefore', 0);
		await open({ credentials: { baseUrl: 'http://127.0.0.1:9', apiKey: '' } });
		const failure = checkTrigger(sender(), request, host.url);
		await expect(failure).rejects.toThrow(
			'so nothing was submitted: it could not process the call',
		);
		await expect(failure).rejects.toMatchObject({
			description: expect.stringContaining('Check the credential of the Transcriber Trigger node'),
		});
	});

	it('100 items try the trigger once', async () => {
		const receiver = await startReceiver([400]);
		const address = `${receiver.url}/webhook/1/transcriber`;
		await Promise.allSettled(
			Array.from({ length: 100 }, () => checkTrigger(sender(), request, address)),
		);
		expect(receiver.received).toHaveLength(1);
		await receiver.close();
	});

	few.it.each([
		['an unpublished workflow', 404, {}, 'its workflow is not active'],
		['another API key', 401, { message: 'Hand-over refused' }, 'it has another API key'],
		['a proxy that asks for a password', 401, {}, 'its address answered HTTP 401'],
		['a server that is down', 502, {}, 'its address answered HTTP 502'],
	])('%s is refused, and nothing was submitted', async (_, status, answer, reason) => {
		const receiver = await startReceiver(Array<number>(20).fill(status), answer);
		const address = `${receiver.url}/webhook/1/transcriber`;
		const failure = checkTrigger(sender(), request, address);
		await expect(failure).rejects.toThrow(`so nothing was submitted: ${reason}`);
		await receiver.close();
	});

	it('an address where nobody listens is refused', async () => {
		const receiver = await startReceiver();
		await receiver.close();
		const failure = checkTrigger(sender(), request, `${receiver.url}/webhook/1/transcriber`);
		await expect(failure).rejects.toThrow('so nothing was submitted: n8n cannot reach its address');
	});

	it('a trigger that is just being switched on is waited for', async () => {
		const receiver = await startReceiver([404, 400]);
		const failure = checkTrigger(sender(), request, `${receiver.url}/webhook/1/transcriber`);
		await expect(failure).rejects.toThrow('HTTP 400');
		expect(receiver.received).toHaveLength(2);
		await receiver.close();
	});
});

describe('After a rotation of the key', () => {
	const credentials = { ...CREDENTIALS };

	beforeEach(async () => {
		// Nobody listens where the service is asked.
		jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 100);
		credentials.apiKey = API_KEY;
		await open({ credentials });
		expect((await put(host.url, 'a', SECRET, API_KEY)).body).toEqual({ stored: false });
		await sleep(1_100);
		credentials.apiKey = 'the key of now';
	});

	it('the former key plants no secret, because it may have been stolen', async () => {
		expect((await put(host.url, 'a', SECRET, API_KEY)).status).toBe(401);
		expect((await put(host.url, 'a', SECRET, API_KEY)).status).toBe(401);
		host.restart();
		expect((await deliver(host.url, { task_id: 'a' }, SECRET)).status).toBe(503);
	});

	long.it('the key of now hands the secret over', async () => {
		await handOverTo(host.url, 'a', SECRET, 'the key of now');
		host.restart();
		expect((await deliver(host.url, { task_id: 'a' }, SECRET)).status).toBe(200);
	});
});

describe('A hand-over that has waited, for example for a slow database,', () => {
	const at = (place: number) => host.url.replace('/webhook/', `/process-${place}/webhook/`);

	it('does not write over what another process has acknowledged meanwhile', async () => {
		jest.replaceProperty(STORE, 'mayWaitMs', 100);
		host.processes = [newProcess(), newProcess()];
		host.credentialMs = 600;
		const slow = put(at(0), 'slow', SECRET, API_KEY);
		await sleep(200);
		host.credentialMs = 0;
		await handOverTo(at(1), 'acknowledged', SECRET, API_KEY);
		const before = host.stored.secrets;
		expect((await slow).status).toBe(202);
		// n8n saves a moment after the answer.
		await sleep(30);
		expect(host.stored.secrets).toContain(before);
		await handOverTo(at(0), 'slow', SECRET, API_KEY);
		host.restart();
		for (const id of ['acknowledged', 'slow']) {
			expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
		}
	});

	it('is saved even so if its process cannot call itself', async () => {
		jest.replaceProperty(STORE, 'mayWaitMs', -1);
		host.processes = [newProcess()];
		await open();
		// Its own calls find nobody.
		const { url } = host;
		await put(url, 'slow', SECRET, API_KEY);
		await handOverTo(url, 'slow', SECRET, API_KEY);
		host.restart();
		expect((await deliver(host.url, { task_id: 'slow' }, SECRET)).status).toBe(200);
	});
});
