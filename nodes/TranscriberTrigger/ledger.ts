import { createHash } from 'crypto';

/**
 * Many entries in one string, `<key> <value>;<key> <value>;…`, the oldest first. n8n wraps every
 * object in its static data into a proxy, and parses it all for every call: a string is the one
 * thing that may be long.
 */
export type Ledger = string;

const KEY_LENGTH = 12;

/** Ids as keys: short, and without any sign that could break an entry. */
export function ledgerKey(id: string): string {
	return createHash('sha256').update(id).digest('base64url').slice(0, KEY_LENGTH);
}

export function valueIn(ledger: Ledger, key: string): string | undefined {
	const at = startOf(ledger, key);
	return at < 0 ? undefined : ledger.slice(at + KEY_LENGTH + 1, ledger.indexOf(';', at));
}

export function keysIn(ledger: Ledger): Set<string> {
	return new Set(ledger.split(';').map((entry) => entry.slice(0, KEY_LENGTH)));
}

export interface Entry {
	value: string;
	/** Replaces the one that is in the ledger. */
	isNewer?: boolean;
	/** Goes in as the oldest where it is missing, not as the newest. */
	isOld?: boolean;
}

/**
 * The ledger with `entries` in it and without those whose key is in `dropped`: the newest `limit`.
 * One pass, whatever there is to change, since the ledger may be long.
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
	// Mostly all are there, and then nobody has to look which are missing.
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
