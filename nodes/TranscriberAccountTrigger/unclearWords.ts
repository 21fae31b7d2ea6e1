import { ACCOUNT_MEMORY, type State } from './rememberedBetweenPolls';
import { hashesIn } from './taskHashes';

/** The tasks that counted as old while they had a status that the service document does not show. */
export class UnclearWords {
	/** Hashes of the tasks, by status: see {@link State.unclear}. */
	private readonly words: Map<string, Set<string>>;

	constructor(unclear: State['unclear'] = {}) {
		this.words = new Map(
			Object.entries(unclear).map(([word, hashes]) => [word, new Set(hashesIn(hashes))]),
		);
	}

	remember(word: string, hash: string): void {
		const { words, ofOneWord } = ACCOUNT_MEMORY.unclear;
		const same = this.words.get(word) ?? new Set();
		// One more than fit, as the sign that the word means an end.
		if (same.size <= ofOneWord) same.add(hash);
		if (this.words.size < words) this.words.set(word, same);
	}

	/** Takes a task out. Returns whether it was there, with a status that only few tasks had. */
	takeOut(hash: string): boolean {
		const { ofOneWord } = ACCOUNT_MEMORY.unclear;
		return [...this.words.values()].some((same) => same.size <= ofOneWord && same.delete(hash));
	}

	/** What to remember. */
	result(): State['unclear'] {
		return Object.fromEntries([...this.words].map(([word, same]) => [word, [...same].join('')]));
	}
}
