/** n8n's Retry of a failed execution: nothing is paid twice, and what was accepted is continued. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Execution, WorkflowNode } from '../n8n/rest';
import { Bench, inOneLine, NODE_TYPE, startWithFile } from './harness';

let bench: Bench;

beforeAll(async () => {
	bench = await Bench.open({ processingSeconds: 1_000_000, rateLimits: false });
});

beforeEach(() => bench.simulator.reset());

afterAll(async () => await bench.close());

const subject = (parameters: Record<string, unknown>): WorkflowNode => ({
	name: 'Subject',
	type: NODE_TYPE,
	typeVersion: 1,
	parameters: { resource: 'transcription', ...parameters },
	credentials: { transcriberApi: { name: '' } },
});

const create = async (nodes: WorkflowNode[]) =>
	await bench.rest.createWorkflow(
		{ name: 'retried', nodes, connections: inOneLine(nodes) },
		{ transcriberApi: bench.credential },
	);

const keys = () =>
	bench.simulator.requests
		.filter(({ method, path }) => method === 'POST' && path.endsWith('/transcribe'))
		.map(({ headers }) => headers['idempotency-key']);

describe('of a file that came in through a webhook', () => {
	/** The failed execution of a call with a file, which n8n has renamed. */
	async function failed(parameters: Record<string, unknown>): Promise<Execution> {
		const node = subject({ operation: 'transcribeFile', ...parameters });
		const started = await startWithFile(bench.rest, node, bench.credential);
		const execution = await bench.rest.waitForEnd(started);
		const file = execution.runData['Webhook']?.[0]?.data?.['main']?.[0]?.[0]?.binary?.['data'];
		expect(execution.status).toBe('error');
		expect(file?.id).toContain(`/executions/${execution.id}/`);
		return execution;
	}

	it('after a timeout outputs the transcript of the one task', async () => {
		const waitOptions = { timeout: 0.02, pollInterval: 0.5 };
		const { id, error } = await failed({ waitOptions });
		expect(error?.message).toContain('has not ended');
		for (const task of bench.simulator.tasks()) bench.simulator.finish(task.id);
		const { status } = await bench.rest.retry(id);
		expect([status, bench.simulator.tasks().length]).toEqual(['success', 1]);
	});

	it('after an answer that was lost pays once', async () => {
		bench.simulator.fault({
			match: { method: 'POST', path: '/transcribe$' },
			times: 1,
			action: { kind: 'garble', keepBytes: 12 },
		});
		const { id } = await failed({ onCompletion: 'returnTask' });
		const { status } = await bench.rest.retry(id);
		expect([status, bench.simulator.tasks().length]).toEqual(['success', 1]);
		expect([keys().length, new Set(keys()).size]).toEqual([2, 1]);
	});

	it('after a refusal sends it with the own key', async () => {
		bench.simulator.fault({
			match: { method: 'POST', path: '/transcribe$' },
			times: 1,
			action: { kind: 'respond', status: 401 },
		});
		const options = { idempotencyKey: 'file-17' };
		const { id } = await failed({ onCompletion: 'returnTask', options });
		const { status } = await bench.rest.retry(id);
		expect([status, bench.simulator.tasks().length]).toEqual(['success', 1]);
		expect(keys()).toEqual(['file-17', 'file-17']);
	});
});

it('twice of an execution that failed before the node submits once', async () => {
	let broken = '/before';
	const server = createServer(({ url }, response) => {
		response.statusCode = url === broken ? 500 : 200;
		response.end();
	});
	await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const http = (name: string): WorkflowNode => ({
		name,
		type: 'n8n-nodes-base.httpRequest',
		typeVersion: 4.2,
		parameters: { url: `http://127.0.0.1:${port}/${name}`, options: {} },
	});
	const link = { operation: 'transcribeUrl', url: 'https://files.example.com/a.mp3' };
	const workflow = await create([
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		http('before'),
		subject({ ...link, onCompletion: 'returnTask' }),
		http('after'),
	]);
	const first = await bench.rest.runToEnd(workflow);
	broken = '/after';
	const second = await bench.rest.retry(first.id);
	broken = '';
	const third = await bench.rest.retry(first.id);
	server.close();
	expect([first, second, third].map(({ status }) => status)).toEqual(['error', 'error', 'success']);
	expect(second.runData).toHaveProperty('Subject');
	expect(bench.simulator.tasks()).toHaveLength(1);
});
