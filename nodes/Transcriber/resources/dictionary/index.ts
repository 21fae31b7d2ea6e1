import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError } from '../../../shared/api/serviceError';
import { idFrom } from '../../item/ids';
import { perform } from '../../item/perform';
import { shownFor, taskField } from '../commonFields';
import { sendForFinished } from '../task/unfinished';
import { inTurn } from './inTurn';
import { isInherited } from './report';
import { sync, syncFields } from './sync';
import { addTerms, termsField, termsFields, termsFrom } from './terms';
import { call } from '../../../shared/api/call';
import { sendDeclared } from '../../item/sendDeclared';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

const operations: INodePropertyOptions[] = [
	{
		name: 'Add',
		value: 'add',
		action: 'Add terms to dictionary',
		description: 'Add terms to the ones already there. Duplicates are dropped.',
		routing: {
			request: { method: 'POST', url: '/dictionary' },
			operations: { pagination: perform({ prepare: [addTerms], carryOut: inTurn }) },
		},
	},
	{
		name: 'Clear',
		value: 'clear',
		action: 'Clear dictionary',
		description: 'Remove all terms of your own dictionary',
		routing: {
			request: { method: 'DELETE', url: '/dictionary' },
			operations: { pagination: perform({ carryOut: clear }) },
		},
	},
	{
		name: 'Get',
		value: 'get',
		action: 'Get dictionary',
		description: 'Read the terms, how many characters they take, and which of them are applied',
		routing: {
			request: { method: 'GET', url: '/dictionary' },
			operations: { pagination: perform() },
		},
	},
	{
		name: 'Preview',
		value: 'preview',
		action: 'Preview dictionary',
		description:
			'See what a new list would change in a finished transcript. Saves nothing and costs nothing.',
		routing: {
			request: { method: 'POST', url: '/dictionary/preview' },
			operations: { pagination: perform({ prepare: [addPreview], carryOut: sendForFinished }) },
		},
	},
	{
		name: 'Replace',
		value: 'replace',
		action: 'Replace dictionary',
		description: 'Put new terms in place of all the old ones',
		routing: {
			request: { method: 'PUT', url: '/dictionary' },
			operations: { pagination: perform({ prepare: [addTerms], carryOut: inTurn }) },
		},
	},
	sync,
];

const clearNotice: INodeProperties = {
	displayName:
		'All terms of your own dictionary are removed at once. A member of a team then gets the dictionary of its owner.',
	name: 'clearNotice',
	type: 'notice',
	default: '',
};

export const dictionary: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'get',
		displayOptions: { show: { resource: ['dictionary'] } },
		options: operations,
	},
	...shownFor('dictionary', ['add'], [perItemNotice('is a request of its own')]),
	...shownFor(
		'dictionary',
		['replace'],
		[perItemNotice('replaces the whole dictionary, so of several items the last one wins')],
	),
	...shownFor('dictionary', ['add', 'replace'], termsFields),
	...shownFor('dictionary', ['clear'], [clearNotice]),
	...shownFor('dictionary', ['preview'], [taskField, termsField]),
	...syncFields,
];

/** Points users who have a sheet with one term per row to Sync. */
function perItemNotice(what: string): INodeProperties {
	return {
		displayName: `Each input item ${what}. For a list with one term per item, use Sync.`,
		name: 'perItemNotice',
		type: 'notice',
		default: '',
	};
}

function addPreview(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	request.options.body = { task_id: idFrom(context, 'taskId'), terms: termsFrom(context) };
}

/** If the first answer was lost and the repeat is refused, an empty dictionary is a success. */
async function clear(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	let answers: INodeExecutionData[] = [{ json: {} }];
	let failure: unknown;
	try {
		answers = await sendDeclared(context, request, policy);
	} catch (error) {
		failure = error;
	}
	if (failure !== undefined && !(await isClearedBefore(context, failure))) throw failure;
	return answers.map(({ json }) => ({ json: { ...json, deleted: true } }));
}

async function isClearedBefore(
	context: IExecutePaginationFunctions,
	failure: unknown,
): Promise<boolean> {
	if (!(failure instanceof ServiceError) || failure.problem.isRepeat !== true) return false;
	if (![404, 409, 410].includes(failure.problem.status ?? 0)) return false;
	const { terms, ...dictionary } = await call(context, { method: 'GET', url: '/dictionary' });
	return isInherited(dictionary) || (Array.isArray(terms) && terms.length === 0);
}
