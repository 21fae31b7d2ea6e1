import { createHash } from 'crypto';
import type { IWebhookFunctions } from 'n8n-workflow';

import { credentialOf, type TranscriberCredential } from '../api/credential';

/** How old a credential may be, in ms: as a rule, and where a newer one could make a difference. */
const KEEP_MS = 10_000;
const KEEP_FRESH_MS = 1_000;

interface Reading {
	credential: Promise<TranscriberCredential>;
	startedAt: number;
}

const readings = new Map<string, Reading>();

/**
 * The credential of a node whose webhook was called, read once for many calls: in n8n 2 each reading
 * starts an expression sandbox, about the cost of an execution, and unauthenticated callers reach
 * this line. A reading that fails counts for a second too.
 */
export async function webhookCredential(
	context: IWebhookFunctions,
	fresh = false,
): Promise<TranscriberCredential> {
	const node = context.getNode();
	const place = hash([context.getWorkflow().id, node.id, node.credentials?.transcriberApi?.id]);
	const now = Date.now();
	for (const [key, { startedAt }] of readings) {
		if (now - startedAt >= KEEP_MS) readings.delete(key);
	}
	const kept = readings.get(place);
	if (kept && now - kept.startedAt < (fresh ? KEEP_FRESH_MS : KEEP_MS))
		return await kept.credential;
	const credential = credentialOf(context);
	const reading = { credential, startedAt: now };
	readings.set(place, reading);
	// The next call after a second reads again.
	credential.catch(() => (reading.startedAt = Date.now() - KEEP_MS + KEEP_FRESH_MS));
	return await credential;
}

function hash(parts: unknown[]): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
