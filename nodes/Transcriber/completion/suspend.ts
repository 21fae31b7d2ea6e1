import type {
	IExecuteData,
	IExecuteFunctions,
	IExecutePaginationFunctions,
	INodeExecutionData,
	IRunExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';

/** One submission that a suspended execution waits for. */
export interface WaitingItem {
	taskId?: string;
	botId?: string;
	/** The webhook_secret of the submission, sealed; missing where the service gave none. */
	sealedSecret?: string;
	ended?: boolean;
}

/** What n8n saves with a suspended execution, in the context of the node. */
export interface Suspension {
	run: number;
	/** When the execution gives up waiting, in ms since 1970. */
	until: number;
	items: Record<number, WaitingItem>;
	/** Items that were refused before the execution was suspended, with the reason. */
	refused: Record<number, string>;
	/** Set by the first item that gets there: the execution is suspended once. */
	asleep?: boolean;
	/** Set by the delivery that wakes the execution. */
	resumed?: boolean;
}

/** What n8n keeps of an execution: at hand in every call, but not in the types. */
function dataOf(context: unknown): IRunExecutionData['executionData'] {
	return (context as { runExecutionData?: IRunExecutionData }).runExecutionData?.executionData;
}

/**
 * When nobody wakes it in time, n8n goes on as if the suspended node were disabled: it passes the
 * node's input on as if that were the result. So what is suspended gets no input to pass on, and
 * what waits behind it is the node as it was.
 */
export async function suspend(
	context: IExecutePaginationFunctions,
	suspension: Suspension,
): Promise<void> {
	const entry = context.getExecuteData();
	dataOf(context)?.nodeExecutionStack.unshift({ ...entry });
	entry.node = { ...entry.node, alwaysOutputData: false };
	entry.data = { main: [[]] };
	// There at run time in every execution context, but not in the types of this one.
	const { putExecutionToWait } = context as unknown as IExecuteFunctions;
	await putExecutionToWait.call(context, new Date(suspension.until));
}

interface Sleeping {
	suspension: Suspension;
	/** See `suspend`: the suspended node, the node as it was, and what else n8n is going to run. */
	stack: IExecuteData[];
}

/** The suspended execution that a delivery has come for. */
export function sleepingExecution(context: IWebhookFunctions): Sleeping | undefined {
	const { nodeExecutionStack: stack = [], contextData = {} } = dataOf(context) ?? {};
	const saved = contextData[`node:${context.getNode().name}`];
	const { suspension } = (saved ?? {}) as { suspension?: Suspension };
	const isAsleep = suspension?.asleep && !suspension.resumed && stack.length > 1;
	return isAsleep ? { suspension, stack } : undefined;
}

/** Lets n8n run the node as it was, instead of the suspended one that passes something on. */
export function wake({ suspension, stack }: Sleeping): INodeExecutionData[][] {
	suspension.resumed = true;
	stack.shift();
	const [items] = stack[0]?.data.main ?? [];
	return [items ?? []];
}
