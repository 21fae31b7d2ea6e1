import { createHash, createHmac } from 'crypto';

import { seal, unseal } from '../shared/webhook/sealedSecret';
import { isSignedWith, type Delivery } from '../shared/webhook/hmacSignedBody';
import type { TranscriberCredential } from '../shared/api/credential';
import { hasEnded, statusIn } from '../shared/api/statusMeaning';
import { includesStatus, storedNames, type StoredName } from './deliveredEvent';
import type { EndingStore } from './endingStore';

/** For `seal`: the secret of a submission in the trigger's store, bound to its task or bot. */
const STORED_SECRET = 'stored secret';

/**
 * Stored if a task or bot has no secret that can be read. The Webhook Secret of the credential may
 * verify its deliveries; if it does not fit, the service is asked about each of them.
 */
export const NO_SECRET = 'none';

/** For `seal`: the secret of a submission that has ended, kept to recognise repeats. */
const SPENT_SECRET = 'spent secret';

/** What the trigger's store knows of submissions. */
type Known = Pick<EndingStore, 'secretOf' | 'endingOf'>;

type Verdict =
	/**
	 * Signed with the secret that the store has under `name` (`own`), or with the credential's secret
	 * (`shared`), perhaps for a submission that the store does not know.
	 */
	| {
			kind: 'genuine';
			by: 'own' | 'shared';
			name?: string;
			spent?: string;
			mark: string;
			/** That has signed it, if it belongs to the submission alone. */
			ownSecret?: string;
	  }
	/** For a submission that is already known to have ended with this status. `isSame`: byte for byte. */
	| { kind: 'repeat'; name: string; isSame?: boolean }
	/**
	 * Nothing can verify it: its secret was sealed with another API key than the current one, or is gone.
	 * So the service has to confirm it.
	 */
	| { kind: 'unreadable'; stored: StoredName; mark?: string }
	| { kind: 'forged' }
	/** The store has no secret for it (yet). */
	| { kind: 'unknown' };

/** Verifies a delivery by its signature, and says what the store knows about its submission. */
export function verifyDelivery(
	delivery: Delivery,
	store: Known,
	{ apiKey, webhookSecret = '' }: Pick<TranscriberCredential, 'apiKey' | 'webhookSecret'>,
): Verdict {
	const names = storedNames(delivery.body).map((stored) => namesInTurn(store, stored));
	// The same delivery may have come before the hand-over, and may be noted under another of its ids.
	const noted = names.flat().find(({ name }) => store.endingOf(name)?.proof === proofOf(delivery));
	if (noted) return { kind: 'repeat', name: noted.name, isSame: true };
	const isPending = ({ name }: StoredName) => store.secretOf(name) !== undefined;
	const hasEndedHere = ({ name }: StoredName) => store.endingOf(name) !== undefined;
	// The credential's secret may have ended a task before the hand-over of its bot.
	const isOfShared = ({ name }: StoredName) =>
		store.endingOf(name)?.by === 'shared' && isSignedWith(webhookSecret, delivery);
	// If a task or bot has its own secret, only that secret counts, even after it has ended.
	const turns =
		names.find((each) => each.some(isPending) || each.some(isOfShared)) ??
		names.find((each) => each.some(hasEndedHere));
	if (!turns) {
		if (isSignedWith(webhookSecret, delivery)) {
			return { kind: 'genuine', by: 'shared', mark: markOf(webhookSecret) };
		}
		return { kind: names.length > 0 ? 'unknown' : 'forged' };
	}
	const newest = turns.filter((stored) => isPending(stored) || hasEndedHere(stored)).at(-1);
	const verdicts = turns
		.map((stored) =>
			isPending(stored)
				? ofPending(delivery, store, { apiKey, webhookSecret }, stored)
				: afterEnding(delivery, store, { apiKey, webhookSecret }, stored),
		)
		// The service speaks of the latest submission with a reused id.
		.filter((verdict) => verdict.kind !== 'unreadable' || verdict.stored.name === newest?.name);
	const [surest] = verdicts.sort((one, other) => rankOf(one) - rankOf(other));
	return surest ?? { kind: 'forged' };
}

/**
 * Which verdict counts if a reused id gives several: the same delivery again, then a signature that
 * fits, then a secret that cannot be read, then a repeat that only its status shows.
 */
function rankOf(verdict: Verdict): number {
	if (verdict.kind === 'repeat') return verdict.isSame ? 0 : 3;
	return { genuine: 1, unreadable: 2, unknown: 4, forged: 4 }[verdict.kind];
}

type Keys = Required<Pick<TranscriberCredential, 'apiKey' | 'webhookSecret'>>;

/** Verifies a delivery for a submission that has not ended yet. */
function ofPending(
	delivery: Delivery,
	store: Known,
	{ apiKey, webhookSecret }: Keys,
	stored: StoredName,
): Verdict {
	const { name } = stored;
	const kept = store.secretOf(name) ?? '';
	// Otherwise the service decides: it may sign with a secret that a rotated key has made unreadable
	// before the hand-over, so a signature that does not fit proves nothing.
	if (kept === NO_SECRET && isSignedWith(webhookSecret, delivery)) {
		return { kind: 'genuine', by: 'shared', name, mark: markOf(webhookSecret) };
	}
	const secret = fromStore(apiKey, name, kept);
	if (secret === undefined) return { kind: 'unreadable', stored, mark: kept.split(' ')[1] };
	if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
	const spent = seal(apiKey, SPENT_SECRET, name, secret);
	return { kind: 'genuine', by: 'own', name, spent, mark: markOf(secret), ownSecret: secret };
}

/**
 * The name under which to store a handed-over secret; undefined if its submission has ended. If a
 * submission with the same id has ended with another secret, the service has reused the id.
 */
export function nameForSecret(store: Known, name: string, secret?: string): string | undefined {
	const ending = store.endingOf(name);
	if (!ending) return name;
	const { by, mark } = ending;
	// Without a mark: of a submission whose secret was not known, any secret counts as another one.
	const isOther = secret !== undefined && (mark ? mark !== markOf(secret) : by === 'word');
	return isOther ? nameForSecret(store, `${name}${AGAIN}`, secret) : undefined;
}

/** What the store keeps of a secret: sealed with the API key, and a mark that outlasts the key. */
export function forStore(apiKey: string, name: string, secret: string): string {
	return `${seal(apiKey, STORED_SECRET, name, secret)} ${markOf(secret)}`;
}

/** The secret of what {@link forStore} gave; undefined if it was sealed with another API key. */
export function fromStore(apiKey: string, name: string, kept: string): string | undefined {
	const [sealed = ''] = kept.split(' ');
	return unseal(apiKey, STORED_SECRET, name, sealed);
}

/** Recognises a secret, whatever the API key is by then. Like a signature, it does not tell the secret. */
export function markOf(secret: string): string {
	return createHmac('sha256', secret).update(SPENT_SECRET).digest('base64url').slice(0, 11);
}

/** The name under which to store the secret of a submission that has just been made. */
export function nameForNew(store: Known, name: string): string {
	return store.endingOf(name) ? nameForNew(store, `${name}${AGAIN}`) : name;
}

/** The suffix of a stored name if the service reuses the id of a submission that has ended. */
const AGAIN = ' again';

/** The names of all submissions with the same id, the first submission first. */
function namesInTurn(store: Known, stored: StoredName): StoredName[] {
	if (!store.endingOf(stored.name)) return [stored];
	return [stored, ...namesInTurn(store, { ...stored, name: `${stored.name}${AGAIN}` })];
}

/** Verifies a delivery for a submission that has ended. */
function afterEnding(
	delivery: Delivery,
	store: Known,
	{ apiKey, webhookSecret }: Keys,
	stored: StoredName,
): Verdict {
	const { name } = stored;
	const ending = store.endingOf(name);
	if (!ending) return { kind: 'forged' };
	const { by, statuses, mark, spent = '' } = ending;
	if (by === 'shared') {
		if (isSignedWith(webhookSecret, delivery)) {
			return { kind: 'genuine', by, name, mark: markOf(webhookSecret) };
		}
		return { kind: 'forged' };
	}
	const status = statusIn(delivery.body?.status);
	const isKnown = includesStatus(statuses, hasEnded(status) ? String(status) : undefined);
	// A failed task may complete later. A completed task keeps its transcript, whatever follows.
	const isLate = !isKnown && status === 'completed';
	const secret = unseal(apiKey, SPENT_SECRET, name, spent);
	if (secret === undefined) {
		if (isLate) return { kind: 'unreadable', stored, mark };
		const hadNone = by === 'word' || spent !== '';
		return isKnown && hadNone ? { kind: 'repeat', name } : { kind: 'forged' };
	}
	if (!isSignedWith(secret, delivery)) return { kind: 'forged' };
	if (!isLate) return { kind: 'repeat', name };
	return { kind: 'genuine', by: 'own', name, spent, mark: markOf(secret), ownSecret: secret };
}

/** A fingerprint that recognises a verified delivery without its secret. */
export function proofOf({ raw, signature }: Delivery): string {
	return createHash('sha256').update(signature).update(raw).digest('base64url').slice(0, 22);
}
