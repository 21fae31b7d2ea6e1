import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { waitOptionsField } from '../../completion/fields';
import { finishedTask } from '../../completion/wait';
import { checkWaitOptions } from '../../completion/waitOptions';
import { idFrom } from '../../request/ids';
import { perform } from '../../request/perform';
import { shownFor } from '../fields';

export const wait: INodePropertyOptions = {
	name: 'Wait Until Transcribed',
	value: 'wait',
	action: 'Wait for transcript of meeting',
	description:
		'Stay in this step until the recording of a bot is transcribed, and output its result',
	routing: {
		request: { method: 'GET', url: '/meeting/{botId}' },
		operations: { pagination: perform({ prepare: [checkWaitOptions], carryOut: waitForBot }) },
	},
};

export const waitFields: INodeProperties[] = shownFor('meeting', ['wait'], [waitOptionsField]);

async function waitForBot(this: IExecutePaginationFunctions): Promise<INodeExecutionData[]> {
	const sent = { bot_id: idFrom(this, 'botId') };
	return [await finishedTask.call(this, sent, { reportsRefusal: true })];
}
