import { createHash } from 'crypto';

import { seal, unseal } from '../shared/webhook/sealedSecret';
import { isSignedWith, type Delivery } from '../shared/webhook/delivery';
import type { TranscriberCredential } from '../shared/api/credential';
import { hasEnded } from '../shared/api/undocumented';
import { includesStatus, storedNames, type StoredName } from './event';
import type { TriggerStore } from './triggerStore';

/** For `seal`: the secret of a submission in the trigger's store, bound to its task or bot. */
export const STORED_SECRET = 'stored secret';

/** Kept where the service gave no secret for a bot: the service's own word about it decides. */
export const NO_SECRET = 'none';

/** For `seal`: that secret after the submission has ended. It recognises repeats. */
const SPENT_SECRET = 'spent secret';

export type Verdict =
	/**
	 * Signed with the secret of the submission with this name in the store (`own`), or with the
	 * credential's secret, which may be for a submission that the store does not know.
	 */
	| { kind: 'genuine'; by: 'own' | 'shared'; name?: string; spent?: string }
	/** Of a submission that has ended with this status before. */
	| { kind: 'repeat'; name: string }
	/** Its secret was sealed with an API key that the credential has no longer, or was never given. */
	| { kind: 'unreadable'; stored: StoredName }
	| { kind: 'forged' }
	/** No secret for it is here (yet). */
	| { kind: 'unknown' };

/** Who has signed a delivery. */
export function verify(
	delivery: Delivery,
	store: TriggerStore,
	{ apiKey, webhookSecret = '' }: TranscriberCredential,
): Verdict {
	const names = storedNames(delivery.body).map((stored) => namesInTurn(store, stored));
	const isPending = ({ name }: StoredName) => store.secretOf(name) !== undefined;
	const hasEndedHere = ({ name }: StoredName) => store.endingOf(name) !== undefined;
	// A secret of its own is the only one that counts for a task or bot, also after its ending.
	const turns =
		names.find((each) => each.some(isPending)) ?? names.find((each) => each.some(hasEndedHere));
	if (!turns) {
		if (isSignedWith(webhookSecret, delivery)) return { kind: 'genuine', by: 'shared' };
		return { kind: names.length > 0 ? 'unknown' : 'forged' };
	}
	const verdicts = turns.map((stored) =>
		isPending(stored)
			? ofPending(delivery, store, { apiKey, webhookSecret }, stored)
			: afterEnding(delivery, store, { apiKey, webhookSecret }, stored.name),
	);
	return verdicts.find(({ kind }) => kind !== 'forged') ?? { kind: 'forged' };
}

type Keys = Required<Pick<TranscriberCredential, 'apiKey' | 'webhookSecret'>>;

/** Who has signed a delivery for a submission that is waited for. */
function ofPending(
	delivery: Delivery,
	store: TriggerStore,
	{ apiKey, webhookSecret }: Keys,
	stored: StoredName,
): Verdict {
	const { name } = stored;
	const sealed = store.secretOf(name) ?? '';
	if (sealed === NO_SECRET && isSignedWith(webhookSecret, delivery)) {
		return { kind: 'genuine', by: 'shared', name };
	}
	const secret = unseal(apiKey, STORED_SECRET, name, sealed);
	if (secret === undefined) return { kind: 'unreadable', stored };
	if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
	return { kind: 'genuine', by: 'own', name, spent: seal(apiKey, SPENT_SECRET, name, secret) };
}

/**
 * Where a secret that is handed over belongs; undefined where its submission has ended. An id whose
 * submission has ended with another secret is the id of another submission.
 */
export function nameForSecret(
	store: TriggerStore,
	apiKey: string,
	name: string,
	secret: string,
): string | undefined {
	const ending = store.endingOf(name);
	if (!ending) return name;
	const spent = unseal(apiKey, SPENT_SECRET, name, ending.spent ?? '');
	if (ending.by !== 'own' || spent === secret) return undefined;
	return nameForSecret(store, apiKey, `${name}${AGAIN}`, secret);
}

/** What a name ends in after the first submission with an id has ended, and another one has it. */
const AGAIN = ' again';

/** The names of all submissions with one id, one after the other. */
function namesInTurn(store: TriggerStore, stored: StoredName): StoredName[] {
	if (!store.endingOf(stored.name)) return [stored];
	return [stored, ...namesInTurn(store, { ...stored, name: `${stored.name}${AGAIN}` })];
}

/** Who has signed a delivery for a submission that has ended. */
function afterEnding(
	delivery: Delivery,
	store: TriggerStore,
	{ apiKey, webhookSecret }: Keys,
	name: string,
): Verdict {
	const { by, statuses, proof, spent = '' } = store.endingOf(name) ?? { statuses: '' };
	if (by === 'shared' && isSignedWith(webhookSecret, delivery)) {
		return { kind: 'genuine', by, name };
	}
	if (proof === proofOf(delivery)) return { kind: 'repeat', name };
	const status = delivery.body?.status;
	const isKnown = includesStatus(statuses, hasEnded(status) ? String(status) : undefined);
	// What the service's word stood for cannot be checked, and starts nothing.
	if (by === 'word') return isKnown ? { kind: 'repeat', name } : { kind: 'forged' };
	if (spent === '') return { kind: 'forged' };
	const secret = unseal(apiKey, SPENT_SECRET, name, spent);
	if (secret === undefined) return isKnown ? { kind: 'repeat', name } : { kind: 'forged' };
	if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
	if (isKnown) return { kind: 'repeat', name };
	// A task that had failed may be completed later. One that was completed has a transcript for good.
	const isLate = status === 'completed' && !statuses.includes('c');
	return isLate ? { kind: 'genuine', by: 'own', name, spent } : { kind: 'forged' };
}

/** Tells a verified delivery from any other without its secret. */
export function proofOf({ raw, signature }: Delivery): string {
	return createHash('sha256').update(signature).update(raw).digest('base64url').slice(0, 22);
}
