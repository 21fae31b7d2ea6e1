import { createHash } from 'crypto';

import { seal, unseal } from '../shared/webhook/sealedSecret';
import { isSignedWith, type Delivery } from '../shared/webhook/delivery';
import type { TranscriberCredential } from '../shared/api/credential';
import { hasEnded } from '../shared/api/undocumented';
import { idsInDelivery, includesStatus } from './event';
import type { TriggerStore } from './triggerStore';

/** For `seal`: the secret of a submission in the trigger's store, bound to its task or bot. */
export const STORED_SECRET = 'stored secret';

/** Kept where the service gave no secret for a bot: the service's own word about it decides. */
export const NO_SECRET = 'none';

/** For `seal`: that secret after the submission has ended. It recognises repeats. */
const SPENT_SECRET = 'spent secret';

export type Verdict =
	/** The submission whose secret matched; undefined if the credential's secret did. */
	| { kind: 'genuine'; id?: string; spent?: string }
	/** Of a submission that has ended with this status before. */
	| { kind: 'repeat'; id: string }
	/** Its secret was sealed with an API key that the credential has no longer, or was never given. */
	| { kind: 'unreadable'; id: string }
	| { kind: 'forged' }
	/** No secret for it is here (yet). */
	| { kind: 'unknown' };

/** Who has signed a delivery. */
export function verify(
	delivery: Delivery,
	store: TriggerStore,
	{ apiKey, webhookSecret = '' }: TranscriberCredential,
): Verdict {
	const ids = idsInDelivery(delivery.body);
	// A secret of its own is the only one that counts for a task or bot, also after its ending.
	const id = ids.find((candidate) => store.secretOf(candidate) !== undefined);
	if (id !== undefined) {
		if (store.secretOf(id) === NO_SECRET && isSignedWith(webhookSecret, delivery)) {
			return { kind: 'genuine' };
		}
		const secret = unseal(apiKey, STORED_SECRET, id, store.secretOf(id) ?? '');
		if (secret === undefined) return { kind: 'unreadable', id };
		if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
		return { kind: 'genuine', id, spent: seal(apiKey, SPENT_SECRET, id, secret) };
	}
	const ended = ids.find((candidate) => store.endingOf(candidate) !== undefined);
	const isOwn = ended !== undefined && store.endingOf(ended)?.by !== 'shared';
	if (!isOwn && isSignedWith(webhookSecret, delivery)) return { kind: 'genuine' };
	if (ended === undefined) return { kind: ids.length > 0 ? 'unknown' : 'forged' };
	return afterEnding(delivery, store, apiKey, ended);
}

/** Who has signed a delivery for a submission that has ended. */
function afterEnding(delivery: Delivery, store: TriggerStore, apiKey: string, id: string): Verdict {
	const { by, statuses, proof, spent = '' } = store.endingOf(id) ?? { statuses: '' };
	if (proof === proofOf(delivery)) return { kind: 'repeat', id };
	const status = delivery.body?.status;
	const isKnown = includesStatus(statuses, hasEnded(status) ? String(status) : undefined);
	// What the service's word stood for cannot be checked, and starts nothing.
	if (by === 'word') return isKnown ? { kind: 'repeat', id } : { kind: 'forged' };
	if (spent === '') return { kind: 'forged' };
	const secret = unseal(apiKey, SPENT_SECRET, id, spent);
	if (secret === undefined) return isKnown ? { kind: 'repeat', id } : { kind: 'forged' };
	if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
	if (isKnown) return { kind: 'repeat', id };
	// A task that had failed may be completed later. One that was completed has a transcript for good.
	const isLate = status === 'completed' && !statuses.includes('c');
	return isLate ? { kind: 'genuine', id, spent } : { kind: 'forged' };
}

/** Tells a verified delivery from any other without its secret. */
export function proofOf({ raw, signature }: Delivery): string {
	return createHash('sha256').update(signature).update(raw).digest('base64url').slice(0, 22);
}
