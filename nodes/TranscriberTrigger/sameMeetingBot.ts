import { createHash } from 'crypto';
import type { IHookFunctions } from 'n8n-workflow';

import { credentialOf } from '../shared/api/credential';
import { launchFrom } from '../shared/parameters/meetingLaunch';
import { zoneOfStart } from '../shared/parameters/startAt';
import type { SentBot } from './triggerMemory';

/**
 * Identifies a launch by what the user has entered, not by its value: the value of an expression such
 * as {{ $now.plus(1, 'hour') }} is another one at each try of n8n, and for each new version.
 */
export function fingerprintOf(context: IHookFunctions): string {
	const raw = { rawExpressions: true };
	const entered = ['meetingUrl', 'startAt'].map((name) =>
		String(context.getNodeParameter(name, '', raw)).trim(),
	);
	return shortHash(entered.join(' '));
}

/** Whether a bot was sent for these parameters. Version 0.1.0 stored a hash of their values. */
export function isSentFor({ fingerprint }: SentBot, context: IHookFunctions): boolean {
	if (fingerprint === fingerprintOf(context)) return true;
	const { meetingUrl, startAt = '' } = launchFrom(context);
	return fingerprint === shortHash(`${meetingUrl} ${startAt}`);
}

/**
 * Whether 'Start At' means another time since the bot was sent, because the workflow has another time
 * zone. A bot that has started stays.
 */
export function isInOtherZone({ zone, startsAt = 0 }: SentBot, context: IHookFunctions): boolean {
	if (zone === undefined || startsAt <= Date.now()) return false;
	return zone !== zoneOfStart(context);
}

/**
 * Identifies the account at the service; undefined if the credential cannot be read. Without the API
 * key, which may be rotated.
 */
export async function accountHash(context: IHookFunctions): Promise<string | undefined> {
	const credential = await credentialOf(context).catch(() => undefined);
	if (!credential) return undefined;
	const { id = '' } = context.getNode().credentials?.transcriberApi ?? {};
	return shortHash(`${credential.baseUrl} ${id ?? ''}`);
}

/** Whether an account sent the bot, as far as is known. */
export function isSentBy(
	{ account: sender }: Pick<SentBot, 'account'>,
	account: string | undefined,
): boolean {
	return sender === undefined || account === undefined || sender === account;
}

/** Identifies the trigger that sends a bot. In hashes, because static data can be exported. */
export function senderOf(context: IHookFunctions): Required<Pick<SentBot, 'address' | 'sender'>> {
	return {
		address: shortHash(context.getNodeWebhookUrl('default') ?? ''),
		sender: shortHash(`${context.getInstanceId()} ${context.getWorkflow().id}`),
	};
}

/** Whether the service got another address with the bot, so that its transcript does not come here. */
export function isSentFromOtherAddress({ address }: SentBot, context: IHookFunctions): boolean {
	return address !== undefined && address !== senderOf(context).address;
}

/** Whether another n8n sent the bot: static data moves with a workflow (export:workflow, the public API). */
export function isSentByOtherN8n(bot: SentBot, context: IHookFunctions): boolean {
	return isSentFromOtherAddress(bot, context) && bot.sender !== senderOf(context).sender;
}

/** The same in words. */
export const OTHER_SENDER = 'another n8n sent it, or this n8n when it had another address';

/**
 * Whether another n8n may have sent the bot. Two that share an encryption key share their id as well,
 * and look like one whose address has changed. `isKnownHere`: this n8n has switched the trigger on or off
 * since, so the bot counts as its own. Otherwise the bot is left alone, and a publication is refused while
 * it is there: a second bot would cost twice, and this one's transcript would be lost.
 */
export function mayBeOfOtherN8n(
	bot: SentBot,
	context: IHookFunctions,
	isKnownHere: boolean,
): boolean {
	return isKnownHere ? isSentByOtherN8n(bot, context) : isSentFromOtherAddress(bot, context);
}

/** Says of a bot that {@link mayBeOfOtherN8n} that it is not cancelled. */
export function warnOfBotLeftAlone(context: IHookFunctions, { id }: SentBot): void {
	context.logger.warn(
		`${context.getNode().name}: meeting bot ${id} is not cancelled, because ${OTHER_SENDER}. If the bot is still there, and no other n8n waits for its transcript, stop it with Meeting: Cancel or Stop.`,
	);
}

function shortHash(text: string): string {
	return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
