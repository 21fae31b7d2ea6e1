import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';

import { accountTriggerFields } from './accountTriggerFields';
import { poll } from './pollAccount';

export class TranscriberAccountTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Transcriber Account Trigger',
		name: 'transcriberAccountTrigger',
		icon: { light: 'file:transcriber.svg', dark: 'file:transcriber.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle:
			'={{ $parameter["events"].map((event) => event === "transcriptFailed" ? "Transcript Failed" : "Transcript Completed").join(", ") }}',
		description:
			'Start a workflow for every new transcript in your account. Needs no public address.',
		eventTriggerDescription: 'Waiting for a transcript to be ready',
		activationMessage:
			'The workflow now starts for every transcript of the account that is ready from now on.',
		defaults: { name: 'Transcriber Account Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'transcriberApi', required: true }],
		properties: accountTriggerFields,
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await poll(this);
	}
}
