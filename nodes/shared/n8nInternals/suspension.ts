import type {
	IDataObject,
	IExecuteData,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
	IRunExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { NodeHelpers, NodeOperationError } from 'n8n-workflow';

/**
 * How the node itself suspends an execution and wakes it. n8n promises none of this; all of it
 * was seen in n8n 1.123.81, 2.30.0 and 2.41.1, and test/shared/n8nInternals/suspension.test.ts fails when
 * n8n-core changes it.
 */

type ExecutionData = NonNullable<IRunExecutionData['executionData']>;

/**
 * What n8n keeps of an execution. Assumed: every context carries it as `runExecutionData`, which its
 * types do not show. Undefined where a context does not.
 */
function runExecutionDataOf(context: object): IRunExecutionData | undefined {
	const { runExecutionData } = context as { runExecutionData?: IRunExecutionData | null };
	return runExecutionData ?? undefined;
}

/**
 * Assumed: `putExecutionToWait` is there in the context of a single item, although only the types
 * of `execute()` show it. n8n ends the run of the node and saves the execution when it was called.
 */
function waitFunctionOf(
	context: IExecutePaginationFunctions,
): IExecuteFunctions['putExecutionToWait'] | undefined {
	const { putExecutionToWait } = context as object as Partial<IExecuteFunctions>;
	return putExecutionToWait;
}

/**
 * Throws where this n8n does not have what {@link suspend} needs. Call it before anything is
 * submitted: afterwards a paid recording would be lost.
 */
export function assertCanSuspend(context: IExecutePaginationFunctions): void {
	const data = runExecutionDataOf(context);
	const canSuspend =
		typeof waitFunctionOf(context) === 'function' &&
		Array.isArray(data?.executionData?.nodeExecutionStack) &&
		// What the node remembers while the execution sleeps has to be in the data that n8n saves.
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
 * Assumed: n8n puts the entry of the running node back on top of its stack, and when the time is up
 * it runs that entry as a disabled node, which passes its input on as if that were the result. So
 * the entry loses its input, and a copy of the node as it was is put behind the entry:
 *
 *     before         [ (running: node, items) , … ]
 *     asleep         [ node, no items ; node, items ; … ]
 *     woken          [ node, items ; … ]                       see `wake`
 *     time is up     [ node disabled, no items: skipped ; node, items ; … ]
 *
 * Nothing may fail after this: n8n would run the entry without its items.
 */
export async function suspend(context: IExecutePaginationFunctions, until: Date): Promise<void> {
	const entry = context.getExecuteData();
	runExecutionDataOf(context)?.executionData?.nodeExecutionStack.unshift({ ...entry });
	entry.node = { ...entry.node, alwaysOutputData: false };
	entry.data = { main: [[]] };
	await waitFunctionOf(context)?.call(context, until);
}

/** A suspended execution, as a call of its webhook finds it. */
export interface Sleeping {
	/** The node context that was saved with the execution. */
	nodeContext: IDataObject;
	/** See {@link suspend}. */
	stack: IExecuteData[];
}

/**
 * The suspended execution that a webhook call belongs to. Assumed: n8n loads it for this call alone,
 * so nothing that is changed here lasts unless the call wakes the execution.
 */
export function sleepingExecution(context: IWebhookFunctions): Sleeping | undefined {
	const data = runExecutionDataOf(context);
	const stack: ExecutionData['nodeExecutionStack'] = data?.executionData?.nodeExecutionStack ?? [];
	if (!data || stack.length < 2) return undefined;
	return { nodeContext: NodeHelpers.getContext(data, 'node', context.getNode()), stack };
}

/**
 * Takes the emptied entry off the stack and returns the items of the node behind it, for
 * `workflowData`. Assumed: n8n disables the entry on top before it calls the webhook, and writes
 * `workflowData` into the entry on top after that.
 */
export function wake({ stack }: Sleeping): INodeExecutionData[][] {
	stack.shift();
	const [items] = stack[0]?.data.main ?? [];
	return [items ?? []];
}
