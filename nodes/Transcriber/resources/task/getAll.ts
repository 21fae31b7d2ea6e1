import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { refuse } from '../../request/checks';
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
		operations: { pagination: perform({ prepare: [checkLimit], carryOut: allPages }) },
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
					routing: { send: { type: 'query', property: 'status' } },
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
	const wanted = this.getNodeParameter('returnAll')
		? Infinity
		: Number(this.getNodeParameter('limit'));
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

function checkLimit(this: IExecutePaginationFunctions): void {
	if (this.getNodeParameter('returnAll')) return;
	const limit = this.getNodeParameter('limit', '');
	if (Number.isInteger(Number(limit)) && Number(limit) > 0) return;
	throw refuse(
		this,
		`'Limit' has to be a whole number above 0, but is '${String(limit ?? '')}'`,
		"To get all tasks, turn on 'Return All'.",
	);
}
