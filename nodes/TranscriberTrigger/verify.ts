import { createHash } from 'crypto';

import { seal, unseal } from '../Transcriber/completion/seal';
import { isSignedWith, type Delivery } from '../Transcriber/completion/signature';
import type { TranscriberCredential } from '../Transcriber/request/credential';
import { idsIn, includesStatus } from './event';
import type { Store } from './store';

/** For `seal`: the secret of a submission in the trigger's store, bound to its task or bot. */
export const STORED_SECRET = 'stored secret';

/** Kept where the service gave no secret for a bot: the service's own word about it decides. */
export const NO_SECRET = 'none';

/** For `seal`: that secret after the submission has ended. It recognises repeats, and starts nothing any more. */
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
	store: Store,
	{ apiKey, webhookSecret = '' }: TranscriberCredential,
): Verdict {
	const ids = idsIn(delivery.body);
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
	return isRepeat(delivery, store, apiKey, ended)
		? { kind: 'repeat', id: ended }
		: { kind: 'forged' };
}

function isRepeat(delivery: Delivery, store: Store, apiKey: string, id: string): boolean {
	const ending = store.endingOf(id);
	if (!ending) return false;
	if (ending.proof === proofOf(delivery)) return true;
	const status = delivery.body?.status ?? undefined;
	if (!includesStatus(ending.statuses, status === undefined ? undefined : String(status))) {
		return false;
	}
	// What the service's word stood for cannot be checked, and starts nothing.
	if (ending.by === 'word') return true;
	if (!ending.spent) return false;
	const secret = unseal(apiKey, SPENT_SECRET, id, ending.spent);
	return secret === undefined || isSignedWith(secret, delivery);
}

/** Tells a verified delivery from any other without its secret. */
export function proofOf({ raw, signature }: Delivery): string {
	return createHash('sha256').update(signature).update(raw).digest('base64url').slice(0, 22);
}
