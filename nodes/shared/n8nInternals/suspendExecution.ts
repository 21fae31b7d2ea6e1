import type {
	IDataObject,
	IExecuteData,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INode,
	INodeExecutionData,
	IRunExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { NodeHelpers, NodeOperationError } from 'n8n-workflow';

/**
 * Suspends an execution from inside the node, and wakes it. n8n documents none of this. All of it
 * was seen in n8n 1.123.81, 2.30.0 and 2.41.1, and test/shared/n8nInternals/suspendExecution.test.ts
 * fails if n8n-core changes it.
 */

type ExecutionData = NonNullable<IRunExecutionData['executionData']>;

/**
 * The data that n8n keeps of an execution. Assumed: every context has it as `runExecutionData`,
 * although the types do not show it. Undefined if a context does not.
 */
export function runExecutionDataOf(context: object): IRunExecutionData | undefined {
	const { runExecutionData } = context as { runExecutionData?: IRunExecutionData | null };
	return runExecutionData ?? undefined;
}

/**
 * Assumed: the context of a single item has `putExecutionToWait`, although only the types of
 * `execute()` show it. After a call, n8n ends the run of the node and saves the execution.
 */
function waitFunctionOf(
	context: IExecutePaginationFunctions,
): IExecuteFunctions['putExecutionToWait'] | undefined {
	const { putExecutionToWait } = context as object as Partial<IExecuteFunctions>;
	return putExecutionToWait;
}

/**
 * Throws if this n8n lacks what {@link suspend} needs. Call it before submitting: an error after a
 * submit would lose a paid recording.
 */
export function assertCanSuspend(context: IExecutePaginationFunctions): void {
	const data = runExecutionDataOf(context);
	const canSuspend =
		typeof waitFunctionOf(context) === 'function' &&
		Array.isArray(data?.executionData?.nodeExecutionStack) &&
		// The node's memory has to be part of the data that n8n saves while the execution is suspended.
		NodeHelpers.getContext(data, 'node', context.getNode()) === context.getContext('node') &&
		Array.isArray(context.getExecuteData()?.data?.main);
	if (canSuspend) return;
	throw new NodeOperationError(context.getNode(), 'This n8n cannot suspend the node', {
		description: "Choose 'Wait for the Transcript (Polling)' in 'Get the Transcript'.",
	});
}

/**
 * Suspends the execution until `until` or until {@link wake}.
 *
 * Assumed: n8n puts the entry of the running node back on top of its stack. When the time is up,
 * n8n runs this entry as a disabled node, which passes on its input as if it were the result. So
 * this function empties the input of the entry, and puts a copy of the entry, with its input, behind it:
 *
 *     before         [ (running: node, items) , … ]
 *     suspended      [ node, no items ; node, items ; … ]
 *     woken          [ node, items ; … ]                       see `wake`
 *     time is up     [ node disabled, no items: skipped ; node, items ; … ]
 *
 * Nothing may fail after this call: n8n would run the entry without its items.
 *
 * n8n reads the credential before the woken node begins. If it cannot, it passes on the input of a node that
 * goes on after errors, as if it were the output, and the transcripts are in no execution. So with
 * `stopsOnError`, the copy stops on errors until {@link restoreOnError}: a Retry then fetches them.
 */
export async function suspend(
	context: IExecutePaginationFunctions,
	until: Date,
	stopsOnError: boolean,
): Promise<void> {
	const entry = context.getExecuteData();
	const { onError, continueOnFail } = entry.node;
	const copy = { ...entry };
	if (stopsOnError) {
		settingsOf(context).onError = { onError, continueOnFail };
		copy.node = { ...entry.node, ...STOPS };
	}
	runExecutionDataOf(context)?.executionData?.nodeExecutionStack.unshift(copy);
	entry.node = { ...entry.node, alwaysOutputData: false };
	entry.data = { main: [[]] };
	await waitFunctionOf(context)?.call(context, until);
}

/** What {@link suspend} makes of 'On Error', and of its name in old workflows. The editor never sets both. */
const STOPS = { onError: 'stopWorkflow', continueOnFail: false } as const;

/**
 * To be called as soon as a node has begun: it goes on after errors as the user has set it. In a Retry with the
 * currently saved workflow, that is what the node has. Assumed: n8n and its contexts ask the node of the
 * running entry.
 */
export function restoreOnError(context: IExecutePaginationFunctions): void {
	const settings = settingsOf(context);
	if (!settings.onError) return;
	// What was undefined is not saved, and counts too.
	const { onError, continueOnFail } = settings.onError;
	delete settings.onError;
	const { node } = context.getExecuteData();
	const isOfSuspend =
		node.onError === STOPS.onError && node.continueOnFail === STOPS.continueOnFail;
	if (isOfSuspend) Object.assign(node, { onError, continueOnFail });
}

/** What the user has set of a node whose copy on the stack stops on errors. */
function settingsOf(context: IExecutePaginationFunctions): {
	onError?: Pick<INode, 'onError' | 'continueOnFail'>;
} {
	return context.getContext('node');
}

/** A suspended execution, as seen by a call of its webhook. */
export interface SuspendedExecution {
	/** The node context that was saved with the execution. */
	nodeContext: IDataObject;
	/** See {@link suspend}. */
	stack: IExecuteData[];
}

/**
 * The suspended execution of a webhook call; undefined if it is not suspended. Assumed: n8n loads it
 * for this call alone, so changes to it are lost unless the call wakes the execution. Throws if this
 * n8n does not show it.
 */
export function suspendedExecution(context: IWebhookFunctions): SuspendedExecution | undefined {
	const data = runExecutionDataOf(context);
	if (!data) {
		throw new NodeOperationError(
			context.getNode(),
			'This n8n does not show what it has suspended',
			{
				description: 'Update the package n8n-nodes-transcriber.',
			},
		);
	}
	const stack: ExecutionData['nodeExecutionStack'] = data.executionData?.nodeExecutionStack ?? [];
	if (stack.length < 2) return undefined;
	return { nodeContext: NodeHelpers.getContext(data, 'node', context.getNode()), stack };
}

/**
 * Removes the emptied entry from the stack and returns the items of the copy behind it, for
 * `workflowData`. Assumed: n8n disables the top entry before it calls the webhook, and writes
 * `workflowData` into the top entry afterwards.
 */
export function wake({ stack }: SuspendedExecution): INodeExecutionData[][] {
	stack.shift();
	const [items] = stack[0]?.data.main ?? [];
	return [items ?? []];
}
