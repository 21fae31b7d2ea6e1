import type { IDataObject, INode, Workflow } from 'n8n-workflow';

import { keyOf, keysIn, merged, valueIn, type Ledger } from './ledger';
import { memoryFor, note, type Memory, type SentBot } from './memory';

export type { SentBot };

export const STORE = {
	/** The most that is kept of each. The oldest are dropped first. */
	secrets: 10_000,
	endings: 1_000,
	/**
	 * How old an entry has to be, in ms, until finding it in the loaded data proves that it is safe:
	 * by then every call that had loaded the data before the entry was in it has written.
	 */
	settledMs: 1_000,
	/**
	 * How long, in ms, this process insists on the endings that it has noted. For good would be too
	 * long: where there is no room for all, it would drive out the newer ones of other processes.
	 */
	keepEndingsMs: 10 * 60_000,
};

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
 * concurrent writers lose most of what they write. So what is written is put together at the very
 * moment of saving, from the loaded data and all that this process has taken in, and an entry
 * counts as stored only when it was loaded. The data belongs to the node's id, since n8n's own
 * per-node data is lost when the node is renamed.
 */
export class Store {
	private readonly place: string;

	private readonly memory: Memory;

	private readonly loaded: Saved;

	/** Listening for a test event: n8n saves nothing, so memory is all there is. */
	private readonly isTest: boolean;

	private readonly found = new Map<string, string | undefined>();

	/** The key of what {@link end} noted in this call. */
	private ended?: string;

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
		const known = this.memory.secrets.get(keyOf(id));
		return known?.isNewer ? known.value : (this.loadedSecretOf(id) ?? known?.value);
	}

	keepSecret(id: string, sealed: string): void {
		const key = keyOf(id);
		const isNewer = ![undefined, sealed].includes(this.loadedSecretOf(id));
		note(this.memory.secrets, key, { value: sealed, isNewer }, STORE.secrets);
	}

	/** Whether neither a restart nor another write can lose the secret any more. */
	isStored(id: string): boolean {
		const known = this.memory.secrets.get(keyOf(id));
		if (this.isTest || !known) return known !== undefined;
		// Not there, or not any more: its time begins when it is saved (again).
		if (this.loadedSecretOf(id) !== known.value) known.at = Date.now();
		return Date.now() - known.at >= STORE.settledMs;
	}

	private loadedSecretOf(id: string): string | undefined {
		// Looked up several times in a call, and the ledger may be long.
		if (!this.found.has(id)) this.found.set(id, valueIn(this.loaded.secrets, keyOf(id)));
		return this.found.get(id);
	}

	/** How a task or bot has ended, if it has. */
	endingOf(id: string): Ending | undefined {
		const key = keyOf(id);
		const value = this.memory.endings.get(key)?.value ?? valueIn(this.loaded.endings, key);
		const [statuses, proof] = value?.split(' ') ?? [];
		return statuses !== undefined && proof !== undefined ? { statuses, proof } : undefined;
	}

	/** Whether a delivery for a task or bot is being taken in right now. */
	isInFlight(id: string): boolean {
		return this.memory.inFlight.has(keyOf(id));
	}

	/** Until {@link leave} or {@link close} a delivery for a task or bot is being taken in. */
	open(id: string): void {
		this.memory.inFlight.add(keyOf(id));
	}

	leave(id: string): void {
		this.memory.inFlight.delete(keyOf(id));
	}

	/** Notes how a task or bot has ended; its secret is not saved any longer. */
	end(id: string, { statuses, proof }: Ending, isStarting: boolean): void {
		const key = keyOf(id);
		// Until n8n has saved the execution, the secret may be needed again.
		const secret = this.secretOf(id);
		if (secret !== undefined) this.keepSecret(id, secret);
		const value = `${statuses} ${proof}`;
		const ending = { value, isNewer: this.endingOf(id) !== undefined, isOpen: isStarting };
		note(this.memory.endings, key, ending, STORE.endings, STORE.keepEndingsMs);
		this.ended = key;
		this.save();
	}

	/** What {@link end} noted is final, or is taken back. */
	close(id: string, succeeded: boolean): void {
		const { endings, secrets } = this.memory;
		this.leave(id);
		const ending = endings.get(keyOf(id));
		if (ending) ending.isOpen = false;
		(succeeded ? secrets : endings).delete(keyOf(id));
	}

	/** Has a known ending saved once more if another process, or an execution, has written over it. */
	keepEnding(id: string): void {
		const key = keyOf(id);
		const known = this.memory.endings.get(key);
		if (known && valueIn(this.loaded.endings, key) !== known.value) this.save();
	}

	/** Whether all that is known has been loaded. What has not, is saved once more. */
	isSettled(): boolean {
		const { memory, loaded } = this;
		const { secrets, endings } = this.upToDate();
		if (secrets === loaded.secrets && endings === loaded.endings) return memory.inFlight.size === 0;
		const there = keysIn(loaded.secrets);
		for (const [key, known] of memory.secrets) if (!there.has(key)) known.at = Date.now();
		this.save();
		return false;
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

	/**
	 * Has n8n save all that is known when the call is over: `toJSON` is asked only then.
	 *
	 * n8n 2 builds the workflow of the new execution out of the very object that holds this call's
	 * static data, which clears its mark "changed" before n8n looks at it to save it: what a webhook
	 * changes while it starts an execution is lost. An object of its own keeps the mark.
	 */
	save(): void {
		if (this.isTest) return;
		const { workflow } = this.context as unknown as { workflow: Workflow };
		const global = this.context.getWorkflowStaticData('global');
		const mine = { toJSON: () => this.upToDate() };
		workflow.overrideStaticData({
			...workflow.staticData,
			global: { ...global, [this.place]: mine as unknown as IDataObject },
		});
	}

	/**
	 * The loaded data, brought up to date with what this process knows. An ending goes in only when
	 * n8n has saved its execution: after a crash its delivery has to be taken in again.
	 */
	private upToDate(): Saved {
		const { memory, loaded, bot } = this;
		// n8n saves what a call has changed when it has saved the execution that the call starts.
		const mine = memory.endings.get(this.ended ?? '');
		if (mine) mine.isOpen = false;
		const closed = new Map([...memory.endings].filter(([, { isOpen }]) => !isOpen));
		const endings = merged(loaded.endings, closed, new Set(), STORE.endings);
		const ended = keysIn(endings);
		// Also what has ended in another process, or it would be saved again when its ending is dropped.
		for (const key of ended) if (!memory.inFlight.has(key)) memory.secrets.delete(key);
		const secrets = merged(loaded.secrets, memory.secrets, ended, STORE.secrets);
		return { secrets, endings, bot };
	}
}
