import type { IWebhookFunctions } from 'n8n-workflow';

import type { TranscriberCredential } from '../Transcriber/request/service';

/** How long a credential may be out of date, in ms. */
const KEEP_MS = 10_000;

const known = new Map<string, { credential: TranscriberCredential; until: number }>();

/**
 * The trigger's credential, read again every few seconds only: for each reading n8n 2 sets up a
 * sandbox of its own, which costs as much as a whole execution, and anybody can cause it.
 */
export async function credentialOf(
	context: IWebhookFunctions,
	fresh = false,
): Promise<TranscriberCredential> {
	const node = context.getNode();
	const place = `${node.id}:${node.credentials?.transcriberApi?.id}`;
	const kept = known.get(place);
	if (kept && !fresh && kept.until > Date.now()) return kept.credential;
	const credential = await context.getCredentials<TranscriberCredential>('transcriberApi');
	known.set(place, { credential, until: Date.now() + KEEP_MS });
	return credential;
}
