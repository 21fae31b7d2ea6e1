/** What n8n's server hands to n8n-core when it runs a node: the parts that all hosts in the tests share. */
import { ExecutionLifecycleHooks, RoutingNode, type ExecuteContext } from 'n8n-core';
import {
	NodeConnectionTypes,
	createRunExecutionData,
	type ICredentialsHelper,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeConnections,
	type INodeExecutionData,
	type INodeType,
	type INodeTypes,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
	type NodeConnectionType,
	type Workflow,
} from 'n8n-workflow';

import { TranscriberApi } from '../../credentials/TranscriberApi.credentials';

export interface Credentials {
	baseUrl: string;
	apiKey: string;
	webhookSecret?: string;
}

/** How a node names its credential. */
export const CREDENTIAL = { transcriberApi: { id: '1', name: 'Transcriber API' } };

/** Prepares a declarative node as n8n does when it loads one. */
export function executable(declarative: INodeType): INodeType {
	declarative.execute = async function (this: IExecuteFunctions) {
		const routing = new RoutingNode(this as unknown as ExecuteContext, declarative);
		return (await routing.runNode()) ?? [];
	};
	return declarative;
}

/** The node types of a workflow: one for all its nodes, or one for each name. */
export function typesOf(types: INodeType | ((name: string) => INodeType)): INodeTypes {
	const typeOf = typeof types === 'function' ? types : () => types;
	return {
		getByName: typeOf,
		getByNameAndVersion: typeOf,
		getKnownTypes: () => ({}),
	} as unknown as INodeTypes;
}

/** A connection to the first input of a node. */
export function to(
	node: string,
	type: NodeConnectionType = NodeConnectionTypes.Main,
): INodeConnections {
	return { [type]: [[{ node, type, index: 0 }]] };
}

/** Everything else that the engine wants to know from n8n's server. */
export function additionalDataFor(
	credentials: Credentials | ICredentialsHelper,
	more: object = {},
): IWorkflowExecuteAdditionalData {
	return {
		credentialsHelper: 'getDecrypted' in credentials ? credentials : credentialsHelper(credentials),
		instanceBaseUrl: 'http://localhost:5678/',
		restApiUrl: 'http://localhost:5678/rest',
		webhookWaitingBaseUrl: 'http://localhost:5678/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost:5678/form-waiting',
		variables: {},
		setExecutionStatus: () => {},
		externalSecretsProxy: {},
		...more,
	} as unknown as IWorkflowExecuteAdditionalData;
}

/** The id of an execution, and the hooks that n8n runs in its course. */
export function executionOf(executionId: string, nodes: INode[]): object {
	const workflow = { id: 'workflow-1', name: 'test', nodes, connections: {}, active: false };
	return {
		executionId,
		hooks: new ExecutionLifecycleHooks('manual', executionId, workflow as never),
	};
}

/** The data of an execution that starts at this node, whose items come from `source`. */
export function startingAt(
	node: INode,
	items: INodeExecutionData[],
	source?: string,
): IRunExecutionData {
	const hasRun = { startTime: 0, executionIndex: 0, executionTime: 0, source: [] };
	return createRunExecutionData({
		// What n8n has on record of the node before: it looks there for the input of a paired item.
		resultData: { runData: source ? { [source]: [{ ...hasRun, data: { main: [items] } }] } : {} },
		executionData: {
			contextData: {},
			metadata: {},
			nodeExecutionStack: [
				{
					node,
					data: { main: [items] },
					source: source ? { main: [{ previousNode: source }] } : null,
				},
			],
			waitingExecution: {},
			waitingExecutionSource: {},
		},
	});
}

/** An expression that knows nothing but the credential gives the same for each request. */
let last = { key: '', value: '' };
function once(key: string, resolve: () => unknown): string {
	if (last.key !== key) last = { key, value: resolve() as string };
	return last.value;
}

export function credentialsHelper(
	credentials: Credentials,
	onReading: () => void | Promise<void> = () => {},
): ICredentialsHelper {
	const credentialType = new TranscriberApi();
	return {
		getParentTypes: () => [],
		getCredentialsProperties: () => credentialType.properties,
		isCredentialUsableByNode: () => true,
		getDecrypted: async () => {
			await onReading();
			return { ...credentials };
		},
		preAuthentication: async () => undefined,
		// What n8n does with a generic `authenticate`.
		authenticate: async (
			decrypted: IDataObject,
			_type: string,
			options: IHttpRequestOptions,
			workflow: Workflow,
			node: INode,
		) => {
			const headers = { ...options.headers };
			for (const [name, value] of Object.entries(
				credentialType.authenticate.properties.headers ?? {},
			)) {
				headers[name] = once(`${String(value)} ${JSON.stringify(decrypted)}`, () =>
					workflow.expression.getSimpleParameterValue(node, value as string, 'internal', {
						$credentials: decrypted,
					} as never),
				);
			}
			return { ...options, headers };
		},
	} as unknown as ICredentialsHelper;
}
