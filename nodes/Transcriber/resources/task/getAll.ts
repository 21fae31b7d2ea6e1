import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { booleanIn, choiceIn, collectionIn, numberIn } from '../../request/parameters';
import { perform } from '../../request/perform';
import { send, type RoutingRequest } from '../../request/service';
import { PAGE_SIZE, taskIdOf, tasksIn } from '../../request/shapes';
import { shownFor } from '../fields';

export const getAll: INodePropertyOptions = {
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many tasks',
	description: 'List the tasks of the account',
	routing: {
		request: { method: 'GET', url: '/tasks' },
		operations: { pagination: perform({ prepare: [addFilters], carryOut: allPages }) },
		output: { postReceive: [eachTask] },
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

/** One item per task. The engine's own list handling knows neither of the possible shapes. */
async function eachTask(
	this: IExecuteSingleFunctions,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	return items.flatMap(({ json }) => tasksIn(json).map((task: IDataObject) => ({ json: task })));
}

/**
 * Reads page after page until there is an empty one: the largest page the service gives is not
 * shown, so a short page says nothing. Tasks that a new one pushed onto the next page come once.
 */
async function allPages(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<INodeExecutionData[]> {
	const wanted = wantedFrom(this);
	const found = new Map<unknown, INodeExecutionData>();
	let pagesWithoutNews = 0;
	for (let offset = 0; found.size < wanted && pagesWithoutNews < 2;) {
		const limit = Math.min(PAGE_SIZE, wanted - found.size);
		request.options.qs = { ...request.options.qs, limit, offset };
		const page = await send.call(this, request);
		const before = found.size;
		for (const item of page) {
			const id = taskIdOf(item.json) ?? item;
			if (!found.has(id)) found.set(id, item);
		}
		if (page.length === 0) break;
		// One such page may hold tasks that new ones pushed there; two mean that no offset is heeded.
		pagesWithoutNews = found.size === before ? pagesWithoutNews + 1 : 0;
		offset += page.length;
	}
	return [...found.values()].slice(0, wanted);
}

/** How many tasks the user wants. */
function wantedFrom(context: IExecutePaginationFunctions): number {
	const returnAll = booleanIn(context, context.getNodeParameter('returnAll', false), 'Return All');
	if (returnAll) return Infinity;
	const range = { above: 0, whole: true };
	return numberIn(context, context.getNodeParameter('limit', ''), 'Limit', range) ?? 50;
}

const STATES = ['completed', 'failed', 'pending', 'processing'] as const;

function addFilters(this: IExecutePaginationFunctions, request: RoutingRequest): void {
	wantedFrom(this);
	const filters = collectionIn(this, this.getNodeParameter('filters', {}), 'Filters');
	const status = choiceIn(this, filters.status, 'Status', STATES);
	request.options.qs = status ? { status } : {};
}
