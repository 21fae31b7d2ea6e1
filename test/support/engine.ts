import { Container } from '@n8n/di';
import { BinaryDataService, WorkflowExecute } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type INodeType,
	type IRunExecutionData,
	type NodeApiError,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { TranscriberApi } from '../../credentials/TranscriberApi.credentials';
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

// An earlier test file may have loaded n8n-core with files on disk.
Container.get(BinaryDataService)['mode'] = 'default';

/** The node as n8n runs it: the engine, the routing and the HTTP client are n8n-core's own. */
const transcriber = executable(new Transcriber());

/** Like n8n's own for a credential's `test`: a node whose only parameter sends that request. */
const credentialTester: INodeType = {
	description: {
		displayName: 'Credential test',
		name: 'credentialTest',
		group: ['transform'],
		version: 1,
		description: '',
		defaults: {},
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'transcriberApi', required: true }],
		properties: [
			{
				displayName: 'Temp',
				name: 'temp',
				type: 'string',
				default: '',
				routing: { request: new TranscriberApi().test.request },
			},
		],
	},
};

export interface Run {
	parameters: INodeParameters;
	credentials: Credentials;
	items?: INodeExecutionData[];
	/** Settings of the node: onError, retryOnFail, … */
	node?: Partial<INode>;
	executionId?: string;
	/** Default: `manual`. */
	mode?: WorkflowExecuteMode;
	/** What n8n 2 makes up for the execution and saves with it. Default: another one for each run. */
	resumeToken?: string;
	/** Cancels the execution as soon as this is true, as the stop button does. */
	cancelWhen?: () => boolean;
	/** Data of an earlier execution to go on with. */
	data?: IRunExecutionData;
}

export interface Outcome {
	/** Items of each output. */
	outputs: INodeExecutionData[][];
	items: INodeExecutionData[];
	json: IDataObject[];
	/** The error of the node, as n8n saves it. */
	error?: NodeApiError & { context: IDataObject };
	/** All that n8n would save of the execution. */
	data: IRunExecutionData;
	/** How often n8n had to read the credential from its database. */
	credentialReadings: number;
}

/** The node whose output the items are. It has run already. */
const SOURCE: INode = {
	id: '0c3f5b1e-8a44-4d0e-b6a0-6b6a5f0f3c11',
	name: 'Source',
	type: 'n8n-nodes-base.noOp',
	typeVersion: 1,
	position: [-200, 0],
	parameters: {},
};

const NODE_ID = '6f1a4f0e-5b0c-4f5e-9c55-1d2f3a4b5c6d';

let executions = 0;

/** Runs the Transcriber node over the items in a workflow of its own. */
export async function runNode(run: Run): Promise<Outcome> {
	return await runNodeOf(transcriber, run);
}

/** Tests the credential as the editor does on saving it. */
export async function testCredential(credentials: Run['credentials']): Promise<Outcome> {
	return await runNodeOf(executable(credentialTester), { parameters: {}, credentials });
}

async function runNodeOf(nodeType: INodeType, run: Run): Promise<Outcome> {
	const node: INode = {
		id: NODE_ID,
		name: 'Transcriber',
		type: 'n8n-nodes-transcriber.transcriber',
		typeVersion: 1,
		position: [0, 0],
		credentials: CREDENTIAL,
		...run.node,
		parameters: run.parameters,
	};
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [SOURCE, node],
		connections: { [SOURCE.name]: to(node.name) },
		active: false,
		nodeTypes: typesOf(nodeType),
		settings: { executionOrder: 'v1' },
	});
	let credentialReadings = 0;
	const additionalData = additionalDataFor(
		credentialsHelper(run.credentials, () => void credentialReadings++),
		executionOf(run.executionId ?? String(++executions), [SOURCE, node]),
	);
	const data = run.data ?? startingAt(node, run.items ?? [{ json: {} }], SOURCE.name);
	if (run.resumeToken !== undefined) Object.assign(data, { resumeToken: run.resumeToken });
	const execute = new WorkflowExecute(additionalData, run.mode ?? 'manual', data);
	const execution = execute.processRunExecutionData(workflow);
	const { cancelWhen } = run;
	const watch = cancelWhen && setInterval(() => cancelWhen() && execution.cancel(), 5);
	const finished = await execution.finally(() => clearInterval(watch));
	const task = finished.data.resultData.runData.Transcriber?.at(-1);
	const outputs = (task?.data?.main ?? []).map((output) => output ?? []);
	return {
		outputs,
		items: outputs[0] ?? [],
		json: (outputs[0] ?? []).map(({ json }) => json),
		error: (finished.data.resultData.error ?? task?.error) as Outcome['error'],
		data: finished.data,
		credentialReadings,
	};
}

/**
 * Puts a file into n8n's binary store on disk and returns the item's binary property. n8n has no
 * execution id ('') for a file that comes in through a webhook or a form.
 */
export async function storedBinary(
	content: Buffer,
	fileName: string,
	mimeType: string,
	executionId = '1',
) {
	const service = Container.get(BinaryDataService);
	await service.init();
	return await service.store(
		{ type: 'execution', workflowId: 'workflow-1', executionId },
		content,
		{ fileName, mimeType, data: '' },
	);
}
