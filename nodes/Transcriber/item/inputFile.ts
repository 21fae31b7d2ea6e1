import { createHash } from 'crypto';
import type {
	IBinaryData,
	IDataObject,
	IExecutePaginationFunctions,
	NodeOperationError,
} from 'n8n-workflow';

import { isTool } from '../../shared/n8nInternals/runIdentity';
import { isTooLargeForDatabase, lastingIdOf } from '../../shared/n8nInternals/storedBinaryData';
import { storageFault, type Transport } from '../../shared/api/connectionError';
import { rowFor } from '../../shared/api/errorTitlesAndAdvice';
import { required, textIn } from '../../shared/parameters/checkedValues';
import { Recording, bytesOf } from '../../shared/api/uploadStream';
import { MAX_FILE_BYTES } from '../../shared/api/sizeLimits';
import { asLasting, refuse } from '../../shared/parameters/refuse';
import type { RoutingRequest } from '../../shared/api/types';

/** The item's file and its binary field. */
interface ItemFile {
	property: string;
	binary: IBinaryData;
}

/**
 * The recording that 'Input Data Field Name' names. If the user has not changed that field and the
 * item has only one file, takes that file under any name: forms and mail nodes use other names.
 */
export function recordingOf(context: IExecutePaginationFunctions): ItemFile {
	const displayName = 'Input Data Field Name';
	const value: unknown = context.getNodeParameter('binaryPropertyName', 'data');
	// An expression may return the file itself.
	if (isFile(value)) return { property: value.fileName ?? displayName, binary: value };
	const property = required(context, textIn(context, value, displayName), displayName);
	const files = context.getInputData().binary ?? {};
	const [only, ...others] = Object.entries(files);
	const entered = context.getNodeParameter('binaryPropertyName', '', { rawExpressions: true });
	if (entered === 'data' && !files.data && only && others.length === 0) {
		return { property: only[0], binary: only[1] };
	}
	const binary = binaryIn(context, property);
	if (!isFile(binary)) throw noFile(context, property, files);
	return { property, binary };
}

/** Undefined if there is none. n8n also finds what each object inherits, such as `toString`. */
function binaryIn(context: IExecutePaginationFunctions, property: string): unknown {
	try {
		return context.helpers.assertBinaryData(property);
	} catch {
		return undefined;
	}
}

/** Identifies a file, also in a Retry: by its id in n8n, or else by a hash of its content. */
export function fileOf({ id, data }: IBinaryData): string {
	return id ? lastingIdOf(id) : createHash('sha256').update(data).digest('hex');
}

/** A replacement for `isBinaryValue`, which n8n 1 does not have. */
export function isFile(value: unknown): value is IBinaryData {
	const { mimeType, data, id } = (value ?? {}) as Partial<IBinaryData>;
	return typeof mimeType === 'string' && (typeof data === 'string' || typeof id === 'string');
}

function noFile(
	context: IExecutePaginationFunctions,
	property: string,
	files: Record<string, IBinaryData>,
): NodeOperationError {
	const names = Object.entries(files).map(
		([name, { fileName }]) => `'${name}'${fileName ? ` (${fileName})` : ''}`,
	);
	if (names.length === 0 && isTool(context)) {
		return refuse(
			context,
			'n8n gives no files to the tools of an AI agent, so there is nothing to transcribe',
			'Give the agent the tool Audio or Video: Transcribe URL and a link to the recording, or transcribe the file in a step before the agent.',
		);
	}
	if (names.length === 0) {
		return refuse(
			context,
			`This item has no file in '${property}', and no other file`,
			'Check that the step before outputs the recording as a file. It is shown under Binary there.',
		);
	}
	return refuse(
		context,
		`This item has no file in '${property}'. It has: ${names.join(', ')}`,
		names.length === 1
			? "Enter the name of the field with the recording in 'Input Data Field Name'."
			: "To transcribe all of them, put a Split Out node with $binary in 'Fields To Split Out' before this node. To transcribe one, enter its name in 'Input Data Field Name'.",
	);
}

/**
 * Texts, pictures, documents and archives; also `x-subrip`, the subtitles that this node itself may have saved
 * beside the recording. Not all of `application/vnd.`: a Windows Media file is `application/vnd.ms-asf`.
 */
const NO_RECORDING = new RegExp(
	[
		'^(text|image|font)/',
		'^application/(pdf|msword|rtf|vnd\\.(ms-(excel|powerpoint)|openxmlformats|oasis\\.opendocument))',
		'^application/(json|xml|x-subrip|[\\w.-]+\\+(json|xml))\\b',
		'^application/(zip|gzip|vnd\\.rar|x-(zip|7z|rar)-compressed|x-(gzip|rar|tar))\\b',
	].join('|'),
);

/** Types that say nothing: n8n's and the browsers' ones for a file whose type they do not know. */
const SAYS_NOTHING = /^(text\/plain|(application|binary)\/octet-stream)\b/;

const NAME_OF_NO_RECORDING =
	/\.(txt|text|log|md|csv|tsv|json|xml|html?|srt|vtt|ass|ini|ya?ml|pdf|docx?|xlsx?|pptx?|jpe?g|png|eml|zip|7z|rar|tar|t?gz)$/i;

/** For a type that says nothing, only the file name counts. */
function isNoRecording({ mimeType = '', fileName = '' }: IBinaryData): boolean {
	return SAYS_NOTHING.test(mimeType)
		? NAME_OF_NO_RECORDING.test(fileName)
		: NO_RECORDING.test(mimeType);
}

/**
 * Turns the body fields into multipart/form-data with the item's file (service document, "Upload
 * parameters"). Refuses an item without a recording, an empty file and a file over 8 GB.
 */
export async function attachRecording(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	const { property, binary } = recordingOf(context);
	if (isNoRecording(binary)) {
		const isNamed = /octet-stream/.test(binary.mimeType);
		throw refuse(
			context,
			`The file in '${property}' is not a recording but ${isNamed ? `'${binary.fileName}'` : binary.mimeType}`,
			'Take an audio or video file. Nothing was sent.',
		);
	}
	const bytes = await sizeOf(context, binary);
	if (bytes === 0) {
		throw refuse(
			context,
			`The file in '${property}' is empty`,
			'Check the step that made the file.',
		);
	}
	if (isTooLargeForDatabase(binary.id, bytes)) {
		throw refuse(
			context,
			`The file in '${property}' is larger than 256 MB, more than n8n can read back from its database`,
			"Let the service fetch it with Audio or Video: Transcribe URL, or keep n8n's files on S3 (N8N_DEFAULT_BINARY_DATA_MODE).",
		);
	}
	if (bytes > MAX_FILE_BYTES) {
		throw refuse(
			context,
			`The file in '${property}' is larger than the 8 GB the service takes`,
			'Split the recording or save it with stronger compression.',
		);
	}
	const form = new FormData();
	for (const [name, value] of Object.entries((request.options.body ?? {}) as IDataObject)) {
		form.append(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
	}
	form.append('file', new Recording(context.helpers, binary, bytes));
	request.options.body = form as unknown as RoutingRequest['options']['body'];
}

async function sizeOf(context: IExecutePaginationFunctions, binary: IBinaryData): Promise<number> {
	if (binary.id) {
		let transport: Transport = 'unreadableFile';
		const stored = await context.helpers.getBinaryMetadata(binary.id).catch((error: unknown) => {
			transport = storageFault(error);
		});
		if (Number.isFinite(stored?.fileSize)) return Number(stored?.fileSize);
		const { message, next } = rowFor({ path: '/transcribe', transport });
		const failure = refuse(context, message, next);
		throw transport === 'unreadableFile' ? asLasting(failure) : failure;
	}
	return bytesOf(binary.data).length;
}
