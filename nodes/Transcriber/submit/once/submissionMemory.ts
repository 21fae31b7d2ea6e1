import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { isTool, nodeContextOf } from '../../../shared/n8nInternals/runIdentity';
import { runExecutionDataOf } from '../../../shared/n8nInternals/suspendExecution';
import {
	NAMELESS,
	REFUSED,
	idsIn,
	submissionName,
	type SubmissionIds,
} from '../../../shared/api/submission';
import { idIn } from '../../../shared/api/undocumented/idNames';
import { isRefused } from '../../../shared/api/undocumented/submissions';
import { isBeingSent } from './oncePerPlace';
import { placeOf, runOf } from './placeInRun';
import { recallRetried, rememberRetried } from './submittedByOtherRetry';

/**
 * What was sent for each item and what the service accepted, kept in the node's context. n8n saves this
 * context with the execution and passes it to a Retry of a failed execution, which has a new execution id.
 * So a node that runs again finds its earlier submissions, and nothing is paid for twice. n8n saves an
 * execution when the node is suspended, when the execution ends, and after each node if "Save execution
 * progress" is on. One gap remains: n8n is killed between the request and the end of the node. Then the
 * Retry knows nothing of the request. In n8n 2 it sends a file with the same Idempotency-Key (see
 * idempotencyKey.ts). In n8n 1 a file is protected only by a key that the user gives, and a link or a bot
 * by nothing. For Retries of an execution that was retried before, see submittedByOtherRetry.ts.
 */
type SubmissionMemory = AcceptedMemory | SentMemory;

/** The service has accepted the item: it is never sent again. */
export interface AcceptedMemory {
	state: 'accepted';
	/** More than one if the service made several tasks from one request, e.g. from a playlist. */
	submissions: AcceptedSubmission[];
	/** When the service accepted the item, at the earliest, in ms since 1970. */
	at: number;
	/** The webhook address, '' for none. Undefined if unknown (see `destinationOf`). */
	deliversTo?: string;
	/** `start_at` as sent. */
	startAt?: string;
	/** The execution that submitted the item. */
	executionId?: string;
	/** What that execution asked for (see `askedFor`). */
	asked?: string;
	/** Of a file: see {@link SentMemory.fingerprint}. Older versions did not save it. */
	fingerprint?: string;
	/** What was sent, if without a key (see `hashOfBody`). */
	body?: string;
	/**
	 * A task had ended when it was accepted: it is the task of an earlier request with the same key.
	 * `perhaps`, if the service said so only later.
	 */
	hadEnded?: true | 'perhaps';
	/** The tasks that had ended. One that had failed, with its reason. */
	endedTasks?: Array<{ index: number; ids: SubmissionIds; failed?: Pick<IDataObject, 'error'> }>;
}

/** One task or bot that the service has made of an item. */
export interface AcceptedSubmission {
	/** Without secrets, except for 'Call a URL When Ready'. */
	answer: IDataObject;
	/** The webhook_secret, if n8n itself receives the deliveries. */
	sealedSecret?: string;
	/** The trigger has the secret. */
	handedOver?: boolean;
	/** The trigger has the secret, but the service could not be asked whether the task had ended before. */
	handedOverUnasked?: true;
	/** It ended before the trigger had the secret, so the trigger may never hear of its end. */
	endedUnheard?: true | 'perhaps';
}

/** A task or bot that the service created from an item. */
export interface Submitted {
	/** Its index in {@link AcceptedMemory.submissions}. */
	index: number;
	answer: IDataObject;
	ids: SubmissionIds;
	/** What is known about its present state. */
	state: IDataObject;
}

/**
 * Sent, but not answered so far. With the same Idempotency-Key it may be sent again. Without a key
 * it may not, because it is unknown whether the service accepted it.
 */
export interface SentMemory {
	state: 'sent';
	key?: string;
	file?: string;
	/** The key that is derived from the content and the request (see `derivedKey`), also if the user gave another. */
	fingerprint?: string;
	/** When it was first sent, in ms since 1970. */
	at?: number;
	/** The execution that sent it, with what webhook address ('' for none; undefined if unknown). */
	executionId?: string;
	deliversTo?: string;
	/** Of a file with 'Wait for Webhook': the address that was sent. Older versions did not save it. */
	resumeUrl?: string;
	/** What it asked for (see `askedFor`), and the same without the file (see `settingsFor`). */
	asked?: string;
	settings?: string;
	/** What was sent, if without a key (see `hashOfBody`). */
	body?: string;
	/** What the service said of it, for people. */
	said?: string;
}

/** Also reads what version 1.0.0 saved: a single answer. */
type StoredMemory =
	| SubmissionMemory
	| (Omit<AcceptedMemory, 'submissions'> & AcceptedSubmission & { submissions?: undefined });

interface NodeData {
	accepted?: Record<string, StoredMemory>;
}

function memories(context: IExecutePaginationFunctions): Record<string, StoredMemory> {
	const nodeContext = nodeContextOf(context) as NodeData;
	nodeContext.accepted ??= {};
	return nodeContext.accepted;
}

/** For `seal`: the secret of a submission, bound to its task or bot. */
export const SUBMISSION_SECRET = 'submission secret';

/**
 * The ids in the answer to the submit of this node. In an answer about a bot, a plain `id` is not
 * taken for a task id.
 */
export function submissionIds(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): SubmissionIds {
	const isBot = context.getNodeParameter('operation') === 'sendBot';
	const { taskId, botId } = idsIn(answer);
	return { taskId: isBot ? idIn(answer.task_id) : taskId, botId };
}

/** The names of an item's tasks and bots in messages. */
export function submissionNames(
	context: IExecutePaginationFunctions,
	{ submissions }: AcceptedMemory,
): string[] {
	return submissions.map(({ answer }) => {
		const name = submissionName(submissionIds(context, answer));
		return name === NAMELESS && submissions.length > 1 && isRefused(answer) ? REFUSED : name;
	});
}

/**
 * For `performOperation`: names of what was submitted for the item before. If undefined, the request is
 * checked and built: nothing was submitted, or an Idempotency-Key makes a repeat safe.
 */
export function submittedBefore(context: IExecutePaginationFunctions): string[] | undefined {
	const memory = recall(context);
	// An identical tool call is being sent right now. The service may still refuse it, so this call
	// is prepared like a new one.
	if (isBeingSent(context)) return undefined;
	if (memory?.state === 'accepted') return submissionNames(context, memory);
	return memory && !memory.key ? [] : undefined;
}

/**
 * Remembers for an item what an earlier run of this node in the execution has sent for it, if a loop of the
 * user has brought it back, and the answer was lost or had no id. n8n's error output gives a failed item the
 * field `error`; without this field, an item may ask for the same on purpose. `body`: see `hashOfBody`.
 */
export function takeOverFromEarlierRun(context: IExecutePaginationFunctions, body: string): void {
	const { index } = runOf(context);
	// The places of tool calls have no run.
	if (isTool(context) || !context.getInputData().json.error) return;
	const found = Object.entries(memories(context)).find(
		([place, memory]) => memory.body === body && parseInt(place) < index && isLost(context, memory),
	);
	if (found) remember(context, found[1] as SubmissionMemory);
}

function isLost(context: IExecutePaginationFunctions, memory: StoredMemory): boolean {
	if (memory.state === 'sent') return true;
	if (!memory.submissions) return false;
	const names = submissionNames(context, memory);
	return names.includes(NAMELESS) || names.every((name) => name === REFUSED);
}

/** What was sent and accepted for this item, also in an execution of which this one is a Retry. */
export function recall(context: IExecutePaginationFunctions): SubmissionMemory | undefined {
	const memory = storedAt(context, placeOf(context));
	if (memory?.state !== 'accepted' || memory.submissions) return memory;
	const { answer, sealedSecret, handedOver, ...others } = memory;
	return { ...others, submissions: [{ answer, sealedSecret, handedOver }] };
}

function storedAt(context: IExecutePaginationFunctions, place: string): StoredMemory | undefined {
	const saved = memories(context)[place] ?? savedByFormerName(context, place);
	if (saved?.state === 'accepted') return saved;
	return recallRetried<StoredMemory>(context, place) ?? saved;
}

/**
 * n8n keeps a node's data by its name, and the name of a tool is what the model sees: the user may change
 * it before a Retry with the currently saved workflow. The place of a tool call has the id of the node.
 */
function savedByFormerName(
	context: IExecutePaginationFunctions,
	place: string,
): StoredMemory | undefined {
	if (!isTool(context)) return undefined;
	const all = Object.values(runExecutionDataOf(context)?.executionData?.contextData ?? {});
	return all.map((data) => (data as NodeData).accepted?.[place]).find((one) => one !== undefined);
}

/** What is known of the submission at this place (see `placeOf`). */
export function memoryAt(
	context: IExecutePaginationFunctions,
	place: string,
): Pick<SubmissionMemory, 'state'> | undefined {
	return storedAt(context, place);
}

/** Keeps what was sent or accepted for this item, for further tries and Retries: see `recall`. */
export function remember(context: IExecutePaginationFunctions, memory: SubmissionMemory): void {
	const place = placeOf(context);
	memories(context)[place] = memory;
	rememberRetried(context, place, memory);
}

/** Removes what is remembered of an item that the service has certainly not accepted. */
export function forget(context: IExecutePaginationFunctions): void {
	const place = placeOf(context);
	delete memories(context)[place];
	rememberRetried(context, place, undefined);
}
