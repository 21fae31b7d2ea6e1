/** One cell of the matrix: a service and an API key of its own, in the one n8n. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { chain, inOneLine, startWithFile, type NodeRunOptions } from '../e2e/harness';
import { freePorts, type N8nHost } from '../n8n/host';
import type { Execution, StoredWorkflow, Workflow, WorkflowNode } from '../n8n/rest';
import { startSimulator, type Simulator } from '../simulator';
import { post } from '../TranscriberTrigger/client';
import { KEY_OF_CELL } from './invariants';

export const SUMMARY_PATH = '/tasks/{taskId}/summary';

/** Longer than anything that a cell waits for: 401 counts after two minutes. */
const ENDS_WITHIN_MS = 300_000;

/** Long enough for a second start to show itself. */
const SETTLE_MS = 15_000;

/** One question for all cells, as each costs n8n almost as much as an execution does. */
let opens: { at: number; ids: Promise<Set<string>> } | undefined;

async function openExecutions({ rest }: N8nHost, since: number): Promise<Set<string>> {
	if (!opens || opens.at < Math.max(since, Date.now() - 1_000)) {
		const filter = encodeURIComponent(JSON.stringify({ status: ['new', 'running', 'waiting'] }));
		const ids = rest
			.get<{ results: Array<{ id: string }> }>(`/executions?filter=${filter}&limit=100`)
			.then(({ results }) => new Set(results.map(({ id }) => String(id))));
		opens = { at: Date.now(), ids };
	}
	return await opens.ids;
}

export class Cell {
	/** All executions that belong to it. */
	readonly executions: Execution[] = [];

	private readonly openedAt = Date.now();

	/** Whether a webhook starts its executions: one that was started in the editor has no Retry after a crash. */
	isInProduction = false;

	/** Whether n8n gets no usable answer to what the service has done, so that it has to ask again. */
	isAnswerLost = false;

	private readonly active: StoredWorkflow[] = [];

	private constructor(
		readonly n8n: N8nHost,
		readonly simulator: Simulator,
		readonly apiKey: string,
		private readonly credential: { id: string; name: string },
		/** An address that answers every delivery with 200. */
		readonly receiver: string,
	) {}

	static async open(n8n: N8nHost, receiver: string): Promise<Cell> {
		const apiKey = `${KEY_OF_CELL}${randomUUID()}`;
		// Not one of those that the system gives out while nobody listens there.
		const [port] = await freePorts(1);
		const simulator = await startSimulator({
			port,
			apiKey,
			clockRate: 60,
			// Five seconds each, so that a node that looks every four looks twice.
			processingSeconds: 300,
			meetingSeconds: 330,
			webhookRetries: 1000,
			webhookRetrySeconds: 120,
			shapes: { regenerateSummary: { method: 'POST', path: `/api/v1${SUMMARY_PATH}` } },
		});
		const data = { baseUrl: simulator.url, apiKey };
		const credential = await n8n.rest.createCredential('transcriberApi', data, apiKey.slice(0, 15));
		return new Cell(n8n, simulator, apiKey, credential, receiver);
	}

	/** Switches off the triggers that were published, but for those that are to stay. */
	async switchOff(stay: Listening[] = []): Promise<void> {
		const ids = stay.map(({ workflow }) => workflow.id);
		for (const workflow of this.active.splice(0)) {
			if (ids.includes(workflow.id)) this.active.push(workflow);
			else await this.n8n.rest.deactivate(workflow).catch(() => undefined);
		}
	}

	/** When n8n was killed since the cell was opened, in ms since 1970. */
	get killedAt(): number | undefined {
		return this.n8n.killedAt.find((at) => at >= this.openedAt);
	}

	async close(): Promise<void> {
		await this.switchOff();
		await this.simulator.close();
	}

	/** Starts the Transcriber node with these parameters. Returns the id of the execution. */
	async run(parameters: Record<string, unknown>, options: NodeRunOptions): Promise<string> {
		const { rest } = this.n8n;
		const workflow = chain(parameters, options);
		if (this.isInProduction) return await this.runByWebhook(workflow, options);
		const stored = await rest.createWorkflow(workflow, { transcriberApi: this.credential });
		return await rest.run(stored);
	}

	private async runByWebhook(
		{ name, nodes: [start, ...others], connections }: Workflow,
		{ file }: NodeRunOptions,
	): Promise<string> {
		const { rest } = this.n8n;
		const path = randomUUID();
		const webhook: WorkflowNode = {
			name: String(start?.name),
			type: 'n8n-nodes-base.webhook',
			typeVersion: 2,
			webhookId: path,
			parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
		};
		const nodes = others.map((node) =>
			node.name === 'File'
				? { ...node, parameters: { ...node.parameters, sourceProperty: 'body.file' } }
				: node,
		);
		const workflow = await rest.createWorkflow(
			{ name, nodes: [webhook, ...nodes], connections },
			{ transcriberApi: this.credential },
		);
		this.active.push(workflow);
		await rest.activate(workflow);
		const content = file && Buffer.from(file.content).toString('base64');
		const { status } = await rest.callWebhook(path, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ file: content }),
		});
		if (status !== 200) throw new Error(`The webhook answered ${status}`);
		for (;;) {
			const [started] = await rest.executions(workflow.id);
			if (started) return started.id;
			await sleep(100);
		}
	}

	/** Starts it with a file that comes with the trigger. Returns the id of the execution. */
	async runReceived(parameters: Record<string, unknown>): Promise<string> {
		const node = chain(parameters, {}).nodes.find(({ name }) => name === 'Subject');
		if (!node) throw new Error('There is no node to start');
		return await startWithFile(this.n8n.rest, node, this.credential);
	}

	/** Waits for the end of an execution. It may be suspended meanwhile, and n8n may be restarted. */
	async ended(id: string): Promise<Execution> {
		const deadline = Date.now() + ENDS_WITHIN_MS;
		const began = Date.now();
		while ((await openExecutions(this.n8n, began)).has(id)) {
			if (Date.now() > deadline) throw new Error('the execution has not ended');
			await sleep(1_000);
		}
		const execution = await this.n8n.rest.waitForEnd(id);
		this.executions.push(execution);
		return execution;
	}

	/** A workflow that starts with a trigger, published. */
	async listen(type: string, parameters: Record<string, unknown>): Promise<Listening> {
		const trigger = await this.draft(type, parameters);
		await this.publish(trigger);
		return trigger;
	}

	/** The same, not published yet. */
	async draft(type: string, parameters: Record<string, unknown>): Promise<Listening> {
		const webhookId = randomUUID();
		const nodes: WorkflowNode[] = [
			{
				name: 'Trigger',
				type: `n8n-nodes-transcriber.${type}`,
				typeVersion: 1,
				webhookId,
				parameters,
				credentials: { transcriberApi: { name: '' } },
			},
			{ name: 'End', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} },
		];
		const workflow = await this.n8n.rest.createWorkflow(
			{ name: type, nodes, connections: inOneLine(nodes) },
			{ transcriberApi: this.credential },
		);
		return { workflow, url: `${this.n8n.url}/webhook/${webhookId}/transcriber` };
	}

	async publish({ workflow }: Listening): Promise<void> {
		this.active.push(workflow);
		await this.n8n.rest.activate(workflow);
	}

	async switchOffOne({ workflow }: Listening): Promise<void> {
		await this.n8n.rest.deactivate(workflow);
	}

	async isListening({ url }: Listening): Promise<void> {
		for (let tries = 0; tries < 100; tries++) {
			const [delivery, handOver] = await Promise.all([
				post(url, '{}').catch(() => undefined),
				post(url, '{}', {}, 'PUT').catch(() => undefined),
			]);
			if (delivery?.status === 401 && handOver && handOver.status !== 404) return;
			await sleep(300);
		}
		throw new Error('the trigger is not there');
	}

	/** Why a workflow is not published in the end; undefined if it is. n8n 1 has no such status. */
	async whyNotPublished({ workflow }: Listening): Promise<string | undefined> {
		const deadline = Date.now() + ENDS_WITHIN_MS;
		for (;;) {
			const status = await this.n8n.rest
				.get<{ status?: string }>(`/workflows/${workflow.id}/publication-status`)
				.catch(() => undefined);
			if (status === undefined || status.status === 'published') return undefined;
			if (status.status === 'failed' || Date.now() > deadline) return JSON.stringify(status);
			await sleep(2_000);
		}
	}

	/** All executions of a trigger but crashed ones, once one has succeeded and a little later still. */
	async startedBy({ workflow }: Listening): Promise<Execution[]> {
		const deadline = Date.now() + ENDS_WITHIN_MS;
		const all = async () => await this.n8n.rest.executions(workflow.id);
		while (!(await all()).some(({ status }) => status === 'success')) {
			if (Date.now() > deadline) throw new Error('the trigger has not started its workflow');
			await sleep(1_500);
		}
		await sleep(SETTLE_MS);
		const found: Execution[] = [];
		for (const { id, status } of await all()) {
			if (status === 'crashed') continue;
			found.push(await this.n8n.rest.waitForEnd(id));
		}
		this.executions.push(...found);
		return found;
	}
}

export interface Listening {
	workflow: StoredWorkflow;
	url: string;
}
