import type { IWebhookFunctions } from 'n8n-workflow';

import { hasEnded } from '../../shared/api/undocumented';
import { idFields, submissionKey } from '../../shared/api/submission';
import type { Suspension, WaitingItem } from './sleepingItems';
import { look } from '../../shared/api/taskState';
import { ANSWER_WITHIN_MS, Undecided, inTime } from '../../shared/webhook/inTime';
import { remembered } from '../../shared/processState';

/** Times of a webhook call to a suspended execution, in ms. */
export const RESUME = {
	/** Within this every call is answered. */
	answer: ANSWER_WITHIN_MS,
	/** The service is not asked again about one id within this. */
	askAgain: 10_000,
};

/** One call: when it came and when it has to be answered, in ms since 1970. */
export interface Call {
	context: IWebhookFunctions;
	cameAt: number;
	deadline: number;
}

/** A question to the service about one submission. */
interface Question {
	at: number;
	hasEnded: Promise<boolean>;
	hasFailed?: boolean;
}

/**
 * What this process knows of a suspended execution. Kept in memory, because n8n saves nothing of a
 * call that does not wake the execution; what another process or a restart has made it miss, the
 * service is asked for.
 */
export interface KnownEndings {
	until: number;
	/** Submissions that have ended, by their key. */
	ended: Set<string>;
	/** Those of them that ended as `completed`, as far as that was said. */
	completed: Set<string>;
	/** Those of them whose delivery was answered with 200: a repeat needs no work. */
	noted: Set<string>;
	/** The last question about each submission. */
	asked: Map<string, Question>;
	/** The decision about one delivery comes after that about the one before. */
	turn: Promise<unknown>;
	/** Set while n8n wakes the execution, and for good when it has: whether that succeeded. */
	woken?: Promise<boolean>;
}

/** By execution, node and run; an entry goes when its execution has given up waiting. */
const known = remembered<KnownEndings>('suspendedRuns');

export function knownOf(
	context: IWebhookFunctions,
	{ run, until, items }: Suspension,
): KnownEndings {
	const now = Date.now();
	for (const [key, { until: end }] of known) if (end < now) known.delete(key);
	// An execution may be suspended again: by another node, or by the same one in a loop.
	const key = [context.getExecutionId(), context.getNode().id, run].join(' ');
	let state = known.get(key);
	if (!state) {
		const ended = Object.values(items).filter((item) => item.ended);
		state = {
			until,
			ended: new Set(ended.map(submissionKey)),
			completed: new Set(),
			noted: new Set(),
			asked: new Map(),
			turn: Promise.resolve(),
		};
		known.set(key, state);
	}
	return state;
}

/**
 * Whether the service says that a submission has ended, for a call that nobody has verified: it is
 * asked at most once in ten seconds. Throws {@link Undecided} where it said "not yet" before this call.
 */
export async function hasEndedAtService(
	now: Call,
	state: KnownEndings,
	item: WaitingItem,
): Promise<boolean> {
	const key = submissionKey(item);
	if (state.ended.has(key)) return true;
	const last = state.asked.get(key);
	const question = last && isRecent(now, last) ? last : ask(now, state, item);
	if (await inTime(question.hasEnded, now.deadline)) return true;
	if (question.at < now.cameAt) throw new Undecided();
	return false;
}

/**
 * Whether all submissions of a suspension have ended: asks for one after the other until the first
 * that has not. For a delivery that is verified and new, so that the number of questions is bounded.
 * An answer from before the delivery will not do: another process may have taken one since. Only a
 * question that failed a moment ago is not asked again. Throws where it cannot be decided.
 */
export async function haveAllEnded(
	now: Call,
	state: KnownEndings,
	{ items }: Suspension,
): Promise<boolean> {
	for (const item of Object.values(items)) {
		const key = submissionKey(item);
		if (state.ended.has(key)) continue;
		const last = state.asked.get(key);
		if (last?.hasFailed && isRecent(now, last)) throw new Undecided();
		const question = last && last.at >= now.cameAt ? last : ask(now, state, item);
		if (!(await inTime(question.hasEnded, now.deadline))) return false;
	}
	return true;
}

function isRecent({ cameAt }: Call, { at }: Question): boolean {
	return cameAt - at < RESUME.askAgain;
}

function ask(now: Call, state: KnownEndings, item: WaitingItem): Question {
	const key = submissionKey(item);
	const question: Question = { at: Date.now(), hasEnded: hasEndedNow(now, state, item) };
	state.asked.set(key, question);
	question.hasEnded.then(
		(ended) => void (ended && state.ended.add(key)),
		() => (question.hasFailed = true),
	);
	return question;
}

async function hasEndedNow(
	{ context, deadline }: Call,
	{ completed }: KnownEndings,
	item: WaitingItem,
): Promise<boolean> {
	const { status } = await look(context, idFields(item), { deadline, once: true });
	if (status === 'completed') completed.add(submissionKey(item));
	return hasEnded(status);
}
