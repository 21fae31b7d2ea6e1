/**
 * Runs an execution that suspends itself, until it ends. The engine, the webhook context and the
 * node are real. The few lines of n8n's server between them imitate waiting-webhooks.js,
 * webhook-helpers.js, wait-tracker.js, restore-binary-data-id.js and execution.service.js of n8n
 * 2.41.1.
 */
import { EventEmitter } from 'node:events';

import { Container } from '@n8n/di';
import { BinaryDataService, WebhookContext, WorkflowExecute } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	type ICredentialsHelper,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IRunExecutionData,
	type IWebhookData,
	type IWebhookFunctions,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import {
	CREDENTIAL,
	additionalDataFor,
	executable,
	executionOf,
	startingAt,
	to,
	typesOf,
	type Credentials,
} from './n8n';

/** How n8n saves and loads executions. */
const flatted = jest.requireActual<{
	parse: (text: string) => IRunExecutionData;
	stringify: (data: IRunExecutionData) => string;
}>('flatted');

const base = { typeVersion: 1, position: [0, 0] as [number, number] };
export const SOURCE: INode = {
	...base,
	id: 'source',
	name: 'Source',
	type: 'noOp',
	parameters: {},
};
const NEXT: INode = { ...base, id: 'next', name: 'Next', type: 'noOp', parameters: {} };

export interface DeliveryAnswer {
	status?: number;
	/** What the caller reads. Not enumerable: tests compare the rest. */
	body?: unknown;
	/** An error that the webhook threw, which must not happen. */
	thrown?: string;
	/** The execution after it was woken. */
	woken?: Ended;
}

export interface Ended {
	data: IRunExecutionData;
	/** The output of the node, and the input of the next node; undefined if it has not run. */
	json?: IDataObject[];
	next?: IDataObject[];
	/** The output of the node with all that belongs to an item. */
	items: INodeExecutionData[];
	error?: string;
	description?: string | null;
	isSuspended: boolean;
	/** As n8n has saved it. */
	saved: string;
}

let executions = 1000;

/** A workflow Source → Transcriber → Next. `credentials` may change while an execution sleeps. */
export function workflowWith(
	parameters: INodeParameters,
	credentials: Credentials | ICredentialsHelper,
	node: Partial<INode> = {},
) {
	const nodes: INode[] = [
		SOURCE,
		{
			...base,
			id: '6f1a4f0e-5b0c-4f5e-9c55-1d2f3a4b5c6d',
			name: 'Transcriber',
			type: 'n8n-nodes-transcriber.transcriber',
			credentials: CREDENTIAL,
			...node,
			parameters,
		},
		NEXT,
	];
	const transcriber = executable(new Transcriber());
	const resume = transcriber.webhook;
	const workflow = () =>
		new Workflow({
			id: 'workflow-1',
			nodes: JSON.parse(JSON.stringify(nodes)) as INode[],
			connections: { Source: to('Transcriber'), Transcriber: to('Next') },
			active: false,
			nodeTypes: typesOf((name) => (name === 'noOp' ? noOp : transcriber)),
			settings: { executionOrder: 'v1' },
		});
	const additionalData = (executionId: string, more: object = {}) =>
		additionalDataFor(credentials, { ...executionOf(executionId, nodes), ...more });

	const running = new Set<{ cancel: () => void }>();

	/** What n8n saves of an execution before it runs. */
	const savedAtStart = new Map<string, string>();

	const run = async (
		executionId: string,
		data: IRunExecutionData,
		mode: WorkflowExecuteMode = 'trigger',
	): Promise<Ended> => {
		const engine = new WorkflowExecute(additionalData(executionId), mode, data);
		const execution = engine.processRunExecutionData(workflow());
		running.add(execution);
		const { data: after } = await execution.finally(() => running.delete(execution));
		if (mode !== 'retry') await renameFiles(after, executionId);
		const { runData, error } = after.resultData;
		const jsonOf = (name: string) =>
			runData[name]
				?.at(-1)
				?.data?.main?.flatMap((output) => (output ?? []).map(({ json }) => json));
		return {
			data: after,
			json: jsonOf('Transcriber'),
			next: jsonOf('Next'),
			items: runData['Transcriber']?.at(-1)?.data?.main?.flatMap((output) => output ?? []) ?? [],
			error: error?.message,
			description: error?.description,
			isSuspended: after.waitTill !== undefined,
			saved: flatted.stringify(after),
		};
	};

	return {
		/**
		 * Starts an execution over these items. With `executionId`, as the worker of a queue does that
		 * takes over a job after a crash: nothing of the execution was saved.
		 */
		start: async (items: INodeExecutionData[], executionId = String(++executions)) => {
			const data = startingAt(nodeIn(workflow()), items, 'Source');
			// workflow-runner.js, establishContextForPersistence: before n8n 2 saves the execution.
			if (data.executionData) {
				data.executionData.runtimeData = {
					version: 1,
					establishedAt: Date.now(),
					source: 'trigger',
				};
			}
			const atStart = savedAtStart.get(executionId) ?? flatted.stringify(data);
			savedAtStart.set(executionId, atStart);
			const { resumeToken } = flatted.parse(atStart);
			const started = await run(executionId, { ...data, resumeToken });
			return { ...started, executionId, atStart };
		},

		/** The stop button, for everything that runs. */
		cancel: () => {
			for (const execution of running) execution.cancel();
		},

		/**
		 * A POST on the address of the suspended execution. If it wakes the execution, `onWaking` gets
		 * what n8n saves then, before the execution runs (active-executions.js, `add`). If it throws,
		 * n8n could not save, and answers 500.
		 */
		deliver: async (
			{ executionId, saved }: { executionId: string; saved: string },
			raw: string | Buffer,
			signature?: string,
			headers: Record<string, string> = {},
			onWaking: (saved: string) => void | Promise<void> = () => {},
		): Promise<DeliveryAnswer> => {
			const data = flatted.parse(saved);
			// waiting-webhooks.js, getWebhookExecutionData
			const { lastNodeExecuted = '', runData } = data.resultData;
			const top = data.executionData?.nodeExecutionStack[0];
			if (!top) throw new Error('The execution does not sleep');
			top.node.disabled = true;
			data.waitTill = undefined;
			runData[lastNodeExecuted]?.pop();
			const { response, answer } = responseOf();
			const context = new WebhookContext(
				workflow(),
				nodeIn(workflow()),
				additionalData(executionId, {
					httpRequest: {
						headers: { ...headers, ...(signature && { 'x-service-signature': signature }) },
						rawBody: Buffer.from(raw),
						readRawBody: async () => {},
					},
					httpResponse: response,
				}),
				'trigger',
				{ webhookDescription: transcriber.description.webhooks?.[0] } as unknown as IWebhookData,
				[],
				data,
			);
			let items: INodeExecutionData[][] | undefined;
			let thrown: string | undefined;
			try {
				const result = await resume?.call(context as unknown as IWebhookFunctions);
				if (!result?.workflowData) return answer;
				items = result.workflowData;
			} catch (error) {
				// webhook-helpers.js, executeWebhook: the data of the execution is thrown away.
				thrown = String(error);
				items = [[{ json: {} }]];
				data.resultData = { runData: {}, lastNodeExecuted };
			}
			// webhook-helpers.js, prepareExecutionData
			const entry = data.executionData?.nodeExecutionStack[0];
			if (entry) entry.data.main = items;
			try {
				await onWaking(flatted.stringify(data));
			} catch {
				response.status(500).json({});
				return answer;
			}
			response.json({});
			return Object.assign(answer, { thrown, woken: await run(executionId, data) });
		},

		/** What n8n saves of an execution. */
		save: (data: IRunExecutionData): string => flatted.stringify(data),

		/** wait-tracker.js: nobody has woken it, and its time is up. */
		timeIsUp: async ({ executionId, saved }: { executionId: string; saved: string }) =>
			await run(executionId, timedOut(flatted.parse(saved))),

		/** wait-tracker.js: the timer of an earlier suspension of the execution. */
		isWokenTooEarly: async ({ executionId, saved }: { executionId: string; saved: string }) =>
			await run(executionId, flatted.parse(saved)),

		/** execution.service.js, `retry`: a new execution with the data of the failed one. */
		retry: async ({ saved }: { saved: string }) => {
			const data = flatted.parse(saved);
			const runs = data.resultData.runData[data.resultData.lastNodeExecuted ?? ''];
			delete data.resultData.error;
			if (runs?.at(-1)?.error !== undefined) runs.pop();
			const executionId = String(++executions);
			return { ...(await run(executionId, data, 'retry')), executionId };
		},
	};
}

/** No test waits until the time is up. */
function timedOut(data: IRunExecutionData): IRunExecutionData {
	const context = data.executionData?.contextData['node:Transcriber'];
	const { suspension } = context as { suspension?: { until: number } };
	if (suspension) suspension.until = Date.now();
	return data;
}

/**
 * restore-binary-data-id.js: when an execution ends or is suspended, its id goes into the names of
 * the files that came in through its webhook.
 */
async function renameFiles({ resultData }: IRunExecutionData, executionId: string): Promise<void> {
	const items = Object.values(resultData.runData)
		.flat()
		.flatMap(({ data }) => data?.main?.flatMap((output) => output ?? []) ?? []);
	const files = new Set(items.flatMap(({ binary }) => Object.values(binary ?? {})));
	const renamed = new Map<string, string>();
	for (const file of files) {
		const [mode = '', name = ''] = file.id?.split(':') ?? [];
		if (!name.includes('/temp/')) continue;
		const newName = name.replace('/temp/', `/${executionId}/`);
		if (!renamed.has(name)) await Container.get(BinaryDataService).rename(name, newName);
		renamed.set(name, newName);
		file.id = `${mode}:${newName}`;
	}
}

const noOp: INodeType = {
	description: {
		displayName: 'No Operation',
		name: 'noOp',
		group: ['transform'],
		version: 1,
		description: '',
		defaults: {},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [],
	},
	async execute(this: IExecuteFunctions) {
		return [this.getInputData()];
	},
};

function nodeIn(workflow: Workflow): INode {
	const node = workflow.getNode('Transcriber');
	if (!node) throw new Error('The workflow has no Transcriber node');
	return node;
}

/** As much of Express as a webhook uses. */
function responseOf() {
	const answer: DeliveryAnswer = {};
	Object.defineProperty(answer, 'body', { value: undefined, writable: true });
	const response = Object.assign(new EventEmitter(), {
		statusCode: 200,
		closed: false,
		writableEnded: false,
		status: (code: number) => {
			response.statusCode = code;
			return response;
		},
		json: (body: unknown) => {
			answer.body ??= body;
			answer.status ??= response.statusCode;
			response.closed = true;
			response.writableEnded = true;
			response.emit('close');
			return response;
		},
	});
	return { response, answer };
}
