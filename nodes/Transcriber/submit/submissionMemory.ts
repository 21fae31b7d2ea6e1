import { createHash } from 'crypto';
import type {
	IBinaryData,
	IDataObject,
	IExecuteData,
	IExecutePaginationFunctions,
} from 'n8n-workflow';

import {
	isTool,
	isToolCall,
	runIndexAfterTimeout,
	runIndexOf,
	runKeyOf,
} from '../../shared/n8nInternals/nodeRuns';
import type { Suspension } from './sleepingItems';

/**
 * What was sent for each item and what the service has accepted, remembered in the node's context.
 * n8n saves that context with the execution and hands it to a Retry of a failed execution, which
 * has a new execution id: a node that runs again finds what it already has, and pays for nothing
 * twice. n8n saves an execution when the node is suspended, when the execution ends, and after each
 * node where "Save execution progress" is on. So the one gap is an n8n process that is killed
 * between the send and the end of the node: there only the Idempotency-Key of a file protects, in a
 * run that has the same execution id (a queue worker that takes the job over).
 */
export type SubmissionMemory =
	| {
			state: 'accepted';
			answer: IDataObject;
			/** When, in ms since 1970. */
			at: number;
			/** Where the service delivers, '' for nowhere. Missing: nobody knows (see `submitOnce`). */
			deliversTo?: string;
			/** `start_at`, as it was sent. */
			startAt?: string;
			/** The webhook_secret, where n8n itself gets the deliveries. */
			sealedSecret?: string;
			/** The trigger has the secret. */
			handedOver?: boolean;
	  }
	/**
	 * Sent, and no answer has come so far. With the same Idempotency-Key it may be sent again. Without
	 * a key it may not: nobody knows whether the service accepted it.
	 */
	| { state: 'sent'; key?: string; file?: string };

/** In n8n 1 a tool has no context that lasts: what it has accepted is kept with its caller's run. */
const ofToolCalls = new WeakMap<IExecuteData, Record<string, SubmissionMemory>>();

function memories(context: IExecutePaginationFunctions): Record<string, SubmissionMemory> {
	if (isToolCall(context)) {
		const caller = runKeyOf(context);
		const memory = ofToolCalls.get(caller) ?? {};
		ofToolCalls.set(caller, memory);
		return memory;
	}
	const nodeContext = context.getContext('node') as { accepted?: Record<string, SubmissionMemory> };
	nodeContext.accepted ??= {};
	return nodeContext.accepted;
}

/** For `seal`: the secret of a submission, bound to its task or bot. */
export const SUBMISSION_SECRET = 'submission secret';

/**
 * How often the node has run before in this execution, from 0. When the time of a suspended run is
 * up, n8n counts it once more (see `suspend`), but it is the same run.
 */
export function runOf(context: IExecutePaginationFunctions): { index: number; isLate: boolean } {
	const index = runIndexOf(context);
	const { suspension } = context.getContext('node') as { suspension?: Suspension };
	const isLate =
		suspension?.asleep === true &&
		!suspension.resumed &&
		index === runIndexAfterTimeout(suspension.run);
	return { index: isLate ? suspension.run : index, isLate };
}

/** The run counts too: in a loop the same node has the same item index again and again. */
function placeOf(context: IExecutePaginationFunctions): string {
	// Each call of a tool has a run index of its own, so a call is known by what it asks for.
	if (isTool(context)) return JSON.stringify(parametersOf(context));
	return `${runOf(context).index}:${context.getItemIndex()}`;
}

function parametersOf(context: IExecutePaginationFunctions): unknown[] {
	const { id, parameters } = context.getNode();
	return [id, ...Object.keys(parameters).map((name) => context.getNodeParameter(name, ''))];
}

export function recall(context: IExecutePaginationFunctions): SubmissionMemory | undefined {
	return memories(context)[placeOf(context)];
}

export function remember(context: IExecutePaginationFunctions, memory: SubmissionMemory): void {
	memories(context)[placeOf(context)] = memory;
}

export function forget(context: IExecutePaginationFunctions): void {
	delete memories(context)[placeOf(context)];
}

/**
 * The Idempotency-Key of an item's submit (service document, "POST /transcribe"): the one that this
 * item was sent with before, or else `given`, or else one that is the same whenever n8n runs this
 * item of this run of this node again, and no other item's. The file counts too, because a new n8n
 * counts its executions from 1 again.
 */
export function idempotencyKey(
	context: IExecutePaginationFunctions,
	recording: IBinaryData,
	given?: string,
): string {
	const memory = recall(context);
	const isSameFile = memory?.state === 'sent' && memory.file === fileOf(recording);
	if (isSameFile && memory.key) return memory.key;
	return given ?? derivedKey(context, recording);
}

/** What tells a file from others: n8n's id of it, or else a hash of its content. */
export function fileOf({ id, data }: IBinaryData): string {
	return id ?? createHash('sha256').update(data).digest('hex');
}

/**
 * Whether this key of the user's is for this file alone, in all runs of the node in this execution.
 * The key itself is not kept.
 */
export function isKeyOfFile(
	context: IExecutePaginationFunctions,
	key: string,
	recording: IBinaryData,
): boolean {
	const files = filesOfKeys(context);
	const name = createHash('sha256').update(key).digest('hex');
	files[name] ??= fileOf(recording);
	return files[name] === fileOf(recording);
}

/** By caller, for a tool of n8n 1 (see `ofToolCalls`). */
const filesOfToolCalls = new WeakMap<IExecuteData, Record<string, string>>();

function filesOfKeys(context: IExecutePaginationFunctions): Record<string, string> {
	if (isToolCall(context)) {
		const caller = runKeyOf(context);
		const files = filesOfToolCalls.get(caller) ?? {};
		filesOfToolCalls.set(caller, files);
		return files;
	}
	const nodeContext = context.getContext('node') as { keys?: Record<string, string> };
	nodeContext.keys ??= {};
	return nodeContext.keys;
}

function derivedKey(
	context: IExecutePaginationFunctions,
	{ id, fileName, data }: IBinaryData,
): string {
	const file = id ?? [fileName, createHash('sha256').update(data).digest('hex')];
	const place = [context.getInstanceId(), context.getExecutionId(), context.getNode().id];
	const parts = [...place, placeOf(context), file];
	return `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}
