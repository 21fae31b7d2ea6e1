/** What the trigger assumes of the ways in which n8n switches a workflow on. */
import type { IHookFunctions, WorkflowActivateMode, WorkflowExecuteMode } from 'n8n-workflow';

import {
	isActivatedByUser,
	isPublishedAgain,
	isSwitchedOnByUser,
} from '../../../nodes/shared/n8nInternals/activation';

/** All of n8n's modes: with one more, or one less, this does not compile. */
const MODES: Record<WorkflowActivateMode, boolean> = {
	activate: true,
	create: true,
	update: true,
	init: false,
	leadershipChange: false,
	manual: false,
};

const hook = (activation: string, mode: WorkflowExecuteMode = 'trigger') =>
	({ getActivationMode: () => activation, getMode: () => mode }) as unknown as IHookFunctions;

it.each(Object.entries(MODES))("mode '%s': a user has switched the workflow on: %s", (mode, is) => {
	expect(isActivatedByUser(hook(mode))).toBe(is);
});

it('a mode that nobody knows yet is none of the user: no bot is sent', () => {
	expect(isActivatedByUser(hook('resumed'))).toBe(false);
});

it('while the editor listens for a test event, no mode is', () => {
	for (const mode of Object.keys(MODES))
		expect(isActivatedByUser(hook(mode, 'manual'))).toBe(false);
});

it('a new version of an active workflow is not switched on, and nor is one that n8n starts', () => {
	const modes = Object.keys(MODES).filter((mode) => isSwitchedOnByUser(hook(mode)));
	expect(modes).toEqual(['activate', 'create']);
	expect(isSwitchedOnByUser(hook('activate', 'manual'))).toBe(false);
});

it('a publication after the first one has the mode of a new version, also if the first one failed', () => {
	expect(Object.keys(MODES).filter((mode) => isPublishedAgain(hook(mode)))).toEqual(['update']);
	expect(isPublishedAgain(hook('update', 'manual'))).toBe(false);
});
