import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';

import { taskIdOf } from '../../../shared/api/undocumented/idNames';
import { calledOffSince, isFinal, mayGetTask } from '../../../shared/api/calledOffBot';
import { statusIn } from '../../../shared/api/statusMeaning';
import { idFields, submissionKey } from '../../../shared/api/submission';
import type { Suspension, WaitingItem } from '../once/suspensionState';
import { POLL } from '../../wait/pauseBetweenLooks';
import { isUnknownToService } from '../../../shared/api/serviceError';
import { look } from '../../../shared/api/askForState';
import { ANSWER, Undecided, decidedBy } from '../../../shared/webhook/answerInTime';
import { remembered } from '../../../shared/processMemory';

/** Time limits for webhook calls to a suspended execution, in ms. */
export const RESUME = {
	/** Every call is answered within this time. */
	answer: ANSWER.withinMs,
	/** The service is not asked about the same id again within this time. */
	askAgain: 10_000,
	/** How long an execution is remembered after its time was up: n8n may be late in waking it. */
	keep: 3_600_000,
};

/** One webhook call: when it arrived and when it must be answered, in ms since 1970. */
export interface WakeCall {
	context: IWebhookFunctions;
	cameAt: number;
	deadline: number;
}

/** A status request to the service about one submission. */
interface Question {
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

/**
 * Whether the service says that a submission has ended. For unverified calls: the service is asked
 * at most once in ten seconds. Throws {@link Undecided} if the only answer, "not yet", is older
 * than this call.
 */
export async function hasEndedAtService(
	now: WakeCall,
	state: KnownEndings,
	item: WaitingItem,
): Promise<boolean> {
	const key = submissionKey(item);
	if (state.ended.has(key)) return true;
	const last = state.asked.get(key);
	const question = last && isRecent(now, last) ? last : ask(now, state, item);
	if (await decidedBy(question.hasEnded, now.deadline)) return true;
	if (!isSince(now, question)) throw new Undecided();
	return false;
}

/**
 * Whether no submission of a suspension is worth waiting for: each has ended, or the service has
 * refused every look at it for two minutes (it was deleted), or it is a bot that is called off: no
 * delivery may follow for it, so the woken run polls it (see `mayGetTask`). Asks about one after
 * another, up to the first that has not ended. Only for verified, new deliveries, which bounds the number of requests. An
 * answer older than the delivery does not count, because another process may have received a delivery
 * since. A request that failed a moment ago is not repeated. Throws if it cannot be decided, for
 * example because the service does not know a submission yet: no delivery may follow that could wake
 * the execution, so this one has to be repeated.
 */
export async function haveAllEnded(
	now: WakeCall,
	state: KnownEndings,
	{ items }: Suspension,
): Promise<boolean> {
	let isUndecided = false;
	for (const item of Object.values(items)) {
		const key = submissionKey(item);
		if (state.ended.has(key)) continue;
		const last = state.asked.get(key);
		const failedLately = last?.hasFailed && isRecent(now, last);
		if (failedLately && !state.unknownLooks.has(key)) throw new Undecided();
		if (!failedLately) {
			const question = last && isSince(now, last) ? last : ask(now, state, item);
			const hasEnded = await decidedBy(question.hasEnded, now.deadline).catch((error: unknown) => {
				if (!state.unknownLooks.has(key)) throw error;
				return undefined;
			});
			if (hasEnded || (hasEnded === false && state.calledOff.has(key))) continue;
			if (hasEnded === false) return false;
		}
		isUndecided ||= !isUnknownForLong(state, key);
	}
	if (isUndecided) throw new Undecided();
	return true;
}

function isUnknownForLong({ unknownLooks }: KnownEndings, key: string): boolean {
	const looks = unknownLooks.get(key);
	return looks !== undefined && looks.last - looks.since >= POLL.refused;
}

function isRecent({ cameAt }: WakeCall, { at }: Question): boolean {
	// The clock may have been set back since.
	return Math.abs(cameAt - at) < RESUME.askAgain;
}

/** Whether a question is not older than the call. If it is of a later time, the clock was set back since. */
function isSince({ cameAt }: WakeCall, { at }: Question): boolean {
	return at >= cameAt && at <= Date.now();
}

function ask(now: WakeCall, state: KnownEndings, item: WaitingItem): Question {
	const key = submissionKey(item);
	const question: Question = { at: Date.now(), hasEnded: askWhetherEnded(now, state, item) };
	state.asked.set(key, question);
	question.hasEnded.then(
		(ended) => {
			if (ended) state.ended.add(key);
			state.unknownLooks.delete(key);
		},
		(failure: unknown) => {
			question.hasFailed = true;
			const { since } = state.unknownLooks.get(key) ?? { since: question.at };
			const last = question.at;
			// The clock may have been set back since the first of them.
			const looks = { since: Math.min(since, last), last };
			if (isUnknownToService(failure)) state.unknownLooks.set(key, looks);
			else state.unknownLooks.delete(key);
		},
	);
	return question;
}

async function askWhetherEnded(
	{ context, deadline }: WakeCall,
	state: KnownEndings,
	item: WaitingItem,
): Promise<boolean> {
	const seen = await look(context, idFields(item), { deadline, once: true });
	noteEnding(state, item, seen);
	const key = submissionKey(item);
	const since = calledOffSince(seen, state.calledOff.get(key));
	if (since === undefined) state.calledOff.delete(key);
	else state.calledOff.set(key, since);
	return isFinal(seen) || (since !== undefined && !mayGetTask(since));
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
