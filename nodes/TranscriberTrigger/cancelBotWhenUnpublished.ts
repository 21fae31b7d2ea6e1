import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { sleep } from 'n8n-workflow';

import { credentialOf } from '../shared/api/credential';
import {
	ServiceError,
	isRefusedForGood,
	isUnknownToService,
	wasCertainlyRefused,
} from '../shared/api/serviceError';
import { botState } from '../shared/api/askForState';
import { saysNotEnded } from '../shared/api/undocumented/answers';
import { idIn } from '../shared/api/undocumented/idNames';
import { hasEnded } from '../shared/api/statusMeaning';
import { callService } from '../shared/api/callService';
import { STOPS_SPENDING, type Caller } from '../shared/api/types';
import { remembered } from '../shared/processMemory';
import { asError } from '../shared/asError';
import { backgroundCaller } from '../shared/webhook/backgroundCaller';
import { accountHash, isSentBy } from './sameMeetingBot';
import type { SentBot } from './triggerMemory';

/**
 * A new version of the workflow looks like a switch-off at first (see n8nInternals/activation.ts). So
 * the trigger cancels a bot only after it has stayed off for this long, in ms.
 */
export const GRACE = { ms: 10_000 };

export const CANCEL_BOT = {
	/** Limit of the status check before the DELETE, in ms: every second of recording costs money. */
	lookMs: 2_000,
	/** How long one attempt may take, in ms from its turn within the rate limits. */
	attemptMs: 30_000,
	/** How long to keep trying, in ms. */
	patienceMs: 120_000,
	/** The first and the longest pause between two attempts, in ms. */
	pauseMs: 1_000,
	longestPauseMs: 15_000,
	/** For how long after the launch the service may not show a bot yet, in ms. */
	newMs: 120_000,
	/** For how long after a DELETE the service may still take the bot for one that records, in ms. */
	cancelledMs: 15_000,
};

/** What a cancellation has to know of the bot. */
interface Bot extends Pick<SentBot, 'id' | 'account' | 'sentAt'> {
	/** The credential may be that of another account by now, so that a 404 says nothing about the bot. */
	mayBeElsewhere?: boolean;
}

interface SwitchOff {
	/** A DELETE was sent, so the bot may be gone, whatever its answer was. */
	isSent: boolean;
	/** The bot does not record any more, as far as the service says. */
	isDone?: boolean;
}

/**
 * Bots that wait for the end of {@link GRACE}, are being cancelled, or were cancelled a moment ago, each with its last
 * switch-off.
 */
const botsToCancel = remembered<SwitchOff>('botsToCancel');

function switchOffOf(key: string): SwitchOff {
	const switchOff = { isSent: botsToCancel.get(key)?.isSent ?? false };
	botsToCancel.set(key, switchOff);
	return switchOff;
}

/** Cancels a bot if the trigger stays off for the whole of {@link GRACE}. */
export async function cancelBotWhenUnpublished(
	context: IHookFunctions,
	bot: SentBot,
): Promise<void> {
	const { id } = bot;
	const key = botKey(context, bot);
	const switchOff = switchOffOf(key);
	// Must not throw: n8n would not save that the trigger was switched off.
	const caller = await callerOf(context).catch((error: unknown) => asError(error));
	const account = await accountHash(context);
	const mayBeElsewhere = !isSentBy(bot, account);
	void sleep(GRACE.ms).then(async () => {
		if (botsToCancel.get(key) !== switchOff) return;
		if (!(caller instanceof Error)) {
			await cancelUnlessKept(context, caller, { ...bot, mayBeElsewhere }, switchOff);
			return;
		}
		logNotCancelled(context, id, caller);
		botsToCancel.delete(key);
	});
}

/** Cancels a bot without {@link GRACE}, unless {@link keepMeetingBot} comes before its first DELETE. */
export async function cancelUnlessKept(
	context: IHookFunctions,
	caller: Caller,
	bot: Bot,
	switchOff = switchOffOf(botKey(context, bot)),
): Promise<void> {
	const key = botKey(context, bot);
	const isStillOff = () => botsToCancel.get(key) === switchOff;
	switchOff.isDone = await cancelUntilAccepted(context, caller, bot, () => {
		switchOff.isSent ||= isStillOff();
		return isStillOff();
	});
	if (switchOff.isDone && switchOff.isSent) await sleep(CANCEL_BOT.cancelledMs);
	if (isStillOff()) botsToCancel.delete(key);
}

/** The trigger is on again: keeps its bot. False if it is too late, because a DELETE was sent. */
export function keepMeetingBot(context: IHookFunctions, bot: Bot): boolean {
	const key = botKey(context, bot);
	if (botsToCancel.get(key)?.isSent) return false;
	botsToCancel.delete(key);
	return true;
}

/** Whether a bot waits for the end of {@link GRACE}, is being cancelled, or was cancelled a moment ago. */
export function isToBeCancelled(context: IHookFunctions, bot: Bot): boolean {
	return botsToCancel.has(botKey(context, bot));
}

/** Whether a bot was cancelled a moment ago. */
export function wasCancelled(context: IHookFunctions, bot: Bot): boolean {
	return botsToCancel.get(botKey(context, bot))?.isDone ?? false;
}

/** With the account, because two accounts may have a bot with the same number as its id. */
function botKey(context: IHookFunctions, { id, account = '' }: Bot): string {
	return `${context.getWorkflow().id} ${context.getNode().id} ${account} ${id}`;
}

/**
 * DELETE /meeting/{bot_id}, repeated until the service accepts it. Sends none if a status check
 * first shows clearly that the bot is done, to protect a transcript on its way. `maySend` is asked
 * before each DELETE. False if the bot may go on. Never throws.
 */
export async function cancelUntilAccepted(
	context: IHookFunctions,
	caller: Caller,
	bot: Bot,
	maySend = () => true,
): Promise<boolean> {
	const { id } = bot;
	const url = `/meeting/${encodeURIComponent(id)}`;
	if (await isOver(caller, id)) return true;
	const end = Date.now() + CANCEL_BOT.patienceMs;
	let mayBeCancelled = false;
	for (let tries = 0; maySend(); tries++) {
		const failure = await tryToCancel(caller, url, end);
		if (!failure) return true;
		const isGoneIfUnknown = mayBeCancelled || !isNew(bot);
		if (isGoneIfUnknown && isUnknownToService(failure)) {
			if (bot.mayBeElsewhere) logNotCancelled(context, id, new Error(OTHER_ACCOUNT));
			return !bot.mayBeElsewhere;
		}
		const saidNo = failure === ANSWERED_NO;
		mayBeCancelled ||= !saidNo && !wasCertainlyRefused(failure);
		// The service may refuse to stop a bot that has left meanwhile.
		const isRefused = saidNo || isRefusedForGood(failure);
		if (isRefused && (await isOver(caller, id, isGoneIfUnknown && !bot.mayBeElsewhere)))
			return true;
		const backoff = Math.min(CANCEL_BOT.pauseMs * 2 ** tries, CANCEL_BOT.longestPauseMs);
		const asked = failure instanceof ServiceError ? failure.problem.retryAfter : undefined;
		// The service may be back sooner, and every second of recording costs money.
		const longest = end - CANCEL_BOT.attemptMs - Date.now();
		const delay = Math.max(backoff, Math.min(asked ?? 0, longest));
		if (Date.now() + delay > end) {
			logNotCancelled(context, id, failure);
			return false;
		}
		await sleep(delay);
	}
	return true;
}

/** Why a bot that the service does not know may go on. */
export const OTHER_ACCOUNT =
	'It may belong to another account: the credential was changed after the bot was sent.';

export function logNotCancelled(context: IHookFunctions, id: string, { message }: Error): void {
	context.logger.error(
		`${context.getNode().name}: meeting bot ${id} could not be cancelled, so it may go on recording, which costs money. Stop it with Meeting: Cancel or Stop, or in your account at the service. ${message}`,
	);
}

/** Whether the service may not show a bot yet. */
export function isNew({ sentAt = 0 }: Bot): boolean {
	return Date.now() - sentAt < CANCEL_BOT.newMs;
}

/** The failure of a DELETE that was answered with a success which says that nothing was done. */
const ANSWERED_NO = new Error('The service answered that the bot is not cancelled.');

/** The failure of one DELETE, if it failed. */
async function tryToCancel(caller: Caller, url: string, end: number): Promise<Error | undefined> {
	const bounds = { deadline: end, fromTurn: CANCEL_BOT.attemptMs, once: true };
	try {
		const options = { policy: STOPS_SPENDING, ...bounds };
		const answer = await callService(caller, { method: 'DELETE', url }, options);
		return saysNotEnded(answer) ? ANSWERED_NO : undefined;
	} catch (error) {
		return asError(error);
	}
}

/**
 * Whether the service clearly says that the bot no longer records. That the service does not know the
 * bot counts only if `isGoneIfUnknown`.
 */
async function isOver(caller: Caller, id: string, isGoneIfUnknown = false): Promise<boolean> {
	const deadline = Date.now() + CANCEL_BOT.lookMs;
	try {
		return hasLeft(await botState(caller, id, { deadline, once: true, policy: STOPS_SPENDING }));
	} catch (error) {
		return isGoneIfUnknown && isUnknownToService(error);
	}
}

/**
 * Whether GET /meeting/{bot_id} says clearly that the bot no longer records. A bot with a task has
 * left the meeting, and the transcript is on its way.
 */
export function hasLeft(bot: IDataObject): boolean {
	return idIn(bot.task_id) !== undefined || hasEnded(bot.status);
}

/** A caller with the credential of now, because n8n may not give one after the hook has returned. */
export async function callerOf(context: IHookFunctions): Promise<Caller> {
	const credential = await credentialOf(context);
	return backgroundCaller(context, async () => credential);
}
