import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../item/perform';
import { botField, shownFor } from '../commonFields';
import { cancelMeeting } from './cancel';
import { sendBot, sendBotFields } from './sendBot';
import { waitForMeeting, waitForMeetingFields } from './wait';

const operations: INodePropertyOptions[] = [
	cancelMeeting,
	{
		name: 'Get',
		value: 'get',
		action: 'Get meeting bot',
		description: 'Look up the state of a bot, and the task of its recording once there is one',
		routing: {
			request: { method: 'GET', url: '/meeting/{botId}' },
			operations: { pagination: perform() },
		},
	},
	sendBot,
	waitForMeeting,
];

export const meeting: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'sendBot',
		displayOptions: { show: { resource: ['meeting'] } },
		options: operations,
	},
	...shownFor('meeting', ['cancel', 'get', 'wait'], [botField]),
	...sendBotFields,
	...waitForMeetingFields,
];
