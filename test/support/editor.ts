import { LoadOptionsContext } from 'n8n-core';
import { Workflow, type INode, type INodeListSearchResult } from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import { CREDENTIAL, additionalDataFor, typesOf, type Credentials } from './n8n';

/** Requests the entries of the list 'Task', as n8n does for its editor. */
export async function listTasks(
	credentials: Credentials,
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
		credentials: CREDENTIAL,
		parameters: { resource: 'task', operation: 'get' },
	};
	const transcriber = new Transcriber();
	const workflow = new Workflow({
		nodes: [node],
		connections: {},
		active: false,
		nodeTypes: typesOf(transcriber),
		settings: { timezone },
	});
	const additionalData = additionalDataFor(credentials);
	const context = new LoadOptionsContext(workflow, node, additionalData, 'parameters.taskId');
	return await transcriber.methods.listSearch.searchTasks.call(context, filter, paginationToken);
}
