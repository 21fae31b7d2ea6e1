/** A new API key, stored in n8n's own credential. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { lineOf } from '../../n8n/lines';
import type { StoredWorkflow } from '../../n8n/rest';
import { Bench, readExample, sharedN8n } from '../harness';
import { jsonOf, nodeOf, rowsOf, withSettings } from './support';

describe('examples/rotate-api-key.json', () => {
	const RESCUE = 'Transcriber API key rescue';
	// The public API of n8n 1 can create and delete credentials, but not change them.
	const canStore = lineOf(sharedN8n().version).canChangeCredentials;
	let bench: Bench;
	let n8nApi: { id: string; name: string };
	let oldKey: string;

	beforeAll(async () => {
		bench = await Bench.open();
		oldKey = bench.simulator.apiKey;
		// One that may do what the sticky note says and nothing else.
		const { rawApiKey } = await bench.rest.post<{ rawApiKey: string }>('/api-keys', {
			label: `rotation ${Date.now()}`,
			scopes: [canStore ? 'credential:update' : 'credential:create'],
			expiresAt: null,
		});
		n8nApi = await bench.rest.createCredential('n8nApi', {
			apiKey: rawApiKey,
			baseUrl: `${bench.n8n.url}/api/v1`,
		});
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	/** The example with a credential of its own. */
	async function example(n8nUrl = bench.n8n.url, change: Record<string, string> = {}) {
		const { url: baseUrl, apiKey } = bench.simulator;
		const data = { baseUrl, apiKey, webhookSecret: 'kept' };
		const transcriberApi = await bench.rest.createCredential('transcriberApi', data, 'Rotated');
		const settings = { n8nUrl, credentialId: transcriberApi.id, ...change };
		const workflow = withSettings(await readExample('rotate-api-key.json'), settings);
		return { workflow, transcriberApi };
	}

	async function rotate(...how: Parameters<typeof example>) {
		const { workflow, transcriberApi } = await example(...how);
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi, n8nApi });
		return { execution: await bench.rest.runToEnd(stored), transcriberApi, stored };
	}

	/** Everything that n8n keeps of the executions of a workflow. */
	async function history({ id }: StoredWorkflow): Promise<{ modes: string[]; text: string }> {
		const list = await bench.rest.executions(id);
		const kept = await Promise.all(list.map(async (one) => await bench.rest.execution(one.id)));
		return { modes: kept.map(({ mode }) => mode), text: JSON.stringify(kept) };
	}

	async function stored({ id }: { id: string }): Promise<unknown> {
		return await bench.rest
			.get<{ data: unknown }>(`/credentials/${id}?includeData=true`)
			.then(({ data }) => data);
	}

	it.each([
		['a credential id that is not there', { credentialId: 'nobody' }],
		['no credential id', { credentialId: '' }],
	])('%s stops it before the old key is given up', async (_what, change) => {
		const { execution } = await rotate(bench.n8n.url, change);
		expect(execution.status).toBe('error');
		expect(execution.error?.node?.name).toBe('Can n8n Store It?');
		expect(bench.asked()).toEqual([]);
		expect(bench.simulator.apiKey).toBe(oldKey);
	});

	it('an address that is not that of n8n stops it as well', async () => {
		const { execution } = await rotate('http://127.0.0.1:9');
		expect(execution.status).toBe('error');
		expect(bench.simulator.apiKey).toBe(oldKey);
	});

	if (canStore) describe('on an n8n whose public API can change a credential', storing);
	else it('an n8n whose public API cannot change a credential stops it as well', stops);

	async function stops(): Promise<void> {
		const { execution } = await rotate();
		expect(execution.status).toBe('error');
		expect(bench.simulator.apiKey).toBe(oldKey);
	}

	function storing(): void {
		it('stores the new key in the credential of n8n, and the key works there', async () => {
			const { execution, transcriberApi } = await rotate();
			expect(execution.error).toBeUndefined();
			expect(jsonOf(execution, 'Rotated')).toEqual([
				{ message: 'The API key was rotated and stored. The old one no longer works.' },
			]);
			expect(bench.simulator.apiKey).not.toBe(oldKey);
			const last = bench.simulator.requests.at(-1);
			expect(last).toMatchObject({ path: '/api/v1/account', status: 200 });
			expect(last?.headers['x-api-key']).toBe(bench.simulator.apiKey);
			// The other fields stay; n8n shows that a secret is there, not what it is.
			expect(await stored(transcriberApi)).toMatchObject({
				baseUrl: bench.simulator.url,
				webhookSecret: expect.stringMatching(/./),
			});
		});

		it('leaves the key in no execution that n8n keeps, and shows how it ended', async () => {
			const { stored } = await rotate();
			const { modes, text } = await history(stored);
			expect(modes).toEqual(['manual']);
			expect(text).toContain('The API key was rotated and stored.');
			expect(text).not.toContain(bench.simulator.apiKey);
		});

		it('started by its schedule, it leaves no execution at all', async () => {
			const { workflow, transcriberApi } = await example();
			nodeOf(workflow, 'Every Month').disabled = false;
			nodeOf(workflow, 'Every Month').parameters = {
				rule: { interval: [{ field: 'seconds', secondsInterval: 10 }] },
			};
			const stored = await bench.rest.createWorkflow(workflow, { transcriberApi, n8nApi });
			const before = bench.simulator.apiKey;
			await bench.rest.activate(stored);
			while (bench.simulator.apiKey === before) await sleep(100);
			// n8n ends an execution that is under way when its workflow is switched off.
			await sleep(4_000);
			await bench.rest.deactivate(stored);
			await sleep(2_000);
			expect(await history(stored)).toEqual({ modes: [], text: '[]' });
		});

		it('if storing fails, the key is where the owner finds it, and the execution says where', async () => {
			const proxy = await proxyThatFailsAfter(1, bench.n8n.url);
			const { execution, stored } = await rotate(proxy.url);
			await proxy.close();
			expect(proxy.calls()).toBe(4);
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(await rescued()).toContain(bench.simulator.apiKey);
			expect((await history(stored)).text).not.toContain(bench.simulator.apiKey);
		});

		it('so it is if the stored key does not work', async () => {
			bench.simulator.fault({
				match: { path: '/account$' },
				skip: 1,
				action: { kind: 'respond', status: 401 },
			});
			const { execution } = await rotate();
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(await rescued()).toContain(bench.simulator.apiKey);
		});

		it.each(['key', 'new_key', 'apiKey'])(
			'finds the new key in a field "%s"',
			async (apiKeyField) => {
				bench.simulator.configure({ shapes: { apiKeyField } });
				const { execution } = await rotate();
				expect(execution.error).toBeUndefined();
			},
		);

		it('an answer in which no key can be found is rescued as a whole', async () => {
			bench.simulator.configure({ shapes: { apiKeyField: 'token' } });
			const { execution } = await rotate();
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(JSON.stringify(await rowsOf(bench, RESCUE))).toContain(bench.simulator.apiKey);
		});
	}

	async function rescued(): Promise<unknown[]> {
		return (await rowsOf(bench, RESCUE)).map((row) => row['new_api_key']);
	}
});

/** An n8n address whose public API answers only so many times. */
async function proxyThatFailsAfter(times: number, target: string) {
	let calls = 0;
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			calls += 1;
			if (calls > times) {
				response.statusCode = 500;
				response.end('{"message":"out of order"}');
				return;
			}
			void fetch(`${target}${request.url}`, {
				method: request.method,
				headers: {
					'content-type': 'application/json',
					'x-n8n-api-key': String(request.headers['x-n8n-api-key']),
				},
				body: Buffer.concat(chunks).toString(),
			}).then(async (answer) => {
				response.statusCode = answer.status;
				response.setHeader('content-type', 'application/json');
				response.end(await answer.text());
			});
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls: () => calls,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}
