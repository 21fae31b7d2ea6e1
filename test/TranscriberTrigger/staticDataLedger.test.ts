/** The ledger: many entries in one string, which n8n reads for every call. */

import fc from 'fast-check';

import {
	keysIn,
	ledgerKey,
	merged,
	valueIn,
	type Entry,
} from '../../nodes/TranscriberTrigger/staticDataLedger';

const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((id) => ledgerKey(`task ${id}`)) as [
	string,
	string,
	string,
	string,
];
const LEDGER = `${A} 1;${B} 22;${C} 3;`;
const NONE = new Set<string>();
const add = (entries: Array<[string, Entry]>, ledger = LEDGER, dropped = NONE, limit = 100) =>
	merged(ledger, new Map(entries), dropped, limit);

describe('A key', () => {
	it('is short, the same for the same id, and has neither space nor semicolon', () => {
		expect(ledgerKey('task 7f3c')).toBe(ledgerKey('task 7f3c'));
		for (let id = 0; id < 200; id++) expect(ledgerKey(`task ${id}`)).toMatch(/^[\w-]{12}$/);
		expect(new Set([A, B, C, D]).size).toBe(4);
	});

	it('finds its value, wherever it stands, and no other does', () => {
		expect([A, B, C, D].map((key) => valueIn(LEDGER, key))).toEqual(['1', '22', '3', undefined]);
		expect(valueIn('', A)).toBeUndefined();
	});

	it('is not found inside a value', () => {
		expect(valueIn(`${A} x${B} 2;`, B)).toBeUndefined();
		expect(valueIn(`${A} x${B} 2;${B} 4;`, B)).toBe('4');
	});

	it('is in the set of all keys', () => {
		expect([A, B, C].every((key) => keysIn(LEDGER).has(key))).toBe(true);
		expect(keysIn(LEDGER).has(D)).toBe(false);
	});
});

describe('An entry', () => {
	it('that is missing becomes the newest, or the oldest if it is old', () => {
		expect(add([[D, { value: '4' }]])).toBe(`${LEDGER}${D} 4;`);
		expect(add([[D, { value: '4', isOld: true }]])).toBe(`${D} 4;${LEDGER}`);
		expect(add([[D, { value: '4' }]], '')).toBe(`${D} 4;`);
	});

	it('that is there stays as it is, unless the new one is newer', () => {
		expect(add([[B, { value: 'x' }]])).toBe(LEDGER);
		expect(add([[B, { value: 'x', isNewer: true }]])).toBe(`${A} 1;${C} 3;${B} x;`);
		expect(add([[B, { value: '22', isNewer: true }]])).toBe(LEDGER);
	});

	it('that is dropped goes, and does not come back with the same change', () => {
		expect(add([], LEDGER, new Set([B]))).toBe(`${A} 1;${C} 3;`);
		expect(add([[B, { value: 'x', isNewer: true }]], LEDGER, new Set([B]))).toBe(`${A} 1;${C} 3;`);
		expect(add([[D, { value: '4' }]], LEDGER, new Set([D, A]))).toBe(`${B} 22;${C} 3;`);
	});

	it('that is open is neither added nor replaced, and what is there stays', () => {
		const open = new Set([B, D]);
		const entries = new Map([B, C, D].map((key) => [key, { value: 'x', isNewer: true }]));
		expect(merged(LEDGER, entries, NONE, 100, open)).toBe(`${A} 1;${B} 22;${C} x;`);
	});

	it('is added again to a ledger that lacks it, after one that had it', () => {
		const entries = new Map([[B, { value: '22' }]]);
		expect(merged(LEDGER, entries, NONE, 100)).toBe(LEDGER);
		expect(merged(`${A} 1;`, entries, NONE, 100)).toBe(`${A} 1;${B} 22;`);
	});

	it('is the oldest of those that go when there are more than the limit', () => {
		expect(add([[D, { value: '4' }]], LEDGER, NONE, 4)).toBe(`${LEDGER}${D} 4;`);
		expect(add([[D, { value: '4' }]], LEDGER, NONE, 3)).toBe(`${B} 22;${C} 3;${D} 4;`);
		expect(add([[D, { value: '4', isOld: true }]], LEDGER, NONE, 3)).toBe(LEDGER);
		expect(add([], LEDGER, NONE, 1)).toBe(`${C} 3;`);
	});
});

it('A ledger that something else has cut off keeps its whole entries, and takes new ones', () => {
	expect(add([[D, { value: '4' }]], `${A} 1;${B} 2`)).toBe(`${A} 1;${D} 4;`);
	expect(add([[D, { value: '4' }]], 'nothing of ours')).toBe(`${D} 4;`);
	expect([valueIn('nothing of ours', A), valueIn('', A)]).toEqual([undefined, undefined]);
});

it('Any change of any ledger is that of a plain list of entries', () => {
	const KEYS = Array.from({ length: 8 }, (_, id) => ledgerKey(String(id)));
	const key = fc.constantFrom(...KEYS);
	const value = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '!') });
	const entry = fc.record(
		{ value, isNewer: fc.boolean(), isOld: fc.boolean() },
		{ requiredKeys: ['value'] },
	);
	const ledgers = fc.uniqueArray(fc.tuple(key, value), { selector: ([one]) => one });
	const changes = fc.uniqueArray(fc.tuple(key, entry), { selector: ([one]) => one });
	fc.assert(
		fc.property(
			ledgers,
			changes,
			fc.uniqueArray(key),
			fc.integer({ min: 1, max: 10 }),
			(old, change, dropped, limit) => {
				const changed = new Map(change);
				const isReplaced = ([name, text]: [string, string]) => {
					const { value: next, isNewer } = changed.get(name) ?? {};
					return isNewer && next !== text;
				};
				const kept = old.filter((one) => !dropped.includes(one[0]) && !isReplaced(one));
				const added = change.filter(
					([name]) => !dropped.includes(name) && !kept.some(([other]) => other === name),
				);
				const pairs = (isOld: boolean) =>
					added
						.filter(([, one]) => (one.isOld ?? false) === isOld)
						.map(([name, one]): [string, string] => [name, one.value]);
				const all = [...pairs(true), ...kept, ...pairs(false)].slice(-limit);
				const text = (list: Array<[string, string]>) =>
					list.map(([name, one]) => `${name} ${one};`).join('');
				expect(merged(text(old), changed, new Set(dropped), limit)).toBe(text(all));
			},
		),
	);
});
