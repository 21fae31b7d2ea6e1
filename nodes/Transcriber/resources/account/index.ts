import type { INodeProperties } from 'n8n-workflow';

import { getAccount } from './get';

export const account: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'get',
		displayOptions: { show: { resource: ['account'] } },
		options: [getAccount],
	},
];
