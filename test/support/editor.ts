import { LoadOptionsContext } from 'n8n-core';
import {
	Workflow,
	type ICredentialsHelper,
	type IHttpRequestOptions,
	type INode,
	type INodeListSearchResult,
	type INodeTypes,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import { TranscriberApi } from '../../credentials/TranscriberApi.credentials';
import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import type { Run } from './engine';

/** Requests the entries of the list 'Task', as n8n does for its editor. */
export async function listTasks(
	credentials: Run['credentials'],
	filter?: string,
	paginationToken?: string,
	timezone = 'UTC',
): Promise<INodeListSearchResult> {
	const node: INode = {
		id: '2b7c5f60-3a8d-4d43-9a53-0a8a4a4f0c55',
		name: 'Transcriber',
		type: 'n8n-nodes-transcriber.transcriber',
		typeVersion: 1,
		position: [0, 0],
		credentials: { transcriberApi: { id: '1', name: 'Transcriber API' } },
		parameters: { resource: 'task', operation: 'get' },
	};
	const transcriber = new Transcriber();
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: {
			getByName: () => transcriber,
			getByNameAndVersion: () => transcriber,
			getKnownTypes: () => ({}),
		} as unknown as INodeTypes,
		settings: { timezone },
	});
	const credentialsHelper = {
		getParentTypes: () => [],
		isCredentialUsableByNode: () => true,
		getCredentialsProperties: () => new TranscriberApi().properties,
		getDecrypted: async () => ({ ...credentials }),
		preAuthentication: async () => undefined,
		authenticate: async (_data: unknown, _type: string, options: IHttpRequestOptions) => ({
			...options,
			headers: { ...options.headers, 'X-API-Key': credentials.apiKey },
		}),
	} as unknown as ICredentialsHelper;
	const additionalData = { credentialsHelper } as unknown as IWorkflowExecuteAdditionalData;
	const context = new LoadOptionsContext(workflow, node, additionalData, 'parameters.taskId');
	return await transcriber.methods.listSearch.searchTasks.call(context, filter, paginationToken);
}
