import type { INodeProperties } from 'n8n-workflow';

import { perform } from '../../item/perform';

export const account: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'get',
		displayOptions: { show: { resource: ['account'] } },
		options: [
			{
				name: 'Get',
				value: 'get',
				action: 'Get account',
				description: 'Read the plan, the minutes used and the balance',
				routing: {
					request: { method: 'GET', url: '/account' },
					operations: { pagination: perform() },
				},
			},
		],
	},
];
