/**
 * A workflow as the stores of its triggers see it, without a server: each call has n8n-core's own context and
 * loads what is saved, and n8n saves it whole when the call ends, if the store has asked for that.
 */
import { WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type IWebhookData,
	type IWebhookFunctions,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import type { Saved } from '../../nodes/TranscriberTrigger/triggerMemory';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { typesOf } from '../support/n8n';

const nodeTypes = typesOf(new TranscriberTrigger());
const more = {} as IWorkflowExecuteAdditionalData;

export class StoredWorkflow {
	/** The column in n8n's database, also for what other processes and nodes have saved there. */
	saved: Record<string, Partial<Saved>> = {};

	/** The call that began last. */
	private workflow?: Workflow;

	constructor(readonly id: string) {}

	/** A call of the trigger with this node id; `isTest`: while the editor listens for a test event. */
	call(nodeId = '1', isTest = false): IWebhookFunctions {
		const node: INode = {
			id: nodeId,
			name: `Trigger ${nodeId}`,
			type: 'n8n-nodes-transcriber.transcriberTrigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: {},
		};
		const names = Object.entries(this.saved).map(([id, data]) => [key(id), data]);
		const staticData = { global: Object.fromEntries(names) as IDataObject };
		const { id } = this;
		const parts = { id, nodes: [node], connections: {}, active: true, nodeTypes, staticData };
		this.workflow = new Workflow(parts);
		const webhookData = { isTest } as unknown as IWebhookData;
		return new WebhookContext(this.workflow, node, more, 'webhook', webhookData, [], null);
	}

	/** The end of the call that began last. Returns whether n8n has saved the static data. */
	end(): boolean {
		const data = this.workflow?.staticData as { __dataChanged?: boolean } | undefined;
		if (data?.__dataChanged !== true) return false;
		const { global } = JSON.parse(JSON.stringify(data)) as { global: Record<string, Saved> };
		const ids = Object.entries(global).map(([name, section]) => [
			name.replace(key(''), ''),
			section,
		]);
		this.saved = Object.fromEntries(ids) as Record<string, Saved>;
		data.__dataChanged = false;
		return true;
	}
}

const key = (nodeId: string) => `transcriberTrigger:${nodeId}`;
