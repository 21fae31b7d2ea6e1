import { NodeOperationError, type IDataObject, type INode, type Workflow } from 'n8n-workflow';

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
 * n8n does not document when it loads and saves static data. Seen in 2.41.1 and 1.123.81
 * (live-webhooks.js, workflow-static-data.service.js, workflow.js):
 *
 * - For every webhook call, n8n loads static data into `workflow.staticData`. Every context has
 *   this `workflow`, and `getWorkflowStaticData('global')` returns the field `global` of its static
 *   data.
 * - When the call ends, after saving the new execution and before answering, n8n reads
 *   `staticData.__dataChanged`. If it is true, n8n saves all static data as JSON and sets
 *   `__dataChanged` to false. There is no lock.
 * - To start an execution, n8n 2 makes a second Workflow from the loaded data, which resets
 *   `__dataChanged`. The object that `saveAtEndOfCall` puts in place is not affected.
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
	const isWebhookCall = 'getRequestObject' in context;
	return { loaded, save: isWebhookCall ? saveAtEndOfCall : saveAtEndOfHook };
}
