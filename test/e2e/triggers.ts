/** An n8n of one's own with triggers in it, which may be killed, and a service that delivers to them. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { itemsOf, type Execution, type StoredWorkflow, type Workflow } from '../n8n/rest';
import { testedVersion } from '../n8n/versions';
import { startSimulator, type Simulator, type SimulatorOptions } from '../simulator';
import { submit } from '../simulator/testing-client';
import { handOverTo, post } from '../TranscriberTrigger/client';
import { NODE_TYPE, inOneLine, root } from './harness';

const END = { name: 'End', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} };

export interface Trigger {
	workflow: StoredWorkflow;
	url: string;
	testUrl: string;
}

/** One that ends nothing by itself and takes any number of submissions. */
export const UNHURRIED_SERVICE: SimulatorOptions = {
	clockRate: 60,
	rateLimits: false,
	tasksInProgress: 10_000,
	queueSeconds: 1e6,
	meetingSeconds: 1e6,
	joiningSeconds: 1e6,
	// Every five seconds, for as long as n8n is down.
	webhookRetries: 100,
	webhookRetrySeconds: 300,
};

/** The triggers in any n8n, whatever it consists of. */
export class Triggers {
	constructor(
		readonly n8n: Pick<N8nHost, 'url' | 'rest'>,
		readonly simulator: Simulator,
		readonly credential: { id: string; name: string },
	) {}

	/** A workflow that starts with the trigger. */
	async triggerWith(
		parameters: Record<string, unknown> = {},
		steps: Workflow['nodes'] = [END],
	): Promise<Trigger> {
		const webhookId = randomUUID();
		const nodes: Workflow['nodes'] = [
			{
				name: 'Trigger',
				type: `${NODE_TYPE}Trigger`,
				typeVersion: 1,
				webhookId,
				// Unless a test says otherwise: it is the delivery that counts, and most tasks have not ended.
				parameters: { options: { includeResult: false }, ...parameters },
				credentials: { transcriberApi: { name: '' } },
			},
			...steps,
		];
		const workflow = await this.n8n.rest.createWorkflow(
			{ name: 'On transcript', nodes, connections: inOneLine(nodes) },
			{ transcriberApi: this.credential },
		);
		const path = `${webhookId}/transcriber`;
		return {
			workflow,
			url: `${this.n8n.url}/webhook/${path}`,
			testUrl: `${this.n8n.url}/webhook-test/${path}`,
		};
	}

	async activeTrigger(
		parameters: Record<string, unknown> = {},
		steps: Workflow['nodes'] = [END],
	): Promise<Trigger> {
		const trigger = await this.triggerWith(parameters, steps);
		await this.n8n.rest.activate(trigger.workflow);
		await this.isRegistered(trigger.url);
		return trigger;
	}

	/** Activation goes on for a moment after n8n has acknowledged it. */
	protected async isRegistered(url: string): Promise<void> {
		for (let tries = 0; tries < 50; tries++) {
			if ((await post(url, '{}')).status === 401) return;
			await sleep(200);
		}
		throw new Error(`${url} is not there`);
	}

	/** Submits recordings with the trigger's address, as any client of the service would. */
	async submitted(count: number, url: string): Promise<string[]> {
		const form = { webhook_url: url };
		return await inTurn(
			Array.from({ length: count }),
			async () => await submit(this.simulator, { form }),
		);
	}

	secretOf(id: string): string {
		return this.simulator.task(id).webhookSecret ?? '';
	}

	/** Hands the secret of a task over, as a Transcriber node does. Returns how often it had to ask. */
	async handOver(url: string, id: string): Promise<number> {
		return await handOverTo(url, id, this.secretOf(id), this.simulator.apiKey, 1100);
	}

	/** Lets tasks end, twenty at a time, and waits until n8n has accepted their deliveries. */
	async deliverAll(ids: string[]): Promise<void> {
		for (let from = 0; from < ids.length; from += 20) {
			const some = ids.slice(from, from + 20);
			for (const id of some) this.simulator.finish(id);
			await eventually(() => this.areAccepted(some));
		}
	}

	areAccepted(ids: string[]): boolean {
		const accepted = this.simulator.deliveries.filter(({ status }) => status === 200);
		const known = new Set(accepted.map(({ taskId }) => taskId));
		return ids.every((id) => known.has(id));
	}

	/**
	 * The executions of a trigger once there are that many and all are over. n8n never ends one that a
	 * kill has cut down before its first node, so nothing that changes for a minute is over too.
	 */
	async executionsOf({ workflow }: Trigger, atLeast: number): Promise<Execution[]> {
		const deadline = Date.now() + 240_000;
		// 1.x answers a delivery before its execution is in the list.
		for (let [counts, since] = ['', Date.now()]; ;) {
			const all = await this.list(workflow.id);
			const open = await this.list(workflow.id, ['new', 'running']);
			const now = `${all.count} ${open.count}`;
			if (now !== counts) [counts, since] = [now, Date.now()];
			const isQuiet = Date.now() - since > (open.count === 0 ? 3_000 : 60_000);
			if ((isQuiet && all.count >= atLeast) || Date.now() > deadline) {
				return await this.read(
					workflow.id,
					Math.max(0, ...all.results.map(({ id }) => Number(id))),
				);
			}
			await sleep(300);
		}
	}

	async countExecutions({ workflow }: Trigger): Promise<number> {
		return (await this.list(workflow.id)).count;
	}

	private async list(workflowId: string, status?: string[]) {
		const filter = encodeURIComponent(JSON.stringify({ workflowId, status }));
		return await this.n8n.rest.get<{ count: number; results: Array<{ id: string }> }>(
			`/executions?filter=${filter}&limit=100`,
		);
	}

	/** Executions have numbers. The two lines of n8n turn the pages of the list differently, and 1.x not reliably. */
	private async read(workflowId: string, highest: number): Promise<Execution[]> {
		const ids = Array.from({ length: highest }, (_, index) => String(index + 1));
		const read = await inTurn(ids, async (id) => {
			if (!this.owners.has(id)) {
				// One that was cut off while n8n 1 wrote it cannot be read.
				const found = await this.n8n.rest.execution(id).catch(() => undefined);
				if (found?.workflowId === workflowId) return [found];
				this.owners.set(id, found?.workflowId);
			}
			return [];
		});
		return read.flat();
	}

	/** Executions of other workflows, which need not be read again. */
	private readonly owners = new Map<string, string | undefined>();
}

/** An n8n of its own. */
export class TriggerBench extends Triggers {
	private constructor(
		override readonly n8n: N8nHost,
		simulator: Simulator,
		credential: { id: string; name: string },
	) {
		super(n8n, simulator, credential);
	}

	static async open(env?: Record<string, string>): Promise<TriggerBench> {
		const { tarball, dispose } = await packPackage(root);
		const n8n = await startN8n({ version: testedVersion(), packageTarball: tarball, env }).finally(
			dispose,
		);
		const simulator = await startSimulator(UNHURRIED_SERVICE);
		const credential = await n8n.rest.createCredential('transcriberApi', {
			baseUrl: simulator.url,
			apiKey: simulator.apiKey,
		});
		return new TriggerBench(n8n, simulator, credential);
	}

	async close(): Promise<void> {
		await this.simulator.close();
		await this.n8n.stop();
	}

	/** `kill -9`, and a new start. */
	async crash(trigger: Trigger): Promise<void> {
		await this.n8n.kill();
		await this.n8n.restart();
		await this.isRegistered(trigger.url);
	}
}

/** The tasks that executions started with. */
export function taskIdsIn(executions: Execution[]): unknown[] {
	return executions.flatMap((execution) =>
		itemsOf(execution, 'Trigger').map(({ json }) => json.task_id),
	);
}

/** The machine may be slow, and n8n down in between. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = Date.now() + 240_000;
	while (!(await condition())) {
		if (Date.now() > deadline) throw new Error('It has not happened within 4 minutes');
		await sleep(50);
	}
}

export async function inTurn<T, R>(list: T[], work: (item: T) => Promise<R>): Promise<R[]> {
	const done: R[] = [];
	for (const item of list) done.push(await work(item));
	return done;
}
