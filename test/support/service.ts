import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { WAIT_DEFAULTS } from '../../nodes/Transcriber/wait/waitOptions';
import {
	startSimulator,
	type LoggedRequest,
	type Simulator,
	type SimulatorOptions,
} from '../simulator';
import { ask, submit, type Ask } from '../simulator/testing-client';
import { runNode, type Outcome, type Run } from './engine';

/** Long enough that no task ends by itself. Tests that need an ending set a shorter time. */
const NEVER_SECONDS = 1e6;

/**
 * A simulated service for the tests of one file, fresh for each test, and a node that uses it.
 * Neither side counts requests per minute, the first pauses between attempts are short, and so is the default
 * poll interval, so that no test waits.
 */
export function serviceForTests(options: SimulatorOptions = {}) {
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
	beforeEach(() => {
		simulator?.reset();
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		jest.replaceProperty(RETRY, 'room', 0);
		jest.replaceProperty(RETRY, 'base', 20);
		jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 0.05);
	});
	afterAll(async () => await simulator?.close());

	const running = (): Simulator => {
		if (!simulator) throw new Error('The simulator is not running yet');
		return simulator;
	};
	return {
		running,

		credentials: (change: Partial<Run['credentials']> = {}): Run['credentials'] => ({
			baseUrl: running().url,
			apiKey: running().apiKey,
			...change,
		}),

		/** What the service answers to the next POST, instead of doing what it asks for. */
		answer: (body: object): void =>
			running().fault({
				match: { method: 'POST' },
				action: { kind: 'respond', status: 200, body, readBody: true },
			}),

		/** Runs the node against the service. */
		run: async (parameters: INodeParameters, more: Partial<Run> = {}): Promise<Outcome> => {
			const { url: baseUrl, apiKey } = running();
			return await runNode({ credentials: { baseUrl, apiKey }, ...more, parameters });
		},

		/** The one request that the node sent. */
		sent: (): LoggedRequest => {
			const [request, ...others] = running().requests;
			if (!request || others.length > 0) {
				throw new Error(`Not one request, but these: ${JSON.stringify(linesOf(running()))}`);
			}
			return request;
		},

		/** Method and path of all requests, e.g. `GET /api/v1/account`. */
		lines: (): string[] => linesOf(running()),

		/** A request of the test itself, which the log of requests does not keep. */
		ask: async (line: string, request: Ask = {}) =>
			await unlogged(running(), async () => await ask(running(), line, request)),

		/** The id of a task that is pending. */
		pendingTask: async (form: Record<string, string> = {}): Promise<string> =>
			await unlogged(running(), async () => await submit(running(), { form })),

		/** The id of a task that is completed. */
		completedTask: async (form: Record<string, string> = {}): Promise<string> => {
			const id = await unlogged(running(), async () => await submit(running(), { form }));
			running().finish(id);
			return id;
		},

		/** The id of a bot that is joining. */
		bot: async (more: Record<string, unknown> = {}): Promise<string> => {
			const json = {
				meeting_url: 'https://meet.example.com/abc',
				consent_acknowledged: true,
				...more,
			};
			const { status, body } = await unlogged(
				running(),
				async () => await ask(running(), 'POST /meeting', { json }),
			);
			if (status !== 200) throw new Error(`Refused with ${status}: ${JSON.stringify(body)}`);
			return String(body['bot_id']);
		},
	};
}

export type ServiceForTests = ReturnType<typeof serviceForTests>;

function linesOf(simulator: Simulator): string[] {
	return simulator.requests.map(({ method, path }) => `${method} ${path}`);
}

async function unlogged<T>(simulator: Simulator, work: () => Promise<T>): Promise<T> {
	const before = simulator.requests.length;
	const result = await work();
	simulator.requests.splice(before);
	return result;
}

/** A task as the parameter `taskId` holds it. */
export function byId(value: string) {
	return { __rl: true, mode: 'id', value };
}

/** Input items with this JSON. */
export function itemsOf(...json: INodeExecutionData['json'][]): INodeExecutionData[] {
	return json.map((fields) => ({ json: fields }));
}

/** An input item with a file that n8n keeps in memory. */
export function itemWithFile(
	content: string | Buffer = 'sound',
	{ fileName = 'talk.mp3', mimeType = 'audio/mpeg', property = 'data' } = {},
): INodeExecutionData {
	const data = Buffer.from(content).toString('base64');
	return { json: {}, binary: { [property]: { data, fileName, mimeType } } };
}

/** What can be seen of a file in an output item that n8n keeps in memory. */
export function fileIn(item: INodeExecutionData | undefined, property = 'data') {
	const file = item?.binary?.[property];
	if (!file) throw new Error(`No file in '${property}'`);
	const { data, fileName, mimeType } = file;
	return { fileName, mimeType, content: Buffer.from(data, 'base64').toString('utf8') };
}

/** The error of a node with this message about this item, of one of n8n's two kinds. */
export function failureOf(itemIndex: number, message: string) {
	return {
		name: expect.stringMatching(/^Node(Api|Operation)Error$/),
		message: `${message} [item ${itemIndex}]`,
		description: expect.stringMatching(/\w/),
		context: { itemIndex },
	};
}
