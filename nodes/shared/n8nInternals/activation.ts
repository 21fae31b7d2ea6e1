import { NodeOperationError, type IHookFunctions, type INode } from 'n8n-workflow';

/**
 * What n8n's activation modes mean. n8n documents none of this. Seen in 2.41.1
 * (workflow-publication-applier.js, workflow-trigger-activator.js), 2.30.0 and 1.123.81
 * (active-workflow-manager.js):
 *
 * - `activate`: the workflow was off, and the user publishes it (n8n 1: activates it).
 * - `update`: the user publishes a new version of a workflow that is on. From 2.41 also: the user
 *   publishes again after a publication that failed, even if the workflow was off before; or n8n
 *   itself adds a trigger that it finds missing. So only the first try has the mode `activate`, and
 *   whatever it ends or begins has to be stored at once, also if the try fails later.
 * - `create`: exists in the type (WorkflowActivateMode), but has not been seen in use.
 * - `init` and `leadershipChange`: at every start of n8n and of every main process. From 2.41, n8n
 *   gives up a trigger that fails at all tries, for good: it is off until the user publishes again, or until
 *   n8n starts again and adds another trigger of the workflow.
 * - `manual`: the editor listens for a test event.
 *
 * "From 2.41" means its publication service, which 2.30 has too, but off by default. It tries each
 * activation up to five times, after pauses of 1, 2, 4 and 8 seconds. After each failure it calls the
 * `delete` hook, and saves static data. It adds again only the trigger nodes that the user has
 * changed, each with a copy of the static data that it then keeps. Without the service, n8n tries
 * once, adds all trigger nodes again with one copy, and after a failure saves only what the `delete`
 * hook has changed in a newly loaded copy.
 *
 * To publish a new version, n8n calls the `delete` hook of the trigger nodes that it then adds again.
 * To the hook, this looks like a switch-off.
 */
type Activation = Pick<IHookFunctions, 'getActivationMode' | 'getMode'>;

/**
 * Whether a hook or a call belongs to the editor's listening for a test event. n8n creates a test
 * webhook in the mode `manual`, but deletes it in the mode `internal` with the activation `update`,
 * exactly as it deletes the webhook of a published workflow that is switched off. n8n marks only the
 * webhook itself, which every context holds: `isTest`, which also decides between the Test URL and
 * the Production URL. Seen in 2.41.1 (test-webhooks.js:311 and :424), 2.30.0 (:276 and :384) and
 * 1.123.81 (:269 and :376).
 *
 * For hooks and calls of a webhook node. Throws if the context holds no webhook: the end of a test
 * would cancel the bot of the published workflow.
 */
export function isTest(context: { getMode(): string; getNode(): INode }): boolean {
	if (!webhookOf(context)) {
		throw new NodeOperationError(
			context.getNode(),
			'This version of n8n does not tell a test in the editor from the published workflow in a way that the Transcriber Trigger knows',
			{ description: 'Update the package n8n-nodes-transcriber.' },
		);
	}
	return isMarkedAsTest(context);
}

function isMarkedAsTest(context: { getMode(): string }): boolean {
	return context.getMode() === 'manual' || webhookOf(context)?.isTest === true;
}

/** The webhook of a hook or a call. Polls have none. */
function webhookOf(context: object): { isTest?: boolean } | undefined {
	return (context as { webhookData?: { isTest?: boolean } }).webhookData;
}

/**
 * The modes of a user's own request. An unknown mode does not count, because the trigger may spend
 * money only at the user's request.
 */
const BY_THE_USER = ['activate', 'update', 'create'];

/** Whether a user is publishing the workflow right now. */
export function isActivatedByUser(context: Activation): boolean {
	return BY_THE_USER.includes(context.getActivationMode()) && !isMarkedAsTest(context);
}

/** Whether a user is switching on a workflow that was off, for the first time since it was off. */
export function isSwitchedOnByUser(context: Activation): boolean {
	return isActivatedByUser(context) && context.getActivationMode() !== 'update';
}

/** Whether a new version is published, or the same one again: see `update` above. */
export function isPublishedAgain(context: Activation): boolean {
	return isActivatedByUser(context) && context.getActivationMode() === 'update';
}

/** Whether n8n activates a published workflow by itself, because n8n or a main process starts. */
export function isActivatedByN8n(context: Activation): boolean {
	return ['init', 'leadershipChange'].includes(context.getActivationMode());
}
