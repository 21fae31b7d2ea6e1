import type {
	IBinaryData,
	IDataObject,
	IExecuteSingleFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import { NodeOperationError, fileTypeFromMimeType } from 'n8n-workflow';

import { documentIn } from './undocumented/results';
import { callService } from './callService';
import { codeOf } from './connectionError';
import { messageOf } from '../asError';
import type { ExportFormat } from '../exportFormats';
import { NotThereYet, type FetchBounds } from './fetchResults';
import type { Caller } from './types';

const MIME_TYPES: Record<ExportFormat, string> = {
	txt: 'text/plain',
	srt: 'application/x-subrip',
	vtt: 'text/vtt',
	json: 'application/json',
};

/** GET /tasks/{id}/export: `{ content, format }`. */
async function fetchExport(
	caller: Caller,
	taskId: string,
	format: ExportFormat,
	bounds?: FetchBounds,
): Promise<IDataObject> {
	const url = `/tasks/${encodeURIComponent(taskId)}/export`;
	return await callService(caller, { method: 'GET', url, qs: { format } }, bounds);
}

/** Which document to export, and where it goes in the output. */
export interface WantedExport {
	taskId: string;
	format: ExportFormat;
	/** `file`: into the binary field `property`. `text`: into the field `export` of the JSON. */
	as: 'file' | 'text';
	/** Name of the binary field. Default: `data`. */
	property?: string;
	/** Name of the file, with or without the extension of the format. Default: the task id. */
	fileName?: string;
	bounds?: FetchBounds;
}

/** Makes an n8n file. */
type FileMaker = (
	bytes: Buffer,
	fileName: string,
	mimeType: string,
) => Promise<IBinaryData> | IBinaryData;

/** A file in n8n's storage, which n8n deletes with the execution. */
export function storedBy(
	context: Pick<Caller, 'getNode'> & {
		helpers: Pick<IExecuteSingleFunctions['helpers'], 'prepareBinaryData'>;
	},
): FileMaker {
	return async (bytes, fileName, mimeType) =>
		await context.helpers.prepareBinaryData(bytes, fileName, mimeType).catch((error: unknown) => {
			throw new NodeOperationError(
				context.getNode(),
				`n8n could not store the exported file '${fileName}': ${storageReason(error)}`,
				{
					description:
						"The transcript is not lost. When n8n can store files again, get it with Transcript: Export, or set 'Export As' (there: 'Output') to Text in a Field, which needs no file.",
				},
			);
		});
}

/**
 * A file within the item, for triggers. While a trigger runs, n8n has no execution, and stores its files
 * in a folder `temp`. Seen in 1.123.81: the end of any execution of the workflow deletes this folder
 * (file-system.manager.js). Seen in 2.41.1: n8n deletes no file that its database has of `temp`, and lets
 * nobody open it.
 */
export const inItem: FileMaker = (bytes, fileName, mimeType) => ({
	data: bytes.toString('base64'),
	mimeType,
	fileType: fileTypeFromMimeType(mimeType),
	fileName,
	fileExtension: fileName.slice(fileName.lastIndexOf('.') + 1),
	fileSize: `${(bytes.length / 1_000).toFixed(1)} kB`,
});

/**
 * Adds an exported document of a finished task to the first of its items. Throws a ServiceError if the
 * service refuses, or a NodeOperationError if the answer has no document.
 */
export async function attachExport(
	context: Caller,
	makeFile: FileMaker,
	[item = { json: {} }, ...others]: INodeExecutionData[],
	{ taskId, format, as, property, fileName, bounds }: WantedExport,
): Promise<INodeExecutionData[]> {
	const answer = await fetchExport(context, taskId, format, bounds);
	const text = exportedText(context, answer, { taskId, format });
	if (as === 'text') {
		const { segments, ...fields } = item.json;
		const json = { ...fields, export: text, ...(segments === undefined ? {} : { segments }) };
		return [{ ...item, json }, ...others];
	}
	const file = await exportedFile(makeFile, text, format, fileName?.trim() || taskId);
	return [{ ...item, binary: { ...item.binary, [property || 'data']: file } }, ...others];
}

/** The document in an answer of GET /tasks/{id}/export, possibly empty. Throws if missing. */
export function exportedText(
	caller: Pick<Caller, 'getNode'>,
	answer: unknown,
	{ taskId, format }: Pick<WantedExport, 'taskId' | 'format'>,
): string {
	const text = documentIn(answer, format);
	if (text !== undefined) return text;
	const message = `The answer of the service holds no exported document of task ${taskId}`;
	throw new NotThereYet(caller.getNode(), message, {
		description: `The task is not lost. Get the ${format} document again later with Transcript: Export, or fetch the transcript with Transcript: Get Result.`,
	});
}

/** A document as an n8n file, with the extension and the MIME type of its format. */
export async function exportedFile(
	makeFile: FileMaker,
	text: string,
	format: ExportFormat,
	baseName: string,
): Promise<IBinaryData> {
	const safeName = baseName.replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_');
	const fileName = safeName.toLowerCase().endsWith(`.${format}`)
		? safeName
		: `${safeName}.${format}`;
	return await makeFile(Buffer.from(text, 'utf8'), fileName, MIME_TYPES[format]);
}

/** Why n8n's storage refuses a file. */
function storageReason(error: unknown): string {
	const code = codeOf(error);
	if (code === 'ENOSPC' || code === 'EDQUOT') return 'its disk is full';
	if (code === 'EROFS') return 'its disk is read-only';
	if (code === 'EACCES' || code === 'EPERM') return 'it may not write to its disk';
	return messageOf(error);
}
