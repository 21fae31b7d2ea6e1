import type { IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { credentialOf } from '../../../shared/api/credential';
import {
	idsIn,
	submissionKey,
	submissionName,
	type SubmissionIds,
} from '../../../shared/api/submission';
import { messageOf } from '../../../shared/asError';
import { asLasting, refuse } from '../../../shared/parameters/refuse';
import { secretIn, unseal } from '../../../shared/webhook/sealedSecret';
import { goesOnAfterErrors, inOutput, refuseForGood } from '../../item/itemFailure';
import { retryWords } from '../../item/retryAdvice';
import { handOver } from './confirmedByTrigger';
import { triggerUrlOf } from '../choice/onCompletion';
import { hasAlreadyEnded, mayHaveEnded, type SubmissionAge } from '../once/endedBeforeSubmit';
import {
	SUBMISSION_SECRET,
	recall,
	remember,
	type AcceptedSubmission,
} from '../once/submissionMemory';

/**
 * Hands the secret of one of the item's submissions to the Transcriber Trigger, once. Then this
 * node forgets the secret. Where the service gave no secret, or the API key that sealed it is gone, the
 * submission is handed over without one: then the trigger asks the service about each delivery that
 * the Webhook Secret of the credential does not fit.
 *
 * A submission that is not `new`, or whose hand-over was refused at first, may have ended in the meantime.
 * Then the trigger has refused its webhook so far, and the service may have given it up: throws after the
 * hand-over, in each Retry, so that the transcript is not lost unnoticed. If the service cannot be asked about
 * an `earlier` one, throws too, and the next try hands over and asks again.
 */
export async function handSecretOver(
	context: IExecutePaginationFunctions,
	index: number,
	age: 'new' | SubmissionAge,
): Promise<void> {
	const memory = recall(context);
	const submission = memory?.state === 'accepted' ? memory.submissions[index] : undefined;
	if (!submission) return;
	const { answer, sealedSecret = '' } = submission;
	const ids = idsIn(answer);
	if (submission.endedUnheard === 'perhaps') throw maybeUnheard(context, ids);
	if (submission.endedUnheard) throw unheard(context, ids);
	if (submission.handedOver) return;
	let [endedUnheard, unasked]: [boolean, unknown] = [false, undefined];
	try {
		if (age !== 'new') endedUnheard = await hasAlreadyEnded(context, { answer, ids }, age);
	} catch (error) {
		context.getExecutionCancelSignal()?.throwIfAborted();
		unasked = error;
	}
	const { apiKey } = await credentialOf(context);
	const secret = secretIn(unseal(apiKey, SUBMISSION_SECRET, submissionKey(ids), sealedSecret));
	const wasRefused = await handOver(context, triggerUrlOf(context), ids, secret);
	if (unasked !== undefined) {
		note(context, index, { handedOverUnasked: true });
		throw notKnownYet(context, ids, unasked);
	}
	// The task may have ended while the trigger could not be reached.
	const isOpen = !endedUnheard && wasRefused;
	// If the execution ends during the question, a Retry must not take this hand-over for one that never was.
	if (isOpen) note(context, index, { handedOverUnasked: true });
	const mayBeUnheard = isOpen && (await mayHaveEnded(context, { answer, ids }));
	// The first hand-over may have come in time.
	const isUnheard =
		mayBeUnheard || (endedUnheard && submission.handedOverUnasked) ? 'perhaps' : endedUnheard;
	note(context, index, {
		sealedSecret: undefined,
		handedOver: true,
		...(isUnheard && { endedUnheard: isUnheard }),
	});
	if (isUnheard === 'perhaps') throw maybeUnheard(context, ids);
	if (isUnheard) throw unheard(context, ids);
}

const FETCH_IT =
	"If the workflow of the trigger has not started, fetch the result with Transcript: Get Result (a bot's task ID comes from Meeting: Get).";

function unheard(context: IExecutePaginationFunctions, ids: SubmissionIds): NodeOperationError {
	const message = `The Transcriber Trigger got the hand-over of ${submissionName(ids)} only after its end, so the workflow of the trigger may never start for it`;
	const advice = `The service delivers the webhook again only for some time. ${FETCH_IT}`;
	return asLasting(refuse(context, inOutput(context, message, FETCH_IT), advice));
}

/** Later than the hand-over, nobody can tell any more whether the task had ended before it. */
function maybeUnheard(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
): NodeOperationError {
	return refuseForGood(context, notKnown(ids), FETCH_IT);
}

function notKnownYet(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
	reason: unknown,
): NodeOperationError {
	const message = `${notKnown(ids)}: ${messageOf(reason)}`;
	// n8n offers a Retry only of an execution that an error has stopped.
	const retry = goesOnAfterErrors(context)
		? ''
		: `A Retry of ${retryWords(context).ofExecution} asks again.`;
	const next = [retry, FETCH_IT].filter(Boolean).join(' ');
	return refuse(context, inOutput(context, message, next), next);
}

function notKnown(ids: SubmissionIds): string {
	return `It is not known whether ${submissionName(ids)} had ended before the Transcriber Trigger got its hand-over`;
}

/** Reads the memory again: other submissions of the item may have been handed over meanwhile. */
function note(
	context: IExecutePaginationFunctions,
	index: number,
	facts: Partial<AcceptedSubmission>,
): void {
	const memory = recall(context);
	if (memory?.state !== 'accepted') return;
	const submissions = memory.submissions.map((submission, at) =>
		at === index ? { ...submission, ...facts } : submission,
	);
	remember(context, { ...memory, submissions });
}
