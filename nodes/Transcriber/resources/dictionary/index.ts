import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { addToDictionary, addToDictionaryFields } from './add';
import { clearDictionary, clearDictionaryFields } from './clear';
import { getDictionary } from './get';
import { previewDictionary, previewDictionaryFields } from './preview';
import { replaceDictionary, replaceDictionaryFields } from './replace';
import { sync, syncFields } from './sync';

const operations: INodePropertyOptions[] = [
	addToDictionary,
	clearDictionary,
	getDictionary,
	previewDictionary,
	replaceDictionary,
	sync,
];

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
	...addToDictionaryFields,
	...replaceDictionaryFields,
	...clearDictionaryFields,
	...previewDictionaryFields,
	...syncFields,
];
