import type { INodePropertyOptions } from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';

export const getDictionary: INodePropertyOptions = {
	name: 'Get',
	value: 'get',
	action: 'Get dictionary',
	description: 'Read the terms, how many characters they take, and which of them are applied',
	routing: {
		request: { method: 'GET', url: '/dictionary' },
		operations: { pagination: performOperation() },
	},
};
