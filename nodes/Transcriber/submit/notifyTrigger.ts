import { createHash } from 'crypto';
import type { IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { pause } from '../../shared/api/abortable';
import { credentialOf } from '../../shared/api/credential';
import { Queue } from '../../shared/api/rateLimits';
import { sealHandOvers, type HandOver } from '../../shared/webhook/handOverEnvelope';
import type { SubmissionIds } from '../../shared/api/submission';
import { put, whatIsWrong, type Reply } from './triggerReply';
import { checkWebhookUrl } from '../../shared/webhook/publicAddress';
import { refuse } from '../../shared/parameters/refuse';
import type { RoutingRequest } from '../../shared/api/types';
import { remembered } from '../../shared/processState';

export const HAND_OVER = {
	/** Between two calls to a trigger, in ms: longer than it needs to confirm a stored secret. */
	interval: 1_100,
	/** How long a trigger may take to become reachable before anything is submitted, in ms. */
	patienceBefore: 4_000,
	/** How long the trigger may take to store a secret, or to become reachable again, in ms. */
	patience: 60_000,
	/** How long a trigger that was just switched on may answer 404, in ms. */
	patienceWhenNotActive: 10_000,
	/** How long a trigger may refuse a new API key that it has not read yet, in ms. */
	patienceWhenRefused: 3_000,
	/** The most hand-overs in one request. */
	batch: 100,
};

/** Secrets that wait to be handed over to one trigger. */
interface Outbox {
	/** One request at a time: each costs n8n as much as an execution, whatever its size. */
	line: Queue;
	next?: Batch;
}

interface Batch {
	handOvers: HandOver[];
	reply: Promise<Reply>;
}

/** By trigger and API key, while something waits. */
const outboxes = remembered<Outbox>('outboxes');

/** Triggers that are being checked right now: the items of a run share one attempt. */
const attempts = remembered<Promise<Reply>>('triggerAttempts');

/** A hash, so that the API key itself is never kept. */
function placeOf(triggerUrl: string, apiKey: string): string {
	return createHash('sha256')
		.update(JSON.stringify([triggerUrl, apiKey]))
		.digest('base64url');
}

/** Refuses a 'Trigger URL' that cannot be a trigger's, or that the service must not store. */
export function checkTriggerUrl(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	triggerUrl: string,
): void {
	if (URL.canParse(triggerUrl)) {
		const { username, password, search, hash } = new URL(triggerUrl);
		if (username || password || search || hash) {
			throw refuse(
				context,
				"'Trigger URL' holds more than an address: a user name, a password, a query or a fragment",
				'The service stores this address. Copy the Production URL (or, for a test, the Test URL) from the Transcriber Trigger node as it is.',
			);
		}
	}
	checkWebhookUrl(context, request, triggerUrl, 'Trigger URL');
	if (/\/transcriber\/?$/.test(new URL(triggerUrl).pathname)) return;
	throw refuse(
		context,
		`'Trigger URL' is not the address of a Transcriber Trigger: '${triggerUrl}'`,
		'Copy the Production URL (or, for a test, the Test URL) from the Transcriber Trigger node. It ends in /transcriber.',
	);
}

/**
 * Before anything is submitted: checks with an empty hand-over that the trigger accepts what this
 * credential seals.
 */
export async function checkTrigger(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	triggerUrl: string,
): Promise<void> {
	checkTriggerUrl(context, request, triggerUrl);
	const { apiKey } = await credentialOf(context);
	const place = placeOf(triggerUrl, apiKey);
	const attempt =
		attempts.get(place) ??
		tryTrigger(context, triggerUrl, apiKey).finally(() => attempts.delete(place));
	attempts.set(place, attempt);
	const reply = await unlessCancelled(attempt, context.getExecutionCancelSignal());
	if (reply.stored) return;
	const [reason, next] = whatIsWrong(reply);
	throw refuse(
		context,
		`The Transcriber Trigger at 'Trigger URL' cannot be used, so nothing was submitted: ${reason}`,
		next,
	);
}

async function tryTrigger(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	apiKey: string,
): Promise<Reply> {
	const start = Date.now();
	for (;;) {
		const reply = await put(context, triggerUrl, sealHandOvers(apiKey, triggerUrl, []));
		const passed = Date.now() - start;
		const patience = Math.min(HAND_OVER.patienceBefore, patienceFor(reply));
		if (reply.stored || passed + HAND_OVER.interval > patience) return reply;
		// Not cancelled with this execution, because other executions may share the attempt.
		await pause(HAND_OVER.interval);
	}
}

/**
 * Hands the secret of a submission to the trigger that gets its deliveries. Returns when the
 * trigger confirms that the secret is stored durably, which takes another request: n8n saves what a
 * webhook stores only after the answer. The API key seals the secret and is not sent.
 */
export async function handOver(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	{ taskId, botId = '' }: SubmissionIds,
	secret?: string,
): Promise<void> {
	const { apiKey } = await credentialOf(context);
	const cancelled = context.getExecutionCancelSignal();
	const id = taskId ?? botId;
	const kind = taskId === undefined ? 'bot' : 'task';
	const start = Date.now();
	for (;;) {
		const reply = await send(context, triggerUrl, apiKey, { id, kind, secret });
		if (reply.stored) return;
		const passed = Date.now() - start;
		if (passed + HAND_OVER.interval > patienceFor(reply))
			throw notTold(context, id, withoutSecret(reply, secret));
		await pause(HAND_OVER.interval, cancelled);
	}
}

/** Sends a hand-over together with all others that wait for the same trigger. */
async function send(
	context: IExecutePaginationFunctions,
	triggerUrl: string,
	apiKey: string,
	handOver: HandOver,
): Promise<Reply> {
	// A trigger of version 0.1.0 refuses a whole request with one hand-over that has no secret.
	const place = `${placeOf(triggerUrl, apiKey)} ${String(handOver.secret !== undefined)}`;
	const outbox: Outbox = outboxes.get(place) ?? {
		line: new Queue(
			() => 1,
			() => 0,
		),
	};
	outboxes.set(place, outbox);
	let batch = outbox.next;
	if (!batch || batch.handOvers.length >= HAND_OVER.batch) {
		const handOvers: HandOver[] = [];
		const reply = outbox.line.take().then(async (leave) => {
			if (outbox.next?.handOvers === handOvers) outbox.next = undefined;
			const sealed = sealHandOvers(apiKey, triggerUrl, handOvers);
			const isLast = () => outbox.next === undefined && outboxes.get(place) === outbox;
			return await put(context, triggerUrl, sealed).finally(() => {
				leave();
				if (isLast()) outboxes.delete(place);
			});
		});
		batch = { handOvers, reply };
		outbox.next = batch;
	}
	batch.handOvers.push(handOver);
	return await unlessCancelled(batch.reply, context.getExecutionCancelSignal());
}

async function unlessCancelled<T>(work: Promise<T>, cancelled?: AbortSignal): Promise<T> {
	cancelled?.throwIfAborted();
	return await new Promise<T>((resolve, reject) => {
		const stop = () => reject(cancelled?.reason);
		cancelled?.addEventListener('abort', stop, { once: true });
		work.then(resolve, reject).finally(() => cancelled?.removeEventListener('abort', stop));
	});
}

function patienceFor({ status, stored }: Reply): number {
	if (status === 404) return HAND_OVER.patienceWhenNotActive;
	if (status === 401) return HAND_OVER.patienceWhenRefused;
	const isWorthAnotherTry =
		stored === false || status === undefined || status === 429 || status >= 500;
	return isWorthAnotherTry ? HAND_OVER.patience : 0;
}

/** A trigger of version 0.1.0 refuses a hand-over without a secret as if its seal was wrong. */
function withoutSecret(reply: Reply, secret?: string): Reply {
	return { ...reply, needsSecret: secret === undefined && reply.status === 401 };
}

function notTold(
	context: IExecutePaginationFunctions,
	id: string,
	reply: Reply,
): NodeOperationError {
	const [reason, next] = whatIsWrong(reply);
	return refuse(
		context,
		`The Transcriber Trigger could not be told about ${id}: ${reason}`,
		`${next} What was submitted continues at the service and is not lost: fetch its result with Transcript: Wait Until Finished (a bot's task ID comes from Meeting: Get).`,
	);
}
