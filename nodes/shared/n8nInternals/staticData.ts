import { NodeOperationError, type IDataObject, type INode, type Workflow } from 'n8n-workflow';

/** The part of n8n's context that is needed here. Webhook calls and lifecycle hooks have it. */
export interface StaticDataContext {
	getNode(): INode;
	getWorkflow(): { id?: string };
	getWorkflowStaticData(type: string): IDataObject;
	getMode(): string;
}

/** A workflow's static data as one call sees it. */
export interface StaticData {
	/** As it was loaded when the call began. */
	loaded: IDataObject;
	/**
	 * Makes n8n save the loaded data, with `sections` in it, when the call is over. n8n calls both
	 * functions at that moment: `sections` returns what to save, `isInTime` whether to save at all.
	 */
	saveAtEndOfCall(sections: () => IDataObject, isInTime: () => boolean): void;
}

/**
 * n8n promises nothing about when static data is loaded and saved. Seen in 2.41.1 and 1.123.81
 * (live-webhooks.js, workflow-static-data.service.js, workflow.js):
 *
 * - It is loaded for every webhook call, into `workflow.staticData`, to which every context has a
 *   reference. `getWorkflowStaticData('global')` is its field `global`.
 * - When the call is over, after the new execution was saved and before the answer, n8n reads
 *   `staticData.__dataChanged`, saves the whole of it as JSON if that is true, and sets it to false.
 *   There is no lock.
 * - Starting an execution, n8n 2 makes a second Workflow of the loaded data, which resets the mark.
 *   An object of our own keeps it.
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
	const saveAtEndOfCall: StaticData['saveAtEndOfCall'] = (sections, isInTime) => {
		const global = { ...loaded };
		Object.defineProperty(global, 'toJSON', { value: () => ({ ...loaded, ...sections() }) });
		const data: IDataObject = { ...workflow.staticData, global };
		let isSaved = false;
		Object.defineProperty(data, '__dataChanged', {
			get: () => !isSaved && isInTime(),
			set: (isChanged: boolean) => (isSaved = !isChanged),
		});
		workflow.staticData = data;
	};
	return { loaded, saveAtEndOfCall };
}
