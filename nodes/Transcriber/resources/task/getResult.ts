import type {
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { choicesIn } from '../../request/parameters';
import { perform } from '../../request/perform';
import { shownFor } from '../fields';

const PARTS = ['segments', 'speakers', 'summary', 'text'] as const;

export const getResult: INodePropertyOptions = {
	name: 'Get Result',
	value: 'getResult',
	action: 'Get result of task',
	description: 'Read the text, segments, summary and speakers of a finished task',
	routing: {
		request: { method: 'GET', url: '/tasks/{taskId}/result' },
		operations: { pagination: perform({ prepare: [checkInclude] }) },
		output: { postReceive: [onlyIncluded] },
	},
};

export const getResultFields: INodeProperties[] = shownFor(
	'task',
	['getResult'],
	[
		{
			displayName: 'Include',
			name: 'include',
			type: 'multiOptions',
			default: [...PARTS],
			description: 'Parts of the result to output. Fewer parts suit AI agents and spreadsheets.',
			options: [
				{ name: 'Segments', value: 'segments', description: 'Phrases with timecodes' },
				{ name: 'Speakers', value: 'speakers' },
				{ name: 'Summary', value: 'summary' },
				{ name: 'Text', value: 'text', description: 'Full transcript' },
			],
		},
	],
);

function includeFrom(context: IExecuteSingleFunctions): ReadonlyArray<(typeof PARTS)[number]> {
	return choicesIn(context, context.getNodeParameter('include', ''), 'Include', PARTS) ?? PARTS;
}

function checkInclude(this: IExecutePaginationFunctions): void {
	includeFrom(this);
}

/** Drops the parts that were not chosen. What the service adds beyond the documented four stays. */
async function onlyIncluded(
	this: IExecuteSingleFunctions,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	const include = includeFrom(this);
	const left = new Set<string>(PARTS.filter((part) => !include.includes(part)));
	return items.map(({ json }) => ({
		json: Object.fromEntries(Object.entries(json).filter(([name]) => !left.has(name))),
	}));
}
