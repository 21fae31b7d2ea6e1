/** Every operation, and every way to get the transcript, with what has to come out: the rows of operations.test.ts. */
import type { Simulator } from '../simulator';
import { listening } from '../support/listening';
import { byId, type Bench, type NodeOutcome, type NodeRunOptions } from './harness';
import { Triggers, eventually, taskIdsIn } from './triggers';

export interface OperationCase {
	title: string;
	/** Makes what the operation needs; its answer is `id` below. */
	given?: (bench: Bench) => Promise<string>;
	parameters: (id: string) => Record<string, unknown>;
	options?: NodeRunOptions;
	/** The requests that the run makes, in their order. The id of what it submits is not known before. */
	asks: (id: string) => unknown[];
	/** The JSON of the first item, or a part of it. */
	gives: (id: string) => Record<string, unknown>;
	/** The items that the first one comes from; the first unless told otherwise. */
	from?: unknown;
	also?: (outcome: NodeOutcome, bench: Bench, id: string) => Promise<void> | void;
}

const LINK = 'https://files.example.com/talk.mp3';
const FILE = { name: 'talk.mp3', mimeType: 'audio/mpeg', content: 'sound' };

const finished = async (bench: Bench) => await bench.finishedTask();

const running = async (bench: Bench) => {
	bench.simulator.configure({ processingSeconds: 3_000 });
	const { task_id: id } = await bench.call<{ task_id: string }>('POST', 'transcribe-url', {
		url: LINK,
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

const transcribedBot = async (bench: Bench) => {
	const id = await bot(bench);
	bench.simulator.endMeeting(id);
	bench.simulator.finish(bench.simulator.bot(id).taskId ?? '');
	return id;
};

const dictionary = async (bench: Bench) => {
	await bench.call('PUT', 'dictionary', { terms: ['n8n', 'webhook'] });
	return '';
};

const TRANSCRIPT = {
	task_id: expect.any(String),
	status: 'completed',
	text: expect.any(String),
};

/** One look at the task, and its result. */
const LOOK_AND_RESULT = [/^GET \/tasks\/[^/]+$/, /^GET \/tasks\/[^/]+\/result$/].map((line) =>
	expect.stringMatching(line),
);

export const OPERATIONS: OperationCase[] = [
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
			url: LINK,
			onCompletion: 'returnTask',
		}),
		asks: () => ['POST /transcribe-url'],
		gives: () => ({ task_id: expect.any(String), status: 'pending' }),
	},
	{
		// As the editor stores it: without `onCompletion`, because polling is the default.
		title: 'transcription: transcribeFile, and waits by polling',
		parameters: () => ({
			resource: 'transcription',
			operation: 'transcribeFile',
			waitOptions: { pollInterval: 1 },
		}),
		options: { file: FILE },
		asks: () => ['POST /transcribe', ...LOOK_AND_RESULT],
		gives: () => TRANSCRIPT,
	},
	{
		title: 'transcription: transcribeUrl, and waits by polling',
		parameters: () => ({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: LINK,
			onCompletion: 'poll',
			waitOptions: { pollInterval: 1 },
		}),
		asks: () => ['POST /transcribe-url', ...LOOK_AND_RESULT],
		gives: () => TRANSCRIPT,
	},
	{
		title: 'transcription: transcribeUrl, and is woken by the delivery',
		given: async ({ simulator }) => {
			// Two seconds: the execution sleeps by then.
			simulator.configure({ processingSeconds: 120 });
			return '';
		},
		parameters: () => ({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: LINK,
			onCompletion: 'awaitWebhook',
		}),
		asks: () => ['POST /transcribe-url', ...LOOK_AND_RESULT],
		gives: () => TRANSCRIPT,
		also: (_, { simulator }) => {
			expect(simulator.deliveries.at(-1)).toMatchObject({ status: 200 });
		},
	},
	notifyingCase(),
	{
		title: 'transcription: transcribeUrl, and the service calls a URL',
		given: async () => {
			const { url, server } = await listening(() => undefined);
			server.unref();
			return url;
		},
		parameters: (receiver) => ({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: LINK,
			onCompletion: 'callUrl',
			webhookUrl: receiver,
		}),
		asks: () => ['POST /transcribe-url'],
		gives: () => ({ task_id: expect.any(String), webhook_secret: expect.any(String) }),
		also: async ({ items }, { simulator }) => {
			const { task_id: id, webhook_secret: secret } = items[0]?.json ?? {};
			expect(simulator.task(String(id)).webhookSecret).toBe(secret);
			await eventually(() => simulator.deliveries.some(({ status }) => status === 200));
		},
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
		title: 'meeting: wait',
		given: transcribedBot,
		parameters: (id) => ({
			resource: 'meeting',
			operation: 'wait',
			botId: id,
			waitOptions: { pollInterval: 1 },
		}),
		asks: (id) => [`GET /meeting/${id}`, ...LOOK_AND_RESULT],
		gives: () => TRANSCRIPT,
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
		title: 'dictionary: sync',
		given: dictionary,
		parameters: () => ({
			resource: 'dictionary',
			operation: 'sync',
			terms: '={{ $json.term }}',
		}),
		options: { items: [{ term: 'diarization' }, { term: 'n8n' }] },
		asks: () => ['GET /dictionary', 'PUT /dictionary'],
		gives: () => ({ changed: true, dryRun: false }),
		from: [{ item: 0 }, { item: 1 }],
		also: async ({ items }, bench) => {
			expect(items).toHaveLength(1);
			expect(await bench.call('GET', 'dictionary')).toMatchObject({
				terms: ['diarization', 'n8n'],
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

/** A workflow that starts with a Transcriber Trigger runs once for the task. */
function notifyingCase(): OperationCase {
	let started: () => Promise<unknown[]>;
	return {
		title: 'transcription: transcribeUrl, and another workflow starts',
		given: async ({ n8n, rest, simulator, credential }) => {
			simulator.configure({ processingSeconds: 3_000 });
			const triggers = new Triggers({ url: n8n.url, rest }, simulator, credential);
			const trigger = await triggers.activeTrigger();
			started = async () => {
				const executions = await triggers.executionsOf(trigger, 1);
				await rest.deactivate(trigger.workflow);
				return taskIdsIn(executions);
			};
			return trigger.url;
		},
		parameters: (triggerUrl) => ({
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: LINK,
			onCompletion: 'notifyTrigger',
			triggerUrl,
		}),
		asks: () => ['POST /transcribe-url'],
		gives: () => ({ task_id: expect.any(String), status: 'pending' }),
		also: async ({ items }, { simulator }) => {
			const { task_id: id } = items[0]?.json ?? {};
			simulator.finish(String(id));
			expect(await started()).toEqual([id]);
		},
	};
}

function lastRequest({ requests }: Simulator) {
	return requests[requests.length - 1];
}
