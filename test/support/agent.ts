/** Runs the node as a tool of a scripted AI agent. Everything else is n8n-core's own code. */
import {
	ExecutionLifecycleHooks,
	RoutingNode,
	WorkflowExecute,
	type ExecuteContext,
} from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	createRunExecutionData,
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeParameters,
	type INodeType,
	type INodeTypes,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import type { Run } from './engine';

interface Tool {
	name: string;
	invoke: (args: IDataObject) => Promise<string>;
}

export interface AgentRun {
	credentials: Run['credentials'];
	parameters: INodeParameters;
	/** The agent makes its calls at the same time, with this pause between them, in ms. */
	gap?: number;
	/** A second tool, which then gets all calls except the first. */
	other?: INodeParameters;
	/** Arguments of the agent's calls, in order. The agent has `agentItems` input items. */
	calls: IDataObject[];
	agentItems?: number;
	node?: Partial<INode>;
	/** Whether the agent fails after its calls. */
	fails?: boolean;
	/** Data of a failed execution that n8n retries. */
	data?: IRunExecutionData;
}

/** Lets an agent call the tool and returns the result of each call, or the message of its error. */
export async function callTool(run: AgentRun): Promise<string[]> {
	const { answers, data } = await runAgent(run);
	if (data.resultData.error) throw data.resultData.error;
	return answers;
}

/** The same, and returns the data of the execution too. */
export async function runAgent(
	run: AgentRun,
): Promise<{ answers: string[]; data: IRunExecutionData }> {
	const answers: string[] = [];
	const agent: INodeType = {
		description: {
			...new Transcriber().description,
			name: 'agent',
			inputs: [NodeConnectionTypes.Main, { type: NodeConnectionTypes.AiTool }],
			properties: [],
			credentials: [],
		},
		async execute(this: IExecuteFunctions) {
			const tools = (await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0)) as Tool[];
			const [tool, other] = tools.sort((a, b) => a.name.localeCompare(b.name));
			const invoke = async (args: IDataObject, which = tool) =>
				String(await which?.invoke(args).catch((error: Error) => error.message));
			const { gap } = run;
			if (gap === undefined) {
				for (const args of run.calls) answers.push(await invoke(args));
			} else {
				const calls = run.calls.map(async (args, index) => {
					await sleep(gap * index);
					return await invoke(args, index > 0 ? other : tool);
				});
				answers.push(...(await Promise.all(calls)));
			}
			if (run.fails) throw new Error('The model is not available');
			return [[{ json: {} }]];
		},
	};
	const tool = new Transcriber() as INodeType;
	// What n8n makes of a node that is usable as a tool.
	tool.description.inputs = [];
	tool.description.outputs = [NodeConnectionTypes.AiTool];
	tool.execute = async function (this: IExecuteFunctions) {
		return (await new RoutingNode(this as unknown as ExecuteContext, tool).runNode()) ?? [];
	};
	const base = { typeVersion: 1, position: [0, 0] as [number, number] };
	const agentNode: INode = { ...base, id: 'agent', name: 'Agent', type: 'agent', parameters: {} };
	const toolNode: INode = {
		...base,
		id: 'tool',
		name: 'Transcriber',
		type: 'n8n-nodes-transcriber.transcriberTool',
		credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
		...run.node,
		parameters: { ...run.parameters, toolDescription: 'Transcriber' },
	};
	const toolNodes = [toolNode];
	if (run.other) {
		toolNodes.push({
			...toolNode,
			id: 'other',
			name: 'Transcriber 2',
			parameters: { ...run.other, toolDescription: 'Transcriber' },
		});
	}
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [agentNode, ...toolNodes],
		connections: Object.fromEntries(
			toolNodes.map(({ name }) => [
				name,
				{ ai_tool: [[{ node: agentNode.name, type: NodeConnectionTypes.AiTool, index: 0 }]] },
			]),
		),
		active: false,
		nodeTypes: {
			getByName: (type: string) => (type === 'agent' ? agent : tool),
			getByNameAndVersion: (type: string) => (type === 'agent' ? agent : tool),
			getKnownTypes: () => ({}),
		} as unknown as INodeTypes,
		settings: { executionOrder: 'v1' },
	});
	const additionalData = {
		executionId: 'agent-run',
		currentNodeExecutionIndex: 0,
		credentialsHelper: {
			getParentTypes: () => [],
			getCredentialsProperties: () => [],
			isCredentialUsableByNode: () => true,
			getDecrypted: async () => {
				// n8n asks its database.
				await sleep(1);
				return { ...run.credentials };
			},
			preAuthentication: async () => undefined,
			authenticate: async (decrypted: IDataObject, _type: string, options: IDataObject) => ({
				...options,
				headers: { ...(options.headers as IDataObject), 'X-API-Key': decrypted.apiKey },
			}),
		},
		hooks: new ExecutionLifecycleHooks('manual', 'agent-run', {
			id: workflow.id,
			name: 'test',
			nodes: [agentNode, ...toolNodes],
			connections: {},
			active: false,
		} as never),
		instanceBaseUrl: 'http://localhost:5678/',
		webhookWaitingBaseUrl: 'http://localhost:5678/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost:5678/form-waiting',
		variables: {},
		setExecutionStatus: () => {},
		externalSecretsProxy: {},
	} as unknown as IWorkflowExecuteAdditionalData;
	const items = Array.from({ length: run.agentItems ?? 1 }, () => ({ json: {} }));
	const fresh = createRunExecutionData({
		executionData: {
			contextData: {},
			metadata: {},
			nodeExecutionStack: [{ node: agentNode, data: { main: [items] }, source: null }],
			waitingExecution: {},
			waitingExecutionSource: {},
		},
	});
	const { data: finished } = await new WorkflowExecute(
		additionalData,
		'manual',
		run.data ?? fresh,
	).processRunExecutionData(workflow);
	return { answers, data: finished };
}
