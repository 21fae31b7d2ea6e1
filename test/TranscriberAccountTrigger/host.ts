/**
 * n8n's side of a polling trigger: the node polls in n8n-core's own PollContext. As in n8n, the static data is loaded
 * once for an activation, and saved when the activation ends and when a poll starts an execution, at no other time.
 */
import { randomUUID } from 'node:crypto';

import { PollContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type IPollFunctions,
	type WorkflowActivateMode,
} from 'n8n-workflow';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { queueFor } from '../../nodes/shared/api/waitForTurn';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { TranscriberAccountTrigger } from '../../nodes/TranscriberAccountTrigger/TranscriberAccountTrigger.node';
import { additionalDataFor, typesOf, type Credentials } from '../support/n8n';

/** The pause before an empty list is read again, shorter by so much. */
beforeEach(() => void jest.replaceProperty(ACCOUNT_POLL, 'emptyListMs', 20));

/** A copy of the node with a memory of its own, as a restart of n8n makes it. */
export function newProcess(): TranscriberAccountTrigger {
	let loaded: TranscriberAccountTrigger | undefined;
	jest.isolateModules(() => {
		const copies: Array<[string, object]> = [
			['../../nodes/shared/api/rateLimits', { LIMITS }],
			['../../nodes/shared/api/delayBeforeRetry', { RETRY }],
			['../../nodes/TranscriberAccountTrigger/pollLimits', { ACCOUNT_POLL }],
			['../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls', { ACCOUNT_MEMORY }],
		];
		for (const [file, values] of copies) {
			const copy = jest.requireActual<Record<string, object>>(file);
			for (const [name, value] of Object.entries(values)) Object.assign(copy[name] ?? {}, value);
		}
		const file = '../../nodes/TranscriberAccountTrigger/TranscriberAccountTrigger.node';
		const { TranscriberAccountTrigger: Trigger } = jest.requireActual<{
			TranscriberAccountTrigger: typeof TranscriberAccountTrigger;
		}>(file);
		loaded = new Trigger();
	});
	if (!loaded) throw new Error('The trigger could not be loaded');
	return loaded;
}

/** As many requests as the service allows in a minute are under way with this API key, until the returned function is called. */
export async function takeAllTurns(apiKey: string): Promise<() => void> {
	const turns = queueFor(apiKey, 'other');
	const taken = await Promise.all(
		Array.from({ length: LIMITS.other }, async () => await turns.take(undefined, 'urgent')),
	);
	return () => {
		for (const leave of taken) leave(false);
	};
}

export class AccountHost {
	/** The column in n8n's database. */
	saved = '{}';

	workflowId: string = randomUUID();

	/** What each execution began with. */
	readonly executions: INodeExecutionData[][] = [];

	readonly node: INode = {
		id: randomUUID(),
		name: 'Account Trigger',
		type: 'n8n-nodes-transcriber.transcriberAccountTrigger',
		typeVersion: 1,
		position: [0, 0],
		credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
		parameters: {},
	};

	/** What n8n does with the same Workflow object before it polls: the hooks of webhook triggers. */
	beforePolls: (workflow: Workflow, mode: WorkflowActivateMode) => Promise<void> = async () => {};

	/** n8n adds this parameter to every polling node that it loads. */
	pollTimes: INodeParameters = {};

	/** n8n 2.41 also saves the static data of an activation that fails; earlier versions do not. */
	savesFailures = false;

	private process = new TranscriberAccountTrigger();

	private workflow?: Workflow;

	private context?: PollContext;

	private loaded?: IDataObject;

	constructor(
		readonly credentials: Credentials,
		parameters: INodeParameters = {},
	) {
		this.node.parameters = { events: ['transcriptCompleted', 'transcriptFailed'], ...parameters };
	}

	/** Publishes the workflow, or does what n8n does with a published one: it polls once, and saves. */
	async activate(mode: WorkflowActivateMode = 'activate'): Promise<void> {
		// Before n8n has saved any, there is none.
		this.loaded = this.saved === '{}' ? undefined : (JSON.parse(this.saved) as IDataObject);
		this.workflow = this.load(this.loaded ?? {});
		await this.beforePolls(this.workflow, mode);
		this.save();
		this.context = this.contextFor(this.workflow, 'trigger', mode);
		try {
			await this.poll();
		} catch (error) {
			if (this.savesFailures) this.save();
			throw error;
		}
		this.save();
	}

	/**
	 * What n8n 1 and 2.30 do when another trigger of the workflow fails while it runs: they add the
	 * workflow again, with the objects that they loaded for the activation before.
	 */
	async addAgain(mode: WorkflowActivateMode = 'activate'): Promise<void> {
		this.workflow = this.load(this.loaded ?? {});
		this.context = this.contextFor(this.workflow, 'trigger', mode, this.context?.node);
		await this.poll();
		this.save();
	}

	/** As in n8n 2 when the poll of another trigger of the workflow ends (poll-trigger-executor.js, `releaseIsolate`). */
	takeSandboxAway(): void {
		if (!this.context) throw new Error('The workflow is not active');
		this.context.helpers.httpRequestWithAuthentication = async () => {
			throw new Error('No bridge acquired for this context. Call acquire() first.');
		};
	}

	/** One poll at its time. */
	async poll(): Promise<INodeExecutionData[]> {
		if (!this.context) throw new Error('The workflow is not active');
		const items = await this.process.poll.call(this.context as unknown as IPollFunctions);
		if (!items) return [];
		this.executions.push(items.flat());
		this.save();
		return items.flat();
	}

	async polls(times: number): Promise<void> {
		for (let time = 0; time < times; time++) await this.poll();
	}

	/** The end of the process, however it comes, and a new start of n8n. */
	async restart(process = newProcess()): Promise<void> {
		this.process = process;
		await this.activate('init');
	}

	/** Another process, which has polled nothing yet. */
	forget(): void {
		this.process = newProcess();
	}

	/** "Execute step" in the editor. */
	async executeStep(): Promise<INodeExecutionData[]> {
		const workflow = this.load();
		const context = this.contextFor(workflow, 'manual', 'manual');
		const items = await this.process.poll.call(context as unknown as IPollFunctions);
		expect(JSON.stringify(workflow.staticData)).toBe(JSON.stringify(this.load().staticData));
		return (items ?? []).flat();
	}

	/** The ids of the tasks that have started the workflow, in the order of their start. */
	get started(): string[] {
		return this.executions.flat().map(({ json }) => String(json.task_id));
	}

	/** As workflow-static-data.service.js of n8n: saves what is marked as changed. */
	private save(): void {
		const data = this.workflow?.staticData as { __dataChanged?: boolean } | undefined;
		if (data?.__dataChanged !== true) return;
		this.saved = JSON.stringify(data);
		data.__dataChanged = false;
	}

	private load(staticData = JSON.parse(this.saved) as IDataObject): Workflow {
		const { process } = this;
		return new Workflow({
			id: this.workflowId,
			nodes: [this.node],
			connections: {},
			active: true,
			nodeTypes: typesOf(process),
			staticData,
		});
	}

	private contextFor(
		workflow: Workflow,
		mode: 'trigger' | 'manual',
		activation: WorkflowActivateMode,
		loaded?: INode,
	): PollContext {
		const additionalData = additionalDataFor(this.credentials);
		const parameters = { ...this.node.parameters, pollTimes: this.pollTimes };
		const node = loaded ?? { ...this.node, parameters };
		return new PollContext(workflow, node, additionalData, mode, activation);
	}
}
