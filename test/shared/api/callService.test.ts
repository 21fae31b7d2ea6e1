/** "Every request" in the contract: the requests that no operation declares. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { callService } from '../../../nodes/shared/api/callService';
import { RETRY, TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import type { CallOptions, Caller } from '../../../nodes/shared/api/types';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { contextsWith } from '../n8nInternals/contexts';
import { itemContext } from '../../support/itemContext';
import { additionalDataFor, credentialsHelper } from '../../support/n8n';
import { few } from '../../support/long';
import { serviceForTests } from '../../support/service';

const service = serviceForTests();

/** Longer than a test may take: whoever waits for it fails. */
const LONG = 60_000;

beforeEach(() => {
	for (const name of Object.keys(RETRY) as Array<keyof typeof RETRY>) {
		if (name !== 'room') jest.replaceProperty(RETRY, name, name.startsWith('patience') ? LONG : 1);
	}
	jest.replaceProperty(RETRY, 'brief', LONG);
	jest.replaceProperty(TIMEOUTS, 'request', LONG);
});
afterEach(() => {
	jest.replaceProperty(TIMEOUTS, 'request', LONG);
});

const fault = (action: FaultRule['action'], times = 1) =>
	service.running().fault({ match: {}, times, action });
const respond = (body: unknown, status = 200) => fault({ kind: 'respond', status, body });

const forItem = () => itemContext({}, { credentials: service.credentials() }) as Caller;
const call = async (options?: CallOptions, request: object = {}, caller = forItem()) =>
	await callService(caller, { method: 'GET', url: '/tasks/7f3c', ...request }, options);

it('A request has its method, path, query and body, and the API key', async () => {
	const request = { method: 'PUT', url: '/dictionary', qs: { a: 1 }, body: { terms: ['n8n'] } };
	await call({}, request);
	expect(service.sent()).toMatchObject({
		method: 'PUT',
		path: '/api/v1/dictionary',
		query: { a: '1' },
		body: { terms: ['n8n'] },
		headers: { 'x-api-key': service.running().apiKey },
	});
});

it('n8n authenticates a request by the type of the credential', async () => {
	const credentials = credentialsHelper(service.credentials());
	const authenticate = jest.spyOn(credentials, 'authenticate');
	respond({ status: 'pending' });
	await call({}, {}, itemContext({}, { credentials }) as Caller);
	expect(authenticate.mock.calls.map(([, type]) => type)).toEqual(['transcriberApi']);
});

it('A read is repeated if nothing else is said', async () => {
	fault({ kind: 'cut', when: 'afterBody' });
	respond({ status: 'pending' });
	expect(await call()).toEqual({ status: 'pending' });
});

it('What must not be repeated is not', async () => {
	fault({ kind: 'cut', when: 'afterBody' });
	const policy = { limit: 'other', repeatable: false } as const;
	await expect(call({ policy })).rejects.toMatchObject({ problem: { transport: 'broken' } });
	expect(service.lines()).toHaveLength(1);
});

it.each([301, 302, 307])(
	'A redirect (%i) is not followed: it would take the API key along',
	async (status) => {
		fault({ kind: 'redirect', status, location: `${service.running().url}/api/v1/account` });
		await expect(call()).rejects.toMatchObject({ problem: { status, transport: 'redirect' } });
		expect(service.lines()).toHaveLength(1);
	},
);

it('A refusal is an error with its path, and says whether the request had content', async () => {
	respond({ detail: 'No such task' }, 404);
	await expect(call()).rejects.toMatchObject({
		httpCode: '404',
		problem: { path: '/tasks/7f3c', isEmpty: true, serviceMessage: 'No such task' },
	});
	respond({ detail: 'No such task' }, 404);
	await expect(call({}, { method: 'POST', body: { a: 1 } })).rejects.toMatchObject({
		problem: { isEmpty: false },
	});
});

describe('An answer without content', () => {
	it('is an empty object', async () => {
		fault({ kind: 'respond', status: 204, body: '' });
		expect(await call()).toEqual({});
	});

	it('is what the caller says it stands for, but only if it is a 204', async () => {
		const noContent = [{ a: 1 }];
		fault({ kind: 'respond', status: 204, body: '' });
		expect(await call({ noContent })).toEqual(noContent);
		fault({ kind: 'respond', status: 200, body: '' });
		expect(await call({ noContent })).toEqual({});
	});
});

it('An answer to a write may be a text, an answer to a read may not', async () => {
	const text = {
		kind: 'respond',
		status: 200,
		body: 'OK',
		headers: { 'content-type': 'text/plain' },
	} as const;
	fault(text);
	expect(await call({}, { method: 'PUT' })).toEqual({ value: 'OK' });
	fault(text);
	await expect(call()).rejects.toMatchObject({ problem: { transport: 'notJson' } });
});

it('An answer shows neither the API key nor a secret, unless the caller keeps the secret', async () => {
	const { apiKey } = service.running();
	const body = { text: `key ${apiKey}`, webhook_secret: 's1', inner: { webhook_secret: 's2' } };
	for (const [keepWebhookSecret, secrets] of [
		[undefined, {}],
		[true, { webhook_secret: 's1', inner: {} }],
		['everywhere', { webhook_secret: 's1', inner: { webhook_secret: 's2' } }],
	] as const) {
		respond(body);
		expect(await call({ keepWebhookSecret })).toEqual({ text: 'key ***', inner: {}, ...secrets });
	}
});

describe('The time for a request', () => {
	it('ends an attempt that the service does not answer, and another one follows', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 500);
		fault({ kind: 'stall' });
		fault({ kind: 'stall' });
		await expect(call({ once: true })).rejects.toMatchObject({
			problem: { transport: 'timeout', attempts: 1 },
		});
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		await expect(call()).rejects.toMatchObject({ problem: { transport: 'timeout' } });
		await until(() => service.lines().length === 2);
	});

	few.it.each<[string, () => CallOptions]>([
		['a deadline', () => ({ deadline: Date.now() + 4_000 })],
		['a time from its turn', () => ({ fromTurn: 4_000 })],
		['the earlier of both', () => ({ fromTurn: 4_000, deadline: Date.now() + LONG })],
		[
			'the earlier of both, the other way round',
			() => ({ fromTurn: LONG, deadline: Date.now() + 4_000 }),
		],
	])('is over for all attempts with %s', async (_what, options) => {
		fault({ kind: 'stall' }, 100);
		await expect(call(options())).rejects.toMatchObject({ problem: { transport: 'timeout' } });
		await until(() => service.lines().length === 1);
	});

	it('lets an attempt that began before the deadline go on for as long as the caller says', async () => {
		fault({ kind: 'delay', ms: 2_500 });
		const bounds = { deadline: Date.now() + 2_000, attemptMs: LONG };
		await expect(call(bounds)).rejects.toMatchObject({ httpCode: '404' });
		expect(service.lines()).toHaveLength(1);
	});

	it('that counts from its turn does not begin anew with another attempt', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 400);
		fault({ kind: 'stall' }, 100);
		await expect(call({ fromTurn: 600 })).rejects.toMatchObject({
			problem: { transport: 'timeout' },
		});
		expect(service.lines().length).toBeLessThanOrEqual(2);
	});
});

describe('While somebody waits for the answer of n8n', () => {
	const contexts = () => contextsWith(additionalDataFor(service.credentials()));

	it.each(['webhookCall', 'editorList'] as const)(
		'all requests of one call (%s) share a short time',
		async (name) => {
			jest.replaceProperty(RETRY, 'brief', 800);
			const { [name]: context } = contexts();
			const caller = context as unknown as Caller;
			respond({ status: 'pending' });
			expect(await call({}, {}, caller)).toEqual({ status: 'pending' });
			fault({ kind: 'stall' }, 100);
			await expect(call({}, {}, caller)).rejects.toThrow();
			await until(() => service.lines().length === 2);
		},
	);

	it('a call that has begun keeps its end', async () => {
		jest.replaceProperty(RETRY, 'brief', 800);
		const caller = contexts().webhookCall as unknown as Caller;
		respond({ status: 'pending' });
		await call({}, {}, caller);
		await new Promise((resolve) => setTimeout(resolve, 810));
		fault({ kind: 'stall' }, 100);
		await expect(call({ deadline: Date.now() + LONG }, {}, caller)).rejects.toThrow();
	});

	it('a request that is given up is aborted, so that no two of them are under way', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 200);
		jest.replaceProperty(RETRY, 'base', 1);
		const open = new Set<ServerResponse>();
		let most = 0;
		const server = createServer((_request, response) => {
			most = Math.max(most, open.add(response).size);
			response.on('close', () => open.delete(response));
			// A slow line: something arrives all the time.
			response.writeHead(200, { 'content-type': 'application/json' }).write('{');
			const drip = setInterval(() => response.write(' '), 20);
			response.on('close', () => clearInterval(drip));
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
		const slow = contextsWith(additionalDataFor({ ...service.credentials(), baseUrl })).item;
		await expect(
			call({ deadline: Date.now() + 900 }, {}, slow as unknown as Caller),
		).rejects.toThrow();
		await until(() => open.size === 0);
		expect(most).toBe(1);
		server.close();
	});

	it.each(['item', 'poll', 'hook'] as const)(
		'an execution, a poll and an activation have their whole patience (%s)',
		async (name) => {
			jest.replaceProperty(RETRY, 'brief', -LONG);
			respond({ status: 'pending' });
			const { [name]: context } = contexts();
			expect(await call({}, {}, context as unknown as Caller)).toEqual({ status: 'pending' });
		},
	);
});
