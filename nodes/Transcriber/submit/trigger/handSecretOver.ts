import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf } from '../../../shared/api/credential';
import { idsIn, submissionKey } from '../../../shared/api/submission';
import { secretIn, unseal } from '../../../shared/webhook/sealedSecret';
import { handOver } from './notifyTrigger';
import { triggerUrlOf } from '../choice/onCompletion';
import { SUBMISSION_SECRET, recall, remember } from '../once/submissionMemory';

/**
 * Hands the secret of one of the item's submissions to the Transcriber Trigger, once. Then this
 * node forgets the secret. Where the service gave no secret, or the API key that sealed it is gone, the
 * submission is handed over without one: then the trigger asks the service about each delivery.
 */
export async function handSecretOver(
	context: IExecutePaginationFunctions,
	index: number,
): Promise<void> {
	const memory = recall(context);
	const submission = memory?.state === 'accepted' ? memory.submissions[index] : undefined;
	if (!submission || submission.handedOver) return;
	const ids = idsIn(submission.answer);
	const { apiKey } = await credentialOf(context);
	const sealedSecret = submission.sealedSecret ?? '';
	const secret = secretIn(unseal(apiKey, SUBMISSION_SECRET, submissionKey(ids), sealedSecret));
	await handOver(context, triggerUrlOf(context), ids, secret);
	noteHandedOver(context, index);
}

/** Reads the memory again: other submissions of the item may have been handed over meanwhile. */
function noteHandedOver(context: IExecutePaginationFunctions, index: number): void {
	const memory = recall(context);
	if (memory?.state !== 'accepted') return;
	const submissions = memory.submissions.map((submission, at) =>
		at === index ? { ...submission, sealedSecret: undefined, handedOver: true } : submission,
	);
	remember(context, { ...memory, submissions });
}
