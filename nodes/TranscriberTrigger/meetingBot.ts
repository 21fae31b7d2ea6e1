import { createHash } from 'crypto';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

import { seal } from '../shared/webhook/sealedSecret';
import { isActivatedByUser } from '../shared/n8nInternals/activation';
import { ServiceError, wasCertainlyRefused } from '../shared/api/serviceError';
import { credentialOf } from '../shared/api/credential';
import { checkLaunch, launchFrom, type Launch } from '../shared/parameters/meetingLaunch';
import { callBack, callBackLater, callerOf, GRACE, isLeaving, stay } from './callBack';
import { settingsOf } from './settings';
import { TriggerStore } from './triggerStore';
import { submissionKey } from '../shared/api/submission';
import { NO_SECRET, STORED_SECRET } from './verify';
import { PUBLIC_ADDRESS_SETTING, reasonAgainstWebhookUrl } from '../shared/webhook/publicAddress';
import { refuse } from '../shared/parameters/refuse';
import { call } from '../shared/api/call';
import { remembered } from '../shared/processState';

/** How long activation waits for the service, in ms: n8n and the user wait with it. */
export const ACTIVATION = { sendMs: 60_000, lookMs: 10_000 };

/** Launches under way, by the node's id. */
const launches = remembered<AbortController>('launches');

/**
 * Launches without an answer: the bot may have been sent or not. n8n tries to activate several
 * times, and must not send one each time; the user, who comes later, may. Longer than any launch
 * is under way (see `ACTIVATION`).
 */
const unanswered = remembered<number>('unansweredLaunches');
const UNANSWERED_MS = 10 * 60_000;

const LOOK_FIRST =
	'Look in your account at the service whether the bot is there. If not, publish the workflow again (n8n 1: activate it) in ten minutes.';

/** `webhookMethods.checkExists`: whether nothing has to be sent. */
export async function isBotThere(context: IHookFunctions): Promise<boolean> {
	if (context.getNodeParameter('source') !== 'meeting') return true;
	// Every start of n8n, and of every main process, comes here: the bot was sent when the user switched on.
	// While the editor listens for a test event none is sent: that ends long before a meeting does.
	if (!isActivatedByUser(context)) return true;
	const store = new TriggerStore(context);
	const { bot } = store;
	if (!bot || bot.fingerprint !== fingerprintOf(launchFrom(context))) return false;
	if (bot.releasedAt !== undefined && Date.now() - bot.releasedAt > GRACE.ms) return false;
	stay(bot.id);
	const isKnown = await isKnownAtService(context, bot.id);
	if (!isKnown) return false;
	store.bot = { id: bot.id, fingerprint: bot.fingerprint };
	store.save();
	return true;
}

/** `webhookMethods.create`: sends the bot, with this trigger as its webhook. */
export async function sendMeetingBot(context: IHookFunctions): Promise<boolean> {
	const launch = launchFrom(context);
	checkLaunch(context, launch);
	// A bot whose transcript this trigger could not output would be paid for without use.
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
			'It is not known whether the service has sent the bot, so it is not sent again',
			LOOK_FIRST,
		);
	}
	// A bot that may be there without anybody knowing its id is not sent once more by n8n's next try.
	unanswered.set(place, Date.now() + UNANSWERED_MS);
	const answer = await launched(context, body).catch((error: unknown) => {
		if (error instanceof SwitchedOff || wasCertainlyRefused(error)) unanswered.delete(place);
		throw error;
	});

	const id = botIdOf(answer);
	if (id === undefined) {
		throw refuse(
			context,
			'The service accepted the bot, but without an id, so this trigger cannot take its transcript',
			LOOK_FIRST,
		);
	}
	unanswered.delete(place);
	const store = new TriggerStore(context);
	// n8n may have been restarted before the bot of a trigger that was switched off was called back.
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
			`${context.getNode().name}: the service gave no webhook secret for meeting bot ${id}, so each of its deliveries is checked by asking the service`,
		);
	}
	return true;
}

/** The launch has ended because the workflow was switched off, and no bot was sent. */
class SwitchedOff extends Error {}

/**
 * POST /meeting, ended when the workflow is switched off meanwhile. A bot that is sent at that moment
 * is called back.
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

/** On publishing, n8n shows only the message of what went wrong: so the next step goes into it. */
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

/** Where the service cannot be asked, the bot counts as there: two bots are worse than none. */
async function isKnownAtService(context: IHookFunctions, id: string): Promise<boolean> {
	try {
		const url = `/meeting/${encodeURIComponent(id)}`;
		await call(context, { method: 'GET', url }, { deadline: Date.now() + ACTIVATION.lookMs });
		return true;
	} catch (error) {
		return !isUnknownToService(error);
	}
}

function botIdOf({ bot_id: id }: IDataObject): string | undefined {
	return typeof id === 'string' || typeof id === 'number' ? String(id) || undefined : undefined;
}

/** The answer for an unknown bot is not shown. */
function isUnknownToService(error: unknown): boolean {
	return error instanceof ServiceError && [400, 404, 410, 422].includes(error.problem.status ?? 0);
}

function fingerprintOf({ meetingUrl, startAt = '' }: Launch): string {
	return createHash('sha256').update(`${meetingUrl} ${startAt}`).digest('base64url').slice(0, 22);
}
