import { createHash } from 'crypto';
import type { IWebhookFunctions } from 'n8n-workflow';

import { credentialOf, type TranscriberCredential } from '../api/credential';
import { remembered } from '../processState';

/** How old a credential may be, in ms: as a rule, and where a newer one could make a difference. */
const KEEP_MS = 10_000;
const KEEP_FRESH_MS = 1_000;

interface Reading {
	credential: Promise<TranscriberCredential>;
	startedAt: number;
}

const readings = remembered<Reading>('credentialReadings');

/**
 * The credential of a node whose webhook was called, read once for many calls: in n8n 2 each reading
 * starts an expression sandbox, about the cost of an execution, and unauthenticated callers reach
 * this line. `fresh` where a key that was changed a moment ago could make a difference.
 *
 * For a suspended execution it is kept apart, because the key that another one has read may be older
 * than what this one has sealed. There a reading that fails is not kept, because the next delivery
 * may wake the execution. For a trigger it counts for a second.
 */
export async function webhookCredential(
	context: IWebhookFunctions,
	fresh = false,
): Promise<TranscriberCredential> {
	const node = context.getNode();
	const execution: string | undefined = context.getExecutionId();
	const credentialId = node.credentials?.transcriberApi?.id;
	const place = hash([context.getWorkflow().id, node.id, credentialId, execution]);
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
	const keepFailureMs = execution === undefined ? KEEP_FRESH_MS : 0;
	credential.catch(() => (reading.startedAt = Date.now() - KEEP_MS + keepFailureMs));
	return await credential;
}

function hash(parts: unknown[]): string {
	return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
