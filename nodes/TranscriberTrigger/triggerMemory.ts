import { keysIn, merged, type Entry, type Ledger } from './staticDataLedger';
import { remembered } from '../shared/processMemory';

export const STORE = {
	/** The most secrets and endings of submissions to keep. The oldest are dropped first. */
	secrets: 10_000,
	endings: 10_000,
	/** The most secrets of ended submissions: they recognise a repeat with a different body. */
	spent: 1_000,
	/** A delivery that has waited longer than this for the service does not save, in ms. */
	mayWaitMs: 500,
	/** A delivery older than this does not save once n8n has started its execution, in ms. */
	mayTakeMs: 3_000,
	/**
	 * If n8n answers a delivery before it has saved the execution (see n8nInternals/staticData.ts), it
	 * saves within this time, in ms.
	 */
	savedAfterMs: 5_000,
	/**
	 * At this age, in ms, an entry in the loaded data is safe, because every call that had loaded the
	 * data without the entry has saved by then. If a busy n8n is slower and overwrites the entry,
	 * repairStaticData.ts saves it again.
	 */
	safeAfterMs: 1_000,
	/** How often, in ms, a process checks that what it knows is still saved. More often at first. */
	recheckMs: 60_000,
	/**
	 * How long an entry counts as new, in ms. A missing entry that is older goes in as the oldest, so
	 * that it cannot push out newer entries of other processes when the ledger is full.
	 */
	newMs: 10 * 60_000,
};

/** The bot that the trigger has sent (Source: Meeting). */
export interface SentBot {
	id: string;
	/** A hash of 'Meeting URL' and 'Start At' as the user has entered them. */
	fingerprint: string;
	/**
	 * The time zone in which 'Start At' was read. None if it has an offset or is empty, and none from
	 * older versions.
	 */
	zone?: string;
	/** 'Start At' in ms since 1970, as sent. None if it is empty. */
	startsAt?: number;
	/** A hash of Base URL and credential id: the account that sent it. Older versions stored none. */
	account?: string;
	/** A hash of the webhook address that the service got. Older versions stored none. */
	address?: string;
	/** A hash of the n8n and the workflow that sent it. Older versions stored none. */
	sender?: string;
	/** In ms since 1970. Older versions stored none. */
	sentAt?: number;
	/** A transcript of the bot has started the workflow. */
	hasDelivered?: boolean;
	/** In ms since 1970. */
	changedAt: number;
	/** When the trigger was switched off, in ms since 1970. */
	releasedAt?: number;
}

/** How a task or bot has ended. */
export interface Ending {
	/**
	 * How the delivery was verified: with the submission's own secret (`own`), with the credential's
	 * Webhook Secret (`shared`), or, if the secret was unreadable, by asking the service (`word`).
	 */
	by: 'own' | 'shared' | 'word';
	/** One letter for each final status that was delivered: see `letterOf`. */
	statuses: string;
	/** Fingerprint of the last verified delivery: see `proofOf`. */
	proof: string;
	/**
	 * Fingerprint of the secret: see `markOf`. None if the submission had none, and none from older
	 * versions.
	 */
	mark?: string;
	/** The submission's own secret, sealed, to recognise repeats. */
	spent?: string;
}

/** The last launch of a bot (Source: Meeting). */
interface LastLaunch {
	/**
	 * If the answer was lost, the service may have sent the bot. Until this time, in ms since 1970, no
	 * other bot is sent; 0 after an answer.
	 */
	unansweredUntil: number;
	/** In ms since 1970. */
	changedAt: number;
}

/** The data of one trigger in n8n's static data. */
export interface Saved {
	secrets: Ledger;
	endings: Ledger;
	spent: Ledger;
	bot?: SentBot;
	launch?: LastLaunch;
}

/** Without `isNewer`, a saved value stays, because another process may have saved it. */
export interface KnownEntry extends Entry {
	/** When it was added, or last missing in the loaded data, in ms since 1970. */
	at: number;
	/** An ending whose execution n8n has not saved yet. */
	isOpen?: boolean;
}

/** The data of one trigger in the memory of this process. */
export interface TriggerMemory {
	secrets: Map<string, KnownEntry>;
	endings: Map<string, KnownEntry>;
	spent: Map<string, KnownEntry>;
	/** Submissions for which n8n is starting an execution right now. */
	inFlight: Set<string>;
	/** Perhaps not saved: n8n saves nothing if another node of the workflow refuses to start. */
	bot?: SentBot;
	launch?: LastLaunch;
	/**
	 * Whether this process was the last to switch the trigger on (`true`) or off; undefined if it has
	 * done neither.
	 */
	isOn?: boolean;
	/** How often this process has switched the trigger off. */
	switchOffs: number;
}

const triggerWorkflows = remembered<Map<string, TriggerMemory>>('triggerWorkflows');

/** The memory of every trigger of a workflow, by node id. */
export function memoriesOf(workflow: string): Map<string, TriggerMemory> {
	const memories = triggerWorkflows.get(workflow) ?? new Map<string, TriggerMemory>();
	triggerWorkflows.set(workflow, memories);
	return memories;
}

/** The memory of a trigger of which this process knows nothing yet. */
export function newMemory(): TriggerMemory {
	const [secrets, endings, spent] = [new Map(), new Map(), new Map()];
	return { secrets, endings, spent, inFlight: new Set(), switchOffs: 0 };
}

/** Adds an entry, and keeps the newest `limit` entries. */
export function note(
	known: Map<string, KnownEntry>,
	key: string,
	entry: Omit<KnownEntry, 'at' | 'isOld' | 'foundIn'>,
	limit: number,
): void {
	if (known.get(key)?.value !== entry.value) {
		// Otherwise it would keep its old place in the map, as one of the oldest.
		known.delete(key);
		known.set(key, { ...entry, at: Date.now() });
	}
	for (const oldest of known.keys()) {
		if (known.size <= limit) break;
		known.delete(oldest);
	}
}

/**
 * The saved data of a trigger, merged with the memory of this process. An ending is added only once
 * n8n has saved its execution, because after a crash the trigger has to accept the delivery again.
 * `mine` is the key of the ending of the current call, which is saved only after its execution.
 */
export function broughtUpToDate(saved: Saved, memory: TriggerMemory, mine?: string): Saved {
	for (const known of [memory.secrets, memory.endings, memory.spent]) noteAge(known);
	const open = new Set<string>();
	for (const [key, { isOpen }] of memory.endings) if (isOpen && key !== mine) open.add(key);
	const none = new Set<string>();
	const endings = merged(saved.endings, memory.endings, none, STORE.endings, open);
	const ended = keysIn(endings);
	const secrets = merged(saved.secrets, memory.secrets, ended, STORE.secrets);
	const spent = merged(saved.spent, memory.spent, none, STORE.spent, open);
	const bot = newerOf(saved.bot, memory.bot);
	return { secrets, endings, spent, bot, launch: newerOf(saved.launch, memory.launch) };
}

/**
 * Whether an ending is about to be final. Not one whose execution waits for a free place: n8n 2 can
 * let it wait for hours.
 */
export function hasFreshEnding({ endings }: TriggerMemory): boolean {
	const youngest = Date.now() - STORE.recheckMs;
	return [...endings.values()].some(({ isOpen, at }) => isOpen === true && at > youngest);
}

/** The one that changed last; `known`, if both changed at the same time. */
export function newerOf<T extends { changedAt: number }>(saved?: T, known?: T): T | undefined {
	if (!saved || !known) return saved ?? known;
	return known.changedAt >= saved.changedAt ? known : saved;
}

/** Whether saving one instead of the other would change nothing. */
export function isSameData(one: Saved, other: Saved): boolean {
	const areSame = (['secrets', 'endings', 'spent'] as const).every(
		(name) => one[name] === other[name],
	);
	const isLaunchSame = one.launch?.changedAt === other.launch?.changedAt;
	return areSame && isLaunchSame && one.bot?.changedAt === other.bot?.changedAt;
}

/** Notes in the entries themselves how old they are: there may be thousands for each delivery. */
function noteAge(known: Map<string, KnownEntry>): void {
	const oldest = Date.now() - STORE.newMs;
	for (const entry of known.values()) entry.isOld = entry.at < oldest;
}
