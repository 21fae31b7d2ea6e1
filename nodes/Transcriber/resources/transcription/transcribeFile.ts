import { createHash } from 'crypto';
import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { derivedKey } from '../../completion/accepted';
import { completionFields } from '../../completion/fields';
import { isAccepted, prepareCompletion, submit } from '../../completion/submit';
import { perform } from '../../request/perform';
import type { RoutingRequest } from '../../request/service';
import { attachRecording } from '../../request/upload';
import { chargeNotice, shownFor } from '../fields';
import { checkOptions, mergeCustomFields, optionsField } from './options';

export const transcribeFile: INodePropertyOptions = {
	name: 'Transcribe File',
	value: 'transcribeFile',
	action: 'Transcribe file',
	description: 'Turn an audio or video file of up to 8 GB and 4 hours into text',
	routing: {
		request: { method: 'POST', url: '/transcribe' },
		operations: {
			pagination: perform({
				prepare: [
					checkOptions,
					prepareCompletion,
					mergeCustomFields,
					addIdempotencyKey,
					attachRecording,
				],
				// The Idempotency-Key makes a repeat harmless.
				policy: { limit: 'submit', repeatable: true, upload: true },
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
			hint: 'The name of the input field containing the file to transcribe',
		},
		...completionFields,
		optionsField,
	],
);

function addIdempotencyKey(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	const { idempotencyKey } = this.getNodeParameter('options', {}) as { idempotencyKey?: string };
	const given = String(idempotencyKey ?? '').trim();
	const recording = this.helpers.assertBinaryData(
		this.getNodeParameter('binaryPropertyName') as string,
	);
	const key = given ? asHeader(given) : derivedKey(this, recording);
	request.options.headers = { ...request.options.headers, 'Idempotency-Key': key };
}

/** A header holds ASCII only. n8n's HTTP client drops the rest, and two keys would become one. */
function asHeader(key: string): string {
	if (/^[\x20-\x7e]+$/.test(key)) return key;
	return `n8n-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`;
}
