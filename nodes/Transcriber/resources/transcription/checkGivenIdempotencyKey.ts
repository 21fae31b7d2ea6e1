import type { IExecutePaginationFunctions } from 'n8n-workflow';

import {
	enteredIn,
	hasOnlyEmptyParts,
	missingPart,
} from '../../../shared/parameters/expressionParts';
import { checkJoined } from '../../../shared/parameters/joinedText';
import { refuse } from '../../../shared/parameters/refuse';
import { asSentKey, givenKeyOf } from '../../item/givenIdempotencyKey';
import {
	isKeyOf,
	isKeyOfRequest,
	type KeyedRecording,
} from '../../submit/once/givenIdempotencyKeyUses';

/**
 * 'Idempotency Key' in a form that fits a header; undefined if not set. Refuses one key for two
 * recordings, or for two requests for one recording: the service would return the first task and
 * never do the second; and a key that an expression has spoiled, which would be the same for every file.
 */
export async function givenKey(
	context: IExecutePaginationFunctions,
	recording: KeyedRecording,
	noun: 'files' | 'links',
): Promise<string | undefined> {
	const key = givenKeyOf(context);
	if (!key) return undefined;
	checkNotSpoiled(context, key);
	const given = `'Idempotency Key' is '${key.slice(0, 80)}'`;
	if (await isKeyOf(context, key, recording)) {
		if (isKeyOfRequest(context, key)) return asSentKey(key);
		throw refuse(
			context,
			`${given} for one recording with settings that may differ`,
			'The service makes one task per key, so the second request would get the task of the first. An expression that changes by itself, for example {{ $today }}, may differ in each item. Use a different key for each, or leave it empty.',
		);
	}
	throw refuse(
		context,
		`${given} for two different ${noun}`,
		`The service makes one task per key, so the second of the ${noun} would not be transcribed. Use a different key for each, for example {{ $json.fileId }}, or leave it empty.`,
	);
}

function checkNotSpoiled(context: IExecutePaginationFunctions, key: string): void {
	const entered = enteredIn(context, 'options', 'idempotencyKey');
	checkJoined(context, entered, [key], 'Idempotency Key', { isExact: true });
	// The id of the execution makes a key differ without any other part.
	const differs = typeof entered === 'string' && entered.includes('$execution.id');
	const isEmpty =
		hasOnlyEmptyParts(context, entered) || missingPart(context, entered) !== undefined;
	if (differs || !isEmpty) return;
	throw refuse(
		context,
		`'Idempotency Key' is '${key.slice(0, 80)}', because a part of its expression gives nothing`,
		"The service makes one task per key, so other files would get the transcript of this one. Name a field that the item has, for example {{ $json.fileId }}. For a part that may be empty, write {{ $json.folder ?? '' }}. Nothing was sent.",
	);
}
