import type { IBinaryData, IExecuteSingleFunctions } from 'n8n-workflow';

import { withCancelSignal } from '../n8nInternals/wrappedContext';
import { recordingName } from '../recordingName';
import { STORAGE_BROKE, storageFault } from './connectionError';
import { anyOf, unlessAborted } from './deadlines';
import { Late } from './noUsableAnswer';

/** Size of the pieces that are read from n8n's file storage, in bytes. */
export const PIECE_BYTES = 256 * 1024;

/**
 * A recording in n8n's binary storage as a web `File`. HTTP clients ask a `File` for its size,
 * which becomes Content-Length, and for a new stream for every attempt. So a recording of any size
 * is sent without being held in memory.
 */
export class Recording extends File {
	/** When the last piece was sent, in ms since 1970. */
	lastMoved = 0;

	private attempt = new AbortController();

	constructor(
		private readonly helpers: IExecuteSingleFunctions['helpers'],
		private readonly binary: IBinaryData,
		size: number,
	) {
		super([], recordingName(binary), { type: binary.mimeType });
		// A File reports the size of the data it holds, and this File holds none.
		Object.defineProperty(this, 'size', { value: size });
	}

	override stream(): ReturnType<File['stream']> {
		this.attempt = new AbortController();
		return ReadableStream.from(this.pieces(this.attempt.signal));
	}

	/**
	 * Closes the stream, because HTTP clients do not close a stream that they stop reading. Then lets go of
	 * it: from n8n's database, a stream holds its whole file, and the request outlives the upload.
	 */
	close(): void {
		this.attempt.abort();
		this.attempt = new AbortController();
	}

	/**
	 * Throws if the file is longer or shorter than announced: the service would wait for the rest.
	 */
	private async *pieces(over: AbortSignal): AsyncGenerator<Uint8Array> {
		let left = this.size;
		for await (const piece of this.stored(over)) {
			left -= piece.length;
			if (left < 0) throw new WrongLength();
			this.lastMoved = Date.now();
			yield piece;
		}
		if (left > 0 && !over.aborted) throw new WrongLength();
	}

	private async *stored(over: AbortSignal): AsyncGenerator<Uint8Array> {
		let failure: unknown;
		try {
			return yield* await this.source(over);
		} catch (error) {
			failure = error;
		}
		throw storageFault(failure) === 'storage' ? new StorageBroke() : failure;
	}

	private async source(
		over: AbortSignal,
	): Promise<AsyncIterable<Uint8Array> | Iterable<Uint8Array>> {
		const { id, data } = this.binary;
		if (!id) return inPieces(bytesOf(data));
		const file = await this.helpers.getBinaryStream(id, PIECE_BYTES);
		const close = () => void file.destroy();
		over.addEventListener('abort', close);
		if (over.aborted) close();
		return file;
	}
}

/** The connection to n8n's storage, such as S3, broke. */
class StorageBroke extends Error {
	readonly code = STORAGE_BROKE;
}

/** A stored file has more or fewer bytes than n8n has recorded. */
class WrongLength extends Error {
	readonly code = 'EIO';
}

/** The bytes of a base64 text, which may have line breaks, be URL-safe, or be a data URL. */
export function bytesOf(data: string): Buffer {
	return Buffer.from(data.replace(/^\s*data:[^,]*,/, ''), 'base64');
}

function* inPieces(bytes: Buffer): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** The recording in a form; undefined if there is none. */
export function recordingIn(form: unknown): Recording | undefined {
	const file = form instanceof FormData ? form.get('file') : undefined;
	return file instanceof Recording ? file : undefined;
}

/**
 * Aborts the work with a recording, such as its upload, if for `idleMs` no piece of it is read and no answer
 * arrives, or if the execution is cancelled.
 */
export async function whileMoving<T>(
	context: IExecuteSingleFunctions,
	recording: Recording | undefined,
	idleMs: number,
	work: (watched: IExecuteSingleFunctions) => Promise<T>,
): Promise<T> {
	const started = Date.now();
	const idle = new AbortController();
	let timer: AbortSignal | undefined;
	const watch = () => {
		const moved = recording?.lastMoved ?? 0;
		const left = Math.max(started, moved) + idleMs - Date.now();
		if (left <= 0) return idle.abort(new Late());
		timer = AbortSignal.timeout(Math.ceil(left));
		timer.addEventListener('abort', watch);
	};
	watch();
	const cancelled = context.getExecutionCancelSignal();
	const signal = anyOf(cancelled, idle.signal);
	try {
		// Ends with the signal even if a future n8n ignores the signal.
		return await unlessAborted(work(withCancelSignal(context, signal)), signal);
	} finally {
		// A timer lives as long as it has a listener, and this one holds the recording.
		timer?.removeEventListener('abort', watch);
		recording?.close();
	}
}
