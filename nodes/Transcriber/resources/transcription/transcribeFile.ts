import { createHash } from 'crypto';
import type {
	IBinaryData,
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { idempotencyKey, isKeyOfFile } from '../../submit/submissionMemory';
import { completionFields } from '../../submit/onCompletionFields';
import { isAccepted, prepareCompletion, submit } from '../../submit/submit';
import { collectionIn, textIn } from '../../../shared/parameters/values';
import { perform } from '../../item/perform';
import { countTasksInProgress } from '../../../shared/api/tasksInProgress';
import { attachRecording, recordingOf } from '../../item/inputFile';
import { chargeNotice, shownFor } from '../commonFields';
import { addOptions, languageField, optionsField } from './options';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';

export const transcribeFile: INodePropertyOptions = {
	name: 'Transcribe File',
	value: 'transcribeFile',
	action: 'Transcribe file',
	description: 'Turn an audio or video file of up to 8 GB and 4 hours into text',
	routing: {
		request: { method: 'POST', url: '/transcribe' },
		operations: {
			pagination: perform({
				prepare: [prepareCompletion, addOptions, addIdempotencyKey, attachRecording],
				// The Idempotency-Key makes a repeat harmless.
				policy: {
					limit: 'submit',
					repeatable: true,
					upload: true,
					countTasks: countTasksInProgress,
				},
				isAccepted,
				carryOut: submit,
			}),
		},
	},
};

export const transcribeFileFields: INodeProperties[] = shownFor(
	'transcription',
	['transcribeFile'],
	[
		chargeNotice,
		{
			displayName: 'Input Data Field Name',
			name: 'binaryPropertyName',
			type: 'string',
			default: 'data',
			required: true,
			placeholder: 'e.g. data',
			hint: 'The name of the input field containing the file to transcribe. An item with only one file needs none.',
		},
		languageField,
		...completionFields('poll'),
		optionsField,
	],
);

function addIdempotencyKey(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const options = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	const given = textIn(context, options.idempotencyKey, 'Idempotency Key');
	const { binary } = recordingOf(context);
	if (given) checkKeyIsForOneFile(context, given, binary);
	const key = idempotencyKey(context, binary, given ? asHeader(given) : undefined);
	request.options.headers = { ...request.options.headers, 'Idempotency-Key': key };
}

/** The service would answer with the task of the first file, and never transcribe the second. */
function checkKeyIsForOneFile(
	context: IExecutePaginationFunctions,
	key: string,
	recording: IBinaryData,
): void {
	if (isKeyOfFile(context, key, recording)) return;
	throw refuse(
		context,
		`'Idempotency Key' is '${key.slice(0, 80)}' for two different files`,
		'The service makes one task per key, so the second file would not be transcribed. Use a key that differs from file to file, for example {{ $json.fileId }}, or leave it empty.',
	);
}

/** A header holds ASCII only. n8n's HTTP client drops the rest, and two keys would become one. */
function asHeader(key: string): string {
	if (/^[\x20-\x7e]+$/.test(key)) return key;
	return `n8n-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
}
