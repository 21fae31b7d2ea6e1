import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { collectionIn, textIn } from '../../shared/parameters/values';

/**
 * The user's own 'Idempotency Key', which an earlier execution may have used: for the same key the
 * service returns the task that it made first. Undefined if not set.
 */
export function ownKeyOf(context: IExecutePaginationFunctions): string | undefined {
	const options = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	return textIn(context, options.idempotencyKey, 'Idempotency Key') || undefined;
}
