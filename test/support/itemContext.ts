/** The real context of one item, for tests that call a function of the node without a whole execution. */
import { ExecuteSingleContext } from 'n8n-core';
import {
	NodeConnectionTypes,
	type ICredentialsHelper,
	Workflow,
	createRunExecutionData,
	type IDataObject,
	type IExecutePaginationFunctions,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type ITaskData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import { CREDENTIAL, additionalDataFor, executionOf, typesOf, type Credentials } from './n8n';

const NODE: Omit<INode, 'parameters'> = {
	id: '6f1a4f0e-5b0c-4f5e-9c55-1d2f3a4b5c6d',
	name: 'Transcriber',
	type: 'n8n-nodes-transcriber.transcriber',
	typeVersion: 1,
	position: [0, 0],
	credentials: CREDENTIAL,
};

/** Where and how the item runs. What is left out is as in the first run of a new execution. */
export interface ItemPlace {
	/** What n8n keeps of the node from one run, or one execution, to the next. Is changed. */
	saved?: IDataObject;
	/** The name under which n8n keeps it, if the user has renamed the node since. */
	savedAs?: string;
	items?: INodeExecutionData[];
	itemIndex?: number;
	runIndex?: number;
	/** What n8n has on record of earlier runs of the node. */
	runs?: ITaskData[];
	executionId?: string;
	mode?: WorkflowExecuteMode;
	node?: Partial<INode>;
	/** What n8n 2 makes up for the execution and keeps in its Retries; '' as in n8n 1. */
	resumeToken?: string;
	/** The call of an AI agent, as n8n 2 makes it. */
	call?: IDataObject;
	credentials?: Credentials | ICredentialsHelper;
	cancel?: AbortSignal;
}

const nodeTypes = typesOf(new Transcriber());
const nowhere = { baseUrl: 'http://127.0.0.1:9', apiKey: 'test-api-key' };

export function itemContext(
	parameters: INodeParameters,
	place: ItemPlace = {},
): IExecutePaginationFunctions {
	const { saved = {}, items = [{ json: {} }], itemIndex = 0, runIndex = 0, call } = place;
	const { executionId = '41', mode = 'trigger', credentials = nowhere } = place;
	const tool = call && ({ rewireOutputLogTo: NodeConnectionTypes.AiTool } as const);
	const node: INode = { ...NODE, ...tool, ...place.node, parameters };
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [node],
		connections: {},
		active: true,
		nodeTypes,
	});
	const data = createRunExecutionData({});
	if (data.executionData)
		data.executionData.contextData[`node:${place.savedAs ?? node.name}`] = saved;
	if (place.runs) data.resultData.runData[node.name] = place.runs;
	if (place.resumeToken !== undefined) Object.assign(data, { resumeToken: place.resumeToken });
	const input = { main: [items], ...(call && { ai_tool: [[{ json: call }]] }) };
	const context = new ExecuteSingleContext(
		workflow,
		node,
		additionalDataFor(credentials, executionOf(executionId, [node])),
		mode,
		data,
		runIndex,
		items,
		input,
		itemIndex,
		{ node, data: input, source: null },
		place.cancel,
	);
	return context as unknown as IExecutePaginationFunctions;
}
