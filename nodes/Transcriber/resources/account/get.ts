import type { INodePropertyOptions } from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';

export const getAccount: INodePropertyOptions = {
	name: 'Get',
	value: 'get',
	action: 'Get account',
	description: 'Read the plan, the minutes used and the balance',
	routing: {
		request: { method: 'GET', url: '/account' },
		operations: { pagination: performOperation() },
	},
};
