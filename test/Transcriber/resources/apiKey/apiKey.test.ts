// Also covers index.ts, rotate.ts, nodes/Transcriber/submit/once/sendWithoutKey.ts.

import { rotateKey } from '../../../../nodes/Transcriber/resources/apiKey/rotate';
import { Transcriber } from '../../../../nodes/Transcriber/Transcriber.node';
import type { FaultRule } from '../../../simulator/index';
import { until } from '../../../simulator/testing-client';
import { again } from '../../../support/again';
import { itemContext } from '../../../support/itemContext';
import { captureLogs } from '../../../support/logs';
import { shortenRetries } from '../../../support/scale';
import { failureOf, itemsOf, serviceForTests } from '../../../support/service';
import { FAULTS_IN_SUCCESS } from '../../../support/faultsInSuccess';
import { few } from '../../../support/long';
import { findIn } from '../../../support/search';

const service = serviceForTests();

const ROTATE = { resource: 'apiKey', operation: 'rotate', confirm: true };

describe('apiKey.rotate', () => {
	it('sends POST /api-key/generate without fields, with the old key', async () => {
		await service.run(ROTATE);
		const request = service.sent();
		expect(request).toMatchObject({
			method: 'POST',
			path: '/api/v1/api-key/generate',
			query: {},
			bodyBytes: 0,
		});
		expect(request.headers['x-api-key']).toBe('test-api-key');
		expect(request.headers).not.toHaveProperty('idempotency-key');
	});

	it('outputs the new key, which is the point of it, paired', async () => {
		const { items } = await service.run(ROTATE);
		expect(items).toEqual([
			{ json: { api_key: service.running().apiKey }, pairedItem: { item: 0 } },
		]);
		expect(service.running().apiKey).not.toBe('test-api-key');
	});

	it('leaves the new key nowhere in the execution but in the output', async () => {
		const { data, outputs } = await service.run(ROTATE);
		const { apiKey } = service.running();
		expect(findIn(outputs, [apiKey])).toEqual([apiKey]);
		for (const items of outputs) items.length = 0;
		expect(findIn(data, [apiKey])).toEqual([]);
	});

	it('outputs the new key under whatever name the service gives it', async () => {
		service.running().configure({ shapes: { apiKeyField: 'new_key' } });
		const { json } = await service.run(ROTATE);
		expect(json).toEqual([{ new_key: service.running().apiKey }]);
	});

	it("n8n's log says that the key may be replaced if the execution is stopped meanwhile", async () => {
		const { running } = service;
		const action = { kind: 'delay', ms: 500, processed: true } as const;
		running().fault({ match: { method: 'POST' }, action });
		const logs = captureLogs();
		const cancelWhen = () => running().apiKey !== 'test-api-key';
		const { error } = await service.run(ROTATE, { cancelWhen });
		logs.release();
		expect(error?.message).toContain('cancelled');
		expect(logs.lines.filter((line) => line.includes('The old key may no longer work'))).toEqual([
			expect.stringContaining('Transcriber was stopped while the API key was being rotated'),
		]);
	});

	it("n8n's log says nothing of a stop if the service has answered without a key", async () => {
		service.running().fault({ match: {}, action: { kind: 'respond', status: 200, body: {} } });
		const logs = captureLogs();
		const { error } = await service.run(ROTATE);
		logs.release();
		expect(error?.message).toContain('without a new API key');
		expect(logs.lines.filter((line) => line.includes('was stopped'))).toEqual([]);
	});

	it('the old key stops working at once', async () => {
		const credentials = service.credentials();
		await service.run(ROTATE, { credentials });
		const { error } = await service.run({ resource: 'account', operation: 'get' }, { credentials });
		expect(error).toMatchObject(failureOf(0, 'The service does not accept the API key'));
	});

	it.each([
		['by default', {}],
		['when off', { confirm: false }],
		['when not exactly true', { confirm: '={{ "no" }}' }],
	])('does nothing unless confirm is true: %s', async (_case, confirm) => {
		const { error } = await service.run({ resource: 'apiKey', operation: 'rotate', ...confirm });
		expect(error).toMatchObject(failureOf(0, "'Confirm' is off, so the API key was not rotated"));
		expect(service.lines()).toEqual([]);
	});

	it('is confirmed with a switch that is off at first, below a notice', () => {
		const { properties } = new Transcriber().description;
		const own = properties.filter(({ displayOptions }) =>
			displayOptions?.show?.['operation']?.includes('rotate'),
		);
		expect(own.map(({ name, type, default: first }) => [name, type, first])).toEqual([
			['rotateNotice', 'notice', ''],
			['confirm', 'boolean', false],
		]);
	});

	it('does not call confirm off that a sheet gives as text', async () => {
		const { error } = await service.run({ ...ROTATE, confirm: '={{ "true" }}' });
		expect(error?.message).toMatch(/^'Confirm' has to be true or false, and not a text/);
		expect(service.lines()).toEqual([]);
	});

	it.each([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'rotates at most once: several items are refused (onError: %s)',
		async (onError) => {
			const items = itemsOf({}, {});
			await service.run(ROTATE, { items, node: { onError } });
			expect(service.lines()).toEqual([]);
		},
	);
});

describe('what the service answers to apiKey.rotate', () => {
	const rotated = (status: number, body: unknown, headers = {}) => {
		service.running().fault({
			match: { path: '/generate$' },
			action: { kind: 'respond', status, body, headers },
		});
	};
	it.each<[string, FaultRule['action']]>([
		['a lost answer', { kind: 'cut', when: 'afterProcessing' }],
		['an answer without a key', { kind: 'respond', status: 200, body: {} }],
		['a success that says no', { kind: 'respond', status: 200, body: { success: false } }],
	])('the output of a node that goes on says what may be lost: %s', async (_what, action) => {
		service.running().fault({ match: { path: '/generate$' }, action });
		const { json } = await service.run(ROTATE, { node: { onError: 'continueRegularOutput' } });
		expect(json[0]?.error).toMatch(/The old key may no longer work/);
	});

	const LOOK_FIRST = /^The old key may no longer work\. Look in your account at the service/;

	few.it.each([
		['an object', '{"key": "nk_1234"}', [{ key: 'nk_1234' }]],
		['a JSON text', '"nk_1234"', [{ value: 'nk_1234' }]],
		['a plain text', 'nk_1234', [{ value: 'nk_1234' }]],
		['a web page', '<p>nk_1234</p>', [{ value: '<p>nk_1234</p>' }]],
		['a number', '1234', [{ value: 1234 }]],
		['a list', '["nk_1234", {"expires": 1}]', [{ value: 'nk_1234' }, { expires: 1 }]],
		[
			'an object with a webhook_secret',
			'{"key": "nk_1", "webhook_secret": "s", "deep": {"webhookSecret": "s"}}',
			[{ key: 'nk_1', webhook_secret: 's', deep: { webhookSecret: 's' } }],
		],
		['a list with an empty element', '[{}, {"key": "nk_1234"}]', [{}, { key: 'nk_1234' }]],
		['a nested object', '{"data": {"key": "nk_1234"}}', [{ data: { key: 'nk_1234' } }]],
		['a key that begins with the old one', '"test-api-key-2"', [{ value: 'test-api-key-2' }]],
		['a key that ends in the old one', '{"k": "2-test-api-key"}', [{ k: '2-test-api-key' }]],
	])('reaches the output as %s', async (_case, body, expected) => {
		for (const type of ['application/json', 'text/plain', 'application/octet-stream']) {
			service.running().reset();
			rotated(200, body, { 'Content-Type': type });
			const { json, error } = await service.run(ROTATE);
			expect(error).toBeUndefined();
			expect(json).toEqual(expected);
		}
	});

	it('is an error if it says no', async () => {
		rotated(200, { success: false, error: 'Rotation is switched off' });
		const { error } = await service.run(ROTATE);
		expect(error?.message).toMatch(/the API key is not rotated: Rotation is switched off/);
		expect(error?.description).toMatch(LOOK_FIRST);
	});

	few.it.each(FAULTS_IN_SUCCESS)('is not asked for again where it says no: %j', async (body) => {
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/generate$' }, action, times: 3 });
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { error } = await service.run(ROTATE, { node });
		expect(service.lines()).toHaveLength(1);
		expect(error?.description).toMatch(LOOK_FIRST);
	});

	it('reaches the output even if the credential has the old key as its Webhook Secret', async () => {
		rotated(200, { api_key: 'v2.test-api-key', old: 'test-api-key' });
		const credentials = { ...service.credentials(), webhookSecret: 'test-api-key' };
		const { json } = await service.run(ROTATE, { credentials });
		expect(json).toEqual([{ api_key: 'v2.test-api-key', old: '***' }]);
	});

	few.it.each([
		[200, ''],
		[200, '{}'],
		[200, '[]'],
		[200, 'null'],
		[204, ''],
	])('is an error that says where to look when it is empty: %d %j', async (status, body) => {
		rotated(status, body);
		const { error } = await service.run(ROTATE);
		const message = 'The service answered the rotation without a new API key';
		expect(error).toMatchObject(failureOf(0, message));
		expect(error?.description).toMatch(LOOK_FIRST);
	});

	few.it.each<[string, object, RegExp]>([
		['lost', { kind: 'cut', when: 'afterProcessing' }, /connection to the service broke/],
		['500', { kind: 'respond', status: 500 }, /internal fault/],
		['502', { kind: 'respond', status: 502 }, /no usable answer/],
		[
			'503 of a gateway',
			{ kind: 'respond', status: 503, body: 'reset reason: connection termination' },
			/temporarily unavailable/,
		],
	])('is not rotated again by Retry On Fail when it is %s', async (_case, action, words) => {
		service.running().fault({ match: { path: '/generate$' }, action: action as never });
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { error } = await service.run(ROTATE, { node });
		expect(service.lines()).toEqual(['POST /api/v1/api-key/generate']);
		expect(error?.message).toMatch(/not known whether the API key was rotated/);
		expect(error?.description).toMatch(LOOK_FIRST);
		service.running().reset();
		service.running().fault({ match: { path: '/generate$' }, action: action as never });
		const first = (await service.run(ROTATE)).error;
		expect(first?.message).toMatch(words);
		expect(first?.message).toContain('so it is not known whether the API key was rotated');
		expect(first?.description).toMatch(LOOK_FIRST);
	});

	it('may be a new key where n8n has no signal of a stop either, as for an MCP client', async () => {
		rotated(500, {});
		const pagination = rotateKey.routing?.operations?.pagination;
		if (typeof pagination !== 'function') throw new Error('The operation has another hook');
		const context = itemContext(ROTATE, { credentials: service.credentials() });
		const baseURL = `${service.running().url}/api/v1`;
		const options = { method: 'POST', baseURL, url: '/api-key/generate' } as const;
		const rotating = pagination.call(context, {
			options,
			preSend: [],
			postReceive: [],
		});
		await expect(rotating).rejects.toMatchObject({
			message: expect.stringContaining('so it is not known whether the API key was rotated'),
			description: expect.stringMatching(LOOK_FIRST),
		});
	});

	it.each([null, '', false, 'none', 0])(
		'is not rotated again by Retry On Fail where it has an `error` that is %j',
		async (value) => {
			rotated(200, { api_key: 'nk_new', error: value });
			const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
			const { error, json } = await service.run(ROTATE, { node });
			expect(error).toBeUndefined();
			expect(json).toEqual([{ api_key: 'nk_new', service_error: value }]);
			expect(service.lines()).toHaveLength(1);
		},
	);

	it('is not blamed on the key where an attempt before may have replaced it', async () => {
		shortenRetries(500);
		rotated(503, { detail: 'Temporarily unavailable' });
		rotated(401, { detail: 'Invalid API key' });
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { error } = await service.run(ROTATE, { node });
		expect(service.lines()).toHaveLength(2);
		expect(error?.message).toMatch(/not known whether the API key was rotated/);
		expect(error?.description).toMatch(LOOK_FIRST);
	});

	it('is blamed on the key where the first attempt is refused for it', async () => {
		rotated(401, { detail: 'Invalid API key' });
		rotated(401, { detail: 'Invalid API key' });
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { error } = await service.run(ROTATE, { node });
		expect(service.lines()).toHaveLength(2);
		expect(error).toMatchObject(failureOf(0, 'The service does not accept the API key'));
	});

	it('is rotated again by Retry On Fail after a refusal that an attempt before did not cause', async () => {
		shortenRetries(500);
		rotated(503, { detail: 'Temporarily unavailable' });
		rotated(400, {});
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const { error, json } = await service.run(ROTATE, { node });
		expect(error).toBeUndefined();
		expect(json).toEqual([{ api_key: service.running().apiKey }]);
	});

	it('is rotated again by Retry On Fail where the next attempt was not even sent', async () => {
		shortenRetries(1);
		const current = service.credentials();
		const headers = { 'Retry-After': '1.1' };
		rotated(503, { detail: 'Temporarily unavailable' }, headers);
		const node = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const rotating = service.run(ROTATE, { node, credentials: current });
		await until(() => service.lines().length === 1);
		// The key of now may be none of the service that the request was meant for.
		Object.assign(current, { baseUrl: `${current.baseUrl}/proxy` });
		const { error } = await rotating;
		expect(service.lines()).toEqual([
			'POST /api/v1/api-key/generate',
			'POST /proxy/api/v1/api-key/generate',
		]);
		expect(error?.message).not.toContain('not known whether');
	});

	it('is not rotated again by a Retry of the execution, which says where the new key is', async () => {
		const first = await service.run(ROTATE);
		const data = again(first, ROTATE, itemsOf({}), { asFirstRun: true });
		const { error } = await service.run(ROTATE, { data });
		expect(error?.message).toContain('This execution has rotated the API key before');
		expect(error?.description).toContain('The earlier output of this node has the new key');
		expect(service.lines()).toHaveLength(1);
	});

	it('is rotated again by Retry On Fail after a refusal', async () => {
		rotated(400, {});
		const node = { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 };
		const { error, json } = await service.run(ROTATE, { node });
		expect(error).toBeUndefined();
		expect(json).toEqual([{ api_key: service.running().apiKey }]);
	});
});
