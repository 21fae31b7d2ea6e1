import type { IWebhookFunctions } from 'n8n-workflow';

import { calledOffSince, isFinal, mayGetTask } from '../../../shared/api/calledOffBot';
import { idFields, submissionKey } from '../../../shared/api/submission';
import type { Suspension, WaitingItem } from '../once/suspensionState';
import { POLL } from '../../wait/pauseBetweenLooks';
import { isUnknownToService } from '../../../shared/api/serviceError';
import { credentialOf } from '../../../shared/api/credential';
import { look } from '../../../shared/api/askForState';
import { backgroundCaller } from '../../../shared/webhook/backgroundCaller';
import { Undecided, decidedBy } from '../../../shared/webhook/answerInTime';
import { RESUME, noteEnding, type KnownEndings, type Question } from './knownEndings';

/** One webhook call: when it arrived and when it must be answered, in ms since 1970. */
export interface WakeCall {
	context: IWebhookFunctions;
	cameAt: number;
	deadline: number;
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
 * Whether no submission of a suspension is worth waiting for: each has ended, or the service has refused
 * every look at it for two minutes (it was deleted), or it is a bot that is called off: no delivery may
 * follow for it, so the woken run polls it (see `mayGetTask`). Asks about one after another, up to the
 * first that has not ended. Only for verified, new deliveries, which bounds the number of requests. An
 * answer older than the delivery does not count, because another process may have received a delivery
 * since. A request that failed a moment ago is not repeated. Throws if it cannot be decided, for example
 * because the service does not know a submission yet: no delivery may follow that could wake the
 * execution, so this one has to be repeated.
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

/** Outlives the call, which is answered in time: at a slow service, the next repeat uses the answer. */
async function askWhetherEnded(
	{ context }: WakeCall,
	state: KnownEndings,
	item: WaitingItem,
): Promise<boolean> {
	const deadline = Date.now() + RESUME.longestLook;
	const credential = await credentialOf(context);
	const caller = backgroundCaller(context, async () => credential);
	const seen = await look(caller, idFields(item), { deadline, once: true });
	noteEnding(state, item, seen);
	const key = submissionKey(item);
	const since = calledOffSince(seen, state.calledOff.get(key));
	if (since === undefined) state.calledOff.delete(key);
	else state.calledOff.set(key, since);
	return isFinal(seen) || (since !== undefined && !mayGetTask(since));
}
