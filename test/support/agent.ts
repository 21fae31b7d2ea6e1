/** Runs the node as a tool of a scripted AI agent. Everything else is n8n-core's own code. */
import { WorkflowExecute } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	sleep,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeParameters,
	type INodeType,
	type IRunExecutionData,
} from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import {
	CREDENTIAL,
	additionalDataFor,
	credentialsHelper,
	executable,
	executionOf,
	startingAt,
	to,
	typesOf,
	type Credentials,
} from './n8n';

interface Tool {
	name: string;
	invoke: (args: IDataObject) => Promise<string>;
}

export interface AgentRun {
	credentials: Credentials;
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
	const tool = executable(new Transcriber());
	// What n8n makes of a node that is usable as a tool (ai-tools.js).
	tool.description.inputs = [];
	tool.description.outputs = [NodeConnectionTypes.AiTool];
	tool.description.properties.push(
		{ displayName: 'Tool Description', name: 'descriptionType', type: 'string', default: 'manual' },
		{ displayName: 'Description', name: 'toolDescription', type: 'string', default: '' },
	);
	const base = { typeVersion: 1, position: [0, 0] as [number, number] };
	const agentNode: INode = { ...base, id: 'agent', name: 'Agent', type: 'agent', parameters: {} };
	const toolNode: INode = {
		...base,
		id: 'tool',
		name: 'Transcriber',
		type: 'n8n-nodes-transcriber.transcriberTool',
		credentials: CREDENTIAL,
		...run.node,
		parameters: { toolDescription: 'Transcriber', ...run.parameters },
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
			toolNodes.map(({ name }) => [name, to(agentNode.name, NodeConnectionTypes.AiTool)]),
		),
		active: false,
		nodeTypes: typesOf((type) => (type === 'agent' ? agent : tool)),
		settings: { executionOrder: 'v1' },
	});
	// n8n asks its database.
	const helper = credentialsHelper(run.credentials, async () => await sleep(1));
	const additionalData = additionalDataFor(helper, {
		...executionOf('agent-run', [agentNode, ...toolNodes]),
		currentNodeExecutionIndex: 0,
	});
	const items = Array.from({ length: run.agentItems ?? 1 }, () => ({ json: {} }));
	const { data: finished } = await new WorkflowExecute(
		additionalData,
		'manual',
		run.data ?? startingAt(agentNode, items),
	).processRunExecutionData(workflow);
	return { answers, data: finished };
}
