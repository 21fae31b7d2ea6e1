import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { collectionIn, textIn } from '../../shared/parameters/checkedValues';

/**
 * The user's own 'Idempotency Key', which an earlier execution may have used: for the same key the
 * service returns the task that it made first. Undefined if not set.
 */
export function givenKeyOf(context: IExecutePaginationFunctions): string | undefined {
	const options = collectionIn(
		context,
		context.getNodeParameter('options', {}),
		'Recording Options',
	);
	return textIn(context, options.idempotencyKey, 'Idempotency Key') || undefined;
}

/** Completes advice to submit again in a new execution: if the user gave a key, it has to change. */
export function againAdvice(context: IExecutePaginationFunctions, advice: string): string {
	return givenKeyOf(context) === undefined ? advice : `${advice} ${ANOTHER_KEY}`;
}

const ANOTHER_KEY =
	"Change 'Idempotency Key' for that: with the same key, the service returns the same task.";
