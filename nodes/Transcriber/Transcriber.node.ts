import { NodeConnectionTypes, type INodeType, type INodeTypeDescription } from 'n8n-workflow';

import { API_ROOT_EXPRESSION } from '../shared/api/baseUrl';
import { resumeWebhooks } from '../shared/n8nInternals/resumeUrl';
import { resume } from './submit/suspension/wakeOnDelivery';
import { account } from './resources/account';
import { apiKey } from './resources/apiKey';
import { dictionary } from './resources/dictionary';
import { meeting } from './resources/meeting';
import { task } from './resources/task';
import { transcription } from './resources/transcription';
import { searchTasks } from './resources/task/searchTasks';

export class Transcriber implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Transcriber',
		name: 'transcriber',
		icon: { light: 'file:transcriber.svg', dark: 'file:transcriber.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle:
			'={{ ({ account: "Account", apiKey: "Service API Key", dictionary: "Dictionary", meeting: "Meeting", task: "Transcript", transcription: "Audio or Video" })[$parameter["resource"]] + ": " + $parameter["operation"].replace("getAll", "getMany").replace(/([A-Z])/g, " $1").toTitleCase().replace("Url", "URL") }}',
		description: 'Turn recordings and online meetings into text, summaries and subtitles',
		defaults: { name: 'Transcriber' },
		usableAsTool: true,
		waitingNodeTooltip:
			'Waiting for the service to finish the transcript. You can close this window.',
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'transcriberApi', required: true }],
		webhooks: resumeWebhooks,
		requestDefaults: { baseURL: API_ROOT_EXPRESSION, json: true },
		properties: [
			{
				displayName: 'Resource',
				name: 'resource',
				type: 'options',
				noDataExpression: true,
				default: 'transcription',
				options: [
					{ name: 'Account', value: 'account' },
					{ name: 'Audio or Video', value: 'transcription' },
					{ name: 'Dictionary', value: 'dictionary' },
					{ name: 'Meeting', value: 'meeting' },
					{ name: 'Service API Key', value: 'apiKey' },
					{ name: 'Transcript', value: 'task' },
				],
				// For all operations: each has its own `performOperation`, which n8n calls as `pagination`.
				routing: { send: { paginate: true } },
			},
			...account,
			...apiKey,
			...dictionary,
			...meeting,
			...task,
			...transcription,
		],
	};

	methods = { listSearch: { searchTasks } };

	/** Deliveries to a suspended execution. */
	webhook = resume;
}
