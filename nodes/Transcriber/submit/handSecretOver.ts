import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf } from '../../shared/api/credential';
import { idsIn, submissionKey, submissionName } from '../../shared/api/submission';
import { refuse } from '../../shared/parameters/refuse';
import { unseal } from '../../shared/webhook/sealedSecret';
import { handOver } from './notifyTrigger';
import { triggerUrlOf } from './onCompletion';
import { SUBMISSION_SECRET, recall, remember } from './submissionMemory';

/**
 * Hands the secret of one of the item's submissions to the Transcriber Trigger, once. Then this
 * node forgets the secret.
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
	const secret = unseal(apiKey, SUBMISSION_SECRET, submissionKey(ids), sealedSecret);
	if (!secret) {
		throw refuse(
			context,
			`The service gave no readable webhook_secret for ${submissionName(ids)}, so the trigger could not check its delivery`,
			'What was submitted continues and is not lost: fetch its result with Transcript: Wait Until Finished.',
		);
	}
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
