import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';

import { taskIdOf } from '../../../shared/api/undocumented/idNames';
import { statusIn } from '../../../shared/api/statusMeaning';
import { submissionKey } from '../../../shared/api/submission';
import type { Suspension, WaitingItem } from '../once/suspensionState';
import { ANSWER } from '../../../shared/webhook/answerInTime';
import { remembered } from '../../../shared/processMemory';

/** Time limits for webhook calls to a suspended execution, in ms. */
export const RESUME = {
	/** Every call is answered within this time. */
	answer: ANSWER.withinMs,
	/** The service is not asked about the same id again within this time. */
	askAgain: 10_000,
	/** How long a status request to the service may take. */
	longestLook: 60_000,
	/** How long an execution is remembered after its time was up: n8n may be late in waking it. */
	keep: 3_600_000,
};

/** A status request to the service about one submission. */
export interface Question {
	at: number;
	hasEnded: Promise<boolean>;
	hasFailed?: boolean;
}

/** The first and the last of several looks at a submission that the service did not know, in ms since 1970. */
interface UnknownLooks {
	since: number;
	last: number;
}

/**
 * What this process knows about a suspended execution. Kept in memory, because n8n saves nothing
 * from a call that does not wake the execution. If a delivery went to another process or before a
 * restart, the service is asked instead.
 */
export interface KnownEndings {
	until: number;
	/** Keys of the submissions that have ended (see `submissionKey`). */
	ended: Set<string>;
	/** Ended submissions that are known to be `completed`. */
	completed: Set<string>;
	/** Ended submissions that are known to be `failed`. */
	failed: Set<string>;
	/** The task ids of the recordings of bots, by the key of the bot. The service may remove a bot. */
	recordings: Map<string, string>;
	/** Ended submissions whose delivery was answered with 200: a repeated delivery needs no work. */
	noted: Set<string>;
	/** The last status request for each submission. */
	asked: Map<string, Question>;
	/** Submissions that the service did not know at the last looks: see `isUnknownToService`. */
	unknownLooks: Map<string, UnknownLooks>;
	/** Since when bots are called off, in ms since 1970: see `calledOffSince`. */
	calledOff: Map<string, number>;
	/** The latest decision about a delivery. The next decision waits for it. */
	turn: Promise<unknown>;
	/** Whether waking the execution succeeded. Set while n8n wakes it, and kept after success. */
	woken?: Promise<boolean>;
}

/** By execution, node and run. An entry is removed when its execution has long stopped waiting. */
const suspendedRuns = remembered<KnownEndings>('suspendedRuns');

/** The endings that the suspended run was saved with, and those that this process has heard of since. */
export function knownOf(
	context: IWebhookFunctions,
	{ run, until, items }: Suspension,
): KnownEndings {
	const now = Date.now();
	for (const [key, { until: end }] of suspendedRuns) {
		if (end + RESUME.keep < now) suspendedRuns.delete(key);
	}
	// Another node, or the same node in a loop, may suspend the same execution again.
	const key = [context.getExecutionId(), context.getNode().id, run].join(' ');
	let state = suspendedRuns.get(key);
	if (!state) {
		const ended = Object.values(items).filter((item) => item.ended);
		state = {
			until,
			ended: new Set(ended.map(submissionKey)),
			completed: new Set(),
			failed: new Set(),
			recordings: new Map(),
			noted: new Set(),
			asked: new Map(),
			unknownLooks: new Map(),
			calledOff: new Map(),
			turn: Promise.resolve(),
		};
		suspendedRuns.set(key, state);
	}
	return state;
}

/** Keeps what a verified delivery or the service itself says of a submission. */
export function noteEnding(
	{ completed, failed, recordings }: KnownEndings,
	item: WaitingItem,
	state: IDataObject,
): void {
	const key = submissionKey(item);
	const taskId = taskIdOf(state);
	const status = statusIn(state.status);
	if (status === 'completed') completed.add(key);
	if (status === 'failed') failed.add(key);
	if (!item.taskId && taskId) recordings.set(key, taskId);
}
