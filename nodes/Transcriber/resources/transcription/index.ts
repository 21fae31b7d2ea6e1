import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import { transcribeFile, transcribeFileFields } from './transcribeFile';
import { transcribeUrl, transcribeUrlFields } from './transcribeUrl';

const operations: INodePropertyOptions[] = [transcribeFile, transcribeUrl];

export const transcription: INodeProperties[] = [
	{
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		default: 'transcribeFile',
		displayOptions: { show: { resource: ['transcription'] } },
		options: operations,
	},
	...transcribeFileFields,
	...transcribeUrlFields,
];
