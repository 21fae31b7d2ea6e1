import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { idFrom } from '../../item/idParameters';
import { perform } from '../../item/perform';
import { shownFor, taskField } from '../commonFields';
import { sendForFinished } from '../task/sendForFinished';
import { termsField, termsFrom } from './terms';
import { type RoutingRequest } from '../../../shared/api/types';

export const previewDictionary: INodePropertyOptions = {
	name: 'Preview',
	value: 'preview',
	action: 'Preview dictionary',
	description:
		'See what a new list would change in a finished transcript. Saves nothing and costs nothing.',
	routing: {
		request: { method: 'POST', url: '/dictionary/preview' },
		operations: { pagination: perform({ prepare: [addPreview], carryOut: sendForFinished }) },
	},
};

export const previewDictionaryFields: INodeProperties[] = shownFor(
	'dictionary',
	['preview'],
	[taskField, termsField],
);

function addPreview(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	request.options.body = { task_id: idFrom(context, 'taskId'), terms: termsFrom(context) };
}
