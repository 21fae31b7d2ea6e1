import type { IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { openHandOver } from '../Transcriber/completion/envelope';
import { seal, unseal } from '../Transcriber/completion/seal';
import { answer, deliveryFrom } from '../Transcriber/completion/signature';
import { credentialOf } from './credential';
import { Store } from './store';
import { STORED_SECRET } from './verify';

/**
 * PUT: takes in the secret of a submission from a Transcriber node. `stored` is said only when the
 * secret was found in what n8n has loaded for this very call: n8n saves what a call changes after
 * it was answered, and tells nobody when that goes wrong. So the sender asks until it hears it.
 */
export async function takeIn(context: IWebhookFunctions): Promise<IWebhookResponseData> {
	const { sealed } = (await deliveryFrom(context)).body ?? {};
	if (typeof sealed !== 'string') return answer(context, 400, 'Not a hand-over');
	const address = context.getNodeWebhookUrl('default') ?? '';
	let { apiKey } = await credentialOf(context);
	let handOver = openHandOver(apiKey, address, sealed);
	if (!handOver) {
		// The API key may have been changed a moment ago.
		({ apiKey } = await credentialOf(context, true));
		handOver = openHandOver(apiKey, address, sealed);
	}
	if (!handOver) return answer(context, 401, 'Hand-over refused');

	const { id, secret } = handOver;
	const store = new Store(context);
	const isKnown = store.endingOf(id) !== undefined || store.isStored(id);
	if (!isKnown) {
		const old = store.secretOf(id) ?? '';
		const isSame = unseal(apiKey, STORED_SECRET, id, old) === secret;
		store.keepSecret(id, isSame ? old : seal(apiKey, STORED_SECRET, id, secret));
		store.save();
	}
	const stored = isKnown || store.isStored(id);
	context
		.getResponseObject()
		.status(stored ? 200 : 202)
		.json({ stored });
	return { noWebhookResponse: true };
}
