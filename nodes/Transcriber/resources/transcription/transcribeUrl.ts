import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { completionFields } from '../../submit/choice/onCompletionFields';
import { checkTakenUpCompletion, prepareCompletion } from '../../submit/prepareCompletion';
import { submit } from '../../submit/submit';
import { setKey } from '../../submit/once/idempotencyKey';
import { checkUnchanged } from '../../submit/once/refuseChangedItem';
import { shareWithRepeats } from '../../submit/once/shareWithRepeats';
import { submittedBefore } from '../../submit/once/submissionMemory';
import { checkSentBefore } from '../../submit/once/checkSentBefore';
import { checkNotRefusedBefore } from '../../submit/suspension/suspendUntilDelivery';
import { addressIn } from '../../../shared/parameters/joinedText';
import { performOperation } from '../../item/performOperation';
import { LINK_FIELD } from '../../../shared/api/undocumented/linkField';
import { countTasksInProgress } from '../../../shared/api/countTasksInProgress';
import { chargeNotice, shownFor } from '../commonFields';
import { addOptions, languageField, optionsField } from './options';
import { LINK_ADVICE, checkLink } from '../../../shared/parameters/recordingLink';
import { givenKey } from './checkGivenIdempotencyKey';
import type { RoutingRequest } from '../../../shared/api/types';

export const transcribeUrl: INodePropertyOptions = {
	name: 'Transcribe URL',
	value: 'transcribeUrl',
	action: 'Transcribe URL',
	description: 'Turn a recording behind a link into text, without sending it through n8n',
	routing: {
		request: { method: 'POST', url: '/transcribe-url' },
		operations: {
			pagination: performOperation({
				prepare: [checkNotRefusedBefore, addLink, addOptions, sendGivenKey, prepareCompletion],
				policy: { limit: 'submit', repeatable: false, countTasks: countTasksInProgress },
				submittedBefore,
				checkSentBefore,
				shareWithRepeats,
				takeUp: [checkUnchanged, checkTakenUpCompletion],
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

function linkOf(context: IExecutePaginationFunctions): string {
	const { url: entered } = context.getNode().parameters;
	return addressIn(context, entered, context.getNodeParameter('url', ''), 'URL');
}

function addLink(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const url = linkOf(context);
	checkLink(context, url, 'URL', LINK_ADVICE);
	request.options.body = { [LINK_FIELD]: url };
}

/**
 * Sends the user's key, but the service document shows the header only for POST /transcribe. So the
 * key does not make this request safe to repeat.
 */
async function sendGivenKey(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	const link = { name: linkOf(context), isSame: async () => await Promise.resolve(false) };
	const key = await givenKey(context, link, 'links');
	if (key) setKey(request, key);
}
