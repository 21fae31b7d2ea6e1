import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import { inTurn } from './writesInTurn';
import { checkIsSplit } from './checkTerms';
import { addTerms, perItemNotice, termsFields } from './terms';
import type { RoutingRequest } from '../../../shared/api/types';

export const replaceDictionary: INodePropertyOptions = {
	name: 'Replace',
	value: 'replace',
	action: 'Replace dictionary',
	description: 'Put new terms in place of all the old ones',
	routing: {
		request: { method: 'PUT', url: '/dictionary' },
		operations: {
			pagination: performOperation({ prepare: [addTerms, checkList], carryOut: inTurn }),
		},
	},
};

export const replaceDictionaryFields: INodeProperties[] = shownFor(
	'dictionary',
	['replace'],
	[
		perItemNotice('replaces the whole dictionary, so of several items the last one wins'),
		...termsFields,
	],
);

function checkList(context: IExecutePaginationFunctions, { options }: RoutingRequest): void {
	const { terms = [] } = options.body as { terms?: string[] };
	checkIsSplit(context, terms);
}
