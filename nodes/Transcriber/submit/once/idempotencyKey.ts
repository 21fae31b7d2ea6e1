import { createHash } from 'crypto';
import type { IBinaryData, IExecutePaginationFunctions } from 'n8n-workflow';

import { lastingIdOf } from '../../../shared/n8nInternals/storedBinaryData';
import { fileOf } from '../../item/inputFile';
import { firstExecutionOf } from './submittedByOtherRetry';
import { askedFor } from './sameRequest';
import { placeOf } from './placeInRun';
import { recall, type SentMemory } from './submissionMemory';

/**
 * The Idempotency-Key of an item's submit (service document, "POST /transcribe"): the key this item
 * was sent with before, or else `given`, or else a derived key. The derived key is unique to the
 * item and stays the same when n8n repeats this run of the node, also in a Retry. It includes what
 * the item asks for, because a Retry may ask for something else, and the file, because an item of a
 * Retry may have another file, and because a new n8n 1 counts its executions from 1 again.
 */
export function idempotencyKey(
	context: IExecutePaginationFunctions,
	recording: IBinaryData,
	given?: string,
): string {
	const memory = recall(context);
	if (memory?.state === 'sent' && memory.key && isOfFile(memory, fileOf(recording))) {
		return memory.key;
	}
	return given ?? derivedKey(context, recording);
}

/** Whether this file (see `fileOf`) was sent. Version 0.1.0 saved the whole id of a stored file. */
export function isOfFile({ file }: SentMemory, sent?: string): boolean {
	return (file && lastingIdOf(file)) === sent;
}

function derivedKey(context: IExecutePaginationFunctions, recording: IBinaryData): string {
	const file = recording.id ? fileOf(recording) : [recording.fileName, fileOf(recording)];
	const place = [context.getInstanceId(), firstExecutionOf(context), context.getNode().id];
	const parts = [...place, placeOf(context), file, askedFor(context)];
	return `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}
