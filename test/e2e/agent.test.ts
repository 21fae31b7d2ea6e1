/** The node as a tool of n8n's AI Agent, whose model follows a script. */
import { startModel, type ScriptedModel, type Step } from '../support/model';
import type { Workflow, WorkflowNode } from '../n8n/rest';
import { itemsOf } from '../n8n/rest';
import { Bench, byId } from './harness';

const LANGCHAIN = '@n8n/n8n-nodes-langchain.';

/** What a model is given of one answer without filling it up: about 3 000 words. */
const ENOUGH_FOR_A_MODEL = 20_000;

/** Longer than any test takes. */
const NEVER_SECONDS = 1e6;

type Parameters = Record<string, unknown>;

interface AgentOptions {
	/** Of n8n's AI Agent node. */
	version?: number;
	/** Of the tool. */
	onError?: string;
}

/** A parameter that the model fills in. */
function fromAi(name: string, type = 'string'): string {
	return `={{ $fromAI('${name}', 'the ${name}', '${type}') }}`;
}

describe('the node as a tool of an AI agent', () => {
	let bench: Bench;
	let model: ScriptedModel;
	let openAiApi: { id: string; name: string };

	beforeAll(async () => {
		bench = await Bench.open({ rateLimits: false });
		model = await startModel();
		openAiApi = await bench.rest.createCredential('openAiApi', { apiKey: 'none', url: model.url });
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => {
		await model.close();
		await bench.close();
	});

	/** Lets an agent with this one tool follow the script, and returns what the tool answered. */
	async function agent(parameters: Parameters, ...script: Step[]): Promise<string[]> {
		return await run(agentWith(parameters), ...script);
	}

	async function run(workflow: Workflow, ...script: Step[]): Promise<string[]> {
		model.script(...script, 'Done.');
		const stored = await bench.rest.createWorkflow(workflow, {
			transcriberApi: bench.credential,
			openAiApi,
		});
		const execution = await bench.rest.runToEnd(stored);
		expect(execution.error).toBeUndefined();
		expect(itemsOf(execution, 'Agent').map(({ json }) => json)).toMatchObject([
			{ output: 'Done.' },
		]);
		return model.toolResults();
	}

	/** One call of the tool with these arguments. */
	async function call(parameters: Parameters, args: object = {}): Promise<string> {
		const [result = ''] = await agent(parameters, [{ tool: 'Subject', args }]);
		expect(result.length).toBeLessThan(ENOUGH_FOR_A_MODEL);
		return result;
	}

	async function pendingTask(): Promise<string> {
		const url = 'https://files.example.com/talk.mp3';
		return (await bench.call<{ task_id: string }>('POST', 'transcribe-url', { url })).task_id;
	}

	const TASK = byId(fromAi('task_id'));

	it('is offered by n8n as Transcriber Tool', async () => {
		const names = (await bench.rest.nodeTypes()).map(({ name }) => name);
		expect(names).toContain('n8n-nodes-transcriber.transcriberTool');
	});

	it('tells the model what it does, and what it wants of it', async () => {
		const id = await bench.finishedTask();
		await call({ resource: 'task', operation: 'get', taskId: TASK }, { task_id: id });
		expect(model.requests[0]?.tools).toMatchObject([
			{
				function: {
					name: 'Subject',
					description: expect.stringMatching(/transcript/i),
					parameters: { properties: { task_id: { type: 'string' } }, required: ['task_id'] },
				},
			},
		]);
	});

	it('task.get', async () => {
		const id = await bench.finishedTask();
		const result = await call(
			{ resource: 'task', operation: 'get', taskId: TASK },
			{ task_id: id },
		);
		expect(result).toContain(id);
		expect(result).toContain('completed');
	});

	it('task.getAll', async () => {
		const ids = [await bench.finishedTask(), await bench.finishedTask()];
		const result = await call(
			{
				resource: 'task',
				operation: 'getAll',
				limit: fromAi('limit', 'number'),
				filters: { status: 'completed' },
			},
			{ limit: 50 },
		);
		for (const id of ids) expect(result).toContain(id);
	});

	it('task.getResult, of which only what is included comes', async () => {
		const result = await call(
			{ resource: 'task', operation: 'getResult', taskId: TASK, include: ['summary'] },
			{ task_id: await bench.finishedTask() },
		);
		expect(result).toContain('summary');
		expect(result).not.toContain('segments');
	});

	it('task.export as JSON', async () => {
		const result = await call(
			{
				resource: 'task',
				operation: 'export',
				taskId: TASK,
				format: fromAi('format'),
				output: 'json',
			},
			{ task_id: await bench.finishedTask(), format: 'srt' },
		);
		expect(result).toContain('00:00:00,000 -->');
	});

	it('task.cancel', async () => {
		bench.simulator.configure({ processingSeconds: NEVER_SECONDS });
		const id = await pendingTask();
		await call({ resource: 'task', operation: 'cancel', taskId: TASK }, { task_id: id });
		expect(bench.simulator.task(id).status).toBe('cancelled');
	});

	it('task.wait', async () => {
		const result = await call(
			{
				resource: 'task',
				operation: 'wait',
				taskId: TASK,
				waitOptions: { pollInterval: 1, includeResult: false },
			},
			{ task_id: await pendingTask() },
		);
		expect(result).toContain('completed');
	});

	it('transcription.transcribeUrl', async () => {
		const url = 'https://files.example.com/talk.mp3';
		const result = await call(
			{
				resource: 'transcription',
				operation: 'transcribeUrl',
				url: fromAi('url'),
				onCompletion: 'returnTask',
			},
			{ url },
		);
		const [task] = bench.simulator.tasks();
		expect(task?.name).toContain('talk.mp3');
		expect(result).toContain(task?.id);
	});

	it('transcription.transcribeUrl, waiting by polling', async () => {
		const result = await call(
			{
				resource: 'transcription',
				operation: 'transcribeUrl',
				url: fromAi('url'),
				onCompletion: 'poll',
				waitOptions: { pollInterval: 1 },
			},
			{ url: 'https://files.example.com/talk.mp3' },
		);
		expect(result).toContain('completed');
		expect(result).toContain('summary');
	});

	it('two calls of one tool in one turn are two submissions', async () => {
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: fromAi('url'),
			onCompletion: 'returnTask',
		};
		const results = await agent(parameters, [
			{ tool: 'Subject', args: { url: 'https://files.example.com/one.mp3' } },
			{ tool: 'Subject', args: { url: 'https://files.example.com/two.mp3' } },
		]);
		const tasks = bench.simulator.tasks();
		expect(tasks).toHaveLength(2);
		for (const { id } of tasks) expect(results.join()).toContain(id);
	});

	it('two calls of one tool one after the other are two submissions', async () => {
		const results = await agent(
			{
				resource: 'transcription',
				operation: 'transcribeUrl',
				url: fromAi('url'),
				onCompletion: 'returnTask',
			},
			[{ tool: 'Subject', args: { url: 'https://files.example.com/one.mp3' } }],
			[{ tool: 'Subject', args: { url: 'https://files.example.com/two.mp3' } }],
		);
		const tasks = bench.simulator.tasks();
		expect(tasks).toHaveLength(2);
		for (const { id } of tasks) expect(results.join()).toContain(id);
	});

	it('dictionary.add, get, preview', async () => {
		const add = { resource: 'dictionary', operation: 'add', terms: fromAi('terms') };
		await call(add, { terms: 'Kubernetes\nOKR' });
		expect(await call({ resource: 'dictionary', operation: 'get' })).toContain('Kubernetes');
		const result = await call(
			{
				resource: 'dictionary',
				operation: 'preview',
				taskId: TASK,
				terms: fromAi('terms', 'json'),
			},
			{ task_id: await bench.finishedTask(), terms: ['SIMULATED'] },
		);
		expect(result).toContain('changes');
	});

	it.each([
		['a list', fromAi('terms', 'json'), ['n8n', 'OKR']],
		['the JSON of a list', fromAi('terms'), '["n8n", "OKR"]'],
		['lines', fromAi('terms'), 'n8n\nOKR'],
	])('dictionary.sync with %s', async (_what, terms, given) => {
		await bench.call('PUT', 'dictionary', { terms: ['old'] });
		const result = await call(
			{ resource: 'dictionary', operation: 'sync', terms, mode: 'replace' },
			{ terms: given },
		);
		expect(await bench.call('GET', 'dictionary')).toMatchObject({ terms: ['n8n', 'OKR'] });
		expect(result).toContain('"removed":["old"]');
	});

	it('account.get', async () => {
		expect(await call({ resource: 'account', operation: 'get' })).toContain('balance');
	});

	it('meeting.sendBot, get and cancel', async () => {
		bench.simulator.configure({ meetingSeconds: NEVER_SECONDS });
		const sent = await call(
			{
				resource: 'meeting',
				operation: 'sendBot',
				meetingUrl: fromAi('meeting_url'),
				consentAcknowledged: true,
			},
			{ meeting_url: 'https://meet.example.com/abc' },
		);
		const botId = bench.simulator.bots()[0]?.id ?? '';
		expect(sent).toContain(botId);
		const get = { resource: 'meeting', operation: 'get', botId: fromAi('bot_id') };
		expect(await call(get, { bot_id: botId })).toMatch(/joining|recording/);
		await call({ ...get, operation: 'cancel' }, { bot_id: botId });
		expect(await call(get, { bot_id: botId })).not.toMatch(/joining|recording/);
	});

	describe.each([2, 3])(
		"what goes wrong, with the tool's On Error = Continue: agent %d",
		(version) => {
			const settings = { version, onError: 'continueRegularOutput' };

			it.each<[string, Parameters, object, RegExp]>([
				[
					'an unknown task',
					{ resource: 'task', operation: 'get', taskId: TASK },
					{ task_id: 'nobody' },
					/no task with this ID/,
				],
				[
					'no consent',
					{
						resource: 'meeting',
						operation: 'sendBot',
						meetingUrl: 'https://meet.example.com/abc',
						consentAcknowledged: fromAi('consent', 'boolean'),
					},
					{ consent: false },
					/'Consent Acknowledged' is off/,
				],
				[
					'a link that is none',
					{
						resource: 'transcription',
						operation: 'transcribeUrl',
						url: fromAi('url'),
						onCompletion: 'returnTask',
					},
					{ url: 'the talk of yesterday' },
					/'URL' is not a web address/,
				],
				[
					'an empty sync',
					{ resource: 'dictionary', operation: 'sync', terms: fromAi('terms') },
					{ terms: '' },
					/has no term/,
				],
			])('the model reads of %s in words it can act on', async (_what, tool, args, words) => {
				const workflow = agentWith(tool, settings);
				const [result] = await run(workflow, [{ tool: 'Subject', args }]);
				expect(result).toMatch(words);
			});

			it('the agent goes on after an error, and can put it right', async () => {
				const id = await bench.finishedTask();
				const results = await run(
					agentWith({ resource: 'task', operation: 'get', taskId: TASK }, settings),
					[{ tool: 'Subject', args: { task_id: 'nobody' } }],
					[{ tool: 'Subject', args: { task_id: id } }],
				);
				expect(results).toHaveLength(2);
				expect(results[1]).toContain('completed');
			});
		},
	);

	it('the API key is in nothing the model gets', async () => {
		const settings = { onError: 'continueRegularOutput' };
		const get = { resource: 'task', operation: 'get', taskId: TASK };
		await call({ resource: 'account', operation: 'get' });
		const gotten = JSON.stringify(model.requests);
		await run(agentWith(get, settings), [{ tool: 'Subject', args: { task_id: 'nobody' } }]);
		expect(gotten + JSON.stringify(model.requests)).not.toContain(bench.simulator.apiKey);
	});
});

function agentWith(tool: Parameters, { version = 3, onError }: AgentOptions = {}): Workflow {
	const nodes: WorkflowNode[] = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
		{
			name: 'Agent',
			type: `${LANGCHAIN}agent`,
			typeVersion: version,
			parameters: { promptType: 'define', text: 'Do as the script says', options: {} },
		},
		{
			name: 'Model',
			type: `${LANGCHAIN}lmChatOpenAi`,
			typeVersion: 1.2,
			parameters: { model: { __rl: true, mode: 'id', value: 'scripted' }, options: {} },
			credentials: { openAiApi: { name: '' } },
		},
		{
			name: 'Subject',
			type: 'n8n-nodes-transcriber.transcriberTool',
			typeVersion: 1,
			parameters: tool,
			credentials: { transcriberApi: { name: '' } },
			onError,
		},
	];
	const to = (type: string) => ({ [type]: [[{ node: 'Agent', type, index: 0 }]] });
	return {
		name: `Agent with ${String(tool.resource)} ${String(tool.operation)}`,
		nodes,
		connections: { Start: to('main'), Model: to('ai_languageModel'), Subject: to('ai_tool') },
	};
}
