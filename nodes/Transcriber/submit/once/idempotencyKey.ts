import { createHash } from 'crypto';
import type { IBinaryData, IExecutePaginationFunctions } from 'n8n-workflow';

import type { RoutingRequest } from '../../../shared/api/types';
import { lastingIdOf } from '../../../shared/n8nInternals/storedBinaryData';
import { givenKeyOf } from '../../item/givenIdempotencyKey';
import { fileOf, recordingOf } from '../../item/inputFile';
import { beganInRetry, firstExecutionOf } from './submittedByOtherRetry';
import { beginningOf } from './sameFile';
import { settingsFor } from './sameRequest';
import { placeOf } from './placeInRun';
import { recall, type SentMemory } from './submissionMemory';

/**
 * The Idempotency-Key of an item's submit (service document, "POST /transcribe"), if it is known without
 * reading the file: the key this item was sent with before, or else `given`. Else it has to be derived, see
 * {@link derivedKey}.
 */
export function knownKey(
	context: IExecutePaginationFunctions,
	recording: IBinaryData,
	given?: string,
): string | undefined {
	const memory = recall(context);
	const isSent = memory?.state === 'sent' && memory.key && isOfFile(memory, fileOf(recording));
	return isSent ? memory.key : given;
}

/** Sends the request with this Idempotency-Key. */
export function setKey({ options }: RoutingRequest, key: string): void {
	options.headers = { ...options.headers, 'Idempotency-Key': key };
}

/**
 * For a file with a key of the user: what shows that a file which is downloaded again is the same one, and
 * asks for the same. A derived key shows that itself, so undefined for any other file; and for a file of
 * which it is remembered.
 */
export async function fingerprintOf(
	context: IExecutePaginationFunctions,
	key: string | undefined,
	stopped: AbortSignal,
): Promise<string | undefined> {
	if (key === undefined || givenKeyOf(context) === undefined) return undefined;
	const memory = recall(context);
	if (memory?.state === 'accepted') return undefined;
	const { binary } = recordingOf(context);
	if (memory?.fingerprint !== undefined && isOfFile(memory, fileOf(binary))) return undefined;
	return await derivedKey(context, binary, stopped);
}

/** Whether this file (see `fileOf`) was sent. Version 0.1.0 saved the whole id of a stored file. */
export function isOfFile({ file }: SentMemory, sent?: string): boolean {
	return (file && lastingIdOf(file)) === sent;
}

/**
 * A key that is unique to the item and stays the same when n8n repeats this run of the node, also in a
 * Retry, and also if n8n was killed before it had saved anything of the node and the Retry downloads the
 * file again. It includes what the item asks for, because a Retry may ask for something else, and the
 * beginning of the file, because an item of a Retry may have another file, and because a new n8n 1 counts
 * its executions from 1 again. Of a file that cannot be read, takes the name by which n8n stores it.
 * `settings`: what the item asks for, see `settingsFor`. Throws if the execution is cancelled, or the
 * reason of `stopped`.
 */
export async function derivedKey(
	context: IExecutePaginationFunctions,
	recording: IBinaryData,
	stopped?: AbortSignal,
	settings = settingsFor(context).ofItem,
): Promise<string> {
	const content = (await beginningOf(context, recording, stopped)) ?? fileOf(recording);
	const file = recording.id ? content : [recording.fileName, content];
	const place = [context.getInstanceId(), firstExecutionOf(context), context.getNode().id];
	const parts = [...place, placeOf(context), file, settings];
	return `n8n-${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40)}`;
}

/**
 * Whether the service may have got a submit with this derived key from an execution that crashed: n8n
 * kept nothing of it but the data that the key is derived from.
 */
export function mayBeOfCrashed(
	context: IExecutePaginationFunctions,
	key: string | undefined,
): boolean {
	return key !== undefined && givenKeyOf(context) === undefined && beganInRetry(context);
}
