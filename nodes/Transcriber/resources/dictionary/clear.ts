import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError } from '../../../shared/api/serviceError';
import { perform } from '../../item/perform';
import { shownFor } from '../commonFields';
import { isInherited } from './syncReport';
import { call } from '../../../shared/api/call';
import { sendDeclared } from '../../item/sendDeclared';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

export const clearDictionary: INodePropertyOptions = {
	name: 'Clear',
	value: 'clear',
	action: 'Clear dictionary',
	description: 'Remove all terms of your own dictionary',
	routing: {
		request: { method: 'DELETE', url: '/dictionary' },
		operations: { pagination: perform({ carryOut: clear }) },
	},
};

const clearNotice: INodeProperties = {
	displayName:
		'All terms of your own dictionary are removed at once. A member of a team then gets the dictionary of its owner.',
	name: 'clearNotice',
	type: 'notice',
	default: '',
};

export const clearDictionaryFields: INodeProperties[] = shownFor(
	'dictionary',
	['clear'],
	[clearNotice],
);

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
