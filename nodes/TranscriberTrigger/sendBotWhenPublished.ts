import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IHookFunctions,
} from 'n8n-workflow';

import { credentialOf } from '../shared/api/credential';
import { withoutSecrets } from '../shared/api/redact';
import { reasonIn, reasonOfNo } from '../shared/api/refusalBody';
import { adviceIfUncertain, wasCertainlyRefused } from '../shared/api/serviceError';
import { submissionKey } from '../shared/api/submission';
import { hasEnded, statusIn, statusWithoutTask } from '../shared/api/statusMeaning';
import { idIn } from '../shared/api/undocumented/idNames';
import { saysNotAccepted } from '../shared/api/undocumented/submissions';
import { messageOf } from '../shared/asError';
import { isPublishedAgain } from '../shared/n8nInternals/activation';
import { jsonOf } from '../shared/jsonValues';
import { checkLaunch, launchFrom } from '../shared/parameters/meetingLaunch';
import { refuse } from '../shared/parameters/refuse';
import { zoneOfStart } from '../shared/parameters/startAt';
import { remembered } from '../shared/processMemory';
import { PUBLIC_ADDRESS_SETTING, reasonAgainstWebhookUrl } from '../shared/webhook/publicAddress';
import { secretIn } from '../shared/webhook/sealedSecret';
import {
	CANCEL_BOT,
	OTHER_ACCOUNT,
	callerOf,
	cancelUnlessKept,
	wasCancelled,
	isToBeCancelled,
	keepMeetingBot,
	logNotCancelled,
} from './cancelBotWhenUnpublished';
import { ACTIVATION, SwitchedOff, botIdOf, launchBot, launchKey } from './launchBot';
import { NO_SECRET, forStore, nameForNew } from './verifyDelivery';
import {
	accountHash,
	fingerprintOf,
	isInOtherZone,
	isSentBy,
	isSentFor,
	mayBeOfOtherN8n,
	senderOf,
	warnOfBotLeftAlone,
} from './sameMeetingBot';
import type { SentBot } from './triggerMemory';
import { settingsOf } from './triggerSettings';
import { BotStore } from './botStore';

/**
 * Why it is not known whether a bot was sent, by workflow and node. n8n 2 tries to activate several
 * times, and shows only the error of the last try.
 */
const unknownLaunches = remembered<string>('unknownLaunches');

/** Refusals that took long, by workflow and node: what was refused, why, and until when that counts, in ms since 1970. */
const slowRefusals = remembered<{ what: string; error: unknown; until: number }>('slowRefusals');

/**
 * How long no bot is sent after a launch without an answer, in ms: the service may have sent one.
 * n8n retries a failed activation several times, and the user may change the parameters meanwhile.
 * Longer than any launch takes (see `ACTIVATION`).
 */
const UNANSWERED_MS = 10 * 60_000;

const LOOK_FOR_BOT =
	'Look in your account at the service whether the bot is there. If it is, its transcript does not start this workflow, and to publish the workflow again sends, and charges, a second bot: stop the first with Meeting: Cancel or Stop, or fetch its transcript with Meeting: Wait Until Transcribed. If it is not there, publish the workflow again (n8n 1: activate it) in ten minutes.';

/** `webhookMethods.create`: sends the bot, with this trigger as its webhook. */
export async function sendBotWhenPublished(context: IHookFunctions): Promise<void> {
	const launch = launchFrom(context);
	const store = new BotStore(context);
	checkIsNotOver(context, store.bot, launch.startAt);
	checkLaunch(context, launch);
	// Throws before a bot is paid for whose transcript this trigger could not output.
	settingsOf(context);
	// Parameters are read before the first pause: the poll of another trigger can take away what n8n 2
	// needs for their expressions (see `requestWithApiKey`), and an error after the launch would lose the bot.
	const fingerprint = fingerprintOf(context);
	const isSameLaunch =
		store.bot !== undefined && isSentFor(store.bot, context) && !isInOtherZone(store.bot, context);
	const startsAt = launch.startAt === undefined ? undefined : Date.parse(launch.startAt);
	const sent = { zone: zoneOfStart(context), startsAt, ...senderOf(context) };
	const credential = await credentialOf(context);
	const { baseUrl, apiKey } = credential;
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
	if (store.unansweredUntil > Date.now()) {
		const reason = unknownLaunches.get(launchKey(context));
		throw refuse(
			context,
			'It is not known whether the service has sent the bot, so the trigger does not send another one',
			[LOOK_FOR_BOT, reason && `The launch ended like this: ${reason}`].filter(Boolean).join(' '),
		);
	}
	// Before the launch, so that nothing comes between its answer and the stored bot: a switch-off in
	// between would not know of the bot.
	const account = await accountHash(context);
	const what = `${fingerprint} ${account}`;
	const refusal = slowRefusals.get(launchKey(context));
	// The repeats have the mode of a new version, unlike the next try of a user on n8n 1 and 2.30.
	if (refusal?.what === what && Date.now() < refusal.until && isPublishedAgain(context)) {
		throw refusal.error;
	}
	unknownLaunches.delete(launchKey(context));
	// If the answer is lost, n8n's next try must not send a second bot.
	store.unansweredUntil = Date.now() + UNANSWERED_MS;
	store.save();
	const began = Date.now();
	const answer = await launchBot(context, store, { credential, account }, body).catch(
		(error: unknown) => {
			if (error instanceof SwitchedOff || wasCertainlyRefused(error)) {
				store.unansweredUntil = 0;
				store.save();
				if (!(error instanceof SwitchedOff) && Date.now() - began >= ACTIVATION.slowMs) {
					const until = Date.now() + ACTIVATION.repeatedMs;
					slowRefusals.set(launchKey(context), { what, error, until });
				}
				throw error;
			}
			const reason = store.wasSwitchedOff ? 'The workflow was switched off' : messageOf(error);
			const details = adviceIfUncertain(error);
			unknownLaunches.set(launchKey(context), `${reason}. ${details}`.trim());
			throw refuse(
				context,
				`It is not known whether the service has sent the bot: ${reason}`,
				`${LOOK_FOR_BOT} ${details}`.trim(),
			);
		},
	);

	const id = botIdOf(answer);
	if (id === undefined) {
		const shown = withoutSecrets(answer, {}) as IDataObject;
		const reason = saysNotAccepted(answer)
			? `The service answered the launch with a success, but without the id of a bot, and says: ${reasonOfNo(shown)}`
			: 'The service accepted the bot, but without an id, so this trigger cannot receive the transcript';
		const details = `The service answered: ${jsonOf(shown).slice(0, 300)}`;
		unknownLaunches.set(launchKey(context), `${reason}. ${details}`);
		throw refuse(context, reason, `${LOOK_FOR_BOT} ${details}`);
	}
	store.unansweredUntil = 0;
	// Before `keepMeetingBot`: what cancels a bot that the service calls failed must go on.
	const status = statusIn(answer.status);
	if (idIn(answer.task_id) === undefined && hasEnded(statusWithoutTask({ status }))) {
		store.save();
		const shown = withoutSecrets(answer, { webhookSecret: secretIn(answer.webhook_secret) });
		const reason = reasonIn({ ...(shown as IDataObject), status });
		throw refuse(
			context,
			`The service answered the launch with bot ${id}, which joins no meeting (status: ${String(status)})${reason && `: ${reason}`}`,
			'Correct what the service names, then publish the workflow again (n8n 1: activate it). If it names nothing, wait for half a minute before that.',
		);
	}
	const { bot: former } = store;
	// A service may answer with the bot that it already has for this link.
	const isSameBot = former?.id === id && isSentBy(former, account);
	const known = { id, account: isSameBot ? former.account : account };
	if (!keepMeetingBot(context, known)) {
		store.save();
		// The service may have sent it to the meeting again.
		void cancelUnlessKept(context, await callerOf(context), known);
		throw refuse(
			context,
			`The service answered the launch with bot ${id}, which this trigger is cancelling, so no bot joins the meeting`,
			'Wait for half a minute, then publish the workflow again (n8n 1: activate it).',
		);
	}
	store.isOn = true;
	store.bot = { id, fingerprint, account, ...sent, sentAt: Date.now() };
	const secret = secretIn(answer.webhook_secret);
	const name = nameForNew(store, submissionKey({ botId: id }));
	store.keepSecret(name, secret ? forStore(apiKey, name, secret) : NO_SECRET);
	store.save();
	if (former && !isSameBot)
		await cancelFormerBot(context, store, former, { account, isSameLaunch });
	if (!secret) {
		context.logger.warn(
			`${context.getNode().name}: the service gave no webhook secret for meeting bot ${id}, so the trigger asks the service about each delivery for the bot that the Webhook Secret of the credential does not fit`,
		);
	}
}

/**
 * Completes the error of a publication after which the bot of the one before is cancelled, because no other is
 * sent. n8n 2.41 shows only the error of its last try, which may come after the DELETE.
 */
export function withFormerBot(context: IHookFunctions, error: unknown): unknown {
	const store = new BotStore(context);
	const { bot } = store;
	if (!bot || !isReleasedJustNow(bot) || store.hasDelivered(bot)) return error;
	if (error instanceof NodeOperationError || error instanceof NodeApiError) {
		// The service may refuse the cancellation.
		const words = `Bot ${bot.id}, which was sent before, is to leave its meeting. If the workflow is still not published in a minute, and Meeting: Get shows that the bot goes on, which costs money, stop it with Meeting: Cancel or Stop.`;
		const { description } = error;
		// n8n may try again with the same error.
		if (!description?.includes(words))
			error.description = [description, words].filter(Boolean).join(' ');
	}
	return error;
}

/** Whether a bot was released in the last minutes. One with the time 0 has left its meeting (see `isBotThere`). */
function isReleasedJustNow({ releasedAt = 0 }: SentBot): boolean {
	return Date.now() - releasedAt < CANCEL_BOT.patienceMs;
}

/** Refuses the start of a meeting to which a bot was sent: its transcript may be on its way. */
function checkIsNotOver(context: IHookFunctions, bot: SentBot | undefined, startAt = ''): void {
	const start = Date.parse(startAt);
	if (!bot || bot.startsAt !== start || start > Date.now() || !isSentFor(bot, context)) return;
	throw refuse(
		context,
		`'Start At' is in the past: '${startAt}'. Bot ${bot.id} was sent to this meeting`,
		'If the bot has recorded it, fetch the transcript with Meeting: Get and Transcript: Get Result. If the meeting still goes on and no bot is in it, clear the field to send one now. For the next meeting, enter its start.',
	);
}

/**
 * Cancels a former bot. Perhaps nothing else does: n8n has restarted after the trigger was switched off and before it
 * cancelled its bot, or its command line has switched the workflow off without the `delete` hook. In that case,
 * `isBotThere` has found that a bot for the same launch is over (`isSameLaunch`).
 */
async function cancelFormerBot(
	context: IHookFunctions,
	store: BotStore,
	former: SentBot,
	{ account, isSameLaunch }: { account?: string; isSameLaunch: boolean },
): Promise<void> {
	if (store.hasDelivered(former)) return;
	const isReleased = former.releasedAt !== undefined;
	const isOfAccount = isSentBy(former, account);
	// The credential of now takes a cancellation over: the one at the switch-off may not have worked.
	if (isOfAccount ? wasCancelled(context, former) : isToBeCancelled(context, former)) return;
	if (!isReleased && isSameLaunch && isOfAccount) return;
	if (mayBeOfOtherN8n(former, context, isReleased)) {
		if (!isReleased) warnOfBotLeftAlone(context, former);
	} else if (isOfAccount) void cancelUnlessKept(context, await callerOf(context), former);
	else logNotCancelled(context, former.id, new Error(OTHER_ACCOUNT));
}
