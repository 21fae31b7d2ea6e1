import { createHash } from 'crypto';

/**
 * Many entries in one string, `<key> <value>;<key> <value>;…`, the oldest first. n8n wraps every
 * object in its static data into a proxy, and parses it all for every call: a string is the one
 * thing that may be long.
 */
export type Ledger = string;

const KEY_LENGTH = 12;

/** Ids as keys: short, and without any sign that could break an entry. */
export function keyOf(id: string): string {
	return createHash('sha256').update(id).digest('base64url').slice(0, KEY_LENGTH);
}

export function valueIn(ledger: Ledger, key: string): string | undefined {
	const at = startOf(ledger, key);
	return at < 0 ? undefined : ledger.slice(at + KEY_LENGTH + 1, ledger.indexOf(';', at));
}

export function without(ledger: Ledger, key: string): Ledger {
	const at = startOf(ledger, key);
	return at < 0 ? ledger : ledger.slice(0, at) + ledger.slice(ledger.indexOf(';', at) + 1);
}

/** The newest `limit` entries, this one the newest of all. */
export function withEntry(ledger: Ledger, key: string, value: string, limit: number): Ledger {
	const added = `${without(ledger, key)}${key} ${value};`;
	// Counting takes time, so it is left alone while there cannot be too many.
	if (added.length <= limit * (KEY_LENGTH + 2)) return added;
	const entries = added.split(';').slice(0, -1);
	return entries.length > limit ? `${entries.slice(-limit).join(';')};` : added;
}

function startOf(ledger: Ledger, key: string): number {
	if (ledger.startsWith(`${key} `)) return 0;
	const before = ledger.indexOf(`;${key} `);
	return before < 0 ? before : before + 1;
}
