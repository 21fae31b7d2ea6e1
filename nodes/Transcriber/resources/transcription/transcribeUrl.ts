import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { completionFields } from '../../submit/onCompletionFields';
import { isAccepted, prepareCompletion, submit } from '../../submit/submit';
import { required, textIn } from '../../../shared/parameters/values';
import { perform } from '../../item/perform';
import { LINK_FIELD } from '../../../shared/api/undocumented';
import { countTasksInProgress } from '../../../shared/api/tasksInProgress';
import { chargeNotice, shownFor } from '../commonFields';
import { addOptions, languageField, optionsField } from './options';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';

export const transcribeUrl: INodePropertyOptions = {
	name: 'Transcribe URL',
	value: 'transcribeUrl',
	action: 'Transcribe URL',
	description: 'Turn a recording behind a link into text, without sending it through n8n',
	routing: {
		request: { method: 'POST', url: '/transcribe-url' },
		operations: {
			pagination: perform({
				prepare: [addLink, prepareCompletion, addOptions],
				policy: { limit: 'submit', repeatable: false, countTasks: countTasksInProgress },
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
		},
		languageField,
		...completionFields('poll'),
		optionsField,
	],
);

function addLink(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const url = required(context, textIn(context, context.getNodeParameter('url', ''), 'URL'), 'URL');
	if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
		throw refuse(
			context,
			`'URL' is not a web address: '${url}'`,
			'Enter a link that starts with https:// and that the service can open without a login.',
		);
	}
	request.options.body = { [LINK_FIELD]: url };
}
