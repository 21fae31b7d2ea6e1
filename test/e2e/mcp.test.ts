/** The node as a tool of n8n's MCP Server Trigger: what a client gets, and what it pays for if it gives up and calls again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../simulator/testing-client';
import { Bench } from './harness';

/** Longer than any test takes. */
const NEVER_SECONDS = 1e6;

let bench: Bench;
beforeAll(async () => {
	bench = await Bench.open({ rateLimits: false, processingSeconds: NEVER_SECONDS });
});
afterAll(async () => await bench.close());

type Parameters = Record<string, unknown>;
type Call = (args: object, hangsUpAfterMs?: number) => Promise<string>;

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'poll',
	url: "={{ $fromAI('url', 'the link', 'string') }}",
};

/** Publishes a server with this one tool. Returns how a client calls it. */
async function serve(parameters: Parameters): Promise<Call> {
	const path = randomUUID();
	const trigger = {
		name: 'Server',
		type: '@n8n/n8n-nodes-langchain.mcpTrigger',
		typeVersion: 2,
		webhookId: path,
		parameters: { path, authentication: 'none' },
	};
	const tool = {
		name: 'Subject',
		type: 'n8n-nodes-transcriber.transcriberTool',
		typeVersion: 1,
		parameters: { toolDescription: 'Subject', descriptionType: 'manual', ...parameters },
		credentials: { transcriberApi: { name: '' } },
	};
	const stored = await bench.rest.createWorkflow(
		{
			name: 'mcp',
			nodes: [trigger, tool],
			connections: { Subject: { ai_tool: [[{ node: 'Server', type: 'ai_tool', index: 0 }]] } },
		},
		{ transcriberApi: bench.credential },
	);
	await bench.rest.activate(stored);
	return await client(`${bench.n8n.url}/mcp/${path}`);
}

/** A client of the Model Context Protocol over HTTP, after its first words with the server. */
async function client(url: string): Promise<Call> {
	let session: string | undefined;
	let id = 0;
	const post = async (message: object, signal?: AbortSignal) => {
		const answer = await fetch(url, {
			method: 'POST',
			signal,
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(session !== undefined && { 'mcp-session-id': session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		session = answer.headers.get('mcp-session-id') ?? session;
		return await answer.text();
	};
	const clientInfo = { name: 'test', version: '1' };
	const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
	// n8n 2 answers 404 for a moment after it was told to publish.
	while ((await post({ id: ++id, method: 'initialize', params })).startsWith('{"code":404')) {
		await sleep(200);
	}
	await post({ method: 'notifications/initialized' });
	return async (args, hangsUpAfterMs) => {
		const signal = hangsUpAfterMs === undefined ? undefined : AbortSignal.timeout(hangsUpAfterMs);
		return await post(
			{ id: ++id, method: 'tools/call', params: { name: 'Subject', arguments: args } },
			signal,
		);
	};
}

function finishAll(): void {
	const open = bench.simulator.tasks().filter(({ status }) => status !== 'completed');
	for (const { id } of open) bench.simulator.finish(id);
}

const submits = (from: number) =>
	bench.asked(from).filter((line) => line.startsWith('POST /transcribe-url'));

it.each<[string, Parameters]>([
	['the transcript', {}],
	['the transcript with a document', { exportFormat: 'srt', exportAs: 'text' }],
])(
	'A client that hangs up, and calls again, gets %s, and nothing is paid twice',
	async (_, waitOptions) => {
		const call = await serve({ ...LINK, waitOptions: { pollInterval: 1, ...waitOptions } });
		const from = bench.simulator.requests.length;
		const args = { url: `https://files.example.com/${randomUUID()}.mp3` };
		await expect(call(args, 3_000)).rejects.toThrow();
		await until(() => submits(from).length === 1);
		const again = call(args);
		await sleep(2_000);
		finishAll();
		expect(await again).toContain('text');
		expect(submits(from)).toHaveLength(1);
	},
);

it('A client that hangs up before the service has answered, and calls again, pays once', async () => {
	const call = await serve({ ...LINK, waitOptions: { pollInterval: 1 } });
	const from = bench.simulator.requests.length;
	const action = { kind: 'delay', ms: 4_000, processed: true } as const;
	bench.simulator.fault({ match: { method: 'POST' }, times: 1, action });
	const args = { url: `https://files.example.com/${randomUUID()}.mp3` };
	await expect(call(args, 2_000)).rejects.toThrow();
	const again = call(args);
	await sleep(4_000);
	finishAll();
	expect(await again).toContain('text');
	expect(submits(from)).toHaveLength(1);
});

it('Waiting by webhook is refused before anything is sent', async () => {
	const call = await serve({ ...LINK, onCompletion: 'awaitWebhook' });
	const from = bench.simulator.requests.length;
	expect(await call({ url: 'https://files.example.com/talk.mp3' })).toContain('what_to_do');
	expect(submits(from)).toEqual([]);
});
