import type {
	IExecutePaginationFunctions,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

import { idFrom } from '../../item/idParameters';
import { performOperation } from '../../item/performOperation';
import { shownFor, taskField } from '../commonFields';
import { requestFromFinishedTask } from '../task/requestFromFinishedTask';
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
		operations: {
			pagination: performOperation({ prepare: [addPreview], carryOut: requestFromFinishedTask }),
		},
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
