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
}

/**
 * Adds `entries` to the ledger, removes the keys in `dropped`, and keeps the newest `limit`
 * entries. Makes one pass for all changes, since the ledger may be long.
 */
export function merged(
	ledger: Ledger,
	entries: ReadonlyMap<string, Entry>,
	dropped: ReadonlySet<string>,
	limit: number,
): Ledger {
	let [kept, count, known, keptUpTo] = ['', 0, 0, 0];
	for (let at = 0; at < ledger.length;) {
		const next = ledger.indexOf(';', at) + 1;
		const key = ledger.slice(at, at + KEY_LENGTH);
		const entry = entries.get(key);
		const value = entry?.isNewer ? entry.value : undefined;
		const isKept = value === undefined || ledger.slice(at + KEY_LENGTH + 1, next - 1) === value;
		if (isKept && !dropped.has(key)) {
			count += 1;
			if (entry) known += 1;
		} else {
			kept += ledger.slice(keptUpTo, at);
			keptUpTo = next;
		}
		at = next;
	}
	kept += ledger.slice(keptUpTo);
	// Usually no entry is missing, and then there is nothing to search for.
	if (known < entries.size) {
		const present = keysIn(kept);
		let [oldest, newest] = ['', ''];
		for (const [key, { value, isOld }] of entries) {
			if (present.has(key) || dropped.has(key)) continue;
			if (isOld) oldest += `${key} ${value};`;
			else newest += `${key} ${value};`;
			count += 1;
		}
		kept = oldest + kept + newest;
	}
	return count <= limit
		? kept
		: kept
				.split(';')
				.slice(-limit - 1)
				.join(';');
}

function startOf(ledger: Ledger, key: string): number {
	if (ledger.startsWith(`${key} `)) return 0;
	const before = ledger.indexOf(`;${key} `);
	return before < 0 ? before : before + 1;
}
