import type { INodeProperties } from 'n8n-workflow';

import { rotateKey, rotateKeyFields } from './rotate';

export const apiKey: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'rotate',
		displayOptions: { show: { resource: ['apiKey'] } },
		options: [rotateKey],
	},
	...rotateKeyFields,
];
