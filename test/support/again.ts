/** A second run of the node in the same execution. */
import {
	NodeHelpers,
	type INode,
	type INodeExecutionData,
	type INodeParameters,
	type IRunExecutionData,
} from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import type { Outcome } from './engine';
import { startingAt } from './n8n';

/** As `runNode` makes it. */
const NODE: Omit<INode, 'parameters'> = {
	id: '6f1a4f0e-5b0c-4f5e-9c55-1d2f3a4b5c6d',
	name: 'Transcriber',
	type: 'n8n-nodes-transcriber.transcriber',
	typeVersion: 1,
	position: [0, 0],
	credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
};

/** The execution as it goes on when the node runs once more: in a loop, or (`asFirstRun`) as if it had not run. */
export function again(
	{ data }: Outcome,
	parameters: INodeParameters,
	items: INodeExecutionData[],
	{ asFirstRun = false, node = {} }: { asFirstRun?: boolean; node?: Partial<INode> } = {},
): IRunExecutionData {
	if (!data.executionData) throw new Error('The execution has no data');
	if (asFirstRun) delete data.resultData.runData[NODE.name];
	delete data.resultData.error;
	data.executionData.nodeExecutionStack = [
		{
			node: { ...NODE, ...node, parameters: withDefaults(parameters) },
			data: { main: [items] },
			source: { main: [{ previousNode: 'Source' }] },
		},
	];
	return data;
}

/** An execution that begins with these items, while the step 'Source' has given others. */
export function besides(
	ofSource: INodeExecutionData[],
	parameters: INodeParameters,
	items: INodeExecutionData[],
): IRunExecutionData {
	const node = { ...NODE, parameters: withDefaults(parameters) };
	const data = startingAt(node, items, 'Source');
	const [run] = data.resultData.runData['Source'] ?? [];
	if (run) run.data = { main: [ofSource] };
	return data;
}

/** What n8n saves of a node's parameters. */
export function withDefaults(parameters: INodeParameters): INodeParameters {
	const { description } = new Transcriber();
	return (
		NodeHelpers.getNodeParameters(
			description.properties,
			parameters,
			true,
			false,
			null,
			description,
		) ?? {}
	);
}
