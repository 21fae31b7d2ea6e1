import type { IDataObject } from 'n8n-workflow';

import { OVERLAP, type Reader } from './listPager';
import { ACCOUNT_MEMORY, hashesIn, type State } from './pollState';
import { hashesOf, type Tasks } from './selectNewTasks';

/**
 * The end of the list, where an oldest-first list has its new tasks. Until the whole list is known,
 * every task behind the end of the list at activation is new.
 */
export class Tail {
	/** Hashes of the tasks at the end of the list, as far as is known. */
	hashes: string[] = [];

	constructor(
		private readonly state: State,
		private readonly reader: Reader,
		private readonly tasks: Tasks,
	) {}

	/**
	 * At activation: finds the end of a list that is too long to be read at once, and the tasks
	 * there. Throws if it does not find them by `latest`, in ms since 1970.
	 */
	async fix(latest: number): Promise<void> {
		const { state, reader } = this;
		const { deadline } = reader;
		reader.deadline = latest;
		let end = await reader.end(state.frontier);
		let page: IDataObject[] = [];
		while (end !== undefined && page.length === 0) {
			page = await reader.page(Math.max(0, end - OVERLAP));
			// The list has become shorter meanwhile.
			if (page.length === 0) end = reader.has(1) ? Math.max(0, end - OVERLAP) : undefined;
		}
		if (end === undefined) throw reader.endless();
		for (const task of page) this.tasks.take(task, false);
		Object.assign(state, { end, tail: hashesOf(page).join('') });
		reader.deadline = deadline;
	}

	/** Reads from shortly before the known end until a page has no unknown task. */
	async read(): Promise<void> {
		const { state, reader } = this;
		if (state.end === undefined) return;
		const tail = new Set(hashesIn(state.tail));
		let isBehindTail = state.complete;
		const behind: string[] = [];
		let isBack = false;
		for (let offset = Math.max(0, state.end - OVERLAP); reader.has(1);) {
			const page = await reader.page(offset);
			if (page.length === 0 && offset < state.end) {
				// Tasks were here before: the list has become shorter, or the service shows no more of it.
				state.end = Math.max(0, offset - reader.size);
				if (isBack || offset === 0) break;
				isBack = true;
				offset = state.end;
				continue;
			}
			if (page.length === 0 || reader.isFirstAgain(page, offset)) break;
			let unknown = 0;
			for (const task of page) {
				const [hash = ''] = hashesOf([task]);
				isBehindTail ||= tail.has(hash);
				if (this.tasks.take(task, isBehindTail || undefined)) unknown += 1;
				if (isBehindTail) behind.push(hash);
			}
			offset += page.length;
			state.end = offset;
			if (unknown === 0 && !isBack) break;
		}
		this.hashes = [...new Set([...tail, ...behind])].slice(-ACCOUNT_MEMORY.tail);
		if (!state.complete) state.tail = this.hashes.join('');
	}
}
