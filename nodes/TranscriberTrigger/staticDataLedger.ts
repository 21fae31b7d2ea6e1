import { createHash } from 'crypto';

/**
 * Many entries in one string, `<key> <value>;<key> <value>;…`, the oldest first. n8n parses its
 * static data for every call and wraps each object in it into a proxy, so only a string can be long
 * and stay cheap.
 */
export type Ledger = string;

const KEY_LENGTH = 12;

/** Turns an id into a key: short, and without a space or semicolon. */
export function ledgerKey(id: string): string {
	return createHash('sha256').update(id).digest('base64url').slice(0, KEY_LENGTH);
}

/** The value of a key; undefined if the ledger has no such key. */
export function valueIn(ledger: Ledger, key: string): string | undefined {
	const at = startOf(ledger, key);
	return at < 0 ? undefined : ledger.slice(at + KEY_LENGTH + 1, ledger.indexOf(';', at));
}

/** All keys of a ledger. */
export function keysIn(ledger: Ledger): Set<string> {
	return new Set(ledger.split(';').map((entry) => entry.slice(0, KEY_LENGTH)));
}

export interface Entry {
	value: string;
	/** Replaces the value in the ledger. */
	isNewer?: boolean;
	/** If it is missing, adds it as the oldest entry, not as the newest. */
	isOld?: boolean;
	/** The last pass of {@link merged} that has found it in the ledger. */
	foundIn?: object;
}

/**
 * Adds `entries` to the `saved` ledger, except those in `open`, removes the keys in `dropped`, and
 * keeps the newest `limit` entries. Makes one pass for all changes, since the ledger may be long, and
 * notes in the entries which it has found: a set of them would take twice the time.
 */
export function merged(
	saved: Ledger,
	entries: ReadonlyMap<string, Entry>,
	dropped: ReadonlySet<string>,
	limit: number,
	open: ReadonlySet<string> = new Set(),
): Ledger {
	const pass = {};
	// If anything else has written into the static data: an entry that is cut off would never end.
	const ledger = saved.slice(0, saved.lastIndexOf(';') + 1);
	let [kept, count, keptUpTo] = ['', 0, 0];
	for (let at = 0; at < ledger.length;) {
		const next = ledger.indexOf(';', at) + 1;
		const key = ledger.slice(at, at + KEY_LENGTH);
		const entry = entries.get(key);
		const value = entry?.isNewer && !open.has(key) ? entry.value : undefined;
		const isKept = value === undefined || ledger.slice(at + KEY_LENGTH + 1, next - 1) === value;
		if (isKept && !dropped.has(key)) {
			count += 1;
			if (entry) entry.foundIn = pass;
		} else {
			kept += ledger.slice(keptUpTo, at);
			keptUpTo = next;
		}
		at = next;
	}
	kept += ledger.slice(keptUpTo);
	let [oldest, newest] = ['', ''];
	for (const [key, { value, isOld, foundIn }] of entries) {
		if (foundIn === pass || dropped.has(key) || open.has(key)) continue;
		if (isOld) oldest += `${key} ${value};`;
		else newest += `${key} ${value};`;
		count += 1;
	}
	kept = oldest + kept + newest;
	return withoutOldest(kept, count - limit);
}

function withoutOldest(ledger: Ledger, count: number): Ledger {
	let at = 0;
	for (let left = count; left > 0; left--) at = ledger.indexOf(';', at) + 1;
	return ledger.slice(at);
}

function startOf(ledger: Ledger, key: string): number {
	if (ledger.startsWith(`${key} `)) return 0;
	const before = ledger.indexOf(`;${key} `);
	return before < 0 ? before : before + 1;
}
