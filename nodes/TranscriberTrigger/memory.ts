/** The bot that the trigger has sent (Source: Meeting). */
export interface SentBot {
	id: string;
	/** What it was sent to. */
	fingerprint: string;
	/** In ms since 1970, as below. */
	sentAt: number;
	/** When the trigger was switched off. */
	releasedAt?: number;
}

interface Known {
	value: string;
	/** Since when. */
	at: number;
	/** Replaces what n8n has saved; otherwise that stays, as another process may have saved it. */
	isNewer?: boolean;
	/** An ending for which n8n has not saved the execution yet. */
	isOpen?: boolean;
}

/** What this process has taken in for a trigger. */
export interface Memory {
	secrets: Map<string, Known>;
	endings: Map<string, Known>;
	/** Submissions for which n8n is starting an execution right now. */
	inFlight: Set<string>;
	/** Sent, but perhaps not saved: n8n saves nothing when another node of the workflow refuses to start. */
	bot?: SentBot;
}

const memories = new Map<string, Memory>();

export function memoryFor(place: string): Memory {
	const memory = memories.get(place) ?? {
		secrets: new Map(),
		endings: new Map(),
		inFlight: new Set(),
	};
	memories.set(place, memory);
	return memory;
}

/** Keeps the newest `limit` of what is known, for so long. */
export function note(
	known: Map<string, Known>,
	key: string,
	entry: Omit<Known, 'at'>,
	limit: number,
	keepMs = Infinity,
): void {
	if (known.get(key)?.value !== entry.value) known.set(key, { ...entry, at: Date.now() });
	for (const [oldest, { at }] of known) {
		if (known.size <= limit && Date.now() - at < keepMs) break;
		known.delete(oldest);
	}
}
