/** What every end-to-end test needs: an n8n, a service of its own, and one node to run. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { memoryOf } from '../n8n/host';
import {
	itemsOf,
	N8nRest,
	type Execution,
	type ExecutionError,
	type Item,
	type Workflow,
	type WorkflowNode,
} from '../n8n/rest';
import { startSimulator, type Simulator, type SimulatorOptions } from '../simulator';

/** Handed from setup.ts to the test files, which run in another process. */
export interface SharedN8n {
	url: string;
	pid: number;
	version: string;
	/** The folder that the Read/Write Files node may use. */
	files: string;
	/** Where it keeps binary data. */
	binaryMode: 'default' | 'filesystem' | 'database';
}

/** One n8n for each worker of jest. */
export function shareWithTests(hosts: SharedN8n[]): void {
	process.env.SHARED_N8N = JSON.stringify(hosts);
}

/** The n8n of this worker of jest. */
export function sharedN8n(): SharedN8n {
	const hosts = JSON.parse(process.env.SHARED_N8N ?? '[]') as SharedN8n[];
	const own = hosts[Number(process.env.JEST_WORKER_ID) - 1];
	if (!own) throw new Error('Jest has started no n8n for this worker: see test/e2e/setup.ts');
	return own;
}

export const root = path.join(__dirname, '..', '..');
export const NODE_TYPE = 'n8n-nodes-transcriber.transcriber';

type Parameters = Record<string, unknown>;

export interface NodeRunOptions {
	/** What the node gets, one JSON object an item; one empty item unless told otherwise. */
	items?: Array<Record<string, unknown>>;
	/** Turned into a binary file `data` on the way to the node. */
	file?: { name: string; mimeType: string; content: string };
	/** Settings of the node itself, such as `onError`. */
	node?: Partial<WorkflowNode>;
	/** Runs another node type instead. */
	type?: { type: string; typeVersion: number };
	timeoutMs?: number;
}

export interface NodeOutcome {
	execution: Execution;
	items: Item[];
	error: ExecutionError | undefined;
}

export class Bench {
	private constructor(
		readonly n8n: SharedN8n,
		readonly rest: N8nRest,
		readonly simulator: Simulator,
		readonly credential: { id: string; name: string },
	) {}

	/** A simulator and a credential for it, so that test files do not see each other's requests. */
	static async open(options: SimulatorOptions = {}): Promise<Bench> {
		const n8n = sharedN8n();
		const rest = new N8nRest(n8n.url);
		await rest.signIn();
		// The node keeps to the rate limits per API key, so each file has a key of its own.
		const apiKey = `test-api-key-${randomUUID()}`;
		const simulator = await startSimulator({
			clockRate: 60,
			processingSeconds: 30,
			apiKey,
			...options,
		});
		const credential = await rest.createCredential(
			'transcriberApi',
			{ baseUrl: simulator.url, apiKey: simulator.apiKey },
			`Simulator ${simulator.url}`,
		);
		return new Bench(n8n, rest, simulator, credential);
	}

	async close(): Promise<void> {
		await this.simulator.close();
	}

	/** Runs the Transcriber node with these parameters in a workflow of its own. */
	async runNode(parameters: Parameters, options: NodeRunOptions = {}): Promise<NodeOutcome> {
		return await this.outcome(chain(parameters, options), options.timeoutMs);
	}

	/** Runs a whole workflow; the outcome is that of `node`. */
	async outcome(workflow: Workflow, timeoutMs?: number, node = 'Subject'): Promise<NodeOutcome> {
		const stored = await this.rest.createWorkflow(workflow, { transcriberApi: this.credential });
		const execution = await this.rest.runToEnd(stored, timeoutMs);
		return { execution, items: itemsOf(execution, node), error: execution.error };
	}

	/** A task that is through, made without n8n. */
	async finishedTask(): Promise<string> {
		const form = new FormData();
		form.append('file', new Blob(['sound']), 'talk.mp3');
		const { task_id: id } = await this.call<{ task_id: string }>('POST', 'transcribe', form);
		this.simulator.finish(id);
		return id;
	}

	/** The service as a script would use it. */
	async call<T>(method: string, endpoint: string, body?: FormData | object): Promise<T> {
		const form = body instanceof FormData;
		const answer = await fetch(`${this.simulator.url}/api/v1/${endpoint}`, {
			method,
			headers: {
				'X-API-Key': this.simulator.apiKey,
				...(form || body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			body: form ? body : body && JSON.stringify(body),
		});
		if (!answer.ok)
			throw new Error(`${method} ${endpoint}: ${answer.status} ${await answer.text()}`);
		return (await answer.json()) as T;
	}

	/** `METHOD path` of what the service was asked since `from`, without the prefix. */
	asked(from = 0): string[] {
		return this.simulator.requests
			.slice(from)
			.map(({ method, path: asked }) => `${method} ${asked.replace('/api/v1', '')}`);
	}

	memory(): number {
		return memoryOf(this.n8n.pid);
	}
}

/** A trigger with pinned items, a file where one is wanted, and the node under test, called "Subject". */
export function chain(parameters: Parameters, options: NodeRunOptions): Workflow {
	const { items = [{}], file, node, type } = options;
	const nodes: WorkflowNode[] = [
		{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', typeVersion: 1, parameters: {} },
	];
	if (file !== undefined) {
		nodes.push({
			name: 'File',
			type: 'n8n-nodes-base.convertToFile',
			typeVersion: 1.1,
			parameters: {
				operation: 'toBinary',
				sourceProperty: 'file',
				options: { fileName: file.name, mimeType: file.mimeType },
			},
		});
	}
	nodes.push({
		name: 'Subject',
		type: NODE_TYPE,
		typeVersion: 1,
		parameters,
		credentials: { transcriberApi: { name: '' } },
		...type,
		...node,
	});
	const content = file && Buffer.from(file.content).toString('base64');
	return {
		name: `${String(parameters.resource)} ${String(parameters.operation)}`,
		nodes,
		connections: inOneLine(nodes),
		pinData: { Start: items.map((json) => ({ json: { ...json, file: content } })) },
	};
}

export function inOneLine(nodes: WorkflowNode[]): Workflow['connections'] {
	return Object.fromEntries(
		nodes
			.slice(1)
			.map((node, index) => [
				nodes[index]?.name,
				{ main: [[{ node: node.name, type: 'main', index: 0 }]] },
			]),
	);
}

/**
 * The id of an execution that a call with a file starts, with `node` behind a Webhook node. `listed`: the nodes in the order
 * in which the workflow lists them, which is that in which they were put into it.
 */
export async function startWithFile(
	rest: N8nRest,
	node: WorkflowNode,
	credential: { id: string; name: string },
	{
		after = [],
		listed = (nodes) => nodes,
		settings,
	}: {
		after?: WorkflowNode[];
		listed?: (nodes: WorkflowNode[]) => WorkflowNode[];
		settings?: Workflow['settings'];
	} = {},
): Promise<string> {
	const path = randomUUID();
	const webhook: WorkflowNode = {
		name: 'Webhook',
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
		webhookId: path,
	};
	const nodes = [webhook, node, ...after];
	const workflow = await rest.createWorkflow(
		{ name: 'with a file', nodes: listed(nodes), connections: inOneLine(nodes), settings },
		{ transcriberApi: credential },
	);
	await rest.activate(workflow);
	const body = new FormData();
	body.append('data', new Blob(['sound'], { type: 'audio/mpeg' }), 'talk.mp3');
	const { status } = await rest.callWebhook(path, { method: 'POST', body });
	if (status !== 200) throw new Error(`The webhook answered ${status}`);
	for (;;) {
		const [started] = await rest.executions(workflow.id);
		if (started) return started.id;
		await sleep(100);
	}
}

export async function readExample(file: string): Promise<Workflow> {
	return JSON.parse(await readFile(path.join(root, 'examples', file), 'utf8')) as Workflow;
}

/** The value of a resource locator that was given an id. */
export function byId(value: string): Parameters {
	return { __rl: true, mode: 'id', value };
}
