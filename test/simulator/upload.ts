import busboy from 'busboy';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import { invalid, type Fields } from './parameters';
import type { Settings } from './options';
import { Refusal } from './refusal';

export interface UploadedFile {
	field: string;
	name: string;
	mimeType: string;
	size: number;
	/** Empty when the option `hashUploads` is off. */
	sha256: string;
	/** From the header of a WAV file. */
	seconds?: number;
}

export interface Form {
	fields: Fields;
	/** The first file, whatever its field. */
	file?: UploadedFile;
}

/** Enough bytes for the header of any usual WAV file. */
const HEAD_BYTES = 64 * 1024;
/** A form is larger than its file by its boundaries and text fields. */
const FORM_OVERHEAD_BYTES = 1024 * 1024;

/** Limit "File size": refuses as soon as the announced length is too large. */
export function checkAnnouncedSize(headers: IncomingHttpHeaders, settings: Settings): void {
	if (Number(headers['content-length'] ?? 0) > settings.maxFileBytes + FORM_OVERHEAD_BYTES) {
		throw tooLarge(settings);
	}
}

/** Reads a multipart form. Measures and hashes files while they arrive, and keeps none. */
export async function readForm(
	body: Readable,
	headers: IncomingHttpHeaders,
	settings: Settings,
): Promise<Form> {
	const form: Form = { fields: {} };
	return await new Promise((resolve, reject) => {
		const fail = (error: Error) => {
			body.unpipe(parser);
			parser.removeAllListeners('close');
			parser.on('error', () => undefined);
			reject(error);
		};
		const parser = openParser(headers, settings);
		parser.on('field', (name, value) => {
			form.fields[name] = value;
		});
		parser.on('file', (field, stream, { filename, mimeType }) => {
			// Cut short with its form; the form reports it.
			stream.on('error', () => undefined);
			if (form.file !== undefined) {
				stream.resume();
				return;
			}
			const file: UploadedFile = { field, name: filename ?? '', mimeType, size: 0, sha256: '' };
			form.file = file;
			const hash = settings.hashUploads ? createHash('sha256') : undefined;
			let head = Buffer.alloc(0);
			stream.on('data', (chunk: Buffer) => {
				file.size += chunk.length;
				if (file.size > settings.maxFileBytes) return fail(tooLarge(settings));
				if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk]);
				hash?.update(chunk);
			});
			stream.on('end', () => {
				file.sha256 = hash?.digest('hex') ?? '';
				file.seconds = wavSeconds(head, file.size);
			});
		});
		parser.on('close', () => resolve(form));
		parser.on('error', (error) => fail(invalid(settings, `Not a complete form: ${String(error)}`)));
		// The connection was cut: nothing can be answered, and nothing may be created.
		body.on('error', fail);
		body.pipe(parser);
	});
}

function openParser(headers: IncomingHttpHeaders, settings: Settings): busboy.Busboy {
	if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? '')) {
		throw invalid(settings, 'The request must be multipart/form-data');
	}
	try {
		return busboy({ headers, defParamCharset: 'utf8' });
	} catch (error) {
		throw invalid(settings, `Not a form: ${String(error)}`);
	}
}

function tooLarge(settings: Settings): Refusal {
	return new Refusal(413, `The file is larger than ${settings.maxFileBytes} bytes`);
}

/** The length in seconds from the WAV header; undefined for other files. */
export function wavSeconds(head: Buffer, fileBytes: number): number | undefined {
	if (head.length < 12 || !/^(RIFF|RF64)$/.test(head.toString('latin1', 0, 4))) return undefined;
	if (head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
	let bytesPerSecond = 0;
	for (let at = 12; at + 8 <= head.length;) {
		const id = head.toString('latin1', at, at + 4);
		const bytes = head.readUInt32LE(at + 4);
		if (id === 'fmt ' && at + 20 <= head.length) bytesPerSecond = head.readUInt32LE(at + 16);
		if (id === 'data' && bytesPerSecond > 0) {
			// Written as a stream, or above 4 GB: the header does not know the length.
			const known = bytes > 0 && bytes < 0xffffffff;
			return (known ? bytes : fileBytes - at - 8) / bytesPerSecond;
		}
		at += 8 + bytes + (bytes % 2);
	}
	return undefined;
}
