import type { IBinaryData, IDataObject, IExecuteSingleFunctions } from 'n8n-workflow';

import { call, type CallOptions, type Caller } from '../request/service';

export const EXPORT_FORMATS = ['txt', 'srt', 'vtt', 'json'] as const;

export type ExportFormat = (typeof EXPORT_FORMATS)[number];

const MIME_TYPES: Record<ExportFormat, string> = {
	txt: 'text/plain',
	srt: 'application/x-subrip',
	vtt: 'text/vtt',
	json: 'application/json',
};

/** GET /tasks/{id}/result. */
export async function fetchResult(
	caller: Caller,
	taskId: string,
	deadline?: CallOptions['deadline'],
): Promise<IDataObject> {
	const url = `/tasks/${encodeURIComponent(taskId)}/result`;
	return await call(caller, { method: 'GET', url }, { deadline });
}

/** GET /tasks/{id}/export: `{ content, format }`. */
export async function fetchExport(
	caller: Caller,
	taskId: string,
	format: ExportFormat,
	deadline?: CallOptions['deadline'],
): Promise<IDataObject> {
	const url = `/tasks/${encodeURIComponent(taskId)}/export`;
	return await call(caller, { method: 'GET', url, qs: { format } }, { deadline });
}

/** The `content` of an export as an n8n file, with the name and MIME type of its format. */
export async function exportedFile(
	context: { helpers: Pick<IExecuteSingleFunctions['helpers'], 'prepareBinaryData'> },
	content: unknown,
	format: ExportFormat,
	baseName: string,
): Promise<IBinaryData> {
	// A JSON export may come as text or already parsed: the content's type is not shown for it.
	const text = typeof content === 'string' ? content : JSON.stringify(content ?? '', null, '\t');
	const safeName = baseName.replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_');
	const fileName = safeName.toLowerCase().endsWith(`.${format}`)
		? safeName
		: `${safeName}.${format}`;
	return await context.helpers.prepareBinaryData(
		Buffer.from(text, 'utf8'),
		fileName,
		MIME_TYPES[format],
	);
}
