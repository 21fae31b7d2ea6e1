import { createHash } from 'crypto';
import type { IDataObject, IHookFunctions } from 'n8n-workflow';
import { NodeOperationError, sleep } from 'n8n-workflow';

import { seal } from '../Transcriber/completion/seal';
import { isActivatedByUser } from '../Transcriber/n8nInternals/activation';
import {
	PUBLIC_ADDRESS_SETTING,
	reasonAgainstWebhookUrl,
	refuse,
} from '../Transcriber/request/checks';
import { ServiceError, wasCertainlyRefused } from '../Transcriber/request/errors';
import { credentialOf } from '../Transcriber/request/credential';
import { checkLaunch, launchFrom, type Launch } from '../Transcriber/request/launch';
import { call, type Caller } from '../Transcriber/request/service';
import { hasEnded, taskIdOf } from '../Transcriber/request/shapes';
import { Store } from './store';
import { STORED_SECRET } from './verify';

/**
 * n8n switches a workflow off and on again whenever a new version of it is published, and does
 * not tell that from switching it off. So a bot is called back only when the trigger has stayed
 * off for this long, in ms.
 */
export const GRACE = { ms: 10_000 };

/** Bots about to be called back. */
const leaving = new Set<string>();

/**
 * Launches without an answer: the bot may have been sent or not. n8n tries to activate several
 * times, and must not send one each time; the user, who comes later, may.
 */
const unanswered = new Map<string, number>();
const UNANSWERED_MS = 10 * 60_000;

const LOOK_FIRST =
	'Look in your account at the service whether the bot is there. If not, publish the workflow again (n8n 1: activate it) in ten minutes.';

/** `webhookMethods.checkExists`: whether nothing has to be sent. */
export async function isBotThere(context: IHookFunctions): Promise<boolean> {
	if (context.getNodeParameter('source') !== 'meeting') return true;
	// Every start of n8n, and of every main process, comes here: the bot was sent when the user switched on.
	// While the editor listens for a test event none is sent: that ends long before a meeting does.
	if (!isActivatedByUser(context)) return true;
	const store = new Store(context);
	const { bot } = store;
	if (!bot || bot.fingerprint !== fingerprintOf(launchFrom(context))) return false;
	if (bot.releasedAt !== undefined && Date.now() - bot.releasedAt > GRACE.ms) return false;
	leaving.delete(bot.id);
	const isKnown = await isKnownAtService(context, bot.id);
	if (!isKnown) return false;
	store.bot = { id: bot.id, fingerprint: bot.fingerprint };
	store.save();
	return true;
}

/** `webhookMethods.create`: sends the bot, with this trigger as its webhook. */
export async function sendBot(context: IHookFunctions): Promise<boolean> {
	const launch = launchFrom(context);
	checkLaunch(context, launch);
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
	const policy = { limit: 'meeting', repeatable: false } as const;
	const sending = call(
		context,
		{ method: 'POST', url: '/meeting', body },
		{ policy, keepWebhookSecret: true },
	);
	sending.then(
		(given) => botIdOf(given) !== undefined && unanswered.delete(place),
		(error: unknown) => wasCertainlyRefused(error) && unanswered.delete(place),
	);
	const answer = await sending;

	const id = botIdOf(answer);
	if (id === undefined) {
		throw refuse(
			context,
			'The service accepted the bot, but without an id, so this trigger cannot take its transcript',
			LOOK_FIRST,
		);
	}
	const store = new Store(context);
	// n8n may have been restarted before the bot of a trigger that was switched off was called back.
	const { bot: former } = store;
	if (former?.releasedAt !== undefined && !leaving.has(former.id)) {
		void callBack(context, await callerOf(context), former.id);
	}
	store.bot = { id, fingerprint: fingerprintOf(launch) };
	if (typeof answer.webhook_secret === 'string') {
		store.keepSecret(id, seal(apiKey, STORED_SECRET, id, answer.webhook_secret));
	}
	store.save();
	return true;
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
	const store = new Store(context);
	const { bot } = store;
	if (!bot || bot.releasedAt !== undefined) return true;
	store.bot = { id: bot.id, fingerprint: bot.fingerprint, releasedAt: Date.now() };
	store.save();
	leaving.add(bot.id);
	void callBackLater(context, await callerOf(context), bot.id);
	return true;
}

async function callBackLater(context: IHookFunctions, caller: Caller, id: string): Promise<void> {
	await sleep(GRACE.ms);
	if (leaving.delete(id)) await callBack(context, caller, id);
}

async function callBack(context: IHookFunctions, caller: Caller, id: string): Promise<void> {
	const url = `/meeting/${encodeURIComponent(id)}`;
	try {
		const bot = await call(caller, { method: 'GET', url });
		// With a task the meeting is over, and its transcript is on its way.
		if (taskIdOf(bot) || hasEnded(bot.status)) return;
		await call(caller, { method: 'DELETE', url });
	} catch (error) {
		if (isUnknownToService(error)) return;
		context.logger.warn(`Meeting bot ${id} could not be called back`);
	}
}

/** What n8n has at hand in the hook, kept for later. */
async function callerOf(context: IHookFunctions): Promise<Caller> {
	const credential = await credentialOf(context);
	return {
		getNode: () => context.getNode(),
		getCredentials: async <T extends object>() => credential as object as T,
		helpers: {
			httpRequestWithAuthentication: async (_type, options) =>
				await context.helpers.httpRequest({
					...options,
					headers: { ...options.headers, 'X-API-Key': credential.apiKey },
				}),
		},
	};
}

/** Where the service cannot be asked, the bot counts as there: two bots are worse than none. */
async function isKnownAtService(context: IHookFunctions, id: string): Promise<boolean> {
	try {
		await call(context, { method: 'GET', url: `/meeting/${encodeURIComponent(id)}` });
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
