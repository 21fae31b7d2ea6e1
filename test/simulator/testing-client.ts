import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { startSimulator, type Simulator, type SimulatorOptions } from './index';

export interface Answer {
	status: number;
	headers: Headers;
	body: Record<string, unknown>;
}

export interface Ask {
	key?: string | null;
	headers?: Record<string, string>;
	json?: unknown;
	form?: Record<string, string>;
	file?: { name: string; bytes: Buffer; field?: string };
}

/** Long enough that no task ends by itself. Tests that need an ending set a shorter time. */
const NEVER_SECONDS = 1e6;

/** A simulator for the tests of one file: fast, without rate limits, fresh for each test. */
export function simulatorForTests(options: SimulatorOptions = {}) {
	let simulator: Simulator | undefined;
	beforeAll(async () => {
		simulator = await startSimulator({
			clockRate: 1000,
			rateLimits: false,
			queueSeconds: NEVER_SECONDS,
			meetingSeconds: NEVER_SECONDS,
			...options,
		});
	});
	beforeEach(() => simulator?.reset());
	afterAll(async () => await simulator?.close());

	const running = (): Simulator => {
		if (!simulator) throw new Error('The simulator is not running yet');
		return simulator;
	};
	return {
		running,
		ask: async (line: string, request: Ask = {}) => await ask(running(), line, request),
		submit: async (request: Ask = {}) => await submit(running(), request),
	};
}

/** One request, e.g. `ask(simulator, 'GET /account')`. */
export async function ask(simulator: Simulator, line: string, request: Ask = {}): Promise<Answer> {
	const [method = '', path = ''] = line.split(' ');
	const { key = simulator.apiKey, json, form, file } = request;
	const headers: Record<string, string> = { ...request.headers };
	if (key !== null) headers['X-API-Key'] = key;
	let body: string | FormData | undefined;
	if (json !== undefined) {
		headers['Content-Type'] = 'application/json';
		body = JSON.stringify(json);
	} else if (form || file) {
		body = new FormData();
		for (const [name, value] of Object.entries(form ?? {})) body.append(name, value);
		if (file) body.append(file.field ?? 'file', new Blob([new Uint8Array(file.bytes)]), file.name);
	}
	const response = await fetch(`${simulator.url}/api/v1${path}`, {
		method,
		headers,
		body,
		redirect: 'manual',
	});
	const text = await response.text();
	return {
		status: response.status,
		headers: response.headers,
		body: (text.startsWith('{') || text.startsWith('[')
			? JSON.parse(text)
			: { text }) as Answer['body'],
	};
}

export const AUDIO = { name: 'talk.mp3', bytes: Buffer.from('not really audio') };

/** POST /transcribe with a small file. Returns the task's id. */
export async function submit(simulator: Simulator, request: Ask = {}): Promise<string> {
	const { status, body } = await ask(simulator, 'POST /transcribe', { file: AUDIO, ...request });
	if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`);
	return String(body['task_id']);
}

export interface Received {
	raw: string;
	body: Record<string, unknown>;
	headers: IncomingHttpHeaders;
}

/** A receiver of webhooks that answers with the given statuses, then with 200. */
export async function startReceiver(statuses: number[] = [], answer?: object) {
	const received: Received[] = [];
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			const raw = Buffer.concat(chunks).toString('utf8');
			const body = JSON.parse(raw) as Record<string, unknown>;
			received.push({ raw, body, headers: request.headers });
			const headers = { Location: '/elsewhere', 'Content-Type': 'application/json' };
			response.writeHead(statuses.shift() ?? 200, headers).end(answer && JSON.stringify(answer));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
		received,
		close: async () =>
			await new Promise<void>((resolve) => {
				server.close(() => resolve());
				server.closeAllConnections();
			}),
	};
}

/** Waits until the condition holds, 15 s at most. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
	const end = Date.now() + 15_000;
	while (!(await condition())) {
		if (Date.now() > end) throw new Error('It has not happened within 15 s');
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
}

export interface RawUpload {
	/** How many bytes the file in the form has. */
	fileBytes: number;
	/** Hang up after so many bytes of the file. */
	hangUpAfter?: number;
	/** Announce no length: chunked. */
	chunked?: boolean;
	headers?: Record<string, string>;
}

/** An upload that is generated while it is sent, so that a large one takes no memory. */
export async function rawUpload(
	simulator: Simulator,
	{ fileBytes, hangUpAfter = Infinity, chunked = false, headers = {} }: RawUpload,
): Promise<{ status: number; body: string }> {
	const boundary = 'simulated-boundary';
	const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="large.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n`;
	const tail = `\r\n--${boundary}--\r\n`;
	const length = head.length + fileBytes + tail.length;
	const request = httpRequest(`${simulator.url}/api/v1/transcribe`, {
		method: 'POST',
		agent: false,
		headers: {
			'X-API-Key': simulator.apiKey,
			'Content-Type': `multipart/form-data; boundary=${boundary}`,
			...(chunked ? {} : { 'Content-Length': length }),
			...headers,
		},
	});
	const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
		request.on('error', reject);
		request.on('response', (response) => {
			let body = '';
			response.setEncoding('utf8');
			response.on('data', (text: string) => (body += text));
			response.on('error', reject);
			response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
		});
	});
	let answered = false;
	void answer.then(
		() => (answered = true),
		() => (answered = true),
	);
	const block = Buffer.alloc(64 * 1024, 'simulated');
	request.write(head);
	for (let sent = 0; sent < fileBytes && !answered; sent += block.length) {
		if (sent >= hangUpAfter) {
			request.destroy(new Error('hung up'));
			break;
		}
		const flowing = request.write(block.subarray(0, Math.min(block.length, fileBytes - sent)));
		if (!flowing) await drained(request);
	}
	if (!answered && !request.destroyed) request.end(tail);
	return await answer;
}

async function drained(request: NodeJS.EventEmitter): Promise<void> {
	const events = ['drain', 'close', 'response'];
	await new Promise<void>((resolve) => {
		const done = () => {
			for (const event of events) request.off(event, done);
			resolve();
		};
		for (const event of events) request.on(event, done);
	});
}
