import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../request/perform';
import { shownFor, taskField } from '../fields';
import { cancel } from './cancel';
import { exportTask, exportTaskFields } from './export';
import { getAll, getAllFields } from './getAll';
import { getResult, getResultFields } from './getResult';
import { regenerateSummary, regenerateSummaryFields } from './regenerateSummary';
import { wait, waitFields } from './wait';

const operations: INodePropertyOptions[] = [
	cancel,
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
	wait,
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
	...waitFields,
];
