/** One context of each kind, of the n8n-core of the lock file. */
import {
	ExecuteSingleContext,
	HookContext,
	LoadOptionsContext,
	PollContext,
	WebhookContext,
} from 'n8n-core';
import {
	Workflow,
	createRunExecutionData,
	type INode,
	type INodeExecutionData,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import { Transcriber } from '../../../nodes/Transcriber/Transcriber.node';
import { CREDENTIAL, typesOf } from '../../support/n8n';

const node: INode = {
	id: '1',
	name: 'Transcriber',
	type: 'n8n-nodes-transcriber.transcriber',
	typeVersion: 1,
	position: [0, 0],
	credentials: CREDENTIAL,
	parameters: {},
};

export function contextsWith(more: IWorkflowExecuteAdditionalData) {
	const nodeTypes = typesOf(new Transcriber());
	const workflow = new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes });
	const items: INodeExecutionData[] = [{ json: {} }];
	const input = { main: [items] };
	const entry = { node, data: input, source: null };
	const data = createRunExecutionData({});
	const webhook = {} as IWebhookData;
	return {
		item: new ExecuteSingleContext(
			workflow,
			node,
			more,
			'trigger',
			data,
			0,
			items,
			input,
			0,
			entry,
		),
		webhookCall: new WebhookContext(workflow, node, more, 'webhook', webhook, [], null),
		editorList: new LoadOptionsContext(workflow, node, more, '/parameters'),
		poll: new PollContext(workflow, node, more, 'trigger', 'activate'),
		hook: new HookContext(workflow, node, more, 'trigger', 'activate', webhook),
	};
}
