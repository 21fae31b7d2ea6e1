import type { IDataObject } from 'n8n-workflow';

import {
	staticDataOf,
	type StaticData,
	type StaticDataContext,
} from '../shared/n8nInternals/staticData';
import { ledgerKey, keysIn, valueIn } from './ledger';
import {
	STORE,
	broughtUpToDate,
	memoriesOf,
	newMemory,
	newerOf,
	note,
	type TriggerMemory,
	type Saved,
	type SentBot,
} from './triggerMemory';

/** How a task or bot has ended. */
export interface Ending {
	/**
	 * What had verified its delivery: its own secret, the credential's Webhook Secret, or, where its
	 * secret could not be read, the service's own word.
	 */
	by: 'own' | 'shared' | 'word';
	/** One letter for each of its final statuses: see `letterOf`. */
	statuses: string;
	/** Stands for the last verified delivery: see `proofOf`. */
	proof: string;
	/** The sealed secret of a submission of its own, which recognises repeats. */
	spent?: string;
}

const PREFIX = 'transcriberTrigger:';

/**
 * The sealed secrets of submissions, the submissions that have ended, and the bot of one trigger.
 *
 * n8n loads a workflow's static data for every call and saves it whole, without a lock: naive
 * concurrent writers lose most of what they write. So:
 * - What is saved is put together at the moment of saving, from the loaded data and all that this
 *   process has taken in, for every Transcriber Trigger of the workflow.
 * - A delivery that has waited for the service saves nothing: what it had loaded is out of date. A call
 *   of this process to itself, which waits for nothing, saves instead (settle.ts).
 * - A secret counts as stored only when it is found in the loaded data for longer than a call that
 *   waits for nothing takes to save.
 * - As long as the process lives, it looks whether what it knows is still there (settle.ts).
 *
 * The data belongs to the node's id: n8n's own per-node data is lost when the node is renamed.
 */
export class TriggerStore {
	private readonly began = Date.now();

	private readonly nodeId: string;

	private readonly memories: Map<string, TriggerMemory>;

	private readonly memory: TriggerMemory;

	/** Missing while the editor listens for a test event: n8n saves nothing, so memory is all there is. */
	private readonly staticData?: StaticData;

	private readonly loaded: Saved;

	private readonly found = new Map<string, string | undefined>();

	/** The key of what {@link end} noted in this call. */
	private ended?: string;

	constructor(context: StaticDataContext) {
		this.nodeId = context.getNode().id;
		const isTest = context.getMode() === 'manual';
		this.memories = memoriesOf(`${context.getWorkflow().id}:${isTest}`);
		this.memory = this.memories.get(this.nodeId) ?? newMemory();
		this.memories.set(this.nodeId, this.memory);
		this.staticData = isTest ? undefined : staticDataOf(context);
		this.loaded = this.loadedOf(this.nodeId);
	}

	private loadedOf(nodeId: string): Saved {
		const data = this.staticData?.loaded[PREFIX + nodeId] ?? {};
		const { secrets = '', endings = '', spent = '', bot } = data as Partial<Saved>;
		return { secrets, endings, spent, bot };
	}

	/** The sealed secret of a task or bot. */
	secretOf(id: string): string | undefined {
		const known = this.memory.secrets.get(ledgerKey(id));
		return known?.isNewer ? known.value : (this.loadedSecretOf(id) ?? known?.value);
	}

	keepSecret(id: string, sealed: string): void {
		const isNewer = ![undefined, sealed].includes(this.loadedSecretOf(id));
		note(this.memory.secrets, ledgerKey(id), { value: sealed, isNewer }, STORE.secrets);
	}

	/** Whether neither a restart nor another write can lose the kept secret any more. */
	isStored(id: string): boolean {
		const known = this.memory.secrets.get(ledgerKey(id));
		if (!this.staticData || !known) return known !== undefined;
		// Not there, or not any more: its time begins when it is saved (again).
		if (!this.isLoaded(id)) known.at = Date.now();
		return Date.now() - known.at >= STORE.settledMs;
	}

	/** Whether the kept secret is in the loaded data, so that it need not be saved again. */
	isLoaded(id: string): boolean {
		const known = this.memory.secrets.get(ledgerKey(id));
		return known !== undefined && this.loadedSecretOf(id) === known.value;
	}

	private loadedSecretOf(id: string): string | undefined {
		// Looked up several times in a call, and the ledger may be long.
		if (!this.found.has(id)) this.found.set(id, valueIn(this.loaded.secrets, ledgerKey(id)));
		return this.found.get(id);
	}

	/** How a task or bot has ended, if it has. */
	endingOf(id: string): Ending | undefined {
		const key = ledgerKey(id);
		const value = this.memory.endings.get(key)?.value ?? valueIn(this.loaded.endings, key);
		const [by, statuses, proof] = value?.split(' ') ?? [];
		if (statuses === undefined || proof === undefined) return undefined;
		const spent = this.memory.spent.get(key)?.value ?? valueIn(this.loaded.spent, key);
		return { by: by as Ending['by'], statuses, proof, spent };
	}

	/** Whether a delivery for a task or bot is being taken in right now. */
	isInFlight(id: string): boolean {
		return this.memory.inFlight.has(ledgerKey(id));
	}

	/** Until {@link leave} or {@link close} a delivery for a task or bot is being taken in. */
	open(id: string): void {
		this.memory.inFlight.add(ledgerKey(id));
	}

	leave(id: string): void {
		this.memory.inFlight.delete(ledgerKey(id));
	}

	/** Notes how a task or bot has ended; its secret is not saved any longer. */
	end(id: string, { by, statuses, proof, spent }: Ending): void {
		const key = ledgerKey(id);
		// Until n8n has saved the execution, the secret may be needed again.
		const secret = this.secretOf(id);
		if (secret !== undefined) this.keepSecret(id, secret);
		const isNewer = this.endingOf(id) !== undefined;
		const value = `${by} ${statuses} ${proof}`;
		note(this.memory.endings, key, { value, isNewer, isOpen: true }, STORE.endings);
		if (spent) note(this.memory.spent, key, { value: spent }, STORE.spent);
		this.ended = key;
		// n8n may take long to start the execution, too.
		const isInTime = (ms: number) => Date.now() - this.began <= ms;
		if (isInTime(STORE.mayWaitMs)) this.save(() => isInTime(STORE.mayTakeMs));
	}

	/** What {@link end} noted is final, or is taken back. */
	close(id: string, succeeded: boolean): void {
		const { endings, secrets, spent } = this.memory;
		const key = ledgerKey(id);
		this.leave(id);
		const ending = endings.get(key);
		if (ending) ending.isOpen = false;
		if (succeeded) return void secrets.delete(key);
		endings.delete(key);
		spent.delete(key);
	}

	/** Has a known ending saved once more if another process, or an execution, has written over it. */
	keepEnding(id: string): void {
		const key = ledgerKey(id);
		const known = this.memory.endings.get(key);
		if (known && valueIn(this.loaded.endings, key) !== known.value) this.save();
	}

	/**
	 * Whether all that this process knows of the workflow's triggers was loaded. What was not, is saved
	 * once more.
	 */
	isSettled(): boolean {
		let isSettled = true;
		for (const [nodeId, memory] of this.memories) {
			const loaded = this.loadedOf(nodeId);
			// What has ended in another process must not come back when its ending is dropped there.
			for (const key of keysIn(loaded.endings)) {
				if (!memory.inFlight.has(key)) memory.secrets.delete(key);
			}
			if (isSame(broughtUpToDate(loaded, memory), loaded)) {
				for (const known of memory.secrets.values()) {
					if (Date.now() - known.at >= STORE.settledMs) known.isNewer = false;
				}
				if (memory.inFlight.size > 0) isSettled = false;
				continue;
			}
			const there = keysIn(loaded.secrets);
			for (const [key, known] of memory.secrets) {
				const isNew = Date.now() - known.at < STORE.newMs;
				if (isNew && !there.has(key)) known.at = Date.now();
			}
			isSettled = false;
			this.save();
		}
		return isSettled;
	}

	get bot(): SentBot | undefined {
		return newerOf(this.loaded.bot, this.memory.bot);
	}

	/** The newest bot, or what has become of it. */
	set bot(bot: Omit<SentBot, 'changedAt'>) {
		this.memory.bot = { ...bot, changedAt: Date.now() };
	}

	/** Has n8n save all that is known when the call is over, unless that is too late by then. */
	save(isInTime = () => true): void {
		this.staticData?.saveAtEndOfCall(() => this.sections(), isInTime);
	}

	private sections(): IDataObject {
		const sections = [...this.memories].map(([nodeId, memory]) => {
			const mine = nodeId === this.nodeId ? this.ended : undefined;
			return [PREFIX + nodeId, broughtUpToDate(this.loadedOf(nodeId), memory, mine)];
		});
		return Object.fromEntries(sections) as IDataObject;
	}
}

function isSame(one: Saved, other: Saved): boolean {
	const areSame = (['secrets', 'endings', 'spent'] as const).every(
		(name) => one[name] === other[name],
	);
	return areSame && one.bot?.changedAt === other.bot?.changedAt;
}
