import { NodeOperationError, type IDataObject, type INode, type Workflow } from 'n8n-workflow';

import { isForWebhookCall } from './webhookOrEditor';

/** The part of n8n's context that is used here. Webhook calls and lifecycle hooks have it. */
export interface StaticDataContext {
	getNode(): INode;
	getWorkflow(): { id?: string };
	getWorkflowStaticData(type: string): IDataObject;
	getMode(): string;
}

/** A workflow's static data as a single call sees it. */
export interface StaticData {
	/** As it was loaded when the call began. */
	loaded: IDataObject;
	/**
	 * Makes n8n save the loaded data, merged with `sections`, when the call or hook ends. `sections`
	 * returns the data. `beforeSaving` is called when n8n is about to save, perhaps more than once, and
	 * returns whether to save at all. n8n calls both functions when a webhook call ends. In a hook they
	 * are called at once.
	 */
	save(sections: () => IDataObject, beforeSaving: () => boolean): void;
}

/**
 * n8n does not document when it loads and saves static data. For every webhook call, n8n loads it
 * into `workflow.staticData`. Every context has this `workflow`, and `getWorkflowStaticData('global')`
 * returns the field `global` of its static data. To save, n8n reads `staticData.__dataChanged`. If it
 * is true, n8n saves all static data as JSON and sets `__dataChanged` to false. There is no lock.
 *
 * In which order n8n does this depends on what `webhook()` returns. Seen in 2.41.1 and 1.123.81
 * (webhook-helpers.js, `executeWebhook`; live-webhooks.js, `executeWebhook`; active-executions.js,
 * `add`; workflow-static-data.service.js), for the response mode `onReceived`:
 *
 * | `webhook()` …          | n8n 2.41.1                              | n8n 1.123.81                          |
 * |------------------------|-----------------------------------------|---------------------------------------|
 * | starts an execution    | 1. saves the execution, and waits until | 1. reads `__dataChanged` at once, and |
 * | (`workflowData`)       |    it may run                           |    begins to save static data         |
 * |                        | 2. reads `__dataChanged`, and saves     | 2. begins to save the execution       |
 * |                        |    static data                          | 3. answers when 1 is done, whether or |
 * |                        | 3. answers                              |    not 2 is                           |
 * | has answered by itself | reads `__dataChanged`, and saves static | the same                              |
 * | (`noWebhookResponse`)  | data, both after that answer            |                                       |
 * | throws                 | answers with 500, saves no static data  | the same                              |
 *
 * If n8n cannot save static data, it only logs that. If it cannot save the execution, 2.41.1 saves no
 * static data and answers with 500.
 *
 * To start an execution, n8n 2 makes a second Workflow from the loaded data, which resets
 * `__dataChanged`. The object that `saveAtEndOfCall` puts in place is not affected.
 *
 * A hook is different. n8n keeps its Workflow: the polling triggers of the workflow get the same
 * object, and n8n saves it whenever one of them starts an execution (active-workflow-manager.js,
 * `add`). So a hook only writes into the loaded data, which sets `__dataChanged`.
 *
 * Throws before anything is saved if this n8n works differently.
 */
export function staticDataOf(context: StaticDataContext): StaticData {
	const { workflow } = context as unknown as { workflow?: Workflow };
	const loaded = context.getWorkflowStaticData('global');
	if (!workflow || workflow.staticData?.global !== loaded) {
		throw new NodeOperationError(
			context.getNode(),
			'This version of n8n keeps static data in a way that the Transcriber Trigger does not know. Update the package n8n-nodes-transcriber, or choose Wait for the Transcript (Polling) in the Transcriber node',
		);
	}
	const saveAtEndOfHook: StaticData['save'] = (sections, beforeSaving) => {
		if (beforeSaving()) Object.assign(loaded, sections());
	};
	const saveAtEndOfCall: StaticData['save'] = (sections, beforeSaving) => {
		const global = { ...loaded };
		Object.defineProperty(global, 'toJSON', { value: () => ({ ...loaded, ...sections() }) });
		const data: IDataObject = { ...workflow.staticData, global };
		let isSaved = false;
		Object.defineProperty(data, '__dataChanged', {
			get: () => !isSaved && beforeSaving(),
			set: (isChanged: boolean) => (isSaved = !isChanged),
		});
		workflow.staticData = data;
	};
	return { loaded, save: isForWebhookCall(context) ? saveAtEndOfCall : saveAtEndOfHook };
}
