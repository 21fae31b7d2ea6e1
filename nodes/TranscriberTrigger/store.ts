import type { IDataObject, INode, Workflow } from 'n8n-workflow';

import { keyOf, valueIn, withEntry, without, type Ledger } from './ledger';

export const STORE = {
	/** The most that is kept of each. The oldest are dropped first. */
	secrets: 10_000,
	endings: 1_000,
	/**
	 * How old an entry has to be, in ms, until finding it in the loaded data proves that it is safe:
	 * by then every call that had loaded the data before the entry was in it has written.
	 */
	settledMs: 1_000,
};

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

/** What n8n keeps of a trigger. */
interface Saved {
	secrets: Ledger;
	endings: Ledger;
	bot?: SentBot;
}

/** How a task or bot has ended. */
export interface Ending {
	/** The first letters of its final statuses; `?` where a delivery did not tell. */
	statuses: string;
	/** Stands for the last verified delivery: see `proofOf`. */
	proof: string;
}

interface Known {
	value: string;
	at: number;
}

/** What this process has taken in for a trigger. */
interface Memory {
	secrets: Map<string, Known>;
	endings: Map<string, Known>;
	/** Keys of both that may not be in n8n's data yet. */
	unsettled: Set<string>;
	/** Deliveries for which n8n is starting an execution right now. */
	inFlight: Set<string>;
	/** Sent, but perhaps not saved: n8n saves nothing when another node of the workflow refuses to start. */
	bot?: SentBot;
}

const memories = new Map<string, Memory>();

function memoryFor(name: string): Memory {
	const memory = memories.get(name) ?? {
		secrets: new Map(),
		endings: new Map(),
		unsettled: new Set(),
		inFlight: new Set(),
	};
	memories.set(name, memory);
	return memory;
}

/** What is needed of n8n: webhook calls and lifecycle hooks have it. */
export interface StoreContext {
	getNode(): INode;
	getWorkflow(): { id?: string };
	getWorkflowStaticData(type: string): IDataObject;
	getMode(): string;
}

/**
 * The sealed secrets of submissions, the submissions that have ended, and the bot of one trigger.
 *
 * n8n loads a workflow's static data for every call and saves it whole, without a lock: naive
 * concurrent writers lose most of what they write. So every write is the loaded data plus what
 * this process has taken in lately, and an entry counts as stored only when it was loaded. The data
 * belongs to the node's id, since n8n's own per-node data is lost when the node is renamed.
 */
export class Store {
	private readonly place: string;

	private readonly memory: Memory;

	private readonly loaded: Saved;

	/** Listening for a test event: n8n saves nothing, so memory is all there is. */
	private readonly isTest: boolean;

	constructor(private readonly context: StoreContext) {
		const { id } = context.getNode();
		this.isTest = context.getMode() === 'manual';
		this.place = `transcriberTrigger:${id}`;
		this.memory = memoryFor(`${context.getWorkflow().id}:${id}:${this.isTest}`);
		const data = this.isTest ? {} : context.getWorkflowStaticData('global')[this.place];
		const { secrets = '', endings = '', bot } = (data ?? {}) as Partial<Saved>;
		this.loaded = { secrets, endings, bot };
	}

	/** The sealed secret of a task or bot. */
	secretOf(id: string): string | undefined {
		const key = keyOf(id);
		return valueIn(this.loaded.secrets, key) ?? this.memory.secrets.get(key)?.value;
	}

	keepSecret(id: string, sealed: string): void {
		this.note('secrets', id, sealed);
	}

	/** Whether neither a restart nor another write can lose the secret any more. */
	isStored(id: string): boolean {
		const known = this.memory.secrets.get(keyOf(id));
		if (this.isTest || !known) return known !== undefined;
		const isOldEnough = Date.now() - known.at >= STORE.settledMs;
		return isOldEnough && valueIn(this.loaded.secrets, keyOf(id)) === known.value;
	}

	/** How a task or bot has ended, if it has. */
	endingOf(id: string): Ending | undefined {
		const key = keyOf(id);
		const value = this.memory.endings.get(key)?.value ?? valueIn(this.loaded.endings, key);
		const [statuses, proof] = value?.split(' ') ?? [];
		return statuses !== undefined && proof !== undefined ? { statuses, proof } : undefined;
	}

	/** Notes that a task or bot has ended; its secret is not saved any longer. */
	end(id: string, { statuses, proof }: Ending): void {
		const secret = this.secretOf(id);
		// Until n8n has taken the delivery over, the secret may be needed again.
		if (secret !== undefined) this.keepSecret(id, secret);
		this.note('endings', id, `${statuses} ${proof}`);
	}

	/** What {@link end} noted is final, or is taken back. */
	close(id: string, succeeded: boolean): void {
		const { inFlight, endings, secrets } = this.memory;
		inFlight.delete(id);
		(succeeded ? secrets : endings).delete(keyOf(id));
	}

	get inFlight(): Set<string> {
		return this.memory.inFlight;
	}

	get bot(): SentBot | undefined {
		const { memory, loaded } = this;
		if (!memory.bot || !loaded.bot) return memory.bot ?? loaded.bot;
		return memory.bot.sentAt > loaded.bot.sentAt ? memory.bot : loaded.bot;
	}

	/** The newest bot, or what has become of it. */
	set bot(bot: SentBot) {
		this.memory.bot = bot;
		this.loaded.bot = bot;
	}

	/** Has n8n save all that is known when the call is over. */
	save(): void {
		if (this.isTest) return;
		const { secrets, endings, bot } = this.merged();
		const data = this.context.getWorkflowStaticData('global');
		data[this.place] = bot ? { secrets, endings, bot: { ...bot } } : { secrets, endings };
		keepChanged(this.context);
	}

	private note(kind: 'secrets' | 'endings', id: string, value: string): void {
		const key = keyOf(id);
		const known = this.memory[kind];
		if (known.get(key)?.value !== value) known.set(key, { value, at: Date.now() });
		this.memory.unsettled.add(key);
		const [oldest] = known.keys();
		if (known.size > STORE[kind] && oldest !== undefined) known.delete(oldest);
	}

	/** The loaded data, brought up to date with what this process knows. */
	private merged(): Saved {
		const { memory, bot } = this;
		let { secrets, endings } = this.loaded;
		for (const key of memory.unsettled) {
			const ending = memory.endings.get(key);
			const secret = memory.secrets.get(key);
			const known = ending ?? secret;
			const saved = valueIn(endings, key) ?? (ending ? undefined : valueIn(secrets, key));
			if (!known || (saved !== undefined && Date.now() - known.at >= 2 * STORE.settledMs)) {
				memory.unsettled.delete(key);
			}
			if (ending && saved !== ending.value) {
				endings = withEntry(endings, key, ending.value, STORE.endings);
				secrets = without(secrets, key);
			} else if (secret && saved === undefined) {
				secrets = withEntry(secrets, key, secret.value, STORE.secrets);
			}
		}
		return { secrets, endings, bot };
	}
}

/**
 * n8n 2 builds the workflow of the new execution out of the very object that holds this call's
 * static data, which clears its mark "changed" before n8n looks at it to save it: what a webhook
 * changes while it starts an execution is lost. An object of its own keeps the mark.
 */
function keepChanged(context: StoreContext): void {
	const { workflow } = context as unknown as { workflow?: Workflow };
	workflow?.overrideStaticData?.({ ...workflow.staticData });
}
