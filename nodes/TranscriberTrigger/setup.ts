import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { openHandOvers, type HandOver } from '../Transcriber/completion/envelope';
import { seal, unseal } from '../Transcriber/completion/seal';
import { answer, jsonBodyFrom } from '../Transcriber/completion/signature';
import { webhookCredential } from '../Transcriber/completion/webhookCredential';
import { isOwnCall, settle } from './settle';
import { Store } from './store';
import { STORED_SECRET } from './verify';

/**
 * PUT: takes in the secrets of submissions from a Transcriber node. `stored` is said only when all
 * were found in what n8n has loaded for this very call: n8n saves what a call changes after
 * it was answered, and tells nobody when that goes wrong. So the sender asks until it hears it.
 */
export async function takeIn(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const call = await jsonBodyFrom(context);
	if ('refused' in call) return answer(context, call.refused, call.message);
	const { body } = call;
	if (isOwnCall(body)) return answerStored(context, new Store(context).isSettled());
	const { sealed } = body;
	if (typeof sealed !== 'string') return answer(context, 400, 'Not a hand-over');
	const address = context.getNodeWebhookUrl('default') ?? '';
	let { apiKey } = await webhookCredential(context);
	let handOvers = openHandOvers(apiKey, address, sealed);
	if (!handOvers) {
		// The API key may have been changed a moment ago.
		({ apiKey } = await webhookCredential(context, true));
		handOvers = openHandOvers(apiKey, address, sealed);
	}
	if (!handOvers) return answer(context, 401, 'Hand-over refused');

	const store = new Store(context);
	const isKnown = ({ id }: HandOver) => store.endingOf(id) !== undefined || store.isStored(id);
	const unknown = handOvers.filter((handOver) => !isKnown(handOver));
	for (const { id, secret } of unknown) {
		const old = store.secretOf(id) ?? '';
		const isSame = unseal(apiKey, STORED_SECRET, id, old) === secret;
		store.keepSecret(id, isSame ? old : seal(apiKey, STORED_SECRET, id, secret));
	}
	if (unknown.length > 0) {
		store.save();
		void settle(context);
	}
	return answerStored(context, handOvers.every(isKnown));
}

function answerStored(context: IWebhookFunctions, stored: boolean): IWebhookResponseData {
	context
		.getResponseObject()
		.status(stored ? 200 : 202)
		.json({ stored });
	return { noWebhookResponse: true };
}
