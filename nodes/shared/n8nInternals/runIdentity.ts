import { createHash } from 'crypto';
import type { IDataObject, IExecuteData, IExecutePaginationFunctions } from 'n8n-workflow';
import {
	NodeOperationError,
	type IRunData,
	type IRunExecutionData,
	type ITaskData,
} from 'n8n-workflow';

import { runExecutionDataOf } from './suspendExecution';

/**
 * What identifies a run, a tool call and a Retry. n8n documents none of this. All of it was seen in
 * n8n 1.123.81, 2.30.0 and 2.41.1, and test/shared/n8nInternals/runIdentity.test.ts fails if
 * n8n-core changes it.
 */

/**
 * One object for all items and all tries of one run of the node. Assumed: `getExecuteData()`
 * returns the same object to every item, and n8n's declarative engine starts all items before any
 * of them continues. Throws if two calls return different objects. {@link checkRunIsShared} finds out if
 * each item gets another object.
 */
export function runKeyOf(context: IExecutePaginationFunctions): IExecuteData {
	const key = context.getExecuteData();
	if (key !== context.getExecuteData()) throw unknownWay(context);
	const data = runExecutionDataOf(context);
	if (data) {
		const keys = latestKeys.get(data) ?? new Map<string, IExecuteData>();
		latestKeys.set(data, keys.set(context.getNode().id, key));
	}
	return key;
}

/** The latest key of each node, by execution and node id. */
const latestKeys = new WeakMap<IRunExecutionData, Map<string, IExecuteData>>();

/**
 * To be called for an item that seems to be alone in its run, after the others had time to begin: throws
 * if this n8n has begun another item of the node with another key.
 */
export function checkRunIsShared(context: IExecutePaginationFunctions): void {
	const data = runExecutionDataOf(context);
	const latest = data && latestKeys.get(data)?.get(context.getNode().id);
	if (latest && latest !== context.getExecuteData()) throw unknownWay(context);
}

function unknownWay(context: IExecutePaginationFunctions): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		'This n8n runs the items of a node in a way that this node does not know',
		{ description: 'Nothing was sent. Update the package n8n-nodes-transcriber.' },
	);
}

/**
 * The number of earlier runs of the node in this execution: more than 0 in a loop.
 *
 * Assumed: after a crash, n8n makes up a run of each node that had begun and of which it had saved
 * nothing, and leaves them in a Retry, which repeats them (execution-recovery.service.js, `amend`).
 */
export function runIndexOf(context: IExecutePaginationFunctions): number {
	const index = Number(context.evaluateExpression('{{ $runIndex }}', 0));
	const runs = runExecutionDataOf(context)?.resultData.runData[context.getNode().name] ?? [];
	return index - runs.slice(0, index).filter(isMadeUp).length;
}

function isMadeUp({ executionStatus, data }: ITaskData): boolean {
	const [first] = data?.main?.[0] ?? [];
	return executionStatus === 'crashed' || first?.json.isArtificialRecoveredEventItem === true;
}

/**
 * The run index of a node that was suspended in run `index`, after its time is up. Assumed: n8n
 * counts the skipped entry (see `suspend`) as a run.
 */
export function runIndexAfterTimeout(index: number): number {
	return index + 1;
}

/**
 * Whether an AI agent (or an MCP client) of n8n 1 called the node. Assumed: `getExecuteData()` then
 * returns the data of the caller.
 */
export function isToolCall(context: IExecutePaginationFunctions): boolean {
	return context.getExecuteData().node.name !== context.getNode().name;
}

/**
 * Whether the node runs as a tool of an AI agent. Assumed: n8n 2 runs a tool as a node with its output
 * rewired to the agent, and gives each call its own run index. The type alone shows it in a Retry with the
 * currently saved workflow (execution.service.js takes the node from there), and in queue mode.
 */
export function isTool(context: IExecutePaginationFunctions): boolean {
	const { rewireOutputLogTo, type } = context.getNode();
	const isByEngine = rewireOutputLogTo === 'ai_tool' || type.endsWith('Tool');
	return isToolCall(context) || isByEngine || isUnrememberedCall(context);
}

/**
 * Whether n8n keeps nothing of a tool call that its repeat could find. Assumed: outside an execution, and
 * in queue mode, where n8n 2 starts an execution for each call of an MCP client. There, its mode is always
 * `webhook`, and only the type shows that the node is a tool, or that a sub-agent is one that calls the
 * node (job-processor.js, `invokeTool`).
 */
export function isUnrememberedCall(context: IExecutePaginationFunctions): boolean {
	if (isOutsideExecution(context)) return true;
	const { node } = context.getExecuteData();
	return (
		context.getMode() === 'webhook' &&
		node.type.endsWith('Tool') &&
		node.rewireOutputLogTo !== 'ai_tool'
	);
}

/**
 * Whether the call belongs to no execution. Assumed: if an MCP client calls the tool (webhook-helpers.js,
 * for the MCP Server Trigger), or one of the Agents of n8n 2.41 (ephemeral-node-executor.js), there is no
 * execution id.
 */
export function isOutsideExecution(context: IExecutePaginationFunctions): boolean {
	const executionId: string | undefined = context.getExecutionId();
	return executionId === undefined;
}

/** By caller, where there is no run data: see {@link nodeContextOf}. */
const unsaved = new WeakMap<IExecuteData, IDataObject>();

/**
 * The node's own data, which n8n saves with the execution and gives to a Retry of the execution,
 * also if the node is a tool of an AI agent, in n8n 1 too. Outside an execution this data lasts as
 * long as the run of the caller, unless the context has other data (see shareWithRepeats.ts).
 */
export function nodeContextOf(context: IExecutePaginationFunctions): IDataObject {
	if (!isOutsideExecution(context)) return context.getContext('node');
	try {
		return context.getContext('node');
	} catch {
		// There is no run data.
	}
	const caller = runKeyOf(context);
	const data = unsaved.get(caller) ?? {};
	unsaved.set(caller, data);
	return data;
}

/**
 * A hash of what an execution shares with all its Retries, and with no other execution. Undefined if
 * n8n keeps nothing that tells executions apart, and outside an execution; in n8n 1 also outside a Retry.
 *
 * Assumed: a Retry has the mode `retry`, and begins with a copy of the data that n8n has saved of the
 * execution (execution.service.js, `retry`). In n8n 2 that data has a `resumeToken`, which n8n makes
 * up for each execution (run-execution-data-factory.js) and saves before the execution runs, so that
 * a Retry after a crash has it too. n8n 1.123 has none, but the time when the execution began
 * (execution-context.js), and the run of its trigger. Two executions of one workflow can agree in
 * that only if they began in the same millisecond with the same data.
 */
export function sharedByRetriesOf(context: IExecutePaginationFunctions): string | undefined {
	if (isOutsideExecution(context)) return undefined;
	const data = runExecutionDataOf(context);
	const { resumeToken } = (data ?? {}) as { resumeToken?: string };
	if (resumeToken) return hashOfParts([resumeToken]);
	if (!isRetry(context) || !data) return undefined;
	const began = data.executionData?.runtimeData?.establishedAt;
	const trigger = earliestIn(data.resultData.runData);
	if (began === undefined || !trigger) return undefined;
	return hashOfParts([context.getWorkflow().id, began, ...trigger]);
}

/** Whether the execution is a Retry. Assumed: it has the mode `retry`, also after a suspension. */
export function isRetry(context: IExecutePaginationFunctions): boolean {
	return context.getMode() === 'retry';
}

/**
 * Whether another workflow started this execution as its sub-workflow. Assumed: it has the mode
 * `integrated`, and a Retry of it the mode `retry`.
 */
export function isSubworkflow(context: IExecutePaginationFunctions): boolean {
	return context.getMode() === 'integrated';
}

/** The name of the node that ran first, when (in ms since 1970), and its output. */
function earliestIn(runData: IRunData): [string, number, unknown] | undefined {
	return Object.entries(runData)
		.flatMap(([name, [run]]): Array<[string, number, unknown]> =>
			run ? [[name, run.startTime, run.data]] : [],
		)
		.sort(([, one], [, other]) => one - other)[0];
}

/** How much of the output of a trigger counts: n8n 1 keeps whole files in it. */
const MOST = { values: 10_000, characters: 1_000 };

function hashOfParts(parts: unknown[]): string {
	let values = 0;
	const text = JSON.stringify(parts, (_name, value: unknown) => {
		if (++values > MOST.values) return undefined;
		if (typeof value !== 'string') return value;
		return `${value.length} ${value.slice(0, MOST.characters)}`;
	});
	return createHash('sha256').update(text).digest('base64url');
}
