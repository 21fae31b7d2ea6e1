import { sleep, type IDataObject } from 'n8n-workflow';

import { isTest } from '../shared/n8nInternals/activation';
import {
	staticDataOf,
	type StaticData,
	type StaticDataContext,
} from '../shared/n8nInternals/staticData';
import { ledgerKey, keysIn, valueIn } from './ledger';
import {
	STORE,
	broughtUpToDate,
	hasFreshEnding,
	isSameData,
	memoriesOf,
	newMemory,
	note,
	type Ending,
	type TriggerMemory,
	type Saved,
} from './triggerMemory';

const PREFIX = 'transcriberTrigger:';

/**
 * The sealed secrets of submissions, and the submissions that have ended, of one trigger. BotStore adds
 * the bot of the trigger.
 *
 * n8n loads a workflow's static data for every call and saves all of it, without a lock: naive
 * concurrent writers lose most of what they write. So:
 * - The data to save is put together at the moment of saving, from the loaded data and the memory
 *   of this process, for every Transcriber Trigger of the workflow.
 * - A delivery that has waited for the service saves nothing: its loaded data is out of date.
 *   Instead this process calls itself, which waits for nothing, and that call saves (repairLostUpdates.ts).
 * - A secret counts as stored only after it has been in the loaded data for longer than such a call
 *   takes to save.
 * - While the process runs, it checks that everything it knows is still saved (repairLostUpdates.ts).
 *
 * The data is keyed by the node's id: n8n's own per-node data is lost when the node is renamed.
 */
export class TriggerStore {
	protected readonly began = Date.now();

	private readonly nodeId: string;

	private readonly memories: Map<string, TriggerMemory>;

	protected readonly memory: TriggerMemory;

	/** Undefined while the editor listens for a test event: n8n then saves nothing. */
	private readonly staticData?: StaticData;

	protected readonly loaded: Saved;

	private readonly found = new Map<string, string | undefined>();

	/** The key of the ending that {@link end} noted in this call. */
	private ended?: string;

	/** n8n 1 answers and saves static data before it saves the execution that the call starts. */
	private isSavedFirst = false;

	constructor(context: StaticDataContext) {
		this.nodeId = context.getNode().id;
		const forTest = isTest(context);
		this.memories = memoriesOf(`${context.getWorkflow().id}:${forTest}`);
		this.memory = this.memories.get(this.nodeId) ?? newMemory();
		this.memories.set(this.nodeId, this.memory);
		this.staticData = forTest ? undefined : staticDataOf(context);
		this.loaded = this.loadedOf(this.nodeId);
	}

	private loadedOf(nodeId: string): Saved {
		const data = this.staticData?.loaded[PREFIX + nodeId] ?? {};
		const { secrets = '', endings = '', spent = '', bot, launch } = data as Partial<Saved>;
		return { secrets, endings, spent, bot, launch };
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

	/**
	 * Whether the kept secret survives a restart and other writers. If the loaded data lacks it, starts
	 * its waiting time again.
	 */
	isStored(id: string): boolean {
		const known = this.memory.secrets.get(ledgerKey(id));
		if (!this.staticData || !known) return known !== undefined;
		// Not saved, or overwritten: the waiting time starts when it is saved (again).
		if (!this.isLoaded(id)) known.at = Date.now();
		return Date.now() - known.at >= STORE.safeAfterMs;
	}

	/** Whether the kept secret is in the loaded data, so that it does not have to be saved again. */
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

	/** Whether a delivery for a task or bot is being processed right now. */
	isInFlight(id: string): boolean {
		return this.memory.inFlight.has(ledgerKey(id));
	}

	/** Marks a task or bot as being processed, until {@link leave} or {@link close}. */
	open(id: string): void {
		this.memory.inFlight.add(ledgerKey(id));
	}

	leave(id: string): void {
		this.memory.inFlight.delete(ledgerKey(id));
	}

	/** Notes how a task or bot has ended; its secret is no longer saved. */
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
		// Checked again when n8n saves, because starting the execution may also take long.
		const isInTime = (ms: number) => Date.now() - this.began <= ms;
		const hasWaited = !isInTime(STORE.mayWaitMs);
		// To save an execution takes n8n at least one turn of the event loop.
		let mayBeSaved = false;
		void sleep(0).then(() => (mayBeSaved = true));
		this.save(() => {
			// Also notes for `close` whether n8n saves before the execution.
			this.isSavedFirst = !mayBeSaved;
			return mayBeSaved && !hasWaited && isInTime(STORE.mayTakeMs);
		});
	}

	/** Makes the ending that {@link end} noted final, or takes it back. */
	async close(id: string, succeeded: boolean): Promise<void> {
		const { endings, secrets, spent } = this.memory;
		const key = ledgerKey(id);
		this.leave(id);
		const ending = endings.get(key);
		if (!succeeded) {
			endings.delete(key);
			spent.delete(key);
			return;
		}
		// If n8n is killed before it has saved the execution, the next process has to accept a repeat.
		if (this.isSavedFirst) await sleep(STORE.savedAfterMs);
		if (ending) ending.isOpen = false;
		secrets.delete(key);
	}

	/** Saves a known ending again if another process, or an execution, has overwritten it. */
	keepEnding(id: string): void {
		const key = ledgerKey(id);
		const known = this.memory.endings.get(key);
		if (known && valueIn(this.loaded.endings, key) !== known.value) this.save();
	}

	/**
	 * Saves again whatever the loaded data lacks of what this process knows of the workflow's triggers.
	 * Returns whether it lacks nothing, and nothing is about to change.
	 */
	saveMissing(): boolean {
		let isAllSaved = true;
		for (const [nodeId, memory] of this.memories) {
			const loaded = this.loadedOf(nodeId);
			// The secret of a task that ended in another process must not return without its ending.
			for (const key of keysIn(loaded.endings)) {
				if (!memory.inFlight.has(key)) memory.secrets.delete(key);
			}
			if (isSameData(broughtUpToDate(loaded, memory), loaded)) {
				for (const known of memory.secrets.values()) {
					if (Date.now() - known.at >= STORE.safeAfterMs) known.isNewer = false;
				}
				if (hasFreshEnding(memory)) isAllSaved = false;
				continue;
			}
			const there = keysIn(loaded.secrets);
			for (const [key, known] of memory.secrets) {
				const isNew = Date.now() - known.at < STORE.newMs;
				if (isNew && !there.has(key)) known.at = Date.now();
			}
			isAllSaved = false;
			this.save();
		}
		return isAllSaved;
	}

	/** Makes n8n save everything when the call ends, unless `beforeSaving` returns false by then. */
	save(beforeSaving = () => true): void {
		this.staticData?.save(() => this.sections(), beforeSaving);
	}

	private sections(): IDataObject {
		const sections = [...this.memories].map(([nodeId, memory]) => {
			const mine = nodeId === this.nodeId ? this.ended : undefined;
			return [PREFIX + nodeId, broughtUpToDate(this.loadedOf(nodeId), memory, mine)];
		});
		return Object.fromEntries(sections) as IDataObject;
	}
}
