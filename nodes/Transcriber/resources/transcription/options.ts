import type { IDataObject, IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';

import { jsonObjectFrom, refuse } from '../../request/checks';
import type { RoutingRequest } from '../../request/service';
import { languages } from './languages';

/** The service document's "Upload parameters". What is not set is not sent, so its defaults hold. */
export const optionsField: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Custom Fields',
			name: 'customFields',
			type: 'json',
			default: '{}',
			placeholder: 'e.g. { "field": "value" }',
			description:
				'Request fields that this node does not know, as a JSON object. They win over the other options; null leaves a field out.',
		},
		{
			displayName: 'Domain',
			name: 'domain',
			type: 'options',
			default: 'legal',
			description: 'Field of expertise, for better recognition of its terms',
			options: [
				{ name: 'Legal', value: 'legal' },
				{ name: 'Medical', value: 'medical' },
				{ name: 'Tech', value: 'tech' },
			],
			routing: { send: { type: 'body', property: 'domain' } },
		},
		{
			displayName: 'Idempotency Key',
			name: 'idempotencyKey',
			type: 'string',
			typeOptions: { password: false },
			default: '',
			placeholder: 'e.g. {{ $json.fileId }}',
			description:
				'The service makes one task per key. Leave empty: a key is derived from execution and item, so that a retry is not paid twice.',
			displayOptions: { show: { '/operation': ['transcribeFile'] } },
		},
		{
			displayName: 'Language Name or Code',
			name: 'language',
			type: 'options',
			default: 'ru',
			description: 'Language spoken in the recording. An expression can give any ISO code.',
			options: languages,
			routing: { send: { type: 'body', property: 'language' } },
		},
		{
			displayName: 'Number of Speakers',
			name: 'numSpeakers',
			type: 'number',
			default: 2,
			typeOptions: { minValue: 1, maxValue: 6 },
			description: 'How many people speak, 1 to 6, if you know it. Raises accuracy.',
			// A number may come as text, for example from a spreadsheet.
			routing: {
				send: { type: 'body', property: 'num_speakers', value: '={{ Number($value) }}' },
			},
		},
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			placeholder: 'e.g. Kubernetes, Anna Petrova, OKR',
			description: 'Names, terms and abbreviations of this one recording, for higher accuracy',
			routing: { send: { type: 'body', property: 'prompt' } },
		},
		{
			displayName: 'Summary Template',
			name: 'summaryTemplate',
			type: 'string',
			default: 'general',
			placeholder: 'e.g. meeting',
			description:
				'Name of a summary template of the service, for example general, meeting, lecture, interview or podcast',
			routing: { send: { type: 'body', property: 'summary_template' } },
		},
	],
};

interface TranscriptionOptions {
	numSpeakers?: number;
	domain?: string;
	customFields?: unknown;
	language?: unknown;
}

/** What the document says about the options' values, checked before anything is sent. */
export function checkOptions(this: IExecutePaginationFunctions): void {
	const { numSpeakers, domain, language } = optionsOf(this);
	if (numSpeakers !== undefined && !/^[1-6]$/.test(String(numSpeakers).trim())) {
		throw refuse(
			this,
			`'Number of Speakers' has to be a whole number from 1 to 6, but is '${String(numSpeakers)}'`,
			'Leave the option out if the number is not known.',
		);
	}
	if (domain !== undefined && !['legal', 'medical', 'tech'].includes(domain)) {
		throw refuse(
			this,
			`'Domain' is not one the service knows: '${String(domain)}'`,
			'Use legal, medical or tech.',
		);
	}
	if (language !== undefined && !/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(String(language))) {
		throw refuse(
			this,
			`'Language Name or Code' is not a language code: '${String(language)}'`,
			'Use an ISO code such as ru or en.',
		);
	}
}

/** Merges 'Custom Fields' into the request: the way to reach what the service document leaves out. */
export function mergeCustomFields(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
): void {
	const custom = jsonObjectFrom(this, optionsOf(this).customFields ?? {}, 'Custom Fields');
	const body = Object.entries({ ...(request.options.body as IDataObject), ...custom });
	request.options.body = Object.fromEntries(
		body.filter(([, value]) => value !== null && value !== ''),
	);
}

function optionsOf(context: IExecutePaginationFunctions): TranscriptionOptions {
	return context.getNodeParameter('options', {}) as TranscriptionOptions;
}
