/**
 * n8n's side of a trigger, as far as a webhook call sees it: the node runs in n8n-core's own
 * WebhookContext and HookContext, behind a real HTTP server; the workflow's static data is loaded
 * anew for every call and saved whole after it, as n8n does.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { HookContext, WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IWebhookData,
	type IWebhookFunctions,
	type IWorkflowExecuteAdditionalData,
	type WorkflowActivateMode,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { HAND_OVER } from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { STORE, type SentBot } from '../../nodes/TranscriberTrigger/triggerMemory';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { additionalDataFor, typesOf, type Credentials } from '../support/n8n';
import { findIn } from '../support/search';
import { told } from './client';

const WEBHOOK_ID = '5d1a4f0e-0b0c-4f5e-9c55-1d2f3a4b5c6d';

/** What a trigger stores is safe sooner, so an action node asks sooner whether it is. */
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 100);
	jest.replaceProperty(HAND_OVER, 'interval', 150);
});

/** Every answer of a test is searched for every secret of it: a caller may be anybody. */
const secrets = new Set<string>();
const answers: unknown[] = [];
beforeEach(() => {
	told.secret = (secret) => {
		// A shorter one may be an ordinary word.
		if (secret.trim().length >= 7) secrets.add(secret);
	};
	told.answer = (wire) => void answers.push(wire);
});
afterEach(() => {
	const found = findIn(answers.splice(0), [...secrets]);
	secrets.clear();
	expect({ toldToCallers: found }).toEqual({ toldToCallers: [] });
});

/** One n8n process: what the node keeps in memory belongs to it, and is gone with it. */
export type Process = TranscriberTrigger;

const firstProcess = new TranscriberTrigger();

/** A copy of the node with a memory of its own. */
export function newProcess(): Process {
	let trigger: Process | undefined;
	jest.isolateModules(() => {
		const limits = jest.requireActual<{ LIMITS: object }>('../../nodes/shared/api/rateLimits');
		Object.assign(limits.LIMITS, LIMITS);
		const retry = jest.requireActual<{ RETRY: object }>('../../nodes/shared/api/delayBeforeRetry');
		Object.assign(retry.RETRY, RETRY);
		const answer = jest.requireActual<{ ANSWER: object }>(
			'../../nodes/shared/webhook/answerInTime',
		);
		Object.assign(answer.ANSWER, ANSWER);
		const store = jest.requireActual<{ STORE: object }>(
			'../../nodes/TranscriberTrigger/triggerMemory',
		);
		Object.assign(store.STORE, STORE);
		const bot = jest.requireActual<{ GRACE: object }>(
			'../../nodes/TranscriberTrigger/cancelBotWhenUnpublished',
		);
		Object.assign(bot.GRACE, GRACE);
		const loaded = jest.requireActual<{ TranscriberTrigger: typeof TranscriberTrigger }>(
			'../../nodes/TranscriberTrigger/TranscriberTrigger.node',
		);
		trigger = new loaded.TranscriberTrigger();
	});
	if (!trigger) throw new Error('The trigger could not be loaded');
	return trigger;
}

export interface HostSettings {
	parameters?: INodeParameters;
	credentials: Credentials;
	/** How long n8n takes to save static data, in ms, at most. Calls overtake each other. */
	saveMs?: number;
	mode?: 'webhook' | 'manual';
	workflowId?: string;
}

/** A workflow with a trigger, in the database of an n8n that may have several processes. */
export class TriggerHost {
	/** The column in n8n's database. */
	saved = '{}';

	readonly executions: INodeExecutionData[][] = [];

	/** What webhook() threw: n8n makes a failed execution of it. */
	readonly thrown: unknown[] = [];

	processes: Process[] = [firstProcess];

	/** n8n cannot save the new execution, and answers with 500. */
	isDatabaseFull = false;

	/** n8n cannot save static data, and tells nobody. */
	isStaticDataReadOnly = false;

	/** How long n8n takes to save a new execution, in ms. */
	executionMs = 0;

	/** How long n8n takes to read the credential, in ms. */
	credentialMs = 0;

	/** As n8n 1 does: saves static data, answers, and only then saves the new execution. */
	isAnsweredFirst = false;

	/** The time zone in the settings of the workflow. */
	timezone = 'UTC';

	/** False: the workflow is switched off, and n8n answers 404. */
	isActive = true;

	readonly node: INode = {
		id: randomUUID(),
		name: 'Transcriber Trigger',
		type: 'n8n-nodes-transcriber.transcriberTrigger',
		typeVersion: 1,
		position: [0, 0],
		webhookId: WEBHOOK_ID,
		credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
		parameters: {},
	};

	/** How many calls n8n has answered by itself: of the others, the node says that it has answered. */
	answeredByN8n = 0;

	private calls = 0;

	/** How many calls n8n is saving static data of, which it may do after the answer. */
	saving = 0;

	/** How many calls have come, and how many of them are over: between the two, a call may save an older row. */
	readonly served = { begun: 0, ended: 0 };

	private server?: Server;

	private base = '';

	constructor(readonly settings: HostSettings) {
		this.node.parameters = settings.parameters ?? {};
	}

	get url(): string {
		return `${this.base}/webhook/${WEBHOOK_ID}/transcriber`;
	}

	/** What the trigger has in the database. */
	get stored(): { secrets: string; endings: string; bot?: Record<string, unknown> } {
		const { global = {} } = JSON.parse(this.saved) as { global?: Record<string, unknown> };
		const mine = global[`transcriberTrigger:${this.node.id}`];
		return { secrets: '', endings: '', ...(mine as object) };
	}

	/** `port`: that of a host before it, which is closed. */
	async open(port = 0): Promise<this> {
		this.server = createServer((request, response) => {
			this.served.begun += 1;
			this.serve(request, response)
				.catch((error: unknown) => {
					response.destroy(error instanceof Error ? error : undefined);
				})
				.finally(() => (this.served.ended += 1));
		});
		await new Promise<void>((resolve) => this.server?.listen(port, '127.0.0.1', resolve));
		this.base = `http://127.0.0.1:${this.port}`;
		return this;
	}

	get port(): number {
		return (this.server?.address() as AddressInfo).port;
	}

	async close(): Promise<void> {
		await new Promise((resolve) => {
			this.server?.close(resolve);
			this.server?.closeAllConnections();
		});
	}

	/** `kill -9` and a new start. */
	restart(): void {
		this.processes = this.processes.map(newProcess);
	}

	/**
	 * As after a restart, and quicker: this process knows no more of the trigger than the database, in which its bot
	 * has changed like this.
	 */
	restartWith(changes: Partial<SentBot>): void {
		const { bot, ...rest } = this.stored;
		// The memory of a process knows a trigger by the id of its node.
		this.node.id = randomUUID();
		const mine = { ...rest, bot: { ...bot, ...changes } };
		this.saved = JSON.stringify({ global: { [`transcriberTrigger:${this.node.id}`]: mine } });
	}

	/**
	 * Switches the workflow on, as n8n does on activation, on publishing and on its own start. If that
	 * fails, n8n removes the webhook again, with its `delete` hook, and saves only what this hook has
	 * changed (active-workflow-manager.js of 2.30 and 1.x, `addWebhooks`).
	 */
	async activate(activation: WorkflowActivateMode = 'activate'): Promise<void> {
		try {
			await this.hooks(activation, async (process, context) => {
				const { checkExists, create } = process.webhookMethods.default;
				if (!(await checkExists.call(context))) await create.call(context);
			});
		} catch (error) {
			await this.deactivate();
			throw error;
		}
	}

	async deactivate(): Promise<void> {
		await this.hooks('update', async (process, context) => {
			await process.webhookMethods.default.delete.call(context);
		});
	}

	/**
	 * Listens for a test event in the editor, and stops. n8n marks the webhook as a test webhook, deletes
	 * it with the words of a switch-off, and saves nothing (test-webhooks.js, `deactivateWebhooks`).
	 */
	async listenForTest(): Promise<void> {
		const process = this.nextProcess();
		const workflow = this.load(process);
		const webhookData = { ...this.webhookData(process, 'default'), isTest: true };
		const contextIn = (mode: WorkflowExecuteMode, activation: WorkflowActivateMode) =>
			new HookContext(workflow, this.node, this.additionalData(), mode, activation, webhookData);
		const { checkExists, create, delete: remove } = process.webhookMethods.default;
		const context = contextIn('manual', 'manual');
		if (!(await checkExists.call(context))) await create.call(context);
		await remove.call(contextIn('internal', 'update'));
	}

	private async hooks(
		activation: WorkflowActivateMode,
		work: (process: Process, context: HookContext) => Promise<void>,
	): Promise<void> {
		const process = this.nextProcess();
		const workflow = this.load(process);
		const mode: WorkflowExecuteMode = activation === 'manual' ? 'manual' : 'trigger';
		const context = new HookContext(
			workflow,
			this.node,
			this.additionalData(),
			mode,
			activation,
			this.webhookData(process, 'default'),
		);
		await work(process, context);
		await this.save(workflow, process);
	}

	private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const { apiKey, webhookSecret = '' } = this.settings.credentials;
		told.secret(apiKey);
		told.secret(webhookSecret);
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const sent = Buffer.concat(chunks);
		const isGzip = request.headers['content-encoding'] === 'gzip';
		const rawBody = isGzip ? gunzipSync(sent) : sent;
		const express = Object.assign(response, {
			status(code: number) {
				response.statusCode = code;
				return express;
			},
			json(body: unknown) {
				response.setHeader('content-type', 'application/json');
				response.end(JSON.stringify(body));
				return express;
			},
		});
		const [, ownAddress, path] = /^\/process-(\d+)(\/.*)$/.exec(request.url ?? '') ?? [];
		const process = this.processes[Number(ownAddress ?? NaN)] ?? this.nextProcess();
		// Each process has an address of its own behind the one of them all.
		const place = this.processes.indexOf(process);
		const originalUrl = `/process-${place}${path ?? request.url}`;
		if (!this.isActive) {
			express.status(404).json({ message: 'The webhook is not registered' });
			return;
		}
		const workflow = this.load(process);
		const context = new WebhookContext(
			workflow,
			this.node,
			this.additionalData({
				httpRequest: Object.assign(request, { originalUrl, rawBody, readRawBody: async () => {} }),
				httpResponse: express,
			}),
			this.settings.mode ?? 'webhook',
			this.webhookData(process, request.method === 'PUT' ? 'setup' : 'default'),
			[],
			null,
		);
		const result = await process.webhook
			.call(context as unknown as IWebhookFunctions)
			.catch((error: unknown) => {
				this.thrown.push(error);
				throw error;
			});
		if (!result.workflowData) {
			if (result.noWebhookResponse !== true) this.answeredByN8n += 1;
			return await this.save(workflow, process);
		}
		if (this.isAnsweredFirst) {
			await this.save(workflow, process);
			express.status(200).json(result.webhookResponse);
		}
		await sleep(this.executionMs);
		if (!this.processes.includes(process)) {
			response.destroy();
			return;
		}
		if (this.isDatabaseFull) {
			express.status(500).json({ message: 'Error in workflow' });
			return;
		}
		// n8n 2 gives the new execution a workflow made of the same static data.
		new Workflow({ ...this.definition(process), staticData: this.raw.get(workflow) });
		this.executions.push(...result.workflowData);
		if (this.isAnsweredFirst) return;
		await this.save(workflow, process);
		express.status(200).json(result.webhookResponse);
	}

	private readonly raw = new WeakMap<Workflow, IDataObject>();

	private load(process: Process): Workflow {
		const staticData = JSON.parse(this.saved) as IDataObject;
		const workflow = new Workflow({ ...this.definition(process), staticData });
		this.raw.set(workflow, staticData);
		return workflow;
	}

	/** Nothing if the process was killed meanwhile. */
	private async save(workflow: Workflow, process: Process): Promise<void> {
		if (this.settings.mode === 'manual' || this.isStaticDataReadOnly) return;
		if (!(workflow.staticData as { __dataChanged?: boolean }).__dataChanged) return;
		const data = JSON.stringify(workflow.staticData);
		this.saving += 1;
		await sleep(Math.random() * (this.settings.saveMs ?? 0));
		if (this.processes.includes(process)) this.saved = data;
		this.saving -= 1;
	}

	private nextProcess(): Process {
		const process = this.processes[this.calls++ % this.processes.length];
		if (!process) throw new Error('No process is running');
		return process;
	}

	private definition(nodeType: INodeType) {
		return {
			id: this.settings.workflowId ?? 'workflow-2',
			nodes: [this.node],
			connections: {},
			active: true,
			nodeTypes: typesOf(nodeType),
			settings: { timezone: this.timezone },
		};
	}

	private additionalData(more: object = {}): IWorkflowExecuteAdditionalData {
		const data = additionalDataFor(this.settings.credentials, {
			webhookBaseUrl: `${this.base}/webhook`,
			webhookTestBaseUrl: `${this.base}/webhook-test`,
			instanceBaseUrl: `${this.base}/`,
			restApiUrl: `${this.base}/rest`,
			...more,
		});
		const { credentialsHelper: helper } = data;
		const read = helper.getDecrypted.bind(helper);
		helper.getDecrypted = async (...given) => {
			if (this.credentialMs > 0) await sleep(this.credentialMs);
			return await read(...given);
		};
		return data;
	}

	private webhookData({ description }: Process, name: string): IWebhookData {
		const webhookDescription = description.webhooks?.find((item) => item.name === name);
		return {
			webhookDescription,
			node: this.node.name,
			path: `${WEBHOOK_ID}/transcriber`,
			workflowId: this.settings.workflowId ?? 'workflow-2',
		} as unknown as IWebhookData;
	}
}
