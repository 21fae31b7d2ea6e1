import type { INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../item/perform';
import { outputState } from '../../item/outputState';

export const getTask: INodePropertyOptions = {
	name: 'Get',
	value: 'get',
	action: 'Get status of transcript',
	description: 'Look up the state of a task: status, progress and place in the queue',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}' },
		operations: { pagination: perform({ carryOut: outputState }) },
	},
};
