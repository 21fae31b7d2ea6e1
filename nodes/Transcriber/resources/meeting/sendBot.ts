import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { completionFields } from '../../completion/fields';
import { isAccepted, prepareCompletion, submit } from '../../completion/submit';
import { checkMeeting } from '../../request/checks';
import { perform } from '../../request/perform';
import { consentNotice, shownFor } from '../fields';

export const sendBot: INodePropertyOptions = {
	name: 'Send Bot',
	value: 'sendBot',
	action: 'Send meeting bot',
	description: 'Let a bot join an online meeting, now or later, to record and transcribe it',
	routing: {
		request: { method: 'POST', url: '/meeting' },
		operations: {
			pagination: perform({
				prepare: [checkLaunch, prepareCompletion],
				policy: { limit: 'meeting', repeatable: false },
				isAccepted,
				carryOut: submit,
			}),
		},
	},
};

export const sendBotFields: INodeProperties[] = shownFor(
	'meeting',
	['sendBot'],
	[
		{
			displayName: 'Meeting URL',
			name: 'meetingUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://meet.example.com/abc-defg-hij',
			description: 'Invitation link of the meeting, on one of the five supported meeting services',
			routing: {
				send: { type: 'body', property: 'meeting_url', value: '={{ String($value).trim() }}' },
			},
		},
		consentNotice,
		{
			displayName: 'Consent Acknowledged',
			name: 'consentAcknowledged',
			type: 'boolean',
			default: false,
			description:
				'Whether the participants know about the recording and agree to the processing of their personal data (Russian law 152-FZ). Without it no bot is sent.',
			routing: { send: { type: 'body', property: 'consent_acknowledged' } },
		},
		...completionFields,
		{
			displayName: 'Options',
			name: 'options',
			type: 'collection',
			placeholder: 'Add option',
			default: {},
			options: [
				{
					displayName: 'Start At',
					name: 'startAt',
					type: 'string',
					default: '',
					placeholder: 'e.g. 2030-01-31T10:00:00+03:00',
					description:
						'When the bot joins, at most 30 days ahead. The time needs an offset. By default the bot joins at once.',
					hint: 'With an offset such as +03:00, at most 30 days ahead',
					routing: {
						send: { type: 'body', property: 'start_at', value: '={{ $value || undefined }}' },
					},
				},
			],
		},
	],
);

function checkLaunch(this: IExecutePaginationFunctions): void {
	const meetingUrl = String(this.getNodeParameter('meetingUrl', '')).trim();
	const { startAt } = this.getNodeParameter('options', {}) as { startAt?: string };
	checkMeeting(this, meetingUrl, this.getNodeParameter('consentAcknowledged', false), startAt);
}
