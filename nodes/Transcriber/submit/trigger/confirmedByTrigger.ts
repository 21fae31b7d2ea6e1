import type { IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { pause, unlessAborted } from '../../../shared/api/deadlines';
import { credentialOf } from '../../../shared/api/credential';
import { deliveredId } from '../../../shared/webhook/deliveredId';
import { sealHandOvers, type SubmissionKind } from '../../../shared/webhook/handOverEnvelope';
import type { SubmissionIds } from '../../../shared/api/submission';
import { WAIT_OPERATIONS } from '../../item/retryAdvice';
import { inOutput } from '../../item/itemFailure';
import { recall } from '../once/submissionMemory';
import { outboxKey, sendInBatch } from './handOverBatches';
import { put, whatIsWrong, type Reply } from './triggerReply';
import { checkTriggerUrl } from './triggerUrl';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';
import { remembered } from '../../../shared/processMemory';

export const HAND_OVER = {
	/** Between two calls to a trigger, in ms: longer than it needs to confirm a stored secret. */
	interval: 1_100,
	/** How long a trigger may take to become reachable before anything is submitted, in ms. */
	patienceBefore: 4_000,
	/**
	 * How long the trigger may take to store a secret, or to become reachable again, in ms. This time
	 * and the next two count from the first answer of their kind: n8n may be down for a while, and
	 * then answer 404 until its workflows are active.
	 */
	patience: 60_000,
	/** How long a trigger that was just switched on may answer 404, in ms. */
	patienceWhenNotActive: 10_000,
	/** How long a trigger may refuse a new API key that it has not read yet, in ms. */
	patienceWhenRefused: 3_000,
};

/** Triggers that are being checked right now: the items of a run share one attempt. */
const triggerChecks = remembered<Promise<Reply>>('triggerChecks');

/**
 * Before anything is submitted: checks with an empty hand-over that the trigger accepts what this
 * credential seals, and starts its workflow for what is to be submitted.
 */
export async function checkTrigger(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	triggerUrl: string,
): Promise<void> {
	checkTriggerUrl(context, request, triggerUrl);
	const { apiKey } = await credentialOf(context);
	const kind = request.options.url === '/meeting' ? 'bot' : 'task';
	const key = `${outboxKey(triggerUrl, apiKey)} ${kind}`;
	const attempt =
		triggerChecks.get(key) ??
		tryTrigger(context, triggerUrl, apiKey, kind).finally(() => triggerChecks.delete(key));
	triggerChecks.set(key, attempt);
	const reply = await unlessAborted(attempt, context.getExecutionCancelSignal());
	if (reply.stored) return;
	const [reason, next] = whatIsWrong(reply);
	const outcome =
		recall(context)?.state === 'sent'
			? 'so this item was not sent again'
			: 'so nothing was submitted';
	throw refuse(
		context,
		`The Transcriber Trigger at 'Trigger URL' cannot be used, ${outcome}: ${reason}`,
		next,
	);
}

async function tryTrigger(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	apiKey: string,
	kind: SubmissionKind,
): Promise<Reply> {
	const end = Date.now() + HAND_OVER.patienceBefore;
	const firsts: FirstAnswers = new Map();
	for (;;) {
		const reply = await put(context, triggerUrl, sealHandOvers(apiKey, triggerUrl, []), kind);
		const left = Math.min(end - Date.now(), timeLeft(reply, firsts));
		if (reply.stored || left < HAND_OVER.interval) return reply;
		// Not cancelled with this execution, because other executions may share the attempt.
		await pause(HAND_OVER.interval);
	}
}

/**
 * Hands the secret of a submission to the trigger that gets its deliveries. Returns when the
 * trigger confirms that the secret is stored durably, which takes another request: n8n saves what
 * this call stores only after its answer (see n8nInternals/staticData.ts). The API key seals the
 * secret and is not sent. Returns whether the trigger could not be reached, or refused it, at first.
 */
export async function handOver(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	{ taskId, botId = '' }: SubmissionIds,
	secret?: string,
): Promise<boolean> {
	let credential = await credentialOf(context);
	const cancelled = context.getExecutionCancelSignal();
	const id = taskId ?? botId;
	const kind = taskId === undefined ? 'bot' : 'task';
	// In a batch, the trigger would refuse the hand-overs of other items with this one.
	if (deliveredId(id) === undefined)
		throw notHandedOver(context, id, { status: 400, isIdUnusable: true });
	const firsts: FirstAnswers = new Map();
	let wasRefused = false;
	for (;;) {
		const reply = await sendInBatch(context, triggerUrl, credential.apiKey, { id, kind, secret });
		if (reply.stored) return wasRefused;
		wasRefused ||= reply.stored === undefined;
		if (timeLeft(reply, firsts) < HAND_OVER.interval)
			throw notHandedOver(context, id, withoutSecret(reply, secret));
		await pause(HAND_OVER.interval, cancelled);
		// The trigger may have got a new key meanwhile. The database may be busy for a moment.
		credential = await credentialOf(context).catch(() => credential);
	}
}

/** The name of a time in {@link HAND_OVER}. */
type TriggerPatience = Extract<keyof typeof HAND_OVER, `patience${string}`>;

/** When each kind of answer first came, in ms since 1970. */
type FirstAnswers = Map<TriggerPatience, number>;

/** How long a trigger that gives such an answer is worth another try, in ms. */
function timeLeft(reply: Reply, firsts: FirstAnswers): number {
	const patience = triggerPatienceFor(reply);
	if (!patience) return 0;
	const first = firsts.get(patience) ?? Date.now();
	firsts.set(patience, first);
	return first + HAND_OVER[patience] - Date.now();
}

function triggerPatienceFor({ status = 0 }: Reply): TriggerPatience | undefined {
	if (status === 404) return 'patienceWhenNotActive';
	if (status === 401) return 'patienceWhenRefused';
	// While n8n starts, it answers any request with 200 and a text.
	const isWorthAnotherTry = status < 300 || [408, 425, 429].includes(status) || status >= 500;
	return isWorthAnotherTry ? 'patience' : undefined;
}

/** A trigger of version 0.1.0 refuses a hand-over without a secret as if its seal was wrong. */
function withoutSecret(reply: Reply, secret?: string): Reply {
	return { ...reply, needsSecret: secret === undefined && reply.status === 401 };
}

function notHandedOver(
	context: IExecutePaginationFunctions,
	id: string,
	reply: Reply,
): NodeOperationError {
	const [reason, next] = whatIsWrong(reply);
	const message = `The Transcriber Trigger did not accept the hand-over of ${id}: ${reason}`;
	const comfort = `What was submitted continues at the service and is not lost: fetch its result with ${WAIT_OPERATIONS}.`;
	return refuse(context, inOutput(context, message, comfort), `${next} ${comfort}`);
}
