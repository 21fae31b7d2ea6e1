import { sleep } from 'n8n-workflow';

import { savesExecutionFirst } from '../shared/n8nInternals/executionSaved';
import { ledgerKey, valueIn } from './staticDataLedger';
import { SecretStore } from './secretStore';
import { STORE, note, type Ending } from './triggerMemory';

/** The store of a trigger with the submissions that have ended: each starts one execution. */
export class EndingStore extends SecretStore {
	private readonly began = Date.now();

	/** n8n saves static data before the execution that the call starts. */
	private isSavedFirst = false;

	/** Whether the loaded data may be out of date, because the call has waited for something. */
	get hasWaited(): boolean {
		return Date.now() - this.began > STORE.mayWaitMs;
	}

	/** How a task or bot has ended, if it has. */
	endingOf(id: string): Ending | undefined {
		const key = ledgerKey(id);
		const known = endingIn(this.memory.endings.get(key)?.value);
		const loaded = endingIn(valueIn(this.loaded.endings, key));
		// Another process may have added a status since.
		const hasMore = known && loaded?.statuses.startsWith(known.statuses);
		const ending = hasMore && loaded?.statuses !== known.statuses ? loaded : (known ?? loaded);
		const spent = this.memory.spent.get(key)?.value ?? valueIn(this.loaded.spent, key);
		return ending && { ...ending, spent };
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
	end(id: string, { by, statuses, proof, mark, spent }: Ending): void {
		const key = ledgerKey(id);
		// Until n8n has saved the execution, the secret may be needed again.
		const secret = this.secretOf(id);
		if (secret !== undefined) this.keepSecret(id, secret);
		const isNewer = this.endingOf(id) !== undefined;
		const value = [by, statuses, proof, ...(mark ? [mark] : [])].join(' ');
		note(this.memory.endings, key, { value, isNewer, isOpen: true }, STORE.endings);
		if (spent) note(this.memory.spent, key, { value: spent }, STORE.spent);
		this.ended = key;
		// Checked again when n8n saves, because starting the execution may also take long.
		const { hasWaited } = this;
		const isExecutionFirst = savesExecutionFirst();
		this.save(() => {
			// `close` needs to know this too.
			this.isSavedFirst = !isExecutionFirst();
			return !this.isSavedFirst && !hasWaited && Date.now() - this.began <= STORE.mayTakeMs;
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
		if (this.hasWaited) return;
		const key = ledgerKey(id);
		const known = this.memory.endings.get(key);
		if (known && valueIn(this.loaded.endings, key) !== known.value) this.save();
	}
}

/** Undefined for none, and for one without `by`: the first versions did not store it. */
function endingIn(value = ''): Ending | undefined {
	const [by, statuses, proof, mark] = value.split(' ') as [Ending['by'], string, string?, string?];
	return proof === undefined ? undefined : { by, statuses, proof, mark };
}
