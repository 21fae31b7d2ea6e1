/** What a process knows of a trigger, and how it is merged with what n8n has saved. */

import { ledgerKey } from '../../nodes/TranscriberTrigger/staticDataLedger';
import {
	broughtUpToDate,
	hasFreshEnding,
	isSameData,
	memoriesOf,
	newerOf,
	newMemory,
	note,
	STORE,
	type KnownEntry,
	type Saved,
} from '../../nodes/TranscriberTrigger/triggerMemory';

const NOTHING: Saved = { secrets: '', endings: '', spent: '' };
const [A, B] = [ledgerKey('task a'), ledgerKey('task b')];
const NOW = Date.UTC(2026, 10, 22);

beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => jest.useRealTimers());

describe('A note', () => {
	it('keeps the value and when it came, and stays as it is if the value comes again', () => {
		const known = new Map<string, KnownEntry>();
		note(known, A, { value: '1' }, 10);
		jest.setSystemTime(NOW + 5);
		note(known, A, { value: '1', isNewer: true }, 10);
		expect([...known]).toEqual([[A, { value: '1', at: NOW }]]);
		note(known, A, { value: '2', isNewer: true }, 10);
		expect([...known]).toEqual([[A, { value: '2', isNewer: true, at: NOW + 5 }]]);
	});

	it('lets the oldest go when there are more than the limit', () => {
		const known = new Map<string, KnownEntry>();
		for (const key of ['1', '2', '3', '4']) note(known, key, { value: key }, 2);
		expect([...known.keys()]).toEqual(['3', '4']);
	});

	it('whose value is replaced is one of the newest', () => {
		const known = new Map<string, KnownEntry>();
		for (const key of ['1', '2', '3']) note(known, key, { value: key }, 3);
		note(known, '1', { value: 'new' }, 3);
		note(known, '4', { value: '4' }, 3);
		expect([...known.keys()]).toEqual(['3', '1', '4']);
	});
});

describe('The data to save', () => {
	it('has the secrets, endings and spent secrets that the process knows', () => {
		const memory = newMemory();
		expect(broughtUpToDate(NOTHING, memory)).toEqual(NOTHING);
		note(memory.secrets, A, { value: '1' }, 10);
		note(memory.endings, B, { value: 'own c x' }, 10);
		note(memory.spent, B, { value: 's' }, 10);
		expect(broughtUpToDate(NOTHING, memory)).toEqual({
			secrets: `${A} 1;`,
			endings: `${B} own c x;`,
			spent: `${B} s;`,
		});
	});

	it('keeps what others have saved, and replaces it only by what is newer', () => {
		const saved = { ...NOTHING, secrets: `${A} theirs;` };
		const memory = newMemory();
		note(memory.secrets, A, { value: 'mine' }, 10);
		expect(broughtUpToDate(saved, memory).secrets).toBe(`${A} theirs;`);
		note(memory.secrets, A, { value: 'newest', isNewer: true }, 10);
		expect(broughtUpToDate(saved, memory).secrets).toBe(`${A} newest;`);
	});

	it('has no secret of a submission that has ended', () => {
		const memory = newMemory();
		note(memory.endings, A, { value: 'own c x' }, 10);
		note(memory.secrets, A, { value: '1' }, 10);
		expect(broughtUpToDate({ ...NOTHING, secrets: `${A} 1;${B} 2;` }, memory).secrets).toBe(
			`${B} 2;`,
		);
	});

	it('has an ending only once n8n has saved its execution, or for the call itself', () => {
		const memory = newMemory();
		note(memory.endings, A, { value: 'own c x', isOpen: true }, 10);
		note(memory.spent, A, { value: 's' }, 10);
		note(memory.secrets, A, { value: '1' }, 10);
		expect(broughtUpToDate(NOTHING, memory)).toEqual({ ...NOTHING, secrets: `${A} 1;` });
		expect(broughtUpToDate(NOTHING, memory, B)).toEqual({ ...NOTHING, secrets: `${A} 1;` });
		expect(broughtUpToDate(NOTHING, memory, A)).toEqual({
			secrets: '',
			endings: `${A} own c x;`,
			spent: `${A} s;`,
		});
	});

	it('has an entry that was missing for more than ten minutes as the oldest, so that it pushes out no other', () => {
		expect(STORE.newMs).toBe(600_000);
		const memory = newMemory();
		note(memory.secrets, A, { value: '1' }, 10);
		const saved = { ...NOTHING, secrets: `${B} 2;` };
		jest.setSystemTime(NOW + STORE.newMs);
		expect(broughtUpToDate(saved, memory).secrets).toBe(`${B} 2;${A} 1;`);
		jest.setSystemTime(NOW + STORE.newMs + 1);
		expect(broughtUpToDate(saved, memory).secrets).toBe(`${A} 1;${B} 2;`);
	});

	it('has the bot and the launch that changed last', () => {
		const bot = { id: 'b1', fingerprint: 'x', changedAt: 2 };
		const launch = { unansweredUntil: 9, changedAt: 2 };
		const memory = { ...newMemory(), bot, launch };
		expect(broughtUpToDate(NOTHING, memory)).toMatchObject({ bot, launch });
		const newer = { bot: { ...bot, changedAt: 3 }, launch: { ...launch, changedAt: 3 } };
		expect(broughtUpToDate({ ...NOTHING, ...newer }, memory)).toMatchObject(newer);
	});

	it('has a spent secret whose ending another process has noted', () => {
		const memory = newMemory();
		note(memory.spent, A, { value: 's' }, 10);
		expect(broughtUpToDate(NOTHING, memory).spent).toBe(`${A} s;`);
	});

	it.each([
		['secrets', 10_000],
		['endings', 10_000],
		['spent', 1_000],
	] as const)('has no more %s than the newest %d', (kind, most) => {
		const others = Array.from({ length: most }, (_, place) => ledgerKey(`other ${place}`));
		const saved = { ...NOTHING, [kind]: others.map((key) => `${key} 1;`).join('') };
		const memory = newMemory();
		note(memory[kind], A, { value: '2' }, STORE[kind]);
		const kept = broughtUpToDate(saved, memory, kind === 'secrets' ? undefined : A)[kind];
		expect(kept).toBe([...others.slice(1).map((key) => `${key} 1;`), `${A} 2;`].join(''));
	});
});

describe('Of two', () => {
	const [old, young] = [{ changedAt: 1 }, { changedAt: 2 }];

	it('the one that changed last counts, and what the process knows, if both did at once', () => {
		expect(newerOf(old, young)).toBe(young);
		expect(newerOf(young, old)).toBe(young);
		const known = { changedAt: 2 };
		expect(newerOf(young, known)).toBe(known);
	});

	it('the only one counts', () => {
		expect(newerOf(old, undefined)).toBe(old);
		expect(newerOf(undefined, old)).toBe(old);
		expect(newerOf(undefined, undefined)).toBeUndefined();
	});
});

describe('An ending is about to be final', () => {
	const endings = (isOpen: boolean | undefined) => {
		const memory = newMemory();
		note(memory.endings, A, { value: 'own c x', isOpen }, 10);
		return memory;
	};

	it('if it is open, and has been so for less than a minute', () => {
		const memory = endings(true);
		note(memory.endings, B, { value: 'own c x' }, 10);
		jest.setSystemTime(NOW + STORE.recheckMs - 1);
		expect(hasFreshEnding(memory)).toBe(true);
		jest.setSystemTime(NOW + STORE.recheckMs);
		expect(hasFreshEnding(memory)).toBe(false);
	});

	it('but not if it is closed, or there is none', () => {
		expect([endings(false), endings(undefined), newMemory()].map(hasFreshEnding)).toEqual([
			false,
			false,
			false,
		]);
	});
});

describe('Saved data is the same', () => {
	const bot = { id: 'b1', fingerprint: 'x', changedAt: 2 };
	const launch = { unansweredUntil: 9, changedAt: 2 };
	const whole: Saved = { secrets: 's', endings: 'e', spent: 'p', bot, launch };

	it('if all of it is', () => {
		expect(isSameData(whole, { ...whole })).toBe(true);
		expect(isSameData(NOTHING, { ...NOTHING })).toBe(true);
	});

	it.each<[string, Partial<Saved>]>([
		['secrets', { secrets: 'other' }],
		['endings', { endings: 'other' }],
		['spent', { spent: 'other' }],
		['bot', { bot: { ...bot, changedAt: 3 } }],
		['bot', { bot: undefined }],
		['launch', { launch: { ...launch, changedAt: 3 } }],
		['launch', { launch: undefined }],
	])('but not with another %s', (_, change) => {
		expect(isSameData(whole, { ...whole, ...change })).toBe(false);
		expect(isSameData({ ...whole, ...change }, whole)).toBe(false);
	});
});

it('The memory of a workflow is one, and that of another workflow is another', () => {
	const memories = memoriesOf('w1');
	memories.set('node', newMemory());
	expect(memoriesOf('w1')).toBe(memories);
	expect(memoriesOf('w2').size).toBe(0);
});
