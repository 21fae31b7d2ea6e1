import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { collectionIn } from '../../shared/parameters/checkedValues';
import { enteredIn, hasOnlyEmptyParts, joinedTextIn } from '../../shared/parameters/joinedText';
import { refuse } from '../../shared/parameters/refuse';

/**
 * The user's own 'Idempotency Key', which an earlier execution may have used: for the same key the
 * service returns the task that it made first. Undefined if not set. Refuses a key that an expression has
 * spoiled: it would be the same for every file, and each would get the transcript of the first.
 */
export function givenKeyOf(context: IExecutePaginationFunctions): string | undefined {
	const options = collectionIn(
		context,
		context.getNodeParameter('options', {}),
		'Recording Options',
	);
	const entered = enteredIn(context, 'options', 'idempotencyKey');
	const key = joinedTextIn(context, entered, options.idempotencyKey, 'Idempotency Key', {
		isExact: true,
	});
	if (!key) return undefined;
	if (!hasOnlyEmptyParts(context, entered)) return key;
	throw refuse(
		context,
		`'Idempotency Key' is '${key.slice(0, 80)}', because its expression gives nothing`,
		'The service makes one task per key, so every file would get the transcript of the first. Name a field that the item has, for example {{ $json.fileId }}. Nothing was sent.',
	);
}

/** Completes advice to submit again in a new execution: if the user gave a key, it has to change. */
export function againAdvice(context: IExecutePaginationFunctions, advice: string): string {
	return givenKeyOf(context) === undefined ? advice : `${advice} ${ANOTHER_KEY}`;
}

const ANOTHER_KEY =
	"Change 'Idempotency Key' for that: with the same key, the service returns the same task.";
