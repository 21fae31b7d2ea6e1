import { createHash } from 'crypto';
import type { IBinaryData, IExecutePaginationFunctions } from 'n8n-workflow';

import { PIECE_BYTES } from '../../../shared/api/uploadStream';
import { isTooLargeForDatabase, lastingIdOf } from '../../../shared/n8nInternals/storedBinaryData';
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
		if ([file.id, otherId].some((id) => isTooLargeForDatabase(id, size.fileSize))) return false;
		return (await contentOf(context, file.id)) === (await contentOf(context, otherId));
	} catch {
		context.getExecutionCancelSignal()?.throwIfAborted();
		return false;
	}
}

/** A hash of a stored file, which is never held in memory. A cancellation closes the file. */
async function contentOf(context: IExecutePaginationFunctions, id: string): Promise<string> {
	const hash = createHash('sha256');
	const cancelled = context.getExecutionCancelSignal();
	const file = await context.helpers.getBinaryStream(id, PIECE_BYTES);
	const close = () => void file.destroy();
	cancelled?.addEventListener('abort', close);
	try {
		cancelled?.throwIfAborted();
		for await (const piece of file) hash.update(piece as Uint8Array);
	} finally {
		cancelled?.removeEventListener('abort', close);
		close();
	}
	return hash.digest('base64url');
}
