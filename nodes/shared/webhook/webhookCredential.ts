import { createHash } from 'crypto';
import type { IWebhookFunctions } from 'n8n-workflow';

import { credentialOf, type TranscriberCredential } from '../api/credential';
import { remembered } from '../processMemory';

/** How old a credential may be, in ms: normally, and if a newer credential could matter. */
const KEEP_MS = 10_000;
const KEEP_FRESH_MS = 1_000;

interface Reading {
	credential: Promise<TranscriberCredential>;
	startedAt: number;
}

const credentialReadings = remembered<Reading>('credentialReadings');

/**
 * The credential of a node whose webhook was called, cached for many calls: in n8n 2 each reading
 * starts an expression sandbox, about the cost of an execution, and unauthenticated callers can
 * trigger readings. Set `fresh` if a key that was just changed could matter.
 *
 * Each suspended execution has its own entry, because its secret may be sealed with a newer key
 * than another execution has read. A failed reading is not cached for an execution, because the
 * next delivery may wake it. For a trigger, a failed reading is cached for a second.
 */
export async function webhookCredential(
	context: IWebhookFunctions,
	fresh = false,
): Promise<TranscriberCredential> {
	const node = context.getNode();
	const execution: string | undefined = context.getExecutionId();
	const credentialId = node.credentials?.transcriberApi?.id;
	const key = hash([context.getWorkflow().id, node.id, credentialId, execution]);
	const now = Date.now();
	for (const [one, { startedAt }] of credentialReadings) {
		// The clock may have been set back since.
		if (Math.abs(now - startedAt) >= KEEP_MS) credentialReadings.delete(one);
	}
	const kept = credentialReadings.get(key);
	if (kept && Math.abs(now - kept.startedAt) < (fresh ? KEEP_FRESH_MS : KEEP_MS))
		return await kept.credential;
	const credential = credentialOf(context);
	const reading = { credential, startedAt: now };
	credentialReadings.set(key, reading);
	const keepFailureMs = execution === undefined ? KEEP_FRESH_MS : 0;
	credential.catch(() => (reading.startedAt = Date.now() - KEEP_MS + keepFailureMs));
	return await credential;
}

function hash(parts: unknown[]): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
