import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../request/perform';
import { shownFor, taskField } from '../fields';
import { exportTask, exportTaskFields } from './export';
import { getAll, getAllFields } from './getAll';
import { getResult, getResultFields } from './getResult';
import { regenerateSummary, regenerateSummaryFields } from './regenerateSummary';
import { wait, waitFields } from './wait';

const operations: INodePropertyOptions[] = [
	{
		name: 'Cancel',
		value: 'cancel',
		action: 'Cancel task',
		description: 'Stop a task that is waiting or being processed',
		routing: {
			request: { method: 'POST', url: '/tasks/{taskId}/cancel' },
			operations: { pagination: perform() },
		},
	},
	exportTask,
	{
		name: 'Get',
		value: 'get',
		action: 'Get task',
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
