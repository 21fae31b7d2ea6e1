import {
	NodeOperationError,
	type IDataObject,
	type IExecutePaginationFunctions,
} from 'n8n-workflow';

import { credentialOf } from '../../../shared/api/credential';
import { neverLeft } from '../../../shared/api/sendWithRetries';
import { withoutSecrets } from '../../../shared/api/redact';
import { ServiceError, isCertainRefusal, said } from '../../../shared/api/serviceError';
import { isStillRunning } from '../../../shared/api/problem';
import { idsIn, submissionKey } from '../../../shared/api/submission';
import type { Policy, RoutingRequest } from '../../../shared/api/types';
import { isTool } from '../../../shared/n8nInternals/runIdentity';
import { beganInRetry } from './retriesOfExecution';
import { asLasting, refuse } from '../../../shared/parameters/refuse';
import { seal, secretIn } from '../../../shared/webhook/sealedSecret';
import { fileOf, recordingOf } from '../../item/inputFile';
import { Abandoned, type NodeRun } from '../../item/nodeRun';
import { givenKeyOf } from '../../item/givenKey';
import { goesOnAfterErrors } from '../../item/perform';
import { sendOperation } from '../../item/sendOperation';
import { isHarmless, wasCancelledInTurn } from './certainlyNotSubmitted';
import { askedFor } from './sameRequest';
import { checkUnchangedSince } from './refuseChangedItem';
import { deliveryAddress, onCompletionOf, usesWebhook } from '../choice/onCompletion';
import {
	SUBMISSION_SECRET,
	forget,
	recall,
	remember,
	type AcceptedMemory,
	type AcceptedSubmission,
	type SentMemory,
	oncePerPlace,
} from './submissionMemory';
import { isOfFile } from './idempotencyKey';

/**
 * Submits the item (`isFresh`), or finds what was submitted for it before. Throws if the service
 * refused the item, or if it is unknown whether the service accepted it.
 */
export async function submitOnce(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<Outcome> {
	return await oncePerPlace(context, async () => await submitItem(context, request, policy, run));
}

/** What became of an item's submit. */
export interface Outcome {
	/** What the service has accepted for the item. */
	accepted: AcceptedMemory;
	/** This call has submitted it. */
	isFresh: boolean;
	/** This call may have repeated a request that the service had accepted already. */
	isRepeat?: boolean;
}

async function submitItem(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<Outcome> {
	// This key seals the secrets in the answer. It is read first, because nothing may come between
	// the two looks at the memory, below: another Retry of the same execution may run at the same time.
	const { apiKey } = await credentialOf(context);
	const memory = recall(context);
	if (memory?.state === 'accepted') return { accepted: memory, isFresh: false };
	if (memory && !memory.key) throw asLasting(mayHaveBeenAccepted(context));
	const header = request.options.headers?.['Idempotency-Key'];
	const keyed = header !== undefined;
	// The header makes a repeat safe only if the service document shows it for the request.
	const key = keyed && policy.repeatable ? String(header) : undefined;
	const file = key === undefined ? undefined : fileOf(recordingOf(context).binary);
	const earlier = memory && isOfFile(memory, file) ? memory : undefined;
	if (earlier) checkUnchangedSince(context, earlier);
	const sent = { ...destinationOf(context, key, earlier), asked: askedFor(context) };
	remember(context, { state: 'sent', key, file, at: earlier?.at ?? Date.now(), ...sent });
	let failure: unknown;
	let isRepeat = memory !== undefined || mayBeOfCrashed(context, key);
	let at = earlier?.at;
	const onAttempt = (mayBeAccepted: boolean) => {
		isRepeat ||= mayBeAccepted;
		// A refused attempt was no submission. The time of a repeat says nothing about the first.
		at = earlier?.at ?? (mayBeAccepted ? at : Date.now());
	};
	try {
		const onCompletion = onCompletionOf(context);
		const keepsWebhookSecret = usesWebhook(onCompletion);
		const ownPolicy = { ...policy, keyed, keepsWebhookSecret };
		const items = await sendOperation(context, request, ownPolicy, run, onAttempt);
		const answers = items.map(({ json }) => json);
		const keepsSecret = onCompletion === 'callUrl';
		const submissions = answers.map((answer) => submissionOf(answer, apiKey, keepsSecret));
		const startAt = startAtIn(request);
		const accepted: AcceptedMemory = {
			state: 'accepted',
			submissions,
			at: at ?? Date.now(),
			startAt,
			...sent,
		};
		remember(context, accepted);
		return { accepted, isFresh: true, isRepeat };
	} catch (error) {
		failure = error;
	}
	const isCertain =
		key === undefined
			? isHarmless(context, failure) || failure instanceof Abandoned
			: !memory && isRefusedAtOnce(context, failure);
	if (isCertain) forget(context);
	if (recall(context)?.state === 'sent') sayItMayBeAccepted(context, failure, key);
	if (isAboutTheItem(failure)) asLasting(failure);
	throw failure;
}

/**
 * The webhook address of what is submitted now, and the execution that has given it. If an earlier
 * request with the same key and another address may have been accepted, the address of that request
 * counts. Undefined if the service may return a task of another execution: the user gave the key, or
 * {@link mayBeOfCrashed}.
 */
function destinationOf(
	context: IExecutePaginationFunctions,
	key: string | undefined,
	earlier?: SentMemory,
): Pick<AcceptedMemory, 'deliversTo' | 'executionId'> {
	const executionId = context.getExecutionId();
	const mayBeOfAnother = givenKeyOf(context) !== undefined || mayBeOfCrashed(context, key);
	if (!earlier && mayBeOfAnother) return { executionId };
	const deliversTo = deliveryAddress(context);
	if (!earlier || earlier.deliversTo === deliversTo) return { deliversTo, executionId };
	return { deliversTo: earlier.deliversTo, executionId: earlier.executionId };
}

/**
 * Whether the service may have got a submit with this key from an execution that crashed: n8n kept
 * nothing of it but the data that the key is derived from.
 */
function mayBeOfCrashed(context: IExecutePaginationFunctions, key: string | undefined): boolean {
	return key !== undefined && beganInRetry(context);
}

/** Whether the service refuses the recording, link or option itself, so every Retry is refused too. */
function isAboutTheItem(failure: unknown): failure is ServiceError {
	if (!(failure instanceof ServiceError)) return false;
	return [400, 413, 415, 422].includes(failure.problem.status ?? 0);
}

/** Whether a keyed submit did not leave n8n, or the service has refused every attempt for certain. */
function isRefusedAtOnce(context: IExecutePaginationFunctions, failure: unknown): boolean {
	if (failure instanceof Abandoned || neverLeft(failure)) return true;
	if (wasCancelledInTurn(context, failure)) return true;
	if (!(failure instanceof ServiceError)) return false;
	const { problem } = failure;
	return isCertainRefusal(problem) && !problem.isRepeat && !isStillRunning(problem);
}

/** Advice where nobody but the user can find out whether the service has accepted an item. */
export const LOOK_FOR_SUBMISSION =
	'The service may have accepted it, and a second try could cost twice. Look in your account at the service (or with Transcript: Get Many) whether it is there. If it is not, run the workflow again.';

const SAME_KEY =
	"The service may have accepted it. With the same 'Idempotency Key' it is not paid twice.";

const RETRY_GOES_ON =
	'If the service has accepted it, a Retry of this execution goes on with it and costs nothing more, but a new execution is charged again.';

/** Makes the failure of an item that stays remembered as sent say how it is not paid twice. */
function sayItMayBeAccepted(
	context: IExecutePaginationFunctions,
	failure: unknown,
	key: string | undefined,
): void {
	if (!(failure instanceof ServiceError || failure instanceof NodeOperationError)) return;
	if (key === undefined) asLasting(failure);
	const { message } = failure;
	const hasOwnKey = key !== undefined && givenKeyOf(context) !== undefined;
	// n8n offers a Retry only of an execution that an error has stopped.
	const hasNoRetry = goesOnAfterErrors(context) || isExecutionCancelled(context);
	if (key === undefined || (!hasOwnKey && hasNoRetry)) {
		const answered = failure instanceof ServiceError ? said(failure.problem) : '';
		failure.message = inOutput(context, message, LOOK_FOR_SUBMISSION);
		failure.description = [LOOK_FOR_SUBMISSION, answered].filter(Boolean).join(' ');
		return;
	}
	const words = hasOwnKey ? SAME_KEY : RETRY_GOES_ON;
	failure.message = inOutput(context, message, words);
	failure.description = [words, failure.description].filter(Boolean).join(' ');
}

/**
 * The message of a failure, with a warning if the failure becomes an output: n8n puts only the message
 * there. An AI agent gets the description, too.
 */
function inOutput(context: IExecutePaginationFunctions, message: string, warning: string): string {
	const isOutput = context.continueOnFail() && !isTool(context);
	return isOutput ? `${message.replace(/\.$/, '')}. ${warning}` : message;
}

/** Seals the webhook_secret, unless the output shows it (`keepsSecret`). */
function submissionOf(
	answer: IDataObject,
	apiKey: string,
	keepsSecret: boolean,
): AcceptedSubmission {
	const shown = withoutSecrets(answer, '', keepsSecret) as IDataObject;
	const secret = secretIn(answer.webhook_secret);
	if (secret === undefined || keepsSecret) return { answer: shown };
	const sealedSecret = seal(apiKey, SUBMISSION_SECRET, submissionKey(idsIn(answer)), secret);
	return { answer: shown, sealedSecret };
}

function startAtIn({ options }: RoutingRequest): string | undefined {
	const { start_at: startAt } = (options.body ?? {}) as IDataObject;
	return typeof startAt === 'string' ? startAt : undefined;
}

function isExecutionCancelled(context: IExecutePaginationFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}

function mayHaveBeenAccepted(context: IExecutePaginationFunctions): NodeOperationError {
	// Retry On Fail runs the node again also after a cancellation.
	const message = isExecutionCancelled(context)
		? 'The execution was cancelled'
		: 'It is not known whether the service accepted this item, so it is not sent again';
	return refuse(context, inOutput(context, message, LOOK_FOR_SUBMISSION), LOOK_FOR_SUBMISSION);
}
