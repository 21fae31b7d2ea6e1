import type { IDataObject } from 'n8n-workflow';

import { hasEnded, isCancelled } from './statusMeaning';
import { idsIn } from './submission';

/**
 * How long, in ms, and for how many looks of one wait a bot that is called off may still get a task,
 * because stopping a recording also cancels its bot. Whichever is reached first.
 */
export const CALLED_OFF = { mayGetTaskMs: 120_000, looks: 12 };

/** Whether this is the state of a bot that was cancelled and has no task (yet). */
export function isCalledOff(state: IDataObject): boolean {
	return isCancelled(state.status) && idsIn(state).taskId === undefined;
}

/** Whether a state of a task or bot is final. That of a bot that is called off is not at once. */
export function isFinal(state: IDataObject): boolean {
	return hasEnded(state.status) && !isCalledOff(state);
}

/**
 * Since when a bot is called off, in ms since 1970, after one more look at it; undefined if it is not.
 * `before`: the same after the look before.
 */
export function calledOffSince(state: IDataObject, before?: number): number | undefined {
	if (!isCalledOff(state)) return undefined;
	const now = Date.now();
	// The clock may have been set back since.
	return before === undefined || before > now ? now : before;
}

/** Whether a bot that is called off since then, in ms since 1970, may still get a task. */
export function mayGetTask(since: number): boolean {
	return Date.now() - since < CALLED_OFF.mayGetTaskMs;
}
