import { createHash } from 'crypto';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { seal } from '../shared/webhook/sealedSecret';
import { isActivatedByUser, isSwitchedOnByUser } from '../shared/n8nInternals/activation';
import { isUnknownToService, wasCertainlyRefused } from '../shared/api/serviceError';
import { botState } from '../shared/api/taskState';
import { credentialOf } from '../shared/api/credential';
import { checkLaunch, launchFrom, type Launch } from '../shared/parameters/meetingLaunch';
import { callBack, callBackLater, callerOf, GRACE, hasLeft, isLeaving, stay } from './callBack';
import { settingsOf } from './settings';
import { TriggerStore } from './triggerStore';
import { submissionKey } from '../shared/api/submission';
import { NO_SECRET, STORED_SECRET } from './matchSecret';
import { PUBLIC_ADDRESS_SETTING, reasonAgainstWebhookUrl } from '../shared/webhook/publicAddress';
import { refuse } from '../shared/parameters/refuse';
import { call } from '../shared/api/call';
import { remembered } from '../shared/processState';

/** How long activation waits for the service, in ms: the user waits for it in the editor. */
export const ACTIVATION = { sendMs: 60_000, lookMs: 10_000 };

/** Launches under way, by the node's id. */
const launches = remembered<AbortController>('launches');

/**
 * Launches without an answer: the service may or may not have sent the bot. n8n retries a failed
 * activation several times, and must not send a bot each time; the user may try again later. Kept
 * for longer than any launch takes (see `ACTIVATION`).
 */
const unanswered = remembered<number>('unansweredLaunches');
const UNANSWERED_MS = 10 * 60_000;

const LOOK_FIRST =
	'Look in your account at the service whether the bot is there. If not, publish the workflow again (n8n 1: activate it) in ten minutes.';

/** `webhookMethods.checkExists`: true if no bot has to be sent. */
export async function isBotThere(context: IHookFunctions): Promise<boolean> {
	if (context.getNodeParameter('source') !== 'meeting') return true;
	// n8n also calls this at every start of a main process, when the bot has long been sent. A test
	// in the editor sends no bot either: the editor stops listening long before a meeting ends.
	if (!isActivatedByUser(context)) return true;
	const store = new TriggerStore(context);
	const { bot } = store;
	if (!bot || bot.fingerprint !== fingerprintOf(launchFrom(context))) return false;
	if (bot.releasedAt !== undefined && Date.now() - bot.releasedAt > GRACE.ms) return false;
	stay(bot.id);
	const state = await stateAtService(context, bot.id);
	if (!state) return false;
	// Last week's bot is not there for this week's meeting. A new version of an active workflow sends
	// no second bot, because the meeting of the first may be the one that the user means.
	if (isSwitchedOnByUser(context) && hasLeft(state)) return false;
	store.bot = { id: bot.id, fingerprint: bot.fingerprint };
	store.save();
	return true;
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
	const place = `${context.getNode().id} ${fingerprintOf(launch)}`;
	if ((unanswered.get(place) ?? 0) > Date.now()) {
		throw refuse(
			context,
			'It is not known whether the service has sent the bot, so the trigger does not send another one',
			LOOK_FIRST,
		);
	}
	// If the answer is lost, n8n's next try must not send a second bot.
	unanswered.set(place, Date.now() + UNANSWERED_MS);
	const answer = await launched(context, body).catch((error: unknown) => {
		if (error instanceof SwitchedOff || wasCertainlyRefused(error)) unanswered.delete(place);
		throw error;
	});

	const id = botIdOf(answer);
	if (id === undefined) {
		throw refuse(
			context,
			'The service accepted the bot, but without an id, so this trigger cannot receive the transcript',
			LOOK_FIRST,
		);
	}
	unanswered.delete(place);
	const store = new TriggerStore(context);
	// n8n may have restarted after the trigger was switched off and before its bot was called back.
	const { bot: former } = store;
	if (former?.releasedAt !== undefined && !isLeaving(former.id)) {
		void callBack(context, await callerOf(context), former.id);
	}
	store.bot = { id, fingerprint: fingerprintOf(launch) };
	const { webhook_secret: secret } = answer;
	const isGiven = typeof secret === 'string' && secret.trim() !== '';
	const name = submissionKey({ botId: id });
	store.keepSecret(name, isGiven ? seal(apiKey, STORED_SECRET, name, secret) : NO_SECRET);
	store.save();
	if (!isGiven) {
		context.logger.warn(
			`${context.getNode().name}: the service gave no webhook secret for meeting bot ${id}, so the trigger asks the service about each delivery for the bot`,
		);
	}
	return true;
}

/** The workflow was switched off during the launch, and no bot was sent. */
class SwitchedOff extends Error {}

/**
 * POST /meeting, aborted if the workflow is switched off meanwhile. If the service sent the bot at
 * that very moment, calls the bot back.
 */
async function launched(context: IHookFunctions, body: IDataObject): Promise<IDataObject> {
	const nodeId = context.getNode().id;
	const launch = new AbortController();
	launches.set(nodeId, launch);
	try {
		const caller = await callerOf(context, launch.signal);
		const answer = await call(
			caller,
			{ method: 'POST', url: '/meeting', body },
			{
				policy: { limit: 'meeting', repeatable: false },
				keepWebhookSecret: true,
				deadline: Date.now() + ACTIVATION.sendMs,
			},
		);
		const id = botIdOf(answer);
		if (!launch.signal.aborted || id === undefined) return answer;
		void callBack(context, await callerOf(context), id);
		throw launch.signal.reason;
	} finally {
		if (launches.get(nodeId) === launch) launches.delete(nodeId);
	}
}

/** Puts the next step into the message: on publishing, n8n does not show an error's description. */
export function withNextStep(context: IHookFunctions, error: unknown): NodeOperationError {
	const { message, description } = error as { message?: string; description?: string | null };
	const words = [message, description].filter(Boolean).join('. ') || String(error);
	const options = { description: description ?? undefined };
	return new NodeOperationError(context.getNode(), words, options);
}

/** `webhookMethods.delete`: calls the bot back, unless the trigger is switched on again at once. */
export async function releaseBot(context: IHookFunctions): Promise<boolean> {
	const reason = 'The workflow was switched off before the meeting bot was sent';
	launches.get(context.getNode().id)?.abort(new SwitchedOff(reason));
	const store = new TriggerStore(context);
	const { bot } = store;
	if (!bot || bot.releasedAt !== undefined) return true;
	store.bot = { id: bot.id, fingerprint: bot.fingerprint, releasedAt: Date.now() };
	store.save();
	await callBackLater(context, bot.id);
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

function botIdOf({ bot_id: id }: IDataObject): string | undefined {
	return typeof id === 'string' || typeof id === 'number' ? String(id) || undefined : undefined;
}

function fingerprintOf({ meetingUrl, startAt = '' }: Launch): string {
	return createHash('sha256').update(`${meetingUrl} ${startAt}`).digest('base64url').slice(0, 22);
}
