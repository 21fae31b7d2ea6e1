import { createHash } from 'crypto';
import type {
	IBinaryData,
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { idempotencyKey, isKeyOfFile } from '../../completion/accepted';
import { completionFields } from '../../completion/fields';
import { isAccepted, prepareCompletion, submit } from '../../completion/submit';
import { refuse } from '../../request/checks';
import { collectionIn, textIn } from '../../request/parameters';
import { perform } from '../../request/perform';
import type { RoutingRequest } from '../../request/service';
import { countTasksInProgress } from '../../request/tasksInProgress';
import { attachRecording, recordingOf } from '../../request/upload';
import { chargeNotice, shownFor } from '../fields';
import { addOptions, languageField, optionsField } from './options';

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

function addIdempotencyKey(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	const options = collectionIn(this, this.getNodeParameter('options', {}), 'Options');
	const given = textIn(this, options.idempotencyKey, 'Idempotency Key');
	const { binary } = recordingOf(this);
	if (given) checkKeyIsForOneFile(this, given, binary);
	const key = idempotencyKey(this, binary, given ? asHeader(given) : undefined);
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
