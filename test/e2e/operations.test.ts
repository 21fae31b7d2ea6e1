/** Every operation once, in a real n8n: what the service was asked and what the node put out. */
import type { Simulator } from '../simulator';
import { Bench, byId, type NodeOutcome, type NodeRunOptions } from './harness';

interface OperationCase {
	title: string;
	/** Makes what the operation needs; its answer is `id` below. */
	given?: (bench: Bench) => Promise<string>;
	parameters: (id: string) => Record<string, unknown>;
	options?: NodeRunOptions;
	/** The requests that the run makes, in their order. */
	asks: (id: string) => string[];
	/** The JSON of the first item, or a part of it. */
	gives: (id: string) => Record<string, unknown>;
	also?: (outcome: NodeOutcome, bench: Bench, id: string) => Promise<void> | void;
}

const FILE = { name: 'talk.mp3', mimeType: 'audio/mpeg', content: 'sound' };

const finished = async (bench: Bench) => await bench.finishedTask();

const running = async (bench: Bench) => {
	bench.simulator.configure({ processingSeconds: 3_000 });
	const { task_id: id } = await bench.call<{ task_id: string }>('POST', 'transcribe-url', {
		url: 'https://files.example.com/talk.mp3',
	});
	return id;
};

const bot = async (bench: Bench) => {
	const { bot_id: id } = await bench.call<{ bot_id: string }>('POST', 'meeting', {
		meeting_url: 'https://meet.example.com/abc',
		consent_acknowledged: true,
	});
	return id;
};

const dictionary = async (bench: Bench) => {
	await bench.call('PUT', 'dictionary', { terms: ['n8n', 'webhook'] });
	return '';
};

const OPERATIONS: OperationCase[] = [
	{
		title: 'transcription: transcribeFile',
		parameters: () => ({
			resource: 'transcription',
			operation: 'transcribeFile',
			onCompletion: 'returnTask',
			language: 'en',
		}),
		options: { file: FILE },
		asks: () => ['POST /transcribe'],
		gives: () => ({ task_id: expect.any(String), status: 'pending' }),
		also: (_, { simulator }) => {
			expect(lastRequest(simulator)).toMatchObject({
				file: { name: 'talk.mp3', mimeType: 'audio/mpeg', size: 5 },
				body: { language: 'en' },
			});
		},
	},
	{
		title: 'transcription: transcribeUrl',
		parameters: () => ({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://files.example.com/talk.mp3',
			onCompletion: 'returnTask',
		}),
		asks: () => ['POST /transcribe-url'],
		gives: () => ({ task_id: expect.any(String), status: 'pending' }),
	},
	{
		title: 'task: get',
		given: finished,
		parameters: (id) => ({ resource: 'task', operation: 'get', taskId: byId(id) }),
		asks: (id) => [`GET /tasks/${id}`],
		gives: (id) => ({ task_id: id, status: 'completed', progress: 100 }),
	},
	{
		title: 'task: getAll',
		given: async (bench) => {
			await bench.finishedTask();
			return await bench.finishedTask();
		},
		parameters: () => ({ resource: 'task', operation: 'getAll', returnAll: false, limit: 2 }),
		asks: () => ['GET /tasks'],
		gives: (id) => ({ task_id: id, status: 'completed' }),
		also: ({ items }) => {
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
		},
	},
	{
		title: 'task: getResult',
		given: finished,
		parameters: (id) => ({ resource: 'task', operation: 'getResult', taskId: byId(id) }),
		asks: (id) => [`GET /tasks/${id}/result`],
		gives: () => ({
			text: expect.any(String),
			segments: expect.any(Array),
			summary: expect.any(String),
			speakers: expect.any(Array),
		}),
	},
	{
		title: 'task: export, as a file',
		given: finished,
		parameters: (id) => ({
			resource: 'task',
			operation: 'export',
			taskId: byId(id),
			format: 'vtt',
		}),
		asks: (id) => [`GET /tasks/${id}/export`],
		gives: () => ({}),
		also: async ({ items }, { rest }) => {
			const file = items[0]?.binary?.data;
			expect(file).toMatchObject({
				fileName: expect.stringMatching(/\.vtt$/),
				mimeType: 'text/vtt',
			});
			expect(file && (await rest.download(file)).toString()).toMatch(/^WEBVTT/);
		},
	},
	{
		title: 'task: export, as JSON',
		given: finished,
		parameters: (id) => ({
			resource: 'task',
			operation: 'export',
			taskId: byId(id),
			format: 'srt',
			output: 'json',
		}),
		asks: (id) => [`GET /tasks/${id}/export`],
		gives: () => ({ format: 'srt', content: expect.stringContaining(' --> ') }),
	},
	{
		title: 'task: cancel',
		given: running,
		parameters: (id) => ({ resource: 'task', operation: 'cancel', taskId: byId(id) }),
		asks: (id) => [`POST /tasks/${id}/cancel`],
		gives: (id) => ({ task_id: id, status: 'cancelled' }),
		also: (_, { simulator }, id) => expect(simulator.task(id).status).toBe('cancelled'),
	},
	{
		title: 'task: regenerateSummary',
		given: async (bench) => {
			bench.simulator.configure({
				shapes: { regenerateSummary: { method: 'POST', path: '/api/v1/tasks/{taskId}/summary' } },
			});
			return await bench.finishedTask();
		},
		parameters: (id) => ({
			resource: 'task',
			operation: 'regenerateSummary',
			taskId: byId(id),
			method: 'POST',
			path: '/tasks/{taskId}/summary',
		}),
		asks: (id) => [`POST /tasks/${id}/summary`],
		gives: () => ({}),
	},
	{
		title: 'task: wait',
		given: finished,
		parameters: (id) => ({ resource: 'task', operation: 'wait', taskId: byId(id) }),
		asks: (id) => [`GET /tasks/${id}`, `GET /tasks/${id}/result`],
		gives: (id) => ({ task_id: id, status: 'completed', text: expect.any(String) }),
	},
	{
		title: 'meeting: sendBot',
		parameters: () => ({
			resource: 'meeting',
			operation: 'sendBot',
			meetingUrl: 'https://meet.example.com/abc',
			consentAcknowledged: true,
		}),
		asks: () => ['POST /meeting'],
		gives: () => ({ bot_id: expect.any(String), status: 'joining' }),
		also: (_, { simulator }) => {
			expect(lastRequest(simulator)?.body).toMatchObject({ consent_acknowledged: true });
		},
	},
	{
		title: 'meeting: get',
		given: bot,
		parameters: (id) => ({ resource: 'meeting', operation: 'get', botId: id }),
		asks: (id) => [`GET /meeting/${id}`],
		gives: (id) => ({ bot_id: id }),
	},
	{
		title: 'meeting: cancel',
		given: bot,
		parameters: (id) => ({ resource: 'meeting', operation: 'cancel', botId: id }),
		asks: (id) => [`DELETE /meeting/${id}`],
		gives: () => ({}),
	},
	{
		title: 'dictionary: get',
		given: dictionary,
		parameters: () => ({ resource: 'dictionary', operation: 'get' }),
		asks: () => ['GET /dictionary'],
		gives: () => ({ terms: ['n8n', 'webhook'], count: 2 }),
	},
	{
		title: 'dictionary: replace',
		given: dictionary,
		parameters: () => ({
			resource: 'dictionary',
			operation: 'replace',
			specifyTerms: 'list',
			terms: 'diarization\nsubtitle',
		}),
		asks: () => ['PUT /dictionary'],
		gives: () => ({}),
		also: async (_, bench) => {
			expect(await bench.call('GET', 'dictionary')).toMatchObject({
				terms: ['diarization', 'subtitle'],
			});
		},
	},
	{
		title: 'dictionary: add',
		given: dictionary,
		parameters: () => ({
			resource: 'dictionary',
			operation: 'add',
			specifyTerms: 'text',
			text: 'diarization; n8n',
		}),
		asks: () => ['POST /dictionary'],
		gives: () => ({}),
		also: async (_, bench) => {
			expect(await bench.call('GET', 'dictionary')).toMatchObject({
				terms: ['n8n', 'webhook', 'diarization'],
			});
		},
	},
	{
		title: 'dictionary: preview',
		given: finished,
		parameters: (id) => ({
			resource: 'dictionary',
			operation: 'preview',
			taskId: byId(id),
			terms: 'simulated',
		}),
		asks: () => ['POST /dictionary/preview'],
		gives: () => ({}),
		also: (_, { simulator }, id) => {
			expect(lastRequest(simulator)?.body).toEqual({ task_id: id, terms: ['simulated'] });
		},
	},
	{
		title: 'dictionary: clear',
		given: dictionary,
		parameters: () => ({ resource: 'dictionary', operation: 'clear' }),
		asks: () => ['DELETE /dictionary'],
		gives: () => ({}),
		also: async (_, bench) => {
			expect(await bench.call('GET', 'dictionary')).toMatchObject({ count: 0 });
		},
	},
	{
		title: 'account: get',
		parameters: () => ({ resource: 'account', operation: 'get' }),
		asks: () => ['GET /account'],
		gives: () => ({ balance: 1000 }),
	},
	{
		title: 'apiKey: rotate',
		parameters: () => ({ resource: 'apiKey', operation: 'rotate', confirm: true }),
		asks: () => ['POST /api-key/generate'],
		gives: () => ({ api_key: expect.any(String) }),
		also: ({ items }, { simulator }) => {
			expect(items[0]?.json.api_key).toBe(simulator.apiKey);
			expect(simulator.apiKey).not.toBe('test-api-key');
		},
	},
];

describe('every operation in a real n8n', () => {
	let bench: Bench;

	beforeAll(async () => {
		// A test of each operation, not of the pace: see the other layers for that.
		bench = await Bench.open({ rateLimits: false });
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	it.each(OPERATIONS)('$title', async ({ given, parameters, options, asks, gives, also }) => {
		const id = (await given?.(bench)) ?? '';
		const before = bench.simulator.requests.length;
		const outcome = await bench.runNode(parameters(id), options);
		expect(outcome.error).toBeUndefined();
		expect(bench.asked(before)).toEqual(asks(id));
		expect(outcome.items[0]).toMatchObject({ json: gives(id), pairedItem: { item: 0 } });
		await also?.(outcome, bench, id);
	});
});

function lastRequest({ requests }: Simulator) {
	return requests[requests.length - 1];
}
