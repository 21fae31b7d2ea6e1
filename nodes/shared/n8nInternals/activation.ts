import type { IHookFunctions } from 'n8n-workflow';

/**
 * The activation modes in which a user publishes (activates) a workflow, or a new version of it.
 *
 * n8n does not document its modes. Seen in n8n-workflow 2.41.0 and 1.120 (WorkflowActivateMode):
 * besides these, `init` and `leadershipChange` at every start of n8n and of every main process, and
 * `manual` while the editor listens for a test event. An unknown mode does not count as the user's,
 * because the trigger may spend money only at the user's request.
 */
const BY_THE_USER = ['activate', 'update', 'create'];

/** Whether a user is publishing the workflow right now. */
export function isActivatedByUser(context: IHookFunctions): boolean {
	return BY_THE_USER.includes(context.getActivationMode()) && context.getMode() !== 'manual';
}

/**
 * Whether a user is switching on a workflow that was off. For a new version of an active workflow,
 * n8n's mode is `update`.
 */
export function isSwitchedOnByUser(context: IHookFunctions): boolean {
	return isActivatedByUser(context) && context.getActivationMode() !== 'update';
}
