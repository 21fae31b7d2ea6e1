import { createHash } from 'crypto';
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

/** The same for a message: undefined also if the value is no key, of which the check of the item says so. */
export function usableKeyOf(context: IExecutePaginationFunctions): string | undefined {
	try {
		return givenKeyOf(context);
	} catch {
		return undefined;
	}
}

/** The same in the form that is sent. */
export function sentKeyOf(context: IExecutePaginationFunctions): string | undefined {
	const key = usableKeyOf(context);
	return key === undefined ? undefined : asSentKey(key);
}

/** Hashes a non-ASCII key: n8n's HTTP client drops such characters, so two keys could be equal. */
export function asSentKey(key: string): string {
	if (/^[\x20-\x7e]+$/.test(key)) return key;
	return `n8n-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
}

/** Completes advice to submit again in a new execution: if the user gave a key, it has to change. */
export function againAdvice(context: IExecutePaginationFunctions, advice: string): string {
	return usableKeyOf(context) === undefined ? advice : `${advice} ${ANOTHER_KEY}`;
}

const ANOTHER_KEY =
	"Change 'Idempotency Key' for that: with the same key, the service returns the same task.";
