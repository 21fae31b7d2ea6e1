import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../item/perform';
import { shownFor, taskField } from '../commonFields';
import { cancelTask } from './cancel';
import { exportTask, exportTaskFields } from './export';
import { getAll, getAllFields } from './getAll';
import { getResult, getResultFields } from './getResult';
import { regenerateSummary, regenerateSummaryFields } from './regenerateSummary';
import { waitForTask, waitForTaskFields } from './wait';

const operations: INodePropertyOptions[] = [
	cancelTask,
	exportTask,
	{
		name: 'Get',
		value: 'get',
		action: 'Get status of transcript',
		description: 'Look up the state of a task: status, progress and place in the queue',
		routing: {
			request: { method: 'GET', url: '/tasks/{taskId}' },
			operations: { pagination: perform() },
		},
	},
	getAll,
	getResult,
	regenerateSummary,
	waitForTask,
];

export const task: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'get',
		displayOptions: { show: { resource: ['task'] } },
		options: operations,
	},
	...shownFor(
		'task',
		['cancel', 'export', 'get', 'getResult', 'regenerateSummary', 'wait'],
		[taskField],
	),
	...exportTaskFields,
	...getAllFields,
	...getResultFields,
	...regenerateSummaryFields,
	...waitForTaskFields,
];
