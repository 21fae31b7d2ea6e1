/**
 * Contract, "Webhook calls": before the signature is verified, a request costs little.
 */
// Also covers receiveDelivery.ts, receiveHandOver.ts, nodes/shared/webhook/logSeldom.ts, nodes/shared/webhook/webhookCredential.ts.

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import type { Run } from '../support/engine';
import { captureLogs } from '../support/logs';
import { atLength, long } from '../support/long';
import { deliver, handOverTo, post, put, sign } from './client';
import { TriggerHost } from './host';

const KEY = 'test-api-key';
const SECRET = 'whsec_of_the_task';
const UNSIGNED = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
const NO_RESULT = { options: { includeResult: false } };

let host: TriggerHost;
// A process says only once that it cannot reach itself: not before the test that waits for it.
beforeEach(() => void jest.replaceProperty(STORE, 'safeAfterMs', 1_000));
afterEach(async () => await host.close());

/** A credential that counts how often n8n reads it, and can be out of reach. */
function countedCredential(apiKey = KEY) {
	const counted = { reads: 0, isThere: true };
	const credentials = new Proxy(
		{ baseUrl: 'http://127.0.0.1:9', apiKey },
		{
			ownKeys(target) {
				counted.reads += 1;
				if (!counted.isThere)
					throw Object.assign(new Error('words that may hold a secret'), { code: 'SQLITE_BUSY' });
				return Reflect.ownKeys(target);
			},
		},
	) as Run['credentials'];
	return { counted, credentials };
}

async function open(credentials: Run['credentials']) {
	host = await new TriggerHost({ parameters: NO_RESULT, credentials }).open();
}

describe('The credential is read once for many calls', () => {
	long.it('of 200 concurrent unsigned deliveries and rubbish hand-overs', async () => {
		const { counted, credentials } = countedCredential();
		await open(credentials);
		const raw = JSON.stringify({ task_id: '7f3c' });
		const rubbish = JSON.stringify({ sealed: 'A'.repeat(100) });
		const answers = await Promise.all(
			Array.from({ length: 100 }, async () => [
				(await post(host.url, raw, UNSIGNED)).status,
				(await post(host.url, rubbish, {}, 'PUT')).status,
			]),
		);
		expect(new Set(answers.map(String))).toEqual(new Set(['503,401']));
		// Once as a rule, and for what does not open once a second.
		expect(counted.reads).toBeLessThan(10);
	});

	long.it('also when it cannot be read: 503, and nothing has changed', async () => {
		const { counted, credentials } = countedCredential();
		await open(credentials);
		counted.isThere = false;
		const raw = JSON.stringify({ task_id: '7f3c' });
		for (let count = 0; count < atLength(50, 15); count++) {
			expect((await post(host.url, raw, UNSIGNED)).status).toBe(503);
		}
		expect(counted.reads).toBeLessThan(10);
		expect(host.thrown).toEqual([]);
		expect(host.saved).toBe('{}');
		counted.isThere = true;
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
	});

	it.each([
		['cannot be read', KEY],
		['has a blank API key', ' '],
	])('of rubbish hand-overs while it %s', async (_, apiKey) => {
		const { counted, credentials } = countedCredential(apiKey);
		await open(credentials);
		counted.isThere = apiKey !== KEY;
		for (let count = 0; count < 15; count++) {
			expect((await post(host.url, '{"sealed":"AAAA"}', {}, 'PUT')).status).toBe(503);
		}
		expect(counted.reads).toBeLessThan(10);
	});

	it('of deliveries that come some seconds apart', async () => {
		const { counted, credentials } = countedCredential();
		await open(credentials);
		const { now } = Date;
		const clock = jest.spyOn(Date, 'now');
		const reads: number[] = [];
		for (const seconds of [0, 2, 4]) {
			clock.mockImplementation(() => now() + seconds * 1_000);
			expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(503);
			reads.push(counted.reads);
		}
		clock.mockRestore();
		expect(reads).toEqual([1, 1, 1]);
	});

	it('not at all without a well-formed signature', async () => {
		const { counted, credentials } = countedCredential();
		await open(credentials);
		for (let count = 0; count < 20; count++) {
			expect((await post(host.url, '{"task_id":"7f3c"}')).status).toBe(401);
		}
		expect(counted.reads).toBe(0);
	});
});

describe('A blank API key opens nothing', () => {
	it.each(['', ' ', '\t'])('%j: nobody can plant a secret', async (apiKey) => {
		await open({ baseUrl: 'http://127.0.0.1:9', apiKey, webhookSecret: 'for all' });
		expect((await put(host.url, 'made-up', 'of the attacker', apiKey)).status).not.toBe(200);
		expect((await put(host.url, 'made-up', 'of the attacker', apiKey)).status).not.toBe(202);
		const answer = await deliver(
			host.url,
			{ task_id: 'made-up', status: 'completed' },
			'of the attacker',
		);
		expect(answer.status).not.toBe(200);
		expect([host.executions, host.saved]).toEqual([[], '{}']);
	});
});

it('an answer of 503 for something unexpected is logged, without a secret', async () => {
	const { counted, credentials } = countedCredential();
	await open(credentials);
	counted.isThere = false;
	const logs = captureLogs();
	const raw = JSON.stringify({ task_id: '7f3c' });
	const answer = await post(host.url, raw, { 'x-service-signature': sign(raw, SECRET) });
	logs.release();
	expect(answer.status).toBe(503);
	expect(logs.lines.join('\n')).toContain('SQLITE_BUSY');
	for (const secret of [KEY, SECRET, 'words that may hold a secret'])
		expect(logs.lines.join('\n')).not.toContain(secret);
});

it('100 unsigned calls that go wrong write one line into the log', async () => {
	const { counted, credentials } = countedCredential();
	await open(credentials);
	host.node.name = 'Trigger of this test';
	counted.isThere = false;
	const logs = captureLogs();
	const raw = JSON.stringify({ task_id: '7f3c' });
	const calls = Array.from({ length: 50 }, async () => [
		(await post(host.url, raw, UNSIGNED)).status,
		(await post(host.url, JSON.stringify({ sealed: 'A'.repeat(100) }), {}, 'PUT')).status,
	]);
	const answers = await Promise.all(calls);
	logs.release();
	expect(new Set(answers.flat())).toEqual(new Set([503]));
	expect(logs.lines.filter((line) => line.includes(host.node.name))).toHaveLength(1);
});

it('a process that cannot reach itself says so once, and what to set', async () => {
	jest.replaceProperty(STORE, 'safeAfterMs', 20);
	await open({ baseUrl: 'http://127.0.0.1:9', apiKey: KEY });
	const logs = captureLogs();
	const lines = () => logs.lines.filter((line) => line.includes('cannot call its own address'));
	await put(host.url, '7f3c', SECRET, KEY);
	await host.close();
	await until(() => lines().length > 0);
	logs.release();
	jest.restoreAllMocks();
	expect(lines()).toHaveLength(1);
	expect(lines()[0]).toContain('ECONNREFUSED');
	expect(lines()[0]).toContain('add 127.0.0.1 to NO_PROXY');
	expect(lines()[0]).toContain('N8N_SSRF_ALLOWED_IP_RANGES, as a range: 127.0.0.1/32');
});
