import type { IWebhookFunctions } from 'n8n-workflow';

import type { TranscriberCredential } from '../Transcriber/request/credential';

/** How old a credential may be, in ms: as a rule, and where a newer one could make a difference. */
const KEEP_MS = 10_000;
const KEEP_FRESH_MS = 1_000;

const known = new Map<string, { credential: TranscriberCredential; readAt: number }>();

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
	const age = Date.now() - (kept?.readAt ?? 0);
	if (kept && age < (fresh ? KEEP_FRESH_MS : KEEP_MS)) return kept.credential;
	const credential = await context.getCredentials<TranscriberCredential>('transcriberApi');
	known.set(place, { credential, readAt: Date.now() });
	return credential;
}
