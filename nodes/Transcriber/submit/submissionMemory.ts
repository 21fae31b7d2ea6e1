import { createHash } from 'crypto';
import type { IBinaryData, IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import {
	isTool,
	nodeContextOf,
	runIndexAfterTimeout,
	runIndexOf,
} from '../../shared/n8nInternals/nodeRuns';
import { idsIn, type SubmissionIds } from '../../shared/api/submission';
import { fileOf } from '../item/inputFile';
import { toolCallOf } from './askedFor';
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
export type SubmissionMemory = AcceptedMemory | SentMemory;

export interface AcceptedMemory {
	state: 'accepted';
	/** More than one where the service made several tasks of one request, e.g. of a playlist. */
	submissions: AcceptedSubmission[];
	/** When, in ms since 1970. */
	at: number;
	/** Where the service delivers, '' for nowhere. Missing: nobody knows (see `submitOnce`). */
	deliversTo?: string;
	/** `start_at`, as it was sent. */
	startAt?: string;
	/** The execution that submitted it. */
	executionId?: string;
	/** What that execution asked for (see `askedFor`). */
	asked?: string;
}

export interface AcceptedSubmission {
	/** Without secrets, but for 'Call a URL When Ready'. */
	answer: IDataObject;
	/** The webhook_secret, where n8n itself gets the deliveries. */
	sealedSecret?: string;
	/** The trigger has the secret. */
	handedOver?: boolean;
}

/** A task or bot that the service has made of an item. */
export interface Submitted {
	/** Which of the {@link AcceptedMemory}'s submissions it is. */
	index: number;
	answer: IDataObject;
	ids: SubmissionIds;
	/** What is known of it now. */
	state: IDataObject;
}

/**
 * Sent, and no answer has come so far. With the same Idempotency-Key it may be sent again. Without
 * a key it may not: nobody knows whether the service accepted it.
 */
interface SentMemory {
	state: 'sent';
	key?: string;
	file?: string;
}

/** What version 1.0.0 saved: one answer. */
type StoredMemory =
	| SubmissionMemory
	| (Omit<AcceptedMemory, 'submissions'> & AcceptedSubmission & { submissions?: undefined });

function memories(context: IExecutePaginationFunctions): Record<string, StoredMemory> {
	const nodeContext = nodeContextOf(context) as { accepted?: Record<string, StoredMemory> };
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
	const { suspension } = nodeContextOf(context) as { suspension?: Suspension };
	const isLate =
		suspension?.asleep === true &&
		!suspension.resumed &&
		index === runIndexAfterTimeout(suspension.run);
	return { index: isLate ? suspension.run : index, isLate };
}

/** The run counts too: in a loop the same node has the same item index again and again. */
function placeOf(context: IExecutePaginationFunctions): string {
	// Each call of a tool has a run index of its own, so a call is known by what it asks for.
	if (isTool(context)) return toolCallOf(context);
	return `${runOf(context).index}:${context.getItemIndex()}`;
}

/**
 * The ids in the answer to the submit of this node. The `id` in an answer about a bot would be no
 * task's.
 */
export function submissionIds(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): SubmissionIds {
	const isBot = context.getNodeParameter('operation') === 'sendBot';
	return idsIn(isBot ? { bot_id: '', ...answer } : answer);
}

export function recall(context: IExecutePaginationFunctions): SubmissionMemory | undefined {
	const memory = memories(context)[placeOf(context)];
	if (memory?.state !== 'accepted' || memory.submissions) return memory;
	const { answer, sealedSecret, handedOver, ...others } = memory;
	return { ...others, submissions: [{ answer, sealedSecret, handedOver }] };
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

/**
 * Whether this key of the user's is for this recording alone (see `fileOf`, or a link), in all runs
 * of the node in this execution. The key itself is not kept.
 */
export function isKeyOf(
	context: IExecutePaginationFunctions,
	key: string,
	recording: string,
): boolean {
	const nodeContext = nodeContextOf(context) as { keys?: Record<string, string> };
	const recordings = (nodeContext.keys ??= {});
	const name = createHash('sha256').update(key).digest('hex');
	recordings[name] ??= recording;
	return recordings[name] === recording;
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
