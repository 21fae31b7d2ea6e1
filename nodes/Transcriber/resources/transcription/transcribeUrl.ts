import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { completionFields } from '../../completion/fields';
import { isAccepted, prepareCompletion, submit } from '../../completion/submit';
import { refuse } from '../../request/checks';
import { perform } from '../../request/perform';
import { LINK_FIELD } from '../../request/shapes';
import { chargeNotice, shownFor } from '../fields';
import { checkOptions, mergeCustomFields, optionsField } from './options';

export const transcribeUrl: INodePropertyOptions = {
	name: 'Transcribe URL',
	value: 'transcribeUrl',
	action: 'Transcribe from URL',
	description: 'Turn a recording behind a link into text, without sending it through n8n',
	routing: {
		request: { method: 'POST', url: '/transcribe-url' },
		operations: {
			pagination: perform({
				prepare: [checkLink, checkOptions, prepareCompletion, mergeCustomFields],
				policy: { limit: 'submit', repeatable: false },
				isAccepted,
				carryOut: submit,
			}),
		},
	},
};

export const transcribeUrlFields: INodeProperties[] = shownFor(
	'transcription',
	['transcribeUrl'],
	[
		chargeNotice,
		{
			displayName: 'URL',
			name: 'url',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://example.com/interview.mp3',
			description:
				'Link of a video-hosting service, a cloud-drive link, or the direct address of an audio or video file',
			routing: {
				send: { type: 'body', property: LINK_FIELD, value: '={{ String($value).trim() }}' },
			},
		},
		...completionFields,
		optionsField,
	],
);

function checkLink(this: IExecutePaginationFunctions): void {
	const url = String(this.getNodeParameter('url', ''));
	if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
	throw refuse(
		this,
		url ? `'URL' is not a web address: '${url}'` : "The parameter 'URL' is empty",
		'Enter a link that starts with https:// and that the service can open without a login.',
	);
}
