import { NodeOperationError, type IDataObject, type IPollFunctions } from 'n8n-workflow';

/**
 * What n8n loads and saves for a polling trigger. n8n documents none of this. Seen in 2.41.1
 * (active-workflow-manager.js, trigger-execution-context.factory.js, poll-trigger-executor.js) and
 * 1.123.81 (active-workflow-manager.js, active-workflows.js):
 *
 * - For each activation that a user or a start of n8n causes, n8n loads the workflow, with its nodes
 *   and its static data. All polls until the next activation have one context. It holds the node as
 *   `node`, and returns the same static data each time.
 * - To add a workflow again by itself, n8n 1 and 2.30 use the nodes and the static data that they
 *   loaded for the activation before (active-workflow-manager.js, `emitError`).
 * - n8n saves the static data when an activation ends. It also begins to save when a poll has found
 *   something, and starts the execution without waiting for that. A poll that finds nothing saves
 *   nothing.
 * - n8n starts each poll on schedule, whether or not the last one has ended. When any poll ends,
 *   n8n 2 takes away what all polls of the workflow need to resolve expressions
 *   (`releaseIsolate`): see `requestWithApiKey`.
 * - n8n 2.41 drops what a poll has found if the workflow was deactivated meanwhile, also for a new
 *   version (poll-trigger-executor.js).
 *
 * The scheduler of n8n 2.41 (N8N_SCHEDULER_ENABLED, off by default; poll-trigger-task-handler.js) is
 * different: it loads the workflow for each poll, gives each poll the activation mode `update`, and
 * gives up a poll after 45 seconds.
 */
type PollContext = Pick<IPollFunctions, 'getNode' | 'getWorkflowStaticData'>;

/**
 * The workflow's static data in this poll. Throws if this n8n keeps it in another way: then what a
 * poll writes would be lost, and so would finished transcripts.
 */
export function pollDataOf(context: PollContext): IDataObject {
	const data = context.getWorkflowStaticData('global');
	if (data !== context.getWorkflowStaticData('global')) throw unknownWay(context);
	return data;
}

/**
 * What a loaded node or loaded static data carries once it was active, as long as it lives. n8n neither
 * saves nor copies it. A memory of this file would not last: if the package is updated in the editor, n8n
 * loads its files again, and leaves the workflows active (directory-loader.js, `reset`).
 */
const ACTIVE = Symbol.for('n8n-nodes-transcriber active');

/** The triggers that were active with it. */
function activeWith(loaded: { [ACTIVE]?: Set<string> }): Set<string> {
	const triggers = loaded[ACTIVE] ?? new Set<string>();
	Object.defineProperty(loaded, ACTIVE, { value: triggers, configurable: true });
	return triggers;
}

/** Remembers that `trigger`, a polling node of the workflow, is active, as n8n has loaded both. */
export function noteActive(context: PollContext, trigger: string): void {
	activeWith(loadedNode(context)).add(trigger);
	activeWith(pollDataOf(context)).add(trigger);
}

/** Whether {@link noteActive} was called for the node as n8n has loaded it for this poll. */
export function wasActive(context: PollContext): boolean {
	return activeWith(loadedNode(context)).size > 0;
}

/** Whether {@link noteActive} was called for the trigger in this activation, or see `wasActive`. */
export function isSameActivation(context: PollContext, trigger: string): boolean {
	return wasActive(context) || activeWith(pollDataOf(context)).has(trigger);
}

function loadedNode(context: PollContext): object {
	const { node } = context as { node?: object };
	if (!node) throw unknownWay(context);
	return node;
}

function unknownWay(context: PollContext): NodeOperationError {
	return new NodeOperationError(
		context.getNode(),
		'This version of n8n keeps the data of a polling trigger in a way that the Transcriber Account Trigger does not know',
		{ description: 'Update the package n8n-nodes-transcriber, or use the Transcriber Trigger.' },
	);
}
