import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { shownFor, taskField } from '../commonFields';
import { cancelTask } from './cancel';
import { exportTask, exportTaskFields } from './export';
import { getTask } from './get';
import { getAll, getAllFields } from './getAll';
import { getResult, getResultFields } from './getResult';
import { regenerateSummary, regenerateSummaryFields } from './regenerateSummary';
import { waitForTask, waitForTaskFields } from './wait';

const operations: INodePropertyOptions[] = [
	cancelTask,
	exportTask,
	getTask,
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
