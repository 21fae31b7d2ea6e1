import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import { finishedTask } from '../../wait/finishedTask';
import { checkWaitOptions } from '../../wait/waitOptions';
import type { Policy, RoutingRequest } from '../../../shared/api/types';
import { idFrom } from '../../item/idParameters';
import type { NodeRun } from '../../item/nodeRun';
import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import { waitOptionsField } from '../../wait/waitOptionsField';

export const waitForMeeting: INodePropertyOptions = {
	name: 'Wait Until Transcribed',
	value: 'wait',
	action: 'Wait for transcript of meeting',
	description:
		'Wait in this step until the recording of a bot is transcribed, and output its result',
	routing: {
		request: { method: 'GET', url: '/meeting/{botId}' },
		operations: {
			pagination: performOperation({ prepare: [checkWaitOptions], carryOut: waitForBot }),
		},
	},
};

export const waitForMeetingFields: INodeProperties[] = shownFor(
	'meeting',
	['wait'],
	[waitOptionsField],
);

async function waitForBot(
	context: IExecutePaginationFunctions,
	_request: RoutingRequest,
	_policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const sent = { bot_id: idFrom(context, 'botId') };
	return await finishedTask(context, sent, { run, reportsRefusal: true });
}
