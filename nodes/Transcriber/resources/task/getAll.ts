import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import {
	booleanIn,
	choiceIn,
	collectionIn,
	numberIn,
} from '../../../shared/parameters/checkedValues';
import { refuse } from '../../../shared/parameters/refuse';
import { performOperation } from '../../item/performOperation';
import { TaskPagesOfAcceptedSize } from '../../../shared/api/taskPagesOfAcceptedSize';
import { shownFor } from '../commonFields';
import type { RoutingRequest } from '../../../shared/api/types';

export const getAll: INodePropertyOptions = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many transcripts',
	description: 'List the tasks of the account',
	routing: {
		request: { method: 'GET', url: '/tasks' },
		operations: { pagination: performOperation({ prepare: [addFilters], carryOut: outputTasks }) },
	},
};

export const getAllFields: INodeProperties[] = shownFor(
	'task',
	['getAll'],
	[
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			default: 50,
			typeOptions: { minValue: 1 },
			description: 'Max number of results to return',
			displayOptions: { show: { returnAll: [false] } },
		},
		{
			displayName: 'Filters',
			name: 'filters',
			type: 'collection',
			placeholder: 'Add filter',
			default: {},
			options: [
				{
					displayName: 'Status',
					name: 'status',
					type: 'options',
					default: 'completed',
					description: 'Only tasks in this state',
					options: [
						{ name: 'Completed', value: 'completed' },
						{ name: 'Failed', value: 'failed' },
						{ name: 'Pending', value: 'pending' },
						{ name: 'Processing', value: 'processing' },
					],
				},
			],
		},
	],
);

/**
 * The most tasks for one input item. n8n passes what an item gives to one function call
 * (`returnData.push(...)` in routing-node.js of n8n-core), which fails with somewhat more than that.
 */
export const OUTPUT = { most: 100_000 };

/** One item per task. */
async function outputTasks(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<INodeExecutionData[]> {
	const wanted = wantedFrom(context);
	const list = new TaskPagesOfAcceptedSize(
		context,
		request.options.qs as IDataObject | undefined,
		wanted,
	);
	const tasks = await list.tasks(Math.min(wanted, OUTPUT.most + 1));
	if (tasks.length <= OUTPUT.most) return tasks.map((json) => ({ json }));
	throw refuse(
		context,
		`The account has more than ${OUTPUT.most} such tasks, and n8n cannot take them all at once`,
		`Without 'Return All', set a 'Limit' of at most ${OUTPUT.most}, or choose a 'Status' with fewer tasks in 'Filters'.`,
	);
}

/** How many tasks the user wants. */
function wantedFrom(context: IExecutePaginationFunctions): number {
	const returnAll = booleanIn(context, context.getNodeParameter('returnAll', false), 'Return All');
	if (returnAll) return Infinity;
	const range = { above: 0, whole: true };
	return numberIn(context, context.getNodeParameter('limit', ''), 'Limit', range) ?? 50;
}

const STATES = ['completed', 'failed', 'pending', 'processing'] as const;

function addFilters(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	wantedFrom(context);
	const filters = collectionIn(context, context.getNodeParameter('filters', {}), 'Filters');
	const status = choiceIn(context, filters.status, 'Status', STATES);
	request.options.qs = status ? { status } : {};
}
