import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { ServiceError, isUnknownToService } from '../../../shared/api/serviceError';
import { saysNoTerms, saysNotEnded } from '../../../shared/api/undocumented/answers';
import { performOperation } from '../../item/performOperation';
import type { NodeRun } from '../../item/nodeRun';
import { shownFor } from '../commonFields';
import { dictionaryNotChanged } from '../successThatSaysNo';
import { sayItMayBeWritten } from './lostWrites';
import { isInherited } from './syncReport';
import { callService } from '../../../shared/api/callService';
import { hasEndedBefore, sendCancelOrClear } from '../../item/sendCancelOrClear';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

export const clearDictionary: INodePropertyOptions = {
	name: 'Clear',
	value: 'clear',
	action: 'Clear dictionary',
	description: 'Remove all terms of your own dictionary',
	routing: {
		request: { method: 'DELETE', url: '/dictionary' },
		operations: { pagination: performOperation({ carryOut: clear }) },
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

/**
 * A refusal may mean that there is nothing to clear: the first answer was lost, an item before has
 * cleared the dictionary, or it never held a term. So an empty dictionary is a success.
 */
async function clear(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	let answers: INodeExecutionData[] = [{ json: {} }];
	let failure: unknown;
	try {
		answers = await sendCancelOrClear(context, request, policy, run);
	} catch (error) {
		failure = error;
	}
	if (failure !== undefined && !(await isClear(context, request, failure))) {
		sayItMayBeWritten(context, failure);
		throw failure;
	}
	const refusal = answers.find(({ json }) => saysNotEnded(json));
	// The reason of the refusal says more than that of a look which fails.
	if (refusal && !(await isEmpty(context).catch(() => false))) {
		throw dictionaryNotChanged(context, refusal.json);
	}
	return answers.map(({ json }) => ({ json: { ...json, deleted: true } }));
}

async function isClear(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	failure: unknown,
): Promise<boolean> {
	if (!(failure instanceof ServiceError)) return false;
	if (![404, 409, 410].includes(failure.problem.status ?? 0)) return false;
	try {
		return await isEmpty(context);
	} catch (error) {
		return isUnknownToService(error) && hasEndedBefore(context, request);
	}
}

async function isEmpty(context: IExecutePaginationFunctions): Promise<boolean> {
	const dictionary = await callService(context, { method: 'GET', url: '/dictionary' });
	if (saysNoTerms(dictionary)) return false;
	const { terms, ...others } = dictionary;
	return isInherited(others) || (Array.isArray(terms) && terms.length === 0);
}
