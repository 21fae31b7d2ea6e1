import type {
	IAuthenticateGeneric,
	IAuthenticateRuleResponseCode,
	IAuthenticateRuleResponseSuccessBody,
	Icon,
	ICredentialTestRequest,
	ICredentialType,
	INodeProperties,
} from 'n8n-workflow';

import { API_KEY_EXPRESSION, API_ROOT_EXPRESSION } from '../nodes/shared/api/baseUrl';

const NOT_THE_SERVICE =
	'Something other than the service answered at this address, for example a web page. Check the Base URL: only https:// and the name, with nothing after it.';

/** n8n's types allow rules of one kind only, but n8n applies both kinds. */
const RULES: Array<IAuthenticateRuleResponseCode | IAuthenticateRuleResponseSuccessBody> = [
	{
		// n8n looks up `key` in the answer. Only a text has `trim`, and the account is an object.
		type: 'responseSuccessBody',
		properties: { key: 'trim.name', value: 'trim', message: NOT_THE_SERVICE },
	},
	{
		type: 'responseCode',
		properties: {
			value: 401,
			message:
				'The service does not accept the API key. Check it, and that the API is enabled in the API section of your account at the service.',
		},
	},
	{
		type: 'responseCode',
		properties: {
			value: 404,
			message:
				'There is no such service at this address. Check the Base URL: only https:// and the name, with nothing after it.',
		},
	},
	...[301, 302, 307, 308].map((value) => ({
		type: 'responseCode' as const,
		properties: {
			value,
			message:
				'This address forwards to another one. Enter the final address, usually with https:// at the beginning.',
		},
	})),
];

export class TranscriberApi implements ICredentialType {
	name = 'transcriberApi';

	displayName = 'Transcriber API';

	icon: Icon = { light: 'file:transcriber.svg', dark: 'file:transcriber.dark.svg' };

	documentationUrl = 'https://www.npmjs.com/package/n8n-nodes-transcriber#credentials';

	httpRequestNode = {
		name: 'Transcriber',
		docsUrl: 'https://www.npmjs.com/package/n8n-nodes-transcriber#credentials',
		apiBaseUrlPlaceholder: 'https://your-transcriber-address/api/v1/account',
	};

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: '',
			required: true,
			placeholder: 'e.g. https://transcriber.example.com',
			description:
				'Address of the service, as shown in the API section of your account at the service',
			hint: 'Only https:// and the name, with nothing after it',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description:
				'Key from the API section of your account at the service. The API has to be enabled there, otherwise every request is refused.',
			hint: 'From the API section of your account at the service, where the API has to be enabled',
		},
		{
			displayName: 'Webhook Secret',
			name: 'webhookSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description: 'Used to check webhooks for recordings that were not submitted from n8n',
			hint: 'Leave empty unless you submit recordings outside n8n',
		},
	];

	authenticate: IAuthenticateGeneric = {
		type: 'generic',
		properties: { headers: { 'X-API-Key': API_KEY_EXPRESSION } },
	};

	test: ICredentialTestRequest = {
		request: { baseURL: API_ROOT_EXPRESSION, url: '/account', disableFollowRedirect: true },
		rules: RULES as ICredentialTestRequest['rules'],
	};
}
