import { createHash } from 'crypto';
import type {
	IBinaryData,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
} from 'n8n-workflow';

import { anyOf, unlessAborted } from '../../../shared/api/deadlines';
import { TIMEOUTS } from '../../../shared/api/delayBeforeRetry';
import { Recording, whileMoving } from '../../../shared/api/uploadStream';
import {
	isInDatabase,
	isTooLargeForDatabase,
	lastingIdOf,
} from '../../../shared/n8nInternals/storedBinaryData';
import { withCancelSignal } from '../../../shared/n8nInternals/wrappedContext';
import { remembered } from '../../../shared/processMemory';
import { fileOf } from '../../item/inputFile';

/**
 * Whether a file has the same content as the stored file with this id. A file that is downloaded
 * again, in a loop or a Retry, has another id. Name and size do not suffice: the parts of a long
 * recording may have the same. Reads both files, but only if their sizes are the same. A file that
 * cannot be read, or not any more, counts as different.
 */
export async function isSameFile(
	context: IExecutePaginationFunctions,
	file: IBinaryData,
	otherId: string,
): Promise<boolean> {
	if (fileOf(file) === lastingIdOf(otherId)) return true;
	if (!file.id) return false;
	const { getBinaryMetadata } = context.helpers;
	try {
		const [size, otherSize] = [await getBinaryMetadata(file.id), await getBinaryMetadata(otherId)];
		if (size.fileSize !== otherSize.fileSize) return false;
		if (isTooLargeForDatabase(otherId, size.fileSize)) return false;
	} catch {
		return false;
	}
	const content = await contentOf(context, file);
	return content !== undefined && content === (await contentOf(context, { ...file, id: otherId }));
}

/** How much of a recording to read is enough to tell it from others of its size, in bytes: a fraction of a second. */
const BEGINNING_BYTES = 64 * 1024 * 1024;

/**
 * A hash of a file's size and its first 64 MB, because to read 8 GB twice would double the time of an upload.
 * Undefined and throws: see {@link contentOf}.
 */
export async function beginningOf(
	context: IExecutePaginationFunctions,
	file: IBinaryData,
	stopped?: AbortSignal,
): Promise<string | undefined> {
	return await contentOf(context, file, { stopped, most: BEGINNING_BYTES });
}

/**
 * A hash of the size and the content of a file, which is never held in memory; with `most`, of so many
 * bytes of it. Undefined if n8n's storage cannot give the file without harm. Throws if the execution is
 * cancelled, or the reason of `stopped`.
 */
async function contentOf(
	context: IExecutePaginationFunctions,
	file: IBinaryData,
	{ stopped, most = Infinity }: { stopped?: AbortSignal; most?: number } = {},
): Promise<string | undefined> {
	if (!file.id) return fileOf(file);
	const end = anyOf(context.getExecutionCancelSignal(), stopped);
	try {
		const { fileSize = 0 } = await context.helpers.getBinaryMetadata(file.id);
		if (isTooLargeForDatabase(file.id, fileSize)) return undefined;
		const recording = new Recording(context.helpers, file, fileSize);
		const watched = withCancelSignal(context, end);
		const read = async () => await hashOf(watched, recording, most);
		return await unlessAborted(inTurn(laneOf(context, file.id), read), end);
	} catch {
		end?.throwIfAborted();
		return undefined;
	}
}

async function hashOf(
	context: IExecuteSingleFunctions,
	recording: Recording,
	most: number,
): Promise<string> {
	context.getExecutionCancelSignal()?.throwIfAborted();
	return await whileMoving(context, recording, TIMEOUTS.uploadIdle, async () => {
		const hash = createHash('sha256').update(String(recording.size));
		let left = most;
		for await (const piece of recording.stream()) {
			hash.update(piece.subarray(0, left));
			left -= piece.length;
			if (left <= 0) break;
		}
		return hash.digest('base64url');
	});
}

/** By lane: ends with the last file of the lane that is to be read. */
const filesRead = remembered<Promise<unknown>>('filesRead');

/** Of how many items of an execution the files are read at once: a node may have a thousand. */
const READ_AT_ONCE = 10;

/**
 * Files of one lane are read one after another. n8n's database has a single lane, because its stream holds
 * the whole file in memory. Otherwise a file waits for files of the same execution only: one that stands
 * still must not hold the others of this n8n.
 */
function laneOf(context: IExecutePaginationFunctions, id: string): string {
	if (isInDatabase(id)) return 'database';
	const own = `${context.getExecutionId()} ${context.getNode().id}`;
	return `${own} ${context.getItemIndex() % READ_AT_ONCE}`;
}

async function inTurn<T>(lane: string, read: () => Promise<T>): Promise<T> {
	const own = (filesRead.get(lane) ?? Promise.resolve()).then(read);
	const ended = own
		.catch(() => undefined)
		.then(() => {
			if (filesRead.get(lane) === ended) filesRead.delete(lane);
		});
	filesRead.set(lane, ended);
	return await own;
}
