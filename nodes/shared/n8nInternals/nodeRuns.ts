import type { IDataObject, IExecuteData, IExecutePaginationFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/**
 * How the items of one run find each other, and how a run is recognised. n8n promises
 * none of this; all of it was seen in n8n 1.123.81, 2.30.0 and 2.41.1, and
 * test/shared/n8nInternals/nodeRuns.test.ts fails when n8n-core changes it.
 */

/**
 * One object for all items of one run of the node, and for all its tries. Assumed:
 * `getExecuteData()` returns the same object to every item, and n8n's declarative engine starts all
 * items before any of them can go on. Throws where the object is not the same twice.
 */
export function runKeyOf(context: IExecutePaginationFunctions): IExecuteData {
	const key = context.getExecuteData();
	if (key === context.getExecuteData()) return key;
	throw new NodeOperationError(
		context.getNode(),
		'This n8n runs the items of a node in a way that this node does not know',
		{ description: 'Nothing was sent. Update the package n8n-nodes-transcriber.' },
	);
}

/** How often the node has run before in this execution, from 0: in a loop, more than 0. */
export function runIndexOf(context: IExecutePaginationFunctions): number {
	return Number(context.evaluateExpression('{{ $runIndex }}', 0));
}

/**
 * The run index of a node that was suspended in run `index` and whose time is up. Assumed: n8n counts
 * the skipped entry (see `suspend`) as a run.
 */
export function runIndexAfterTimeout(index: number): number {
	return index + 1;
}

/**
 * Whether an AI agent (or an MCP client) of n8n 1 called the node. Assumed: what n8n calls the data
 * of the execution is then the caller's.
 */
export function isToolCall(context: IExecutePaginationFunctions): boolean {
	return context.getExecuteData().node.name !== context.getNode().name;
}

/**
 * Whether the node runs as a tool of an AI agent. Assumed: n8n 2 runs a tool as a node whose output
 * is rewired to the agent, and gives each call a run index of its own.
 */
export function isTool(context: IExecutePaginationFunctions): boolean {
	return isToolCall(context) || context.getNode().rewireOutputLogTo === 'ai_tool';
}

/** By caller, where n8n saves nothing: see {@link nodeContextOf}. */
const unsaved = new WeakMap<IExecuteData, IDataObject>();

/**
 * The node's own data, which n8n saves with the execution and hands to a Retry of it. That holds for
 * a tool of an AI agent too, also in n8n 1. Assumed: n8n has nothing to save it with, and throws,
 * where an MCP client calls the tool outside an execution. Then it lasts as long as the caller's run.
 */
export function nodeContextOf(context: IExecutePaginationFunctions): IDataObject {
	try {
		return context.getContext('node');
	} catch {
		const caller = runKeyOf(context);
		const data = unsaved.get(caller) ?? {};
		unsaved.set(caller, data);
		return data;
	}
}
