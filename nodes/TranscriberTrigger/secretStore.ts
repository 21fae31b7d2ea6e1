import type { IDataObject } from 'n8n-workflow';

import { isTest } from '../shared/n8nInternals/activation';
import {
	staticDataOf,
	type StaticData,
	type StaticDataContext,
} from '../shared/n8nInternals/staticData';
import { ledgerKey, keysIn, valueIn } from './staticDataLedger';
import {
	STORE,
	broughtUpToDate,
	hasFreshEnding,
	isSameData,
	memoriesOf,
	newMemory,
	note,
	type TriggerMemory,
	type Saved,
} from './triggerMemory';

const PREFIX = 'transcriberTrigger:';

/**
 * The store of a trigger with the sealed secrets of its submissions. EndingStore adds the submissions
 * that have ended, and BotStore the bot of the trigger. This class loads and saves the data of all three.
 *
 * n8n loads a workflow's static data for every call and saves all of it, without a lock: naive
 * concurrent writers lose most of what they write. So:
 * - The data to save is put together at the moment of saving, from the loaded data and the memory
 *   of this process, for every Transcriber Trigger of the workflow.
 * - A delivery that has waited for the service saves nothing: its loaded data is out of date.
 *   Instead this process calls itself, which waits for nothing, and that call saves (repairStaticData.ts).
 * - A secret counts as stored only after it has been in the loaded data for longer than such a call
 *   takes to save.
 * - While the process runs, it checks that everything it knows is still saved (repairStaticData.ts).
 *
 * The data is keyed by the node's id: n8n's own per-node data is lost when the node is renamed.
 */
export class SecretStore {
	private readonly nodeId: string;

	private readonly memories: Map<string, TriggerMemory>;

	protected readonly memory: TriggerMemory;

	/** Undefined while the editor listens for a test event: n8n then saves nothing. */
	private readonly staticData?: StaticData;

	protected readonly loaded: Saved;

	private readonly found = new Map<string, string | undefined>();

	/** The key of the ending that this call has noted: see {@link broughtUpToDate}. */
	protected ended?: string;

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
		const now = Date.now();
		// The clock may have been set back since.
		if (!this.isLoaded(id) || known.at > now) known.at = now;
		return now - known.at >= STORE.safeAfterMs;
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
