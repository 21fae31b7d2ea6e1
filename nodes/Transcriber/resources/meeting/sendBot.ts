import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { completionFields } from '../../submit/choice/onCompletionFields';
import { checkTakenUpCompletion, prepareCompletion } from '../../submit/prepareCompletion';
import { submit } from '../../submit/submit';
import { checkUnchanged } from '../../submit/once/refuseChangedItem';
import { shareWithRepeats } from '../../submit/once/shareWithRepeats';
import { submittedBefore } from '../../submit/once/submissionMemory';
import { checkSentBefore } from '../../submit/once/checkSentBefore';
import { checkNotRefusedBefore } from '../../submit/suspension/suspendUntilDelivery';
import { checkLaunch, launchFrom } from '../../../shared/parameters/meetingLaunch';
import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import type { RoutingRequest } from '../../../shared/api/types';
import { launchFields } from '../../../shared/sharedFields';

export const sendBot: INodePropertyOptions = {
	name: 'Send Bot',
	value: 'sendBot',
	action: 'Send meeting bot',
	description: 'Let a bot join an online meeting, now or later, to record and transcribe it',
	routing: {
		request: { method: 'POST', url: '/meeting' },
		operations: {
			pagination: performOperation({
				prepare: [checkNotRefusedBefore, addLaunch, prepareCompletion],
				policy: { limit: 'meeting', repeatable: false },
				submittedBefore,
				checkSentBefore,
				shareWithRepeats,
				takeUp: [checkUnchanged, checkTakenUpCompletion],
				carryOut: submit,
			}),
		},
	},
};

export const sendBotFields: INodeProperties[] = shownFor(
	'meeting',
	['sendBot'],
	[...launchFields, ...completionFields('returnTask')],
);

function addLaunch(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const launch = launchFrom(context);
	checkLaunch(context, launch);
	request.options.body = {
		meeting_url: launch.meetingUrl,
		consent_acknowledged: true,
		...(launch.startAt && { start_at: launch.startAt }),
	};
}
