/** Who signed a delivery, by the secrets and endings that the trigger's store has. */

import crypto, { createHmac } from 'node:crypto';

import {
	nameForNew,
	forStore,
	fromStore,
	markOf,
	nameForSecret,
	proofOf,
	verifyDelivery,
} from '../../nodes/TranscriberTrigger/verifyDelivery';
import type { Ending } from '../../nodes/TranscriberTrigger/triggerMemory';
import { seal } from '../../nodes/shared/webhook/sealedSecret';

const KEY = 'api-key-1';
const SHARED = 'secret of the credential';
const OWN = 'whsec_1';
const TASK = 'task 7f3c';
const BODY = { task_id: '7f3c', status: 'completed' };

/** The secrets and endings that the store has, by name. */
const store = ({ secrets = {}, endings = {} }: Known = {}) => ({
	secretOf: (name: string) => secrets[name],
	endingOf: (name: string) => endings[name],
});
interface Known {
	secrets?: Record<string, string>;
	endings?: Record<string, Ending>;
}

const sealed = (name: string, secret = OWN, key = KEY) => seal(key, 'stored secret', name, secret);
const delivery = (secret: string, body: Record<string, unknown> = BODY) => {
	const raw = Buffer.from(JSON.stringify(body));
	const digest = createHmac('sha256', secret).update(raw).digest('hex');
	return { raw, signature: `sha256=${digest}`, body };
};
const keys = { apiKey: KEY, webhookSecret: SHARED };
const check = (known: Known, secret: string, body?: Record<string, unknown>) =>
	verifyDelivery(delivery(secret, body), store(known), keys);

/** The ending that the trigger stores after a genuine delivery of the task's own secret. */
function ended(statuses: string): Ending {
	const verdict = check({ secrets: { [TASK]: sealed(TASK) } }, OWN);
	if (verdict.kind !== 'genuine' || verdict.by !== 'own') throw new Error(verdict.kind);
	const { spent, mark } = verdict;
	return { by: 'own', statuses, proof: proofOf(delivery(OWN)), spent, mark };
}

describe('A delivery for a submission that the store does not know', () => {
	it('is genuine if the secret of the credential has signed it', () => {
		expect(check({}, SHARED)).toStrictEqual({
			kind: 'genuine',
			by: 'shared',
			mark: markOf(SHARED),
		});
		expect(check({}, SHARED, {})).toStrictEqual({
			kind: 'genuine',
			by: 'shared',
			mark: markOf(SHARED),
		});
	});

	it('is unknown if it is signed with another secret, and forged if it has no id', () => {
		expect(check({}, OWN)).toStrictEqual({ kind: 'unknown' });
		expect(check({}, OWN, {})).toStrictEqual({ kind: 'forged' });
		expect(verifyDelivery(delivery(OWN), store(), { apiKey: KEY })).toEqual({ kind: 'unknown' });
	});

	it('is compared with no signature if the credential has no secret: a made-up one could be known', () => {
		const [given, known] = [delivery(OWN), store({ secrets: { [TASK]: 'none' } })];
		// No verdict shows with which secret a signature was compared.
		const sign = jest.spyOn(crypto, 'createHmac');
		for (const one of [store(), known]) verifyDelivery(given, one, { apiKey: KEY });
		const { calls } = sign.mock;
		sign.mockRestore();
		expect(calls).toEqual([]);
	});
});

describe('A delivery for a submission whose secret the store has', () => {
	const known = { secrets: { [TASK]: sealed(TASK) } };

	it('is genuine if that secret has signed it', () => {
		const verdict = check(known, OWN);
		expect(verdict).toEqual({
			kind: 'genuine',
			by: 'own',
			name: TASK,
			spent: expect.any(String),
			mark: markOf(OWN),
			ownSecret: OWN,
		});
	});

	it('is genuine under the bare id too, as version 0.1.0 stored it', () => {
		const old = { secrets: { '7f3c': sealed('7f3c') } };
		expect(check(old, OWN)).toMatchObject({ kind: 'genuine', by: 'own', name: '7f3c' });
	});

	it('is forged if any other secret has signed it, that of the credential included', () => {
		expect(check(known, 'whsec_2')).toEqual({ kind: 'forged' });
		expect(check(known, SHARED)).toEqual({ kind: 'forged' });
	});

	it('cannot be verified if the secret was sealed with another API key, or for another task', () => {
		const stored = { taskId: '7f3c', name: TASK };
		for (const secret of [sealed(TASK, OWN, 'api-key-2'), sealed('task 8a4d'), '']) {
			const verdict = check({ secrets: { [TASK]: secret } }, OWN);
			expect(verdict).toEqual({ kind: 'unreadable', stored });
		}
	});

	describe('if the service gave none', () => {
		const none = { secrets: { [TASK]: 'none' } };

		it('is genuine if the secret of the credential has signed it; otherwise the service decides', () => {
			expect(check(none, SHARED)).toMatchObject({ kind: 'genuine', by: 'shared', name: TASK });
			expect(check(none, OWN)).toMatchObject({ kind: 'unreadable' });
		});

		it.each([undefined, '', ' '])(
			'cannot be verified if the credential has none either (%j)',
			(webhookSecret) => {
				const without = { baseUrl: '', apiKey: KEY, webhookSecret };
				for (const secret of [OWN, SHARED, ' ']) {
					expect(verifyDelivery(delivery(secret), store(none), without)).toEqual({
						kind: 'unreadable',
						stored: { taskId: '7f3c', name: TASK },
					});
				}
			},
		);
	});

	it('is that of the bot, if the store knows the bot alone', () => {
		const bot = { secrets: { 'bot b1': sealed('bot b1') } };
		const body = { ...BODY, bot_id: 'b1' };
		expect(check(bot, OWN, body)).toMatchObject({ kind: 'genuine', name: 'bot b1' });
	});

	it('counts before an ending of the same meeting', () => {
		const both = { secrets: { 'bot b1': sealed('bot b1') }, endings: { [TASK]: ended('c') } };
		const body = { ...BODY, bot_id: 'b1', more: 1 };
		expect(check(both, OWN, body)).toMatchObject({ kind: 'genuine', name: 'bot b1' });
	});
});

describe('A delivery for a submission that has ended', () => {
	const known = (ending: Ending) => ({ endings: { [TASK]: ending } });

	it('is the same again if it is so byte for byte, even if its secret is gone', () => {
		const { spent: _, ...without } = ended('c');
		const same = { kind: 'repeat', name: TASK, isSame: true };
		expect(check(known(ended('c')), OWN)).toEqual(same);
		expect(check(known(without), OWN)).toEqual(same);
		expect(check(known({ ...ended('c'), by: 'word' }), OWN)).toEqual(same);
	});

	it('is a repeat if it differs, but the same secret has signed it', () => {
		const body = { ...BODY, attempt: 2 };
		expect(check(known(ended('c')), OWN, body)).toEqual({ kind: 'repeat', name: TASK });
		const failed = { ...BODY, status: 'failed' };
		expect(check(known(ended('c')), OWN, failed)).toEqual({ kind: 'repeat', name: TASK });
	});

	it('is genuine if the task had failed, and has now completed', () => {
		const body = { ...BODY, attempt: 2 };
		const ending = ended('f');
		expect(check(known(ending), OWN, body)).toEqual({
			kind: 'genuine',
			by: 'own',
			name: TASK,
			spent: ending.spent,
			mark: ending.mark,
			ownSecret: OWN,
		});
	});

	it('is forged if another secret has signed it, or none is left to check it with', () => {
		const { spent: _, ...without } = ended('c');
		expect(check(known(ended('c')), 'whsec_2')).toEqual({ kind: 'forged' });
		expect(check(known(ended('c')), SHARED)).toEqual({ kind: 'forged' });
		expect(check(known(without), OWN, { ...BODY, attempt: 2 })).toEqual({ kind: 'forged' });
	});

	it('is genuine if the secret of the credential verified the first and this one', () => {
		const ending: Ending = { by: 'shared', statuses: 'c', proof: 'x' };
		expect(check(known(ending), SHARED)).toMatchObject({
			kind: 'genuine',
			by: 'shared',
			name: TASK,
		});
		expect(check(known(ending), OWN)).toEqual({ kind: 'forged' });
	});

	it.each<[Ending['by'], string | undefined]>([
		['word', undefined],
		['own', 'not readable'],
	])('by %s, without a readable secret, is a repeat only of a known status', (by, spent) => {
		const ending: Ending = { by, statuses: 'c', proof: 'x', spent };
		expect(check(known(ending), OWN)).toEqual({ kind: 'repeat', name: TASK });
		expect(check(known(ending), OWN, { task_id: '7f3c' })).toEqual({ kind: 'repeat', name: TASK });
		expect(check(known(ending), OWN, { ...BODY, status: 'done' })).toMatchObject({
			kind: 'repeat',
		});
		expect(check(known(ending), OWN, { ...BODY, status: 'failed' })).toEqual({ kind: 'forged' });
	});

	it.each<[string, Partial<Ending>]>([
		['was verified by asking the service', { by: 'word' }],
		['has a secret that cannot be read any more', { spent: 'not readable' }],
		['has no secret any more', { spent: undefined }],
	])('%s, had failed, and has now completed: the service has to confirm it', (_, more) => {
		const ending: Ending = { by: 'own', statuses: 'fx', proof: 'x', ...more };
		const stored = { taskId: '7f3c', name: TASK };
		expect(check(known(ending), OWN)).toEqual({ kind: 'unreadable', stored });
		expect(check(known({ ...ending, by: 'shared' }), OWN)).toEqual({ kind: 'forged' });
	});

	it('is a repeat byte for byte, also if only its bot is still waited for', () => {
		const body = { ...BODY, bot_id: 'b1' };
		const early: Ending = { by: 'shared', statuses: 'c', proof: proofOf(delivery(SHARED, body)) };
		const both = { secrets: { 'bot b1': sealed('bot b1', SHARED) }, endings: { [TASK]: early } };
		expect(check(both, SHARED, body)).toEqual({ kind: 'repeat', name: TASK, isSame: true });
	});

	it('belongs to the task that the secret of the credential has ended before its bot was handed over', () => {
		const body = { ...BODY, bot_id: 'b1', attempt: 2 };
		const endings: Known['endings'] = { [TASK]: { by: 'shared', statuses: 'c', proof: 'x' } };
		const known = (secret: string, key?: string) => ({
			secrets: { 'bot b1': sealed('bot b1', secret, key) },
			endings,
		});
		const ofTask = { kind: 'genuine', by: 'shared', name: TASK };
		expect(check(known(SHARED), SHARED, body)).toMatchObject(ofTask);
		expect(check(known(SHARED, 'api-key-2'), SHARED, body)).toMatchObject(ofTask);
		expect(check(known(OWN), OWN, body)).toMatchObject({ by: 'own', name: 'bot b1' });
		// The task has a secret of its own, so only that secret counts.
		const early = { secrets: { [TASK]: sealed(TASK) }, endings: { 'bot b1': endings[TASK] } };
		expect(check(early as Known, SHARED, body)).toEqual({ kind: 'forged' });
	});

	it('has a proof of its bytes and its signature', () => {
		const proofs = [delivery(OWN), delivery('whsec_2'), delivery(OWN, { ...BODY, a: 1 })].map(
			proofOf,
		);
		expect(new Set(proofs).size).toBe(3);
		for (const proof of proofs) expect(proof).toMatch(/^[\w-]{22}$/);
		expect(proofOf(delivery(OWN))).toBe(proofs[0]);
	});
});

describe('An id that the service uses again', () => {
	const again = `${TASK} again`;

	it('has the submission that fits, the first or the second', () => {
		const known = {
			endings: { [TASK]: ended('c') },
			secrets: { [again]: sealed(again, 'whsec_2') },
		};
		expect(check(known, 'whsec_2')).toMatchObject({ kind: 'genuine', by: 'own', name: again });
		expect(check(known, OWN)).toEqual({ kind: 'repeat', name: TASK, isSame: true });
		expect(check(known, OWN, { ...BODY, attempt: 2 })).toEqual({ kind: 'repeat', name: TASK });
		expect(check(known, 'whsec_3')).toEqual({ kind: 'forged' });
	});

	it('has it under the name that version 0.1.0 stored too', () => {
		const known = {
			endings: { [TASK]: ended('c'), '7f3c': ended('c') },
			secrets: { '7f3c again': sealed('7f3c again', 'whsec_2') },
		};
		expect(check(known, 'whsec_2')).toMatchObject({ kind: 'genuine', name: '7f3c again' });
	});

	it('counts as unreadable rather than as a repeat that only its status shows', () => {
		const known = {
			endings: { [TASK]: { by: 'word', statuses: 'c', proof: 'x' } as Ending },
			secrets: { [again]: sealed(again, OWN, 'api-key-2') },
		};
		expect(check(known, OWN)).toMatchObject({ kind: 'unreadable', stored: { name: again } });
	});

	it('is not asked about under the name of a submission that has ended, while another one is open', () => {
		const failed = { ...ended('f'), spent: 'not readable', proof: 'x' };
		const known = {
			endings: { [TASK]: failed },
			secrets: { [again]: sealed(again, 'whsec_2') },
		};
		expect(check(known, 'whsec_3')).toEqual({ kind: 'forged' });
		expect(check(known, 'whsec_2')).toMatchObject({ kind: 'genuine', name: again });
	});

	it('has a name for each submission', () => {
		const endings = { [TASK]: ended('c') };
		expect(nameForNew(store(), TASK)).toBe(TASK);
		expect(nameForNew(store({ endings }), TASK)).toBe(again);
		const both = store({ endings: { ...endings, [again]: ended('c') } });
		expect(nameForNew(both, TASK)).toBe(`${again} again`);
	});

	it('stores a secret under the name of a submission that has not ended with it', () => {
		const known = store({ endings: { [TASK]: ended('c') } });
		expect(nameForSecret(store(), TASK, OWN)).toBe(TASK);
		expect(nameForSecret(known, TASK, OWN)).toBeUndefined();
		expect(nameForSecret(known, TASK, undefined)).toBeUndefined();
		expect(nameForSecret(known, TASK, 'whsec_2')).toBe(again);
	});

	it('has the mark of its secret that each version has stored', () => {
		expect([markOf(OWN), markOf('whsec_2')]).toEqual(['2hTul9lOzwR', 'OnRS6zyA-eT']);
	});

	it('recognises the secret without the sealed one, which only the API key of then opens', () => {
		const { spent: _, ...without } = ended('c');
		const known = store({ endings: { [TASK]: without } });
		expect(nameForSecret(known, TASK, OWN)).toBeUndefined();
		expect(nameForSecret(known, TASK, 'whsec_2')).toBe(again);
	});

	it('recognises the secret of a submission that has ended by the word of the service', () => {
		const kept = forStore('former-key', TASK, OWN);
		const verdict = check({ secrets: { [TASK]: kept } }, OWN);
		if (verdict.kind !== 'unreadable') throw new Error(verdict.kind);
		const { mark } = verdict;
		const known = store({ endings: { [TASK]: { by: 'word', statuses: 'c', proof: 'p', mark } } });
		expect(nameForSecret(known, TASK, OWN)).toBeUndefined();
		expect(nameForSecret(known, TASK, 'whsec_2')).toBe(again);
	});

	it('takes any secret for another one if the submission had none', () => {
		const ending: Ending = { by: 'word', statuses: 'c', proof: 'p' };
		expect(nameForSecret(store({ endings: { [TASK]: ending } }), TASK, OWN)).toBe(again);
	});

	it('takes an ending without a mark, from an older version, for that of the same submission', () => {
		const ending: Ending = { by: 'own', statuses: 'c', proof: 'p' };
		expect(nameForSecret(store({ endings: { [TASK]: ending } }), TASK, OWN)).toBeUndefined();
	});

	it('opens what the store keeps only with the key of then, also as version 0.1.0 kept it', () => {
		expect(fromStore(KEY, TASK, forStore(KEY, TASK, OWN))).toBe(OWN);
		expect(fromStore(KEY, TASK, sealed(TASK))).toBe(OWN);
		expect(fromStore('another', TASK, forStore(KEY, TASK, OWN))).toBeUndefined();
	});

	it('stores no secret of a submission that has ended with it as the secret of the credential', () => {
		const verdict = check({}, SHARED);
		if (verdict.kind !== 'genuine') throw new Error(verdict.kind);
		const { by, mark } = verdict;
		const known = store({ endings: { [TASK]: { by, statuses: 'c', proof: 'p', mark } } });
		expect(nameForSecret(known, TASK, SHARED)).toBeUndefined();
		expect(nameForSecret(known, TASK, OWN)).toBe(again);
	});
});
