/**
 * "Every request" in the contract: the API key and webhook secrets never reach an output, an error, a log or a URL.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { captureLogs } from '../../support/logs';

import type { INode } from 'n8n-workflow';
import { withoutSecrets } from '../../../nodes/shared/api/redact';
import type { FaultRule } from '../../simulator/index';
import type { Outcome } from '../../support/engine';
import {
	EVERY_OPERATION,
	WITH_SUMMARY_REGENERATION,
	type Example,
} from '../../support/everyOperation';
import { giveUpSoon, shortenRetries } from '../../support/scale';
import { findIn, secretsInAddresses } from '../../support/search';
import { itemWithFile, serviceForTests } from '../../support/service';
import { few } from '../../support/long';
import { TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';

const API_KEY = 'marked-api-key-5d41402abc4b2a76';
const OWN_SECRET = 'marked-secret-of-the-credential-7f8a';
const WEBHOOK_SECRET = 'marked-webhook-secret-9c1e03';

const service = serviceForTests({ ...WITH_SUMMARY_REGENERATION, apiKey: API_KEY });

const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const SUBMITS = ['transcription.transcribeFile', 'transcription.transcribeUrl', 'meeting.sendBot'];
const HOOK = 'http://127.0.0.1:9/hook';

/** How n8n saves executions. */
const flatted = jest.requireActual<{ stringify: (data: unknown) => string }>('flatted');

let logs: ReturnType<typeof captureLogs>;
beforeEach(() => {
	logs = captureLogs();
});
afterEach(() => logs.release());

interface Circumstances {
	node?: Partial<INode>;
	baseUrl?: string;
	/** What happens to every request of the node. */
	action?: FaultRule['action'];
}

async function run(example: Example, { node, baseUrl, action }: Circumstances = {}) {
	const item = await example.input(service);
	// A busy machine must not make a run fail that is meant to succeed.
	if (action ?? baseUrl) giveUpSoon();
	else shortenRetries(1);
	if (action) service.running().fault({ match: {}, times: 100_000, action });
	return await service.run(example.parameters, {
		items: [item],
		credentials: {
			baseUrl: baseUrl ?? service.running().url,
			apiKey: API_KEY,
			webhookSecret: OWN_SECRET,
		},
		node,
	});
}

/** All places a secret could have come to, beside the headers and bodies of the requests themselves. */
function expectNoSecrets(outcome: Outcome, secrets = [API_KEY, OWN_SECRET, WEBHOOK_SECRET]): void {
	const { error, outputs, data } = outcome;
	const places = {
		output: outputs,
		error,
		execution: data,
		saved: flatted.stringify(data),
		log: logs.lines,
	};
	const found = Object.entries(places).map(([place, value]) => [place, findIn(value, secrets)]);
	const address = secretsInAddresses(service.running().requests, secrets);
	expect({ ...Object.fromEntries(found), address }).toEqual({
		output: [],
		error: [],
		execution: [],
		saved: [],
		log: [],
		address: [],
	});
}

few.it.each<[string, unknown]>([
	['the cause of an error', new Error('a', { cause: { headers: { 'X-API-Key': API_KEY } } })],
	['the stack of an error', Object.assign(new Error('a'), { stack: `at ${API_KEY}` })],
	['a property that is not enumerable', Object.defineProperty({}, 'a', { value: API_KEY })],
	['the name of a property', { [API_KEY]: 1 }],
	['bytes', { file: Buffer.from(API_KEY) }],
	['base64', { data: Buffer.from(API_KEY).toString('base64') }],
	['the middle of base64', { data: Buffer.from(`u:${API_KEY}!`).toString('base64') }],
	[
		'the middle of base64, a letter later',
		{ data: Buffer.from(`_${API_KEY}!`).toString('base64') },
	],
	['hexadecimal', Buffer.from(API_KEY).toString('hex')],
	['a map', new Map([[API_KEY, 1]])],
])('the search of these tests looks into %s', (_where, value) => {
	expect(findIn(value, [API_KEY, OWN_SECRET])).toEqual([API_KEY]);
});

few.describe.each(EVERY_OPERATION)('$name', (example) => {
	it('shows no secret when it succeeds', async () => {
		const outcome = await run(example);
		expect(outcome.error).toBeUndefined();
		expect(service.running().requests[0]?.headers['x-api-key']).toBe(API_KEY);
		expect(findIn(logs.lines, ['Start executing node'])).toHaveLength(1);
		expectNoSecrets(outcome);
	});

	it('shows no secret of an answer that repeats them', async () => {
		const text = `you sent ${API_KEY}`;
		const action = {
			kind: 'respond',
			status: 200,
			body: {
				task_id: '7f3c',
				status: 'completed',
				content: text,
				terms: [text, 'n8n'],
				headers: { 'X-API-Key': API_KEY },
				tasks: [{ task_id: '1', note: text, webhook_secret: WEBHOOK_SECRET }],
				webhook_secret: WEBHOOK_SECRET,
			},
		} as const;
		const outcome = await run(example, { action });
		expect(outcome.items.length).toBeGreaterThan(0);
		const isOutput = example.name === 'apiKey.rotate';
		expectNoSecrets(outcome, isOutput ? [API_KEY, OWN_SECRET] : undefined);
	});

	const echo = { detail: { error_code: `code ${API_KEY}`, message: `key ${API_KEY} is bad` } };
	few.it.each<[string, FaultRule['action']]>([
		['a refusal that repeats the key', { kind: 'respond', status: 400, body: echo }],
		['a refusal in text', { kind: 'respond', status: 500, body: `key ${API_KEY} is bad` }],
		['a refusal in a list', { kind: 'respond', status: 422, body: { detail: [{ msg: API_KEY }] } }],
		['401', { kind: 'respond', status: 401, body: echo }],
		['an answer that is not JSON', { kind: 'respond', status: 200, body: `<p>${API_KEY}</p>` }],
		['429 until the patience ends', { kind: 'respond', status: 429, body: echo }],
		['a redirect', { kind: 'redirect', status: 307, location: `/?key=${API_KEY}` }],
		['a broken connection', { kind: 'cut', when: 'afterBody' }],
	])('shows no secret when it fails: %s', async (_why, action) => {
		for (const node of [{}, CONTINUE]) {
			service.running().reset();
			const outcome = await run(example, { node, action });
			// Whatever a rotation is answered is output, because it may be the only copy of the key.
			const isOutput =
				example.name === 'apiKey.rotate' && 'status' in action && action.status === 200;
			expect(outcome.error ?? outcome.json[0]?.[isOutput ? 'value' : 'error']).toBeDefined();
			expectNoSecrets(outcome);
		}
	});

	it('shows no secret when nobody answers: refused connection, no TLS, timeout', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 20);
		jest.replaceProperty(TIMEOUTS, 'uploadIdle', 20);
		const { url } = service.running();
		const circumstances: Circumstances[] = [
			{ baseUrl: 'http://127.0.0.1:1' },
			{ baseUrl: url.replace('http:', 'https:') },
			{ action: { kind: 'stall' } },
		];
		for (const circumstance of circumstances) {
			const outcome = await run(example, circumstance);
			expect(outcome.error).toBeDefined();
			expectNoSecrets(outcome);
		}
		// A request that arrives after the node has given up must not reach the next test.
		for (let tries = 0; tries < 20 && service.lines().length === 0; tries++) await sleep(10);
		jest.replaceProperty(TIMEOUTS, 'request', 60_000);
		jest.replaceProperty(TIMEOUTS, 'uploadIdle', 300_000);
	});
});

describe('the secret of a webhook', () => {
	const secretsOf = () =>
		[...service.running().tasks(), ...service.running().bots()].map(({ webhookSecret }) => {
			if (!webhookSecret) throw new Error('No webhook was asked for');
			return webhookSecret;
		});
	const submits = EVERY_OPERATION.filter(({ name }) => SUBMITS.includes(name));

	it.each(submits)(
		'is in the output of $name with "Call a URL When Ready", where it is the point',
		async (example) => {
			const parameters = { ...example.parameters, onCompletion: 'callUrl', webhookUrl: HOOK };
			const outcome = await run({ ...example, parameters });
			const [secret = ''] = secretsOf();
			expect(outcome.error).toBeUndefined();
			expect(outcome.json[0]).toMatchObject({ webhook_secret: secret });
			expect(findIn([logs.lines, outcome.error], [secret])).toEqual([]);
			expectNoSecrets(outcome, [API_KEY, OWN_SECRET]);
		},
	);

	it.each(submits)(
		'is neither output nor saved in clear by $name with "Wait for the Transcript (Webhook)"',
		async (example) => {
			const parameters = { ...example.parameters, onCompletion: 'awaitWebhook' };
			const outcome = await run({ ...example, parameters });
			expect(outcome.error).toBeUndefined();
			expectNoSecrets(outcome, [API_KEY, OWN_SECRET, ...secretsOf()]);
		},
	);

	it('is not output where the webhook was asked for behind the node’s back', async () => {
		const options = { customFields: { webhook_url: HOOK } };
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeFile',
			onCompletion: 'returnTask',
			options,
		};
		const input = async () => itemWithFile();
		const outcome = await run({ name: 'custom', parameters, input });
		expectNoSecrets(outcome, [API_KEY, ...secretsOf()]);
	});
});

it('the new key of a rotation is in its output, and nowhere else', async () => {
	const outcome = await run({
		name: 'rotate',
		parameters: { resource: 'apiKey', operation: 'rotate', confirm: true },
		input: async () => ({ json: {} }),
	});
	const { apiKey } = service.running();
	expect(apiKey).not.toBe(API_KEY);
	expect(outcome.json).toEqual([{ api_key: apiKey }]);
	expect(findIn(logs.lines, [apiKey])).toEqual([]);
	expectNoSecrets(outcome);
});

it('a key so short that it could be a word does not alter a transcript', () => {
	expect(withoutSecrets({ text: 'a test' }, { apiKey: 'test' })).toEqual({ text: 'a test' });
	expect(withoutSecrets({ text: 'a test' }, {})).toEqual({ text: 'a test' });
});

it('a Webhook Secret that begins with the API key is masked whole', () => {
	const webhookSecret = `${API_KEY}-of-2026`;
	expect(withoutSecrets({ note: webhookSecret }, { apiKey: API_KEY, webhookSecret })).toEqual({
		note: '***',
	});
});

describe('an answer', () => {
	it('loses every secret of a webhook, whatever its name', () => {
		const secrets = { webhook_signing_secret: 's', webhookSecret: 's', 'Webhook-Secret': 's' };
		const hook = { url: 'https://hooks.example.com', secret: 's' };
		const rest = { url: hook.url };
		const answer = { ...secrets, webhook: hook, webhooks: [{ ...hook }], text: 'My secret', id: 1 };
		expect(withoutSecrets(answer, { apiKey: API_KEY }, true)).toEqual({
			webhook: rest,
			webhooks: [rest],
			text: 'My secret',
			id: 1,
		});
		const deeper = { last_webhook_secret: 's', last_webhook: { signing_secret: 's', by: [hook] } };
		expect(withoutSecrets(deeper, { apiKey: API_KEY }, true)).toEqual({
			last_webhook: { by: [rest] },
		});
		expect(withoutSecrets({ secret: 'of the speaker' }, { apiKey: API_KEY })).toEqual({
			secret: 'of the speaker',
		});
	});

	it('keeps what it says about the secret of a webhook', () => {
		const answer = { webhook: { secret_created_at: '2026-11-27T12:00:00Z' } };
		expect(withoutSecrets(answer, { apiKey: API_KEY })).toEqual(answer);
	});

	it('is masked however deep it is nested', () => {
		let deep: object = { note: API_KEY, webhook_secret: WEBHOOK_SECRET };
		for (let level = 0; level < 20_000; level++) deep = level % 2 ? { inner: deep } : [deep];
		let bottom: unknown = withoutSecrets(deep, { apiKey: API_KEY }, true);
		for (let level = 20_000; level > 0; level--) bottom = Object.values(bottom as object)[0];
		expect(bottom).toEqual({ note: '***' });
	});

	it('that holds itself is copied, not followed for ever', () => {
		const answer: { self?: object; key: string } = { key: API_KEY };
		answer.self = answer;
		const copy = withoutSecrets(answer, { apiKey: API_KEY }) as typeof answer;
		expect(copy.key).toBe('***');
		expect(copy.self).toBe(copy);
	});

	it('is masked in the names of its fields, and where the key is URL-encoded', () => {
		const key = 'key/with+signs=';
		expect(withoutSecrets({ [key]: encodeURIComponent(key) }, { apiKey: key })).toEqual({
			'***': '***',
		});
	});

	it('keeps the secret of the submission, and none that stands deeper or is written otherwise', () => {
		const secret = { webhook_secret: 's' };
		const answer = { ...secret, task: secret, tasks: [secret], webhookSecret: 's', id: 1 };
		expect(withoutSecrets(answer, { apiKey: API_KEY }, true)).toEqual({
			...secret,
			task: {},
			tasks: [{}],
			id: 1,
		});
		expect(withoutSecrets([answer], { apiKey: API_KEY }, true)).toEqual([
			{ ...secret, task: {}, tasks: [{}], id: 1 },
		]);
		expect(withoutSecrets(answer, { apiKey: API_KEY })).toEqual({ task: {}, tasks: [{}], id: 1 });
	});
});
