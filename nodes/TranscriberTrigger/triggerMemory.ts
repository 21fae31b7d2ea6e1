import { keysIn, merged, type Entry, type Ledger } from './ledger';
import { remembered } from '../shared/processState';

export const STORE = {
	/** The most that is kept of each. The oldest are dropped first. */
	secrets: 10_000,
	endings: 10_000,
	/** Secrets of submissions that have ended: they recognise a repeat whose body differs. */
	spent: 1_000,
	/** How long a delivery may have waited for the service when it saves, in ms. */
	mayWaitMs: 500,
	/** How old a delivery may be when n8n has started its execution and saves, in ms. */
	mayTakeMs: 3_000,
	/**
	 * How old an entry has to be, in ms, until finding it in the loaded data proves that it is safe: a
	 * call that had loaded the data before the entry was in it has saved by then. What a busier n8n
	 * still writes over is saved again (settle.ts).
	 */
	settledMs: 1_000,
	/** How often, in ms, a process looks whether what it knows is still saved. More often at first. */
	recheckMs: 60_000,
	/**
	 * Until when an entry counts as new, in ms. An older one that is missing is added as the oldest:
	 * where there is no room for all, it must not drive out newer ones of other processes.
	 */
	newMs: 10 * 60_000,
};

/** The bot that the trigger has sent (Source: Meeting). */
export interface SentBot {
	id: string;
	/** What it was sent to. */
	fingerprint: string;
	/** In ms since 1970, as below. */
	changedAt: number;
	/** When the trigger was switched off. */
	releasedAt?: number;
}

/** What n8n keeps of a trigger. */
export interface Saved {
	secrets: Ledger;
	endings: Ledger;
	spent: Ledger;
	bot?: SentBot;
}

export interface KnownEntry {
	value: string;
	/** Since when, or when it was last missing in the loaded data, in ms since 1970. */
	at: number;
	/** Replaces what n8n has saved; otherwise that stays, as another process may have saved it. */
	isNewer?: boolean;
	/** An ending for which n8n has not saved the execution yet. */
	isOpen?: boolean;
}

/** What this process has taken in for a trigger. */
export interface TriggerMemory {
	secrets: Map<string, KnownEntry>;
	endings: Map<string, KnownEntry>;
	spent: Map<string, KnownEntry>;
	/** Submissions for which n8n is starting an execution right now. */
	inFlight: Set<string>;
	/** Sent, but perhaps not saved: n8n saves nothing when another node of the workflow refuses to start. */
	bot?: SentBot;
}

const workflows = remembered<Map<string, TriggerMemory>>('triggerWorkflows');

/** What this process knows of the triggers of a workflow, by the ids of their nodes. */
export function memoriesOf(workflow: string): Map<string, TriggerMemory> {
	const memories = workflows.get(workflow) ?? new Map<string, TriggerMemory>();
	workflows.set(workflow, memories);
	return memories;
}

export function newMemory(): TriggerMemory {
	return { secrets: new Map(), endings: new Map(), spent: new Map(), inFlight: new Set() };
}

/** Keeps the newest `limit` of what is known. */
export function note(
	known: Map<string, KnownEntry>,
	key: string,
	entry: Omit<KnownEntry, 'at'>,
	limit: number,
): void {
	if (known.get(key)?.value !== entry.value) known.set(key, { ...entry, at: Date.now() });
	for (const oldest of known.keys()) {
		if (known.size <= limit) break;
		known.delete(oldest);
	}
}

/**
 * What n8n has saved of a trigger, brought up to date with what this process knows. An ending goes in
 * only when n8n has saved its execution: after a crash its delivery has to be taken in again. `mine`
 * is the key of the ending that the call at hand has noted: n8n saves static data after the execution.
 */
export function broughtUpToDate(saved: Saved, memory: TriggerMemory, mine?: string): Saved {
	const isClosed = (key: string) => key === mine || memory.endings.get(key)?.isOpen !== true;
	const closed = (known: Map<string, KnownEntry>) =>
		entriesOf(new Map([...known].filter(([key]) => isClosed(key))));
	const none = new Set<string>();
	const endings = merged(saved.endings, closed(memory.endings), none, STORE.endings);
	const ended = keysIn(endings);
	const secrets = merged(saved.secrets, entriesOf(memory.secrets), ended, STORE.secrets);
	const spent = merged(saved.spent, closed(memory.spent), none, STORE.spent);
	return { secrets, endings, spent, bot: newerOf(saved.bot, memory.bot) };
}

export function newerOf(one?: SentBot, other?: SentBot): SentBot | undefined {
	if (!one || !other) return one ?? other;
	return other.changedAt > one.changedAt ? other : one;
}

function entriesOf(known: Map<string, KnownEntry>): Map<string, Entry> {
	const oldest = Date.now() - STORE.newMs;
	return new Map(
		[...known].map(([key, { value, isNewer, at }]) => [
			key,
			{ value, isNewer, isOld: at < oldest },
		]),
	);
}
