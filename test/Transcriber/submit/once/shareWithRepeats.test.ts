/**
 * Contract, "Never twice": an agent that repeats a call, where n8n has no execution that could remember it. The calls are made
 * as n8n makes them: its MCP Server Trigger with a WebhookContext for each call, in queue mode with a SupplyDataContext, the
 * Agents of n8n 2.41 with an ExecuteContext for each call (ephemeral-node-executor.js).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { ExecuteContext, SupplyDataContext, WebhookContext } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	createEmptyRunExecutionData,
	createRunExecutionData,
	type IDataObject,
	type IExecuteData,
	type INode,
	type INodeParameters,
	type INodeType,
	type IWebhookData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { REPEATS } from '../../../../nodes/Transcriber/submit/once/shareWithRepeats';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { Transcriber } from '../../../../nodes/Transcriber/Transcriber.node';
import { until } from '../../../simulator/testing-client';
import { withDefaults } from '../../../support/again';
import {
	CREDENTIAL,
	additionalDataFor,
	executable,
	executionOf,
	startingAt,
	to,
	typesOf,
} from '../../../support/n8n';
import { answeringTrigger } from '../../../support/answeringTrigger';
import { serviceForTests } from '../../../support/service';

/** Of this test alone, because what counts as a repeat outlives a test. */
let test = 0;
const link = (onCompletion = 'returnTask') => ({
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion,
	url: `https://files.example.com/${test}.mp3`,
	waitOptions: { pollInterval: 0.05 },
});
const bot = () => ({
	resource: 'meeting',
	operation: 'sendBot',
	onCompletion: 'returnTask',
	consentAcknowledged: true,
	meetingUrl: `https://meet.example.com/${test}`,
});
beforeEach(() => {
	test += 1;
	jest.replaceProperty(REPEATS, 'slowMs', 30_000);
	jest.replaceProperty(REPEATS, 'withinMs', 120_000);
	jest.replaceProperty(POLL, 'perTask', 5);
});

const service = serviceForTests();
const sent = () => [...service.running().tasks(), ...service.running().bots()].length;

const toolNode = (id: string, parameters: INodeParameters): INode => ({
	id,
	name: 'Transcriber',
	type: 'n8n-nodes-transcriber.transcriberTool',
	typeVersion: 1,
	position: [0, 0],
	credentials: CREDENTIAL,
	parameters: { ...withDefaults(parameters), ...parameters, toolDescription: 'Transcriber' },
});

/** Those of n8n (`$vars`). */
let variables: IDataObject = {};

/** Of each call of an MCP client. */
const workflows: Workflow[] = [];

/** A call of an MCP client, as the client reads the answer. */
async function overMcp(
	parameters: INodeParameters,
	given: IDataObject = {},
	id = 'workflow-1',
): Promise<string> {
	const tool = executable(new Transcriber());
	tool.description.inputs = [];
	tool.description.outputs = [NodeConnectionTypes.AiTool];
	const trigger: INode = { ...toolNode('mcp', {}), name: 'MCP', type: 'mcp', parameters: {} };
	const inputs = [{ type: NodeConnectionTypes.AiTool, displayName: 'Tools' }];
	const mcp = { description: { ...tool.description, inputs, outputs: [], properties: [] } };
	const workflow = new Workflow({
		id,
		nodes: [trigger, toolNode('tool', parameters)],
		connections: { Transcriber: to('MCP', NodeConnectionTypes.AiTool) },
		active: true,
		nodeTypes: typesOf((type) => (type === 'mcp' ? (mcp as unknown as INodeType) : tool)),
		settings: { executionOrder: 'v1' },
	});
	workflows.push(workflow);
	const context = new WebhookContext(
		workflow,
		trigger,
		additionalDataFor(service.credentials(), {
			currentNodeExecutionIndex: 0,
			variables,
			// Each request of the client has an id of its own.
			httpRequest: { body: { method: 'tools/call', id: randomUUID() }, headers: {}, query: {} },
		}),
		'webhook',
		{ webhookDescription: { name: 'default' } } as IWebhookData,
		[],
		// n8n makes run data for this trigger before it calls it (webhook-helpers.js).
		createRunExecutionData({
			executionData: { nodeExecutionStack: [{ node: trigger, data: { main: [] }, source: null }] },
		}),
	);
	const [found] = (await context.getInputConnectionData(NodeConnectionTypes.AiTool, 0)) as Array<{
		invoke: (given: IDataObject) => Promise<string>;
	}>;
	return String(await found?.invoke(given));
}

/** A call by one of the Agents of n8n 2.41. */
async function byAgent(parameters: INodeParameters, given: IDataObject = {}): Promise<string> {
	const type = executable(new Transcriber());
	const node = toolNode(randomUUID(), parameters);
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: typesOf(type),
	});
	const items = [{ json: given }];
	const context = new ExecuteContext(
		workflow,
		node,
		additionalDataFor(service.credentials()),
		'internal',
		createEmptyRunExecutionData(),
		0,
		items,
		{ main: [items] },
		{ node, data: { main: [items] }, source: null },
		[],
	);
	return JSON.stringify(await type.execute?.call(context));
}

describe.each([
	['of an MCP client', overMcp],
	['of an MCP client in queue mode', onWorker],
	['by one of the Agents of n8n 2.41', byAgent],
])('The repeat of a call %s', (_, call) => {
	it.each([
		['a link', link],
		['a bot', bot],
	])('that sent %s gets its answer, if that took long', async (__, parameters) => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		const first = await call(parameters());
		expect(await call(parameters())).toBe(first);
		expect(sent()).toBe(1);
	});

	it('of which the service refused one recording of several gets the same answer', async () => {
		const body = [{ task_id: 'a' }, { error: 'It is private' }];
		const action = { kind: 'respond', status: 200, body, readBody: true } as const;
		service.running().fault({ match: { method: 'POST' }, action });
		const first = await call(link());
		expect(first).toContain('It is private');
		expect(await call(link())).toBe(first);
		expect(service.lines()).toHaveLength(1);
	});

	it('that still waits for the transcript gets the transcript, too', async () => {
		const calls = [call(link('poll'))];
		await until(() => sent() === 1);
		calls.push(call(link('poll')));
		await until(() => service.lines().filter((line) => line.startsWith('GET')).length > 3);
		expect(sent()).toBe(1);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		const [first, second] = await Promise.all(calls);
		expect(first).toContain('"text"');
		expect(second).toBe(first);
	});

	it('whose answer was lost says again that the service may have accepted it', async () => {
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'cut', when: 'afterProcessing' },
		});
		const answers = [await answerOf(call(bot())), await answerOf(call(bot()))];
		expect(answers[0]).toContain('may have accepted');
		expect(answers[1]).toContain('It is not known whether the service accepted this item');
		expect(sent()).toBe(1);
	});

	it('that the service refused is sent', async () => {
		service
			.running()
			.fault({ match: { method: 'POST' }, action: { kind: 'respond', status: 402 } });
		await answerOf(call(link()));
		expect(sent()).toBe(0);
		await call(link());
		expect(sent()).toBe(1);
	});

	it('does not pay either if another repeat has given up while the first still waits', async () => {
		const first = call(link('poll'));
		await until(() => sent() === 1);
		const impatient = { ...link('poll'), waitOptions: { pollInterval: 0.05, timeout: 0.001 } };
		// On a slow machine, it has not even read the status by then.
		expect(await answerOf(call(impatient))).toContain('within 0.001 minutes');
		const third = call(link('poll'));
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		expect(await third).toBe(await first);
		expect(sent()).toBe(1);
	});

	it('whose start is an expression that gives nothing is refused each time, and nothing is sent', async () => {
		const startless = { ...bot(), startAt: '={{ $json.none }}' };
		for (let time = 0; time < 2; time++) {
			expect(await answerOf(call(startless))).toContain("'Start At' is empty");
		}
		expect(sent()).toBe(0);
	});

	it('that asks for something else is sent', async () => {
		await call(link());
		await call({ ...link(), url: 'https://files.example.com/other.mp3' });
		expect(sent()).toBe(2);
	});

	it('is a new call if the first was answered soon: the bot may have been cancelled since', async () => {
		await call(bot());
		await call(bot());
		expect(sent()).toBe(2);
	});

	it('is a new call a while after the first has failed, also if it was repeated meanwhile', async () => {
		jest.replaceProperty(REPEATS, 'withinMs', 2_000);
		const first = call(link('poll'));
		await until(() => sent() === 1);
		service.running().finish(service.running().tasks()[0]?.id ?? '', { status: 'failed' });
		const failed = await answerOf(first);
		const failedAt = Date.now();
		// Only for the repeats.
		jest.replaceProperty(REPEATS, 'withinMs', 120_000);
		service.running().configure({ queueSeconds: 0, processingSeconds: 0 });
		expect(await answerOf(call(link('poll')))).toBe(failed);
		expect(sent()).toBe(1);
		await sleep(failedAt + 2_100 - Date.now());
		expect(await answerOf(call(link('poll')))).toContain('"text"');
		expect(sent()).toBe(2);
	});

	it('is a new call a while after the first has ended', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		jest.replaceProperty(REPEATS, 'withinMs', 20);
		await call(link());
		await sleep(60);
		await call(link());
		expect(sent()).toBe(2);
	});
});

describe.each([
	['', overMcp],
	[' in queue mode', onWorker],
])('The repeat of a call of an MCP client%s', (_, call) => {
	const startAt = '={{ $now.plus({ hours: 1 }).toISO() }}';

	it('is recognised where a parameter depends on the time', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		const later = { ...bot(), startAt, meetingUrl: "={{ $fromAI('url', '', 'string') }}" };
		const send = async (room: string) =>
			await call(later, { url: `https://meet.example.com/${test}-${room}` });
		expect(await send('x')).toContain('bot_id');
		await send('x');
		expect(sent()).toBe(1);
		await send('y');
		expect(sent()).toBe(2);
	});

	it('is another call where the time depends on what the model says', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		const said = "={{ $now.plus({ hours: $fromAI('hours', '', 'number') }).toISO() }}";
		for (const hours of [1, 2, 1]) await call({ ...bot(), startAt: said }, { hours });
		expect(sent()).toBe(2);
	});

	it('is recognised there, too, if the tool takes nothing of the model', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		await call({ ...bot(), startAt });
		await call({ ...bot(), startAt });
		expect(sent()).toBe(1);
	});
});

it('A call by one of the Agents is another call where the time depends on what the model says', async () => {
	jest.replaceProperty(REPEATS, 'slowMs', 0);
	const startAt = '={{ $now.plus({ hours: $json.hours }).toISO() }}';
	for (const hours of [1, 2, 1]) await byAgent({ ...bot(), startAt }, { hours });
	expect(sent()).toBe(2);
});

it('A call in another workflow, or with another credential, is another call', async () => {
	jest.replaceProperty(REPEATS, 'slowMs', 0);
	await overMcp(link());
	await overMcp(link(), {}, 'workflow-2');
	expect(sent()).toBe(2);
	const own = service.credentials();
	const reading = jest.spyOn(service, 'credentials');
	reading.mockReturnValue({ ...own, baseUrl: own.baseUrl.replace('127.0.0.1', 'localhost') });
	await overMcp(link());
	expect(sent()).toBe(3);
	reading.mockReturnValue({ ...own, apiKey: [...own.apiKey].reverse().join('') });
	expect(await answerOf(overMcp(link()))).toContain('does not accept the API key');
	reading.mockRestore();
});

it('A call whose credential cannot be used says so', async () => {
	const credentials = { ...service.credentials(), apiKey: '' };
	const reading = jest.spyOn(service, 'credentials').mockReturnValue(credentials);
	const answer = await answerOf(overMcp(link()));
	reading.mockRestore();
	expect(answer).toContain("The 'API Key' of the credential is empty");
});

it('An execution shares nothing with another one that submits the same link at the same time', async () => {
	await Promise.all([service.run(link()), service.run(link())]);
	expect(sent()).toBe(2);
});

describe('A call of an MCP client in queue mode', () => {
	const type = '@n8n/n8n-nodes-langchain.agentTool';
	const subAgent = () => ofWorker({ ...toolNode('agent', {}), name: 'AI Agent Tool', type });

	it('through a sub-agent shares what it has submitted with its repeat, too', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		await onWorker(link(), {}, subAgent());
		await onWorker(link(), {}, subAgent());
		expect(sent()).toBe(1);
	});

	it('whose sub-agent sends the same bot twice sends one, although it gets its answers at once', async () => {
		const caller = subAgent();
		await onWorker(bot(), {}, caller);
		await onWorker(bot(), {}, caller);
		expect(sent()).toBe(1);
		await onWorker(bot(), {}, subAgent());
		expect(sent()).toBe(2);
	});

	it('whose sub-agent goes on with its bot is still known when the bot of another client is forgotten', async () => {
		jest.replaceProperty(REPEATS, 'slowMs', 0);
		const caller = subAgent();
		jest.replaceProperty(REPEATS, 'withinMs', 20);
		await onWorker(bot(), {}, caller);
		await sleep(60);
		jest.replaceProperty(REPEATS, 'withinMs', 300);
		await onWorker(bot(), {}, subAgent());
		expect(sent()).toBe(2);
		jest.replaceProperty(REPEATS, 'withinMs', 120_000);
		await onWorker(bot(), {}, caller);
		await sleep(400);
		await onWorker(bot(), {}, subAgent());
		expect(sent()).toBe(2);
	});

	it('that still waits is known to its repeat, although the sub-agent of another client goes on with an older call', async () => {
		const finish = async (count: number) => {
			await until(() => sent() === count);
			const open = service
				.running()
				.tasks()
				.find(({ status }) => status !== 'completed');
			service.running().finish(open?.id ?? '');
		};
		const caller = subAgent();
		const older = onWorker(link('poll'), {}, caller);
		await finish(1);
		await older;
		const first = onWorker(link('poll'), {}, subAgent());
		await until(() => sent() === 2);
		expect(await onWorker(link('poll'), {}, caller)).toBe(await older);
		const repeat = onWorker(link('poll'), {}, subAgent());
		await finish(2);
		expect(await repeat).toBe(await first);
		expect(sent()).toBe(2);
	});

	it('whose sub-agent was refused goes on with what its repeat has submitted meanwhile', async () => {
		const first = subAgent();
		service
			.running()
			.fault({ match: { method: 'POST' }, action: { kind: 'respond', status: 402 } });
		await answerOf(onWorker(link('poll'), {}, first));
		expect(sent()).toBe(0);
		const repeat = onWorker(link('poll'), {}, subAgent());
		await until(() => sent() === 1);
		const again = onWorker(link('poll'), {}, first);
		// The next look after it has begun.
		const looks = service.lines().length;
		await until(() => service.lines().length > looks + 1);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		expect(await again).toBe(await repeat);
		expect(sent()).toBe(1);
	});

	it('whose sub-agent gives two languages of one link the same Idempotency Key is refused', async () => {
		const caller = subAgent();
		const options = { idempotencyKey: 'one' };
		await onWorker({ ...link(), options, language: 'en' }, {}, caller);
		const answer = await answerOf(onWorker({ ...link(), options, language: 'de' }, {}, caller));
		expect(answer).toContain('what_to_do');
		expect(sent()).toBe(1);
	});

	it('whose sub-agent gives two links the same Idempotency Key is refused', async () => {
		const caller = subAgent();
		const keyed = () => ({ ...link(), options: { idempotencyKey: 'one' } });
		await onWorker(keyed(), {}, caller);
		const other = { ...keyed(), url: 'https://files.example.com/other.mp3' };
		expect(await answerOf(onWorker(other, {}, caller))).toContain('for two different links');
		expect(sent()).toBe(1);
	});

	it('that would wait by webhook is refused, and nothing is sent', async () => {
		expect(await answerOf(onWorker(link('awaitWebhook')))).toContain('what_to_do');
		expect(sent()).toBe(0);
	});

	it('gets an exported document as text', async () => {
		await onWorker(link());
		const [task] = service.running().tasks();
		service.running().finish(task?.id ?? '');
		const taskId = { __rl: true, mode: 'id', value: task?.id };
		const exported = { resource: 'task', operation: 'export', taskId, format: 'srt' };
		expect(await onWorker(exported as INodeParameters)).toContain('-->');
	});
});

it.each([
	['of a sub-agent', '@n8n/n8n-nodes-langchain.agentTool'],
	['of the tool itself', 'n8n-nodes-transcriber.transcriberTool'],
])(
	'A Retry %s with the currently saved workflow, which no longer shows who has called, sends nothing again',
	async (_, type) => {
		const node: INode = { ...toolNode('caller', {}), name: 'Caller', type };
		const first = ofWorker({ ...node, rewireOutputLogTo: 'ai_tool' });
		await onWorker(bot(), {}, first, 'manual');
		const data = JSON.parse(JSON.stringify(first.data)) as typeof first.data;
		await onWorker(bot(), {}, { ...ofWorker(node), data }, 'retry');
		expect(sent()).toBe(1);
	},
);

describe('After the client has hung up, when n8n 2.41 evaluates no expression any more', () => {
	const fromModel = (waitOptions: INodeParameters) => ({
		...link('poll'),
		url: "={{ $fromAI('url', '', 'string') }}",
		waitOptions,
	});
	const document = { exportFormat: 'txt', exportAs: 'text' };

	/** Calls it, hangs up when the service has the submit, and calls it again. */
	async function callTwice(waitOptions: INodeParameters): Promise<void> {
		const asked = fromModel({ pollInterval: 0.05, ...waitOptions });
		const given = { url: link().url };
		const first = overMcp(asked, given);
		await until(() => sent() === 1);
		hangUp();
		const second = overMcp(asked, given);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		expect(await second).toContain('"text"');
		expect(await first).toContain('"text"');
		expect(sent()).toBe(1);
	}

	it.each([
		['', {}],
		[', with a document', document],
		[', with a format from an expression', { ...document, exportFormat: "={{ 'txt' }}" }],
	])('the repeat of a call gets the transcript%s', async (_, waitOptions) => {
		await callTwice(waitOptions);
	});

	it('before the service has answered, the repeat gets the transcript, too', async () => {
		const action = { kind: 'delay', ms: 300, processed: true } as const;
		service.running().fault({ match: { method: 'POST' }, action });
		await callTwice({});
	});

	describe('a variable of n8n', () => {
		const start = new Date(Date.now() + 3_600_000).toISOString();
		const startAt = '={{ $vars.start }}';
		const isSlow = () => {
			const action = { kind: 'delay', ms: 300, processed: true } as const;
			service.running().fault({ match: { method: 'POST' }, action });
		};
		beforeEach(() => (variables = { start }));

		it("in 'Start At': the repeat gets the bot that the service had not answered for", async () => {
			jest.replaceProperty(REPEATS, 'slowMs', 0);
			isSlow();
			const first = overMcp({ ...bot(), startAt });
			await until(() => sent() === 1);
			hangUp();
			expect(await first).toContain('bot_id');
			expect(await overMcp({ ...bot(), startAt })).toContain('bot_id');
			expect(sent()).toBe(1);
		});

		it("in 'Start At': no repeat sends a second bot after the first has been waited for", async () => {
			jest.replaceProperty(REPEATS, 'slowMs', 0);
			const waitOptions = { pollInterval: 0.05, timeout: 0.02 };
			const asked = { ...bot(), onCompletion: 'poll', startAt, waitOptions };
			const first = overMcp(asked);
			await until(() => service.lines().some((line) => line.startsWith('GET')));
			hangUp();
			const { bots, tasks, endMeeting, finish } = service.running();
			for (const { id } of bots()) endMeeting(id);
			for (const { id } of tasks()) finish(id);
			expect(await first).toContain('"text"');
			expect(await answerOf(overMcp(asked))).toContain('"text"');
			expect(bots()).toHaveLength(1);
		});

		it("in 'Trigger URL': the trigger gets the secret", async () => {
			const host = await answeringTrigger(service.credentials().apiKey);
			variables = { trigger: host.url };
			try {
				isSlow();
				const first = overMcp({ ...link('notifyTrigger'), triggerUrl: '={{ $vars.trigger }}' });
				await until(() => sent() === 1);
				hangUp();
				await answerOf(first);
				expect(host.calls.flat()).toHaveLength(1);
			} finally {
				host.close();
			}
		});
	});
});

describe('A repeat goes on by itself with what was submitted', () => {
	beforeEach(() => jest.replaceProperty(REPEATS, 'slowMs', 0));
	const withOptions = (waitOptions: INodeParameters) => ({
		...link('poll'),
		waitOptions: { pollInterval: 0.05, ...waitOptions },
	});

	it('if it wants another document, it gets that', async () => {
		const first = byAgent(withOptions({}));
		await until(() => sent() === 1);
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		expect(await first).toContain('"text"');
		const second = await byAgent(withOptions({ exportFormat: 'srt', exportAs: 'text' }));
		expect(second).toContain('-->');
		expect(sent()).toBe(1);
	});

	it('if it has a longer Timeout, it waits for longer', async () => {
		expect(await answerOf(byAgent(withOptions({ timeout: 0.002 })))).toContain('has not ended');
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		expect(await byAgent(withOptions({}))).toContain('"text"');
		expect(sent()).toBe(1);
	});
});

/** The execution that a worker begins for a call of an MCP client: of the tool, or of a sub-agent that calls it. */
const ofWorker = (node: INode) => ({
	run: { node, data: { main: [[{ json: {} }]] }, source: null } as IExecuteData,
	data: startingAt(node, []),
	id: randomUUID(),
});

/** A call of an MCP client in queue mode: a worker of n8n 2 runs the tool in an execution of its own (job-processor.js, `invokeTool`). */
async function onWorker(
	parameters: INodeParameters,
	given: IDataObject = {},
	execution?: ReturnType<typeof ofWorker>,
	mode: WorkflowExecuteMode = 'webhook',
): Promise<string> {
	const type = executable(new Transcriber());
	const tool = toolNode('tool', parameters);
	const trigger: INode = { ...toolNode('mcp', {}), name: 'MCP', type: 'mcp', parameters: {} };
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [trigger, tool],
		connections: { Transcriber: to('MCP', NodeConnectionTypes.AiTool) },
		active: true,
		nodeTypes: typesOf(type),
		settings: { executionOrder: 'v1' },
	});
	const { id, run, data } = execution ?? ofWorker(tool);
	const items = [{ json: { method: 'tools/call', id: randomUUID() } }];
	const context = new SupplyDataContext(
		workflow,
		tool,
		additionalDataFor(service.credentials(), executionOf(id, [trigger, tool])),
		mode,
		data,
		// A sub-agent gives each of its calls another one (get-input-connection-data.js).
		data.resultData.runData[tool.name]?.length ?? 0,
		items,
		{ main: [items] },
		NodeConnectionTypes.AiTool,
		run,
		[],
		undefined,
		trigger,
	);
	context.addInputData(NodeConnectionTypes.AiTool, [[{ json: given }]]);
	return JSON.stringify(await type.execute?.call(context as never));
}

/** What n8n 2.41 does when the client of the latest call hangs up (live-webhooks.js, `releaseIsolate`). */
function hangUp(): void {
	const { expression } = workflows.at(-1)?.expression as unknown as { expression: object };
	Object.assign(expression, {
		renderExpression: () => {
			throw new Error('No bridge acquired for this context. Call acquire() first.');
		},
	});
}

/** What a failed call says: MCP clients get an answer, the Agents an exception. */
async function answerOf(call: Promise<string>): Promise<string> {
	return await call.catch((error: Error) => error.message);
}
