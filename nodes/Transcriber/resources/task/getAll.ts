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
import { perform } from '../../item/perform';
import { identityOf, TaskListPages } from '../../../shared/api/taskListPages';
import { shownFor } from '../commonFields';
import type { RoutingRequest } from '../../../shared/api/types';

export const getAll: INodePropertyOptions = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many transcripts',
	description: 'List the tasks of the account',
	routing: {
		request: { method: 'GET', url: '/tasks' },
		operations: { pagination: perform({ prepare: [addFilters], carryOut: allPages }) },
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
 * One item per task. Reads pages until one is empty: the service document does not show the largest
 * page, so a short page is no sign of the end. All pages of a reading have the same size, and overlap
 * if new tasks push known tasks onto later pages. Each task is output once.
 */
async function allPages(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<INodeExecutionData[]> {
	const wanted = wantedFrom(context);
	const list = new TaskListPages(context, request.options.qs as IDataObject | undefined, wanted);
	const found = new Map<string, IDataObject>();
	let pagesWithoutNews = 0;
	for (let offset = 0; found.size < wanted && pagesWithoutNews < 2;) {
		const page = await list.page(offset);
		if (page.length === 0) break;
		const before = found.size;
		for (const task of page) {
			const id = identityOf(task);
			if (!found.has(id)) found.set(id, task);
		}
		// One page without new tasks may come from tasks that moved back a page; two in a row mean that
		// the service ignores the offset.
		pagesWithoutNews = found.size === before ? pagesWithoutNews + 1 : 0;
		offset += page.length;
	}
	return [...found.values()].slice(0, wanted).map((json) => ({ json }));
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
