import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { performOperation } from '../../item/performOperation';
import { shownFor } from '../commonFields';
import { inTurn } from './writesInTurn';
import { addTerms, perItemNotice, termsFields } from './terms';

export const addToDictionary: INodePropertyOptions = {
	name: 'Add',
	value: 'add',
	action: 'Add terms to dictionary',
	description: 'Add terms to the ones already there. Duplicates are dropped.',
	routing: {
		request: { method: 'POST', url: '/dictionary' },
		operations: { pagination: performOperation({ prepare: [addTerms], carryOut: inTurn }) },
	},
};

const INHERITED =
	"If you use the dictionary of your team's owner, the first term of your own ends that: Sync with Add Missing keeps the owner's terms.";

export const addToDictionaryFields: INodeProperties[] = shownFor(
	'dictionary',
	['add'],
	[perItemNotice('is a separate request', INHERITED), ...termsFields],
);
