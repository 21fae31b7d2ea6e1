import type { IDataObject, IHookFunctions } from 'n8n-workflow';

import { isActivatedByUser, isSwitchedOnByUser, isTest } from '../shared/n8nInternals/activation';
import { ServiceError, isRefusedForGood, isUnknownToService } from '../shared/api/serviceError';
import { goesOn, statusWord } from '../shared/api/statusMeaning';
import { botState } from '../shared/api/askForState';
import { messageOf } from '../shared/asError';
import { hasConsent } from '../shared/parameters/meetingLaunch';
import { refuse } from '../shared/parameters/refuse';
import {
	GRACE,
	callerOf,
	cancelBotWhenUnpublished,
	hasLeft,
	isNew,
	keepMeetingBot,
} from './cancelBotWhenUnpublished';
import { ACTIVATION } from './launchBot';
import {
	OTHER_SENDER,
	accountHash,
	fingerprintOf,
	isInOtherZone,
	isSentBy,
	isSentByOtherN8n,
	isSentFor,
	isSentFromOtherAddress,
	mayBeOfOtherN8n,
} from './sameMeetingBot';
import type { SentBot } from './triggerMemory';
import { BotStore } from './botStore';

/**
 * After this time without its trigger, in ms, and no meeting to come, only a clear word of the service says that a bot of another
 * n8n is there.
 */
const OFF_MS = 24 * 3600 * 1000;

/** In ms since 1970: a bot that was released then is not taken back. */
const LONG_AGO = 0;

/** `webhookMethods.checkExists`: true if no bot has to be sent. */
export async function isBotThere(context: IHookFunctions): Promise<boolean> {
	// A test in the editor sends no bot: the editor stops listening long before a meeting ends.
	if (isTest(context)) return true;
	countAsOff(context);
	if (context.getNodeParameter('source') !== 'meeting') return true;
	const store = new BotStore(context);
	if (!isActivatedByUser(context)) await goOn(context, store);
	else if (!(await isBotKept(context, store)) && !store.wasSwitchedOff) return false;
	// No error after a switch-off: n8n 1 would then switch the version before on again.
	if (!store.wasSwitchedOff) store.isOn = true;
	return true;
}

/**
 * A trigger that a user publishes before any other hook was off. If the publication fails, the `delete`
 * hook that follows then leaves a bot alone that another n8n may have sent.
 */
function countAsOff(context: IHookFunctions): void {
	const store = new BotStore(context);
	if (isActivatedByUser(context) && store.isOn === undefined) store.isOn = false;
}

/**
 * n8n adds the workflow by itself: at every start of a main process, when the bot has long been
 * sent, and again after another trigger of the workflow did not start. Before the latter, n8n calls
 * the `delete` hook if that trigger is a webhook. Sends none, but keeps the bot that is there.
 */
async function goOn(context: IHookFunctions, store: BotStore): Promise<void> {
	const { bot } = store;
	if (!bot) {
		warnOfNoBot(context, 'knows of no meeting bot');
	} else if (isSentByOtherN8n(bot, context)) {
		warnOfNoBot(context, `did not send a meeting bot: another n8n sent bot ${bot.id}`);
	} else if (bot.releasedAt === undefined) {
		warnOfOtherAddress(context, store, bot);
	} else {
		const wasOffForLong = isReleasedForLong(bot);
		takeBack(store, bot);
		const isKept = keepMeetingBot(context, bot);
		if (!isKept || (wasOffForLong && isGone(await stateAtService(context, bot)))) {
			if (store.wasSwitchedOff) return;
			store.bot = bot;
			warnOfNoBot(context, 'has no meeting bot, because it was off meanwhile');
		} else {
			warnOfOtherAddress(context, store, bot);
			store.save();
		}
	}
}

/** Before the service is asked, so that a switch-off meanwhile finds the bot, and cancels it. */
function takeBack(store: BotStore, bot: SentBot): void {
	store.bot = { ...bot, releasedAt: undefined };
}

/** Whether the trigger has been off for so long that the cancellation of its bot may have begun. */
function isReleasedForLong({ releasedAt = Infinity }: SentBot): boolean {
	return Date.now() - releasedAt > GRACE.ms;
}

/** Whether the bot that is there is the one for this publication of the user. */
async function isBotKept(context: IHookFunctions, store: BotStore): Promise<boolean> {
	const { bot } = store;
	if (!bot || !isSentFor(bot, context)) return false;
	// Not the user: n8n adds the workflow again because one of its other triggers has failed.
	if (store.isOn && bot.releasedAt === undefined) {
		await warnIfGone(context, store, bot);
		// An activation that n8n 2.41 gave up before the service answered has not saved the bot.
		store.save();
		return true;
	}
	// Without consent, no bot may record. Parameters are read before the first pause: see `sendBotWhenPublished`.
	if (!hasConsent(context)) return false;
	const isForOtherTime = isInOtherZone(bot, context);
	const fingerprint = fingerprintOf(context);
	if (mayBeOfOtherN8n(bot, context, bot.releasedAt !== undefined)) {
		if (!store.hasDelivered(bot)) await refuseWhileThere(context, bot);
		if (isSentByOtherN8n(bot, context)) return false;
	}
	if (isForOtherTime) return false;
	// The account of the credential cannot take the bot of another account back, or receive its
	// transcript.
	const account = await accountHash(context);
	if (!isSentBy(bot, account)) return false;
	// After the account is read, which takes a moment.
	if (isReleasedForLong(bot)) return false;
	// Before the look, which may take longer than the rest of the time.
	if (!keepMeetingBot(context, bot)) return false;
	takeBack(store, { ...bot, fingerprint, account: bot.account ?? account });
	if (await isStillThere(context, store, bot)) {
		warnOfOtherAddress(context, store, bot);
		store.save();
		return true;
	}
	if (bot.releasedAt !== undefined && !store.wasSwitchedOff) {
		// Or n8n 2 would keep this bot in its next try, if the service refuses the new one.
		store.bot = { ...bot, releasedAt: LONG_AGO };
		store.save();
		// The service may refuse the new bot, and then nothing else would cancel this one.
		if (!store.hasDelivered(bot)) await cancelBotWhenUnpublished(context, bot);
	}
	return false;
}

/** Whether the bot is there for the meeting that the user means. */
async function isStillThere(
	context: IHookFunctions,
	store: BotStore,
	bot: SentBot,
): Promise<boolean> {
	// A bot that has reported its end is not there, whatever the service says of it since.
	const hasEndedHere = store.hasDelivered(bot);
	const state = hasEndedHere ? undefined : await stateAtService(context, bot);
	// Last week's bot is not there for this week's meeting. A new version of an active workflow sends
	// no second bot, because the meeting of the first may be the one that the user means. The trigger
	// is still on here if another main process has switched it off, to publish a new version.
	if (isSwitchedOnByUser(context) && !store.isOn && isGone(state)) return false;
	if (isGone(state) && !hasEndedHere) warnOfGoneBot(context, bot, state);
	return true;
}

/** The bot may have been stopped by hand, or its transcript may still be made. */
function warnOfGoneBot(context: IHookFunctions, { id }: SentBot, state?: IDataObject): void {
	const what = state
		? `meeting bot ${id} does not record any more (status: ${statusWord(state.status) ?? 'not known'})`
		: `the service does not know meeting bot ${id} any more`;
	context.logger.warn(
		`${context.getNode().name}: ${what}, and the trigger sends no other one now. If the transcript of its meeting is still to come, wait for that. If none is in the meeting and you want one, unpublish the workflow, wait for half a minute, and publish it again (n8n 1: deactivate and activate it).`,
	);
}

/**
 * n8n 1 switches a workflow off without the `delete` hook if another trigger of it that polls refuses to start. When the
 * user switches it on again, that looks like n8n itself, which must not send a second bot.
 */
async function warnIfGone(context: IHookFunctions, store: BotStore, bot: SentBot): Promise<void> {
	if (!isSwitchedOnByUser(context) || store.hasDelivered(bot)) return;
	const state = await stateAtService(context, bot);
	if (isGone(state)) warnOfGoneBot(context, bot, state);
}

/** n8n may have been killed while it published: then it has stored no bot, even if one was sent. */
function warnOfNoBot(context: IHookFunctions, what: string): void {
	context.logger.warn(
		`${context.getNode().name}: the workflow is published, but the trigger ${what}, and a start of n8n sends none. Look in your account at the service whether the bot is there. If it is, its transcript does not start this workflow: fetch it with Meeting: Wait Until Transcribed. If it is not, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).`,
	);
}

function warnOfOtherAddress(context: IHookFunctions, store: BotStore, bot: SentBot): void {
	if (store.hasDelivered(bot) || !isSentFromOtherAddress(bot, context)) return;
	context.logger.warn(
		`${context.getNode().name}: meeting bot ${bot.id} has the address that n8n had when the bot was sent, so its transcript does not start the workflow. Before the meeting: unpublish the workflow, wait for half a minute, and publish it again (n8n 1: deactivate and activate it). After it: fetch the transcript with Meeting: Get and Transcript: Get Result.`,
	);
}

/** Refuses to publish while the bot of another n8n is there, or may be: see {@link mayBeOfOtherN8n}. */
async function refuseWhileThere(context: IHookFunctions, bot: SentBot): Promise<void> {
	const look = { deadline: Date.now() + ACTIVATION.lookMs };
	// A word that nobody knows, or a refusal, must not block the workflow for ever.
	const { releasedAt = Infinity, startsAt = 0 } = bot;
	const isOff = Date.now() - Math.max(releasedAt, startsAt) > OFF_MS;
	const state = await botState(await callerOf(context), bot.id, look).catch((error: unknown) => {
		if (!isUnknownToService(error) && !(isOff && isAboutTheBot(error))) throw error;
		return isNew(bot) ? ({} as IDataObject) : undefined;
	});
	if (!state || isGone(state) || (isOff && !goesOn(state.status))) return;
	throw refuse(
		context,
		`The transcript of bot ${bot.id}, which was sent to this meeting, does not come to this trigger: ${OTHER_SENDER}`,
		'If another n8n still runs this workflow, unpublish it there. Otherwise, stop the bot with Meeting: Cancel or Stop. Then publish this workflow again (n8n 1: activate it). No second bot was sent.',
	);
}

/** Whether the service says that it does not show this bot, such as one of another account. */
function isAboutTheBot(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	return isRefusedForGood(failure) || failure.problem.status === 403;
}

/** Whether a bot no longer records. */
function isGone(state: IDataObject | undefined): boolean {
	return !state || hasLeft(state);
}

/**
 * The state of a bot; undefined if the service does not know the bot. If the service cannot be asked, or may
 * not show the bot yet, `{}`: then the bot counts as there, because two bots are worse than none.
 */
async function stateAtService(
	context: IHookFunctions,
	bot: SentBot,
): Promise<IDataObject | undefined> {
	try {
		// The poll of another trigger can take the sandbox of the activation away (see `requestWithApiKey`).
		const caller = await callerOf(context);
		return await botState(caller, bot.id, { deadline: Date.now() + ACTIVATION.lookMs });
	} catch (error) {
		if (isUnknownToService(error) && !isNew(bot)) return undefined;
		context.logger.warn(
			`${context.getNode().name}: the service does not say whether the meeting bot ${bot.id} is there, so no new one is sent: ${messageOf(error)}`,
		);
		return {};
	}
}
