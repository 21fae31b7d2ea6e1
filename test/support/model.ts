import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The next step of the model: it calls tools, or answers. */
export type Turn = Array<{ tool: string; args?: object }> | string;

/** A turn may depend on what the tools have returned so far, in the order of the calls. */
export type Step = Turn | ((results: string[]) => Turn);

interface Message {
	role: string;
	content: unknown;
}

export interface ModelRequest {
	messages: Message[];
	tools: Array<{ function: { name: string; description: string; parameters: object } }>;
	stream?: boolean;
}

export interface ScriptedModel {
	/** For the credential of n8n's OpenAI nodes. */
	url: string;
	requests: ModelRequest[];
	/** Sets what the model does from now on, turn by turn. */
	script(...steps: Step[]): void;
	/** The tool results in the last request to the model. */
	toolResults(): string[];
	close(): Promise<void>;
}

/**
 * A local fake of a language model: it speaks the chat protocol of OpenAI and follows a script, so
 * that every run of an agent is the same.
 */
export async function startModel(): Promise<ScriptedModel> {
	const requests: ModelRequest[] = [];
	let steps: Step[] = [];
	let calls = 0;

	const server = createServer((request, response) => {
		let text = '';
		request.on('data', (chunk: Buffer) => (text += chunk.toString()));
		request.on('end', () => {
			const asked = JSON.parse(text) as ModelRequest;
			requests.push(asked);
			const step = steps.shift() ?? 'The script has ended.';
			const turn = typeof step === 'function' ? step(resultsIn(asked)) : step;
			const message =
				typeof turn === 'string'
					? { role: 'assistant', content: turn }
					: {
							role: 'assistant',
							content: null,
							tool_calls: turn.map(({ tool, args = {} }, index) => ({
								index,
								id: `call_${++calls}`,
								type: 'function',
								function: { name: tool, arguments: JSON.stringify(args) },
							})),
						};
			const reason = typeof turn === 'string' ? 'stop' : 'tool_calls';
			const answer = (choice: object, object: string) => ({
				id: `chatcmpl-${requests.length}`,
				object,
				created: 0,
				model: 'scripted',
				choices: [{ index: 0, finish_reason: reason, ...choice }],
				usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
			});
			if (asked.stream) {
				const chunk = answer({ delta: message }, 'chat.completion.chunk');
				response.setHeader('content-type', 'text/event-stream');
				response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
			} else {
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify(answer({ message }, 'chat.completion')));
			}
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}/v1`,
		requests,
		script(...next) {
			steps = next;
			requests.length = 0;
		},
		toolResults: () => resultsIn(requests.at(-1)),
		close: async () => {
			server.closeAllConnections();
			await new Promise<void>((resolve) => server.close(() => resolve()));
		},
	};
}

function resultsIn(request: ModelRequest | undefined): string[] {
	return (request?.messages ?? [])
		.filter(({ role }) => role === 'tool')
		.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}
