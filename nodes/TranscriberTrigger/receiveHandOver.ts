import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import {
	NOT_OPENED,
	STALE,
	UNUSABLE_ID,
	openHandOvers,
	type HandOver,
} from '../shared/webhook/handOverEnvelope';
import { addressOfThisProcess } from '../shared/n8nInternals/processAddress';
import { ANSWER, decidedBy } from '../shared/webhook/answerInTime';
import { respond, jsonBodyFrom } from '../shared/webhook/hmacSignedBody';
import { webhookCredential } from '../shared/webhook/webhookCredential';
import { deliveredId } from '../shared/webhook/deliveredId';
import { settingsOf } from './triggerSettings';
import { canCallItself, isOwnCall, watchSavedData } from './repairStaticData';
import { EndingStore } from './endingStore';
import { submissionKey } from '../shared/api/submission';
import { messageOf } from '../shared/asError';
import { NO_SECRET, forStore, fromStore, nameForSecret } from './verifyDelivery';

/**
 * PUT: takes in the secrets of submissions from a Transcriber node. Answers `stored: true` only if
 * every secret is in the static data loaded for this call, sealed with the current API key, and no
 * other call can overwrite it. This call answers by itself, so n8n saves only after the answer (see
 * n8nInternals/staticData.ts) and reports no failure: the Transcriber node repeats the call until it
 * gets `stored: true`.
 */
export async function receiveHandOver(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const deadline = Date.now() + ANSWER.withinMs;
	const ownAddress = addressOfThisProcess(context);
	const store = new EndingStore(context);
	const call = await decidedBy(jsonBodyFrom(context), deadline);
	if ('refused' in call) return respond(context, call.refused, call.message);
	if (isOwnCall(call.body)) return answerStored(context, store.saveMissing());
	const { sealed, checkFor } = call.body;
	if (typeof sealed !== 'string') return respond(context, 400, 'Not a hand-over');
	const address = context.getNodeWebhookUrl('default') ?? '';
	let credential = await decidedBy(webhookCredential(context), deadline);
	let handOvers = openHandOvers(credential.apiKey, address, sealed);
	if (!handOvers) {
		// The cached credential may be out of date: the user may just have changed the API key.
		credential = await decidedBy(webhookCredential(context, true), deadline);
		handOvers = openHandOvers(credential.apiKey, address, sealed);
	}
	if (!handOvers) return respond(context, 401, NOT_OPENED);
	if (handOvers === 'stale') return respond(context, 401, STALE);

	// An empty hand-over comes before the submit: the time to refuse. Later secrets are always kept,
	// whatever the parameters are by then.
	if (handOvers.length === 0) {
		const reason = reasonAgainstSettings(context, checkFor);
		if (reason) return respond(context, 422, reason);
	}
	// Each delivery for such an id would be refused.
	if (handOvers.some(({ id }) => deliveredId(id) === undefined)) {
		return respond(context, 400, UNUSABLE_ID);
	}
	// The key may have been rotated since it was cached, perhaps because it was stolen.
	if (handOvers.length > 0) {
		const { apiKey: sealedWith } = credential;
		credential = await decidedBy(webhookCredential(context, true), deadline);
		if (credential.apiKey !== sealedWith) return respond(context, 401, NOT_OPENED);
	}
	const { apiKey } = credential;
	let [areStored, areLoaded] = [true, true];
	for (const { secret, ...submission } of handOvers) {
		const name = nameForSecret(store, storedNameOf(submission), secret);
		if (name === undefined) continue;
		const old = store.secretOf(name) ?? '';
		store.keepSecret(name, storedSecret(apiKey, name, old, secret));
		areStored = store.isStored(name) && areStored;
		areLoaded = store.isLoaded(name) && areLoaded;
	}
	// After a wait, the loaded data may lack what another process has saved meanwhile: then a call to itself saves.
	if (!areLoaded && !(store.hasWaited && canCallItself(ownAddress))) store.save();
	if (!areStored) watchSavedData(context, ownAddress);
	return answerStored(context, areStored);
}

/** What to store for a submission. A hand-over without a secret never replaces a stored one. */
function storedSecret(apiKey: string, name: string, old: string, secret?: string): string {
	if (secret === undefined) return old || NO_SECRET;
	if (fromStore(apiKey, name, old) === secret) return old;
	return forStore(apiKey, name, secret);
}

/** Version 0.1.0 hands over a bare id, without saying whether it is a task or a bot. */
function storedNameOf({ id, kind }: Omit<HandOver, 'secret'>): string {
	if (kind === undefined) return id;
	return submissionKey(kind === 'bot' ? { botId: id } : { taskId: id });
}

/**
 * Why the trigger's parameters cannot be used for a task or a bot; the Transcriber node shows it in its
 * error. Version 0.1.0 does not say which of them it submits.
 */
function reasonAgainstSettings(context: IWebhookFunctions, checkFor: unknown): string | undefined {
	if (context.getNodeParameter('source', 'submissions') === 'meeting') {
		return "'Source' is One Meeting (Sends a Bot), so it starts only for the bot that it sends itself. Use a trigger whose 'Source' is Recordings Sent by Transcriber Nodes";
	}
	try {
		const { selected } = settingsOf(context);
		const startsFor = (event: string) => selected.some((name) => name.startsWith(event));
		if (checkFor === 'bot' && !startsFor('meeting')) {
			return "'Trigger On' has no event of a meeting, so the workflow would never start for this bot";
		}
		if (checkFor === 'task' && !startsFor('transcription')) {
			return "'Trigger On' has no event of a transcription, so the workflow would never start for this recording";
		}
		return undefined;
	} catch (error) {
		return messageOf(error);
	}
}

function answerStored(context: IWebhookFunctions, stored: boolean): IWebhookResponseData {
	context
		.getResponseObject()
		.status(stored ? 200 : 202)
		.json({ stored });
	return { noWebhookResponse: true };
}
