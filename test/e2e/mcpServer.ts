/** An MCP Server Trigger of n8n with the node as its tool, and a client of it. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Bench } from './harness';

export type Parameters = Record<string, unknown>;
export type Call = (args: object, hangsUpAfterMs?: number) => Promise<string>;

export const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'poll',
	url: "={{ $fromAI('url', 'the link', 'string') }}",
};

/** Publishes a server with this one tool. Returns how a client calls it. */
export async function serve(bench: Bench, parameters: Parameters): Promise<Call> {
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
