import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { botField, shownFor } from '../commonFields';
import { cancelMeeting } from './cancel';
import { getMeeting } from './get';
import { sendBot, sendBotFields } from './sendBot';
import { waitForMeeting, waitForMeetingFields } from './wait';

const operations: INodePropertyOptions[] = [cancelMeeting, getMeeting, sendBot, waitForMeeting];

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
