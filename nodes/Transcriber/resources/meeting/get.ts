import type { INodePropertyOptions } from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';
import { outputState } from '../../item/outputState';

export const getMeeting: INodePropertyOptions = {
	name: 'Get',
	value: 'get',
	action: 'Get meeting bot',
	description: 'Look up the state of a bot, and the task of its recording once there is one',
	routing: {
		request: { method: 'GET', url: '/meeting/{botId}' },
		operations: { pagination: performOperation({ carryOut: outputState }) },
	},
};
