import type { INodePropertyOptions } from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';
import { outputState } from '../../item/outputState';

export const getTask: INodePropertyOptions = {
	name: 'Get',
	value: 'get',
	action: 'Get status of transcript',
	description: 'Look up the state of a task: status, progress and place in the queue',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}' },
		operations: { pagination: performOperation({ carryOut: outputState }) },
	},
};
