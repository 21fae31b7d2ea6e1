import { createHash } from 'crypto';
import type {
	IBinaryData,
	IDataObject,
	IExecuteData,
	IExecutePaginationFunctions,
} from 'n8n-workflow';

import { isToolCall } from '../request/run';
import type { Suspension } from './suspend';

/**
 * What the service has accepted for each item, remembered in the node's context, which n8n saves
 * with the execution: a node that n8n runs again in the same execution (Retry On Fail) finds the
 * task or bot it already has, and pays for nothing twice.
 */
export type Memory =
	| {
			state: 'accepted';
			answer: IDataObject;
			/** When, in ms since 1970. */
			at: number;
			/** The webhook_secret, where n8n itself gets the deliveries. */
			sealedSecret?: string;
			/** The trigger has the secret. */
			handedOver?: boolean;
	  }
	/** Sent without a key, and no answer came: it may or may not have been accepted. */
	| { state: 'unknown' };

/** A tool has no context of its own that lasts: what it has accepted is kept with its caller's run. */
const ofToolCalls = new WeakMap<IExecuteData, Record<string, Memory>>();

function memories(context: IExecutePaginationFunctions): Record<string, Memory> {
	if (isToolCall(context)) {
		const caller = context.getExecuteData();
		const memory = ofToolCalls.get(caller) ?? {};
		ofToolCalls.set(caller, memory);
		return memory;
	}
	const nodeContext = context.getContext('node') as { accepted?: Record<string, Memory> };
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
	const index = Number(context.evaluateExpression('{{ $runIndex }}', 0));
	const { suspension } = context.getContext('node') as { suspension?: Suspension };
	const isLate = suspension?.asleep === true && !suspension.resumed && index === suspension.run + 1;
	return { index: isLate ? suspension.run : index, isLate };
}

/** The run counts too: in a loop the same node has the same item index again and again. */
function placeOf(context: IExecutePaginationFunctions): string {
	// Each try of a tool has a run index of its own, so a call is known by what it asks for.
	if (isToolCall(context)) return JSON.stringify(parametersOf(context));
	return `${runOf(context).index}:${context.getItemIndex()}`;
}

function parametersOf(context: IExecutePaginationFunctions): unknown[] {
	const { id, parameters } = context.getNode();
	return [id, ...Object.keys(parameters).map((name) => context.getNodeParameter(name, ''))];
}

export function recall(context: IExecutePaginationFunctions): Memory | undefined {
	return memories(context)[placeOf(context)];
}

export function remember(context: IExecutePaginationFunctions, memory: Memory): void {
	memories(context)[placeOf(context)] = memory;
}

export function forget(context: IExecutePaginationFunctions): void {
	delete memories(context)[placeOf(context)];
}

/**
 * The Idempotency-Key of an item's submit (service document, "POST /transcribe"): the same
 * whenever n8n runs this item of this run of this node again, and no other item's. The file counts
 * too, because a new n8n counts its executions from 1 again.
 */
export function derivedKey(
	context: IExecutePaginationFunctions,
	{ id, fileName, data }: IBinaryData,
): string {
	const file = id ?? [fileName, createHash('sha256').update(data).digest('hex')];
	const place = [context.getInstanceId(), context.getExecutionId(), context.getNode().id];
	const parts = [...place, placeOf(context), file];
	return `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}
