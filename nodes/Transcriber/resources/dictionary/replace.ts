import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { perform } from '../../item/perform';
import { shownFor } from '../commonFields';
import { inTurn } from './inTurn';
import { addTerms, perItemNotice, termsFields } from './terms';

export const replaceDictionary: INodePropertyOptions = {
	name: 'Replace',
	value: 'replace',
	action: 'Replace dictionary',
	description: 'Put new terms in place of all the old ones',
	routing: {
		request: { method: 'PUT', url: '/dictionary' },
		operations: { pagination: perform({ prepare: [addTerms], carryOut: inTurn }) },
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
