import { createHash } from 'crypto';

import { unseal } from '../Transcriber/completion/seal';
import { isSignedWith, type Delivery } from '../Transcriber/completion/signature';
import type { TranscriberCredential } from '../Transcriber/request/credential';
import { idsIn } from './event';
import type { Store } from './store';

/** For `seal`: the secret of a submission in the trigger's store, bound to its task or bot. */
export const STORED_SECRET = 'stored secret';

export type Verdict =
	/** `id` is whose secret has signed it; undefined for the credential's. */
	| { kind: 'genuine'; id?: string }
	/** Its secret was sealed with an API key that the credential has no longer. */
	| { kind: 'unreadable'; id: string }
	| { kind: 'forged' }
	/** No secret for it is here (yet). */
	| { kind: 'unknown' };

/** Who has signed a delivery. */
export function verify(
	delivery: Delivery,
	store: Store,
	{ apiKey, webhookSecret = '' }: TranscriberCredential,
): Verdict {
	const ids = idsIn(delivery.body);
	// Where a task or bot has a secret of its own, no other speaks for it.
	const id = ids.find((candidate) => store.secretOf(candidate) !== undefined);
	if (id !== undefined) {
		const secret = unseal(apiKey, STORED_SECRET, id, store.secretOf(id) ?? '');
		if (secret !== undefined) {
			return isSignedWith(secret, delivery) ? { kind: 'genuine', id } : { kind: 'forged' };
		}
	}
	if (isSignedWith(webhookSecret, delivery)) return { kind: 'genuine' };
	if (id !== undefined) return { kind: 'unreadable', id };
	const ended = ids.find((candidate) => store.endingOf(candidate) !== undefined);
	// Its secret is gone, but what was verified with it can be told from everything else.
	if (ended !== undefined) {
		const isRepeat = store.endingOf(ended)?.proof === proofOf(delivery);
		return isRepeat ? { kind: 'genuine', id: ended } : { kind: 'forged' };
	}
	return ids.length > 0 ? { kind: 'unknown' } : { kind: 'forged' };
}

/** Tells a verified delivery from any other without its secret. */
export function proofOf({ raw, signature }: Delivery): string {
	return createHash('sha256').update(signature).update(raw).digest('base64url').slice(0, 22);
}
