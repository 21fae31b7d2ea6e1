import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { seal, secretIn } from '../shared/webhook/sealedSecret';
import { isActivatedByUser, isSwitchedOnByUser, isTest } from '../shared/n8nInternals/activation';
import { jsonOf } from '../shared/jsonValues';
import { withoutSecrets } from '../shared/api/redact';
import { isUnknownToService, wasCertainlyRefused } from '../shared/api/serviceError';
import { botState } from '../shared/api/taskState';
import { credentialOf } from '../shared/api/credential';
import { checkLaunch, hasConsent, launchFrom } from '../shared/parameters/meetingLaunch';
import {
	cancelMeetingBot,
	cancelMeetingBotLater,
	callerOf,
	GRACE,
	hasLeft,
	isToBeCancelled,
	logNotCancelled,
	keepMeetingBot,
} from './cancelMeetingBot';
import { accountHash, fingerprintOf, isSentBy, isSentFor } from './sameLaunch';
import type { SentBot } from './triggerMemory';
import { settingsOf } from './triggerSettings';
import { TriggerStore } from './triggerStore';
import { submissionKey } from '../shared/api/submission';
import { NO_SECRET, STORED_SECRET, nameForNew } from './matchSecret';
import { PUBLIC_ADDRESS_SETTING, reasonAgainstWebhookUrl } from '../shared/webhook/publicAddress';
import { refuse } from '../shared/parameters/refuse';
import { abortLaunch, ACTIVATION, botIdOf, launchBot, SwitchedOff } from './launchBot';

/**
 * How long no bot is sent after a launch without an answer, in ms: the service may have sent one.
 * n8n retries a failed activation several times, and the user may change the parameters meanwhile.
 * Longer than any launch takes (see `ACTIVATION`).
 */
const UNANSWERED_MS = 10 * 60_000;

const LOOK_FOR_BOT =
	'Look in your account at the service whether the bot is there. If not, publish the workflow again (n8n 1: activate it) in ten minutes.';

/** `webhookMethods.checkExists`: true if no bot has to be sent. */
export async function isBotThere(context: IHookFunctions): Promise<boolean> {
	if (context.getNodeParameter('source') !== 'meeting') return true;
	// n8n also calls this at every start of a main process, when the bot has long been sent. A test
	// in the editor sends no bot either: the editor stops listening long before a meeting ends.
	const store = new TriggerStore(context);
	const { bot } = store;
	if (!isActivatedByUser(context)) {
		if (!bot && !isTest(context)) warnOfNoBot(context);
		return true;
	}
	if (!bot || !isSentFor(bot, context)) return false;
	if (bot.releasedAt !== undefined && Date.now() - bot.releasedAt > GRACE.ms) return false;
	// The account of the credential cannot take the bot of another account back, or receive its
	// transcript. Without consent, no bot may record.
	const account = await accountHash(context);
	if (!isSentBy(bot, account) || !hasConsent(context)) return false;
	keepMeetingBot(context, bot.id);
	const state = await stateAtService(context, bot.id);
	// This counts even if the service has deleted the bot since.
	const hasEndedHere =
		bot.hasDelivered || store.endingOf(submissionKey({ botId: bot.id })) !== undefined;
	if (!state && !hasEndedHere) return false;
	// Last week's bot is not there for this week's meeting. A new version of an active workflow sends
	// no second bot, because the meeting of the first may be the one that the user means.
	if (isSwitchedOnByUser(context) && (!state || hasLeft(state))) return false;
	const { id, hasDelivered } = bot;
	const fingerprint = fingerprintOf(context);
	store.bot = { id, fingerprint, account: bot.account ?? account, hasDelivered };
	store.save();
	return true;
}

/** n8n may have been killed while it published: then it has stored no bot, even if one was sent. */
function warnOfNoBot(context: IHookFunctions): void {
	context.logger.warn(
		`${context.getNode().name}: the workflow is published, but the trigger knows of no meeting bot, and a start of n8n sends none. Look in your account at the service whether the bot is there. If not, unpublish the workflow and publish it again (n8n 1: deactivate and activate it).`,
	);
}

/** `webhookMethods.create`: sends the bot, with this trigger as its webhook. */
export async function sendMeetingBot(context: IHookFunctions): Promise<boolean> {
	const launch = launchFrom(context);
	checkLaunch(context, launch);
	// Throws before a bot is paid for whose transcript this trigger could not output.
	settingsOf(context);
	const { baseUrl, apiKey } = await credentialOf(context);
	const address = context.getNodeWebhookUrl('default') ?? '';
	const reason = reasonAgainstWebhookUrl(address, baseUrl);
	if (reason) {
		throw refuse(
			context,
			`The webhook address of this n8n ${reason}: '${address}'`,
			`Set the public https address of n8n (${PUBLIC_ADDRESS_SETTING}), then publish the workflow again (n8n 1: activate it). No bot was sent.`,
		);
	}
	const body: IDataObject = {
		meeting_url: launch.meetingUrl,
		consent_acknowledged: true,
		webhook_url: address,
		...(launch.startAt && { start_at: launch.startAt }),
	};
	const store = new TriggerStore(context);
	if (store.unansweredUntil > Date.now()) {
		throw refuse(
			context,
			'It is not known whether the service has sent the bot, so the trigger does not send another one',
			LOOK_FOR_BOT,
		);
	}
	// If the answer is lost, n8n's next try must not send a second bot.
	store.unansweredUntil = Date.now() + UNANSWERED_MS;
	store.save();
	const answer = await launchBot(context, body).catch((error: unknown) => {
		if (error instanceof SwitchedOff || wasCertainlyRefused(error)) {
			store.unansweredUntil = 0;
			store.save();
		}
		throw error;
	});

	const id = botIdOf(answer);
	if (id === undefined) {
		throw refuse(
			context,
			'The service accepted the bot, but without an id, so this trigger cannot receive the transcript',
			`${LOOK_FOR_BOT} The service answered: ${jsonOf(withoutSecrets(answer, '')).slice(0, 300)}`,
		);
	}
	store.unansweredUntil = 0;
	const { bot: former } = store;
	const account = await accountHash(context);
	store.bot = { id, fingerprint: fingerprintOf(context), account };
	const secret = secretIn(answer.webhook_secret);
	const name = nameForNew(store, submissionKey({ botId: id }));
	store.keepSecret(name, secret ? seal(apiKey, STORED_SECRET, name, secret) : NO_SECRET);
	store.save();
	if (former) await cancelFormerBot(context, former, account);
	if (!secret) {
		context.logger.warn(
			`${context.getNode().name}: the service gave no webhook secret for meeting bot ${id}, so the trigger asks the service about each delivery for the bot`,
		);
	}
	return true;
}

/** n8n may have restarted after the trigger was switched off and before it cancelled its bot. */
async function cancelFormerBot(
	context: IHookFunctions,
	former: SentBot,
	account?: string,
): Promise<void> {
	if (former.releasedAt === undefined || isToBeCancelled(context, former.id)) return;
	if (isSentBy(former, account)) void cancelMeetingBot(context, await callerOf(context), former.id);
	else logNotCancelled(context, former.id, new Error('It belongs to another account.'));
}

/** Puts the next step into the message: on publishing, n8n does not show an error's description. */
export function withNextStep(context: IHookFunctions, error: unknown): NodeOperationError {
	const { message, description } = error as { message?: string; description?: string | null };
	const words = [message, description].filter(Boolean).join('. ') || String(error);
	const options = { description: description ?? undefined };
	return new NodeOperationError(context.getNode(), words, options);
}

/** `webhookMethods.delete`: cancels the bot, unless the trigger is switched on again at once. */
export async function releaseBot(context: IHookFunctions): Promise<boolean> {
	// The end of a test in the editor. The bot belongs to the published workflow.
	if (isTest(context)) return true;
	abortLaunch(context);
	const store = new TriggerStore(context);
	const { bot } = store;
	const isHere = bot !== undefined && bot.releasedAt === undefined;
	if (isHere) store.bot = { ...bot, releasedAt: Date.now() };
	// n8n 1 saves nothing of a failed activation, only what this hook changes after it.
	if (isHere || store.unansweredUntil > Date.now()) store.save();
	if (isHere) await cancelMeetingBotLater(context, bot.id);
	return true;
}

/**
 * The state of a bot; undefined if the service does not know the bot. If the service cannot be
 * asked, `{}`: then the bot counts as there, because two bots are worse than none.
 */
async function stateAtService(
	context: IHookFunctions,
	id: string,
): Promise<IDataObject | undefined> {
	try {
		return await botState(context, id, { deadline: Date.now() + ACTIVATION.lookMs });
	} catch (error) {
		return isUnknownToService(error) ? undefined : {};
	}
}
