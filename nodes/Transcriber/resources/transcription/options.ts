import type { IDataObject, IExecutePaginationFunctions, INodeProperties } from 'n8n-workflow';

import {
	choiceIn,
	collectionIn,
	isNothing,
	jsonObjectIn,
	numberIn,
	textIn,
	wrongKind,
} from '../../../shared/parameters/checkedValues';
import { enteredIn } from '../../../shared/parameters/expressionParts';
import { checkJoinedJson, joinedTextIn } from '../../../shared/parameters/joinedText';
import { LINK_FIELD } from '../../../shared/api/undocumented/linkField';
import { LINK_ADVICE, checkLink } from '../../../shared/parameters/recordingLink';
import { refuse } from '../../../shared/parameters/refuse';
import { languages } from './languages';
import type { RoutingRequest } from '../../../shared/api/types';

export const languageField: INodeProperties = {
	displayName: 'Language',
	name: 'language',
	type: 'options',
	default: 'ru',
	description: 'Language spoken in the recording. An expression can give any ISO code.',
	hint: 'Choose the language that is spoken: the transcript is only as good as this choice',
	options: languages,
};

/** The service document's "Upload parameters". Unset options are not sent: its defaults apply. */
export const optionsField: INodeProperties = {
	displayName: 'Recording Options',
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
				"Request fields that this node does not know, as a JSON object. They win over the other options, but not over 'Get the Transcript'; null leaves a field out.",
		},
		{
			displayName: 'Domain',
			name: 'domain',
			type: 'options',
			default: 'legal',
			description:
				'Field of expertise, for better recognition of its terms. Starts with Legal: choose yours.',
			options: [
				{ name: 'Legal', value: 'legal' },
				{ name: 'Medical', value: 'medical' },
				{ name: 'Tech', value: 'tech' },
			],
		},
		{
			displayName: 'Idempotency Key',
			name: 'idempotencyKey',
			type: 'string',
			typeOptions: { password: false },
			default: '',
			placeholder: 'e.g. {{ $json.fileId }}',
			description:
				'The service makes one task per key. Leave empty for a file: a key is derived from execution and item, so that a retry is not paid twice. Whether the service heeds the key of a link is not documented.',
		},
		{
			displayName: 'Number of Speakers',
			name: 'numSpeakers',
			type: 'number',
			default: 2,
			typeOptions: { minValue: 1, maxValue: 6 },
			description:
				'How many people speak, 1 to 6, if you know it. Raises accuracy. Starts with 2: enter yours.',
		},
		{
			displayName: 'Prompt',
			name: 'prompt',
			type: 'string',
			typeOptions: { rows: 3 },
			default: '',
			placeholder: 'e.g. Kubernetes, Anna Petrova, OKR',
			description: 'Names, terms and abbreviations of this one recording, for higher accuracy',
		},
		{
			displayName: 'Summary Template',
			name: 'summaryTemplate',
			type: 'string',
			default: 'general',
			placeholder: 'e.g. meeting',
			description: 'Name of a summary template of the service',
			hint: 'For example general, interview, lecture, meeting or podcast',
		},
	],
};

const SPEAKERS = { min: 1, max: 6, whole: true };

const DOMAINS = ['legal', 'medical', 'tech'] as const;

/**
 * Adds 'Language' and the options to the request. 'Custom Fields' are merged last: they can set
 * fields that the service document does not show.
 */
export function addOptions(context: IExecutePaginationFunctions, request: RoutingRequest): void {
	const options = collectionIn(
		context,
		context.getNodeParameter('options', {}),
		'Recording Options',
	);
	const custom = jsonObjectIn(context, options.customFields, 'Custom Fields') ?? {};
	checkJoinedJson(context, enteredIn(context, 'options', 'customFields'), custom, 'Custom Fields');
	checkCustomFields(context, custom);
	const joined = (name: string, displayName: string) =>
		joinedTextIn(context, enteredIn(context, 'options', name), options[name], displayName);
	const body: IDataObject = {
		...(request.options.body as IDataObject),
		language: languageIn(context, context.getNodeParameter('language', '')),
		domain: choiceIn(context, options.domain, 'Domain', DOMAINS),
		num_speakers: numberIn(context, options.numSpeakers, 'Number of Speakers', SPEAKERS),
		prompt: joined('prompt', 'Prompt'),
		summary_template: joined('summaryTemplate', 'Summary Template'),
		...custom,
	};
	request.options.body = Object.fromEntries(
		Object.entries(body).filter(([, value]) => !isNothing(value)),
	);
}

/** Refuses known mistakes, as for the parameters. Values that may be new in the service pass. */
function checkCustomFields(context: IExecutePaginationFunctions, custom: IDataObject): void {
	const { num_speakers: speakers, [LINK_FIELD]: link } = custom;
	numberIn(context, speakers, 'Custom Fields: num_speakers', SPEAKERS);
	if (context.getNodeParameter('operation') === 'transcribeUrl') {
		const name = `Custom Fields: ${LINK_FIELD}`;
		const given = textIn(context, link, name);
		if (given) checkLink(context, given, name, LINK_ADVICE);
	} else if (!isNothing(custom.file)) {
		throw refuse(
			context,
			"'Custom Fields' has a field called file, which is the recording itself",
			"Remove it from 'Custom Fields'. The recording comes from the field that 'Input Data Field Name' names.",
		);
	}
}

function languageIn(context: IExecutePaginationFunctions, value: unknown): string | undefined {
	const { language: entered } = context.getNode().parameters;
	const language = joinedTextIn(context, entered, value, 'Language', { isExact: true });
	if (!language || /^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(language)) return language;
	throw wrongKind(context, language, 'Language', 'has to be an ISO code such as ru or en');
}
