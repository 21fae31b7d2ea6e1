import type { IDataObject } from 'n8n-workflow';

import { OVERLAP, type ListPager } from './listPager';
import { ACCOUNT_MEMORY, hashesIn, type State } from './pollState';
import { hashesOf, type KnownTasks } from './knownTasks';

/**
 * The end of the list, where an oldest-first list has its new tasks. Until the whole list is known,
 * every task behind the end of the list at activation is new.
 */
export class EndOfList {
	/** Hashes of the tasks at the end of the list, as far as is known. */
	hashes: string[] = [];

	constructor(
		private readonly state: State,
		private readonly pager: ListPager,
		private readonly tasks: KnownTasks,
	) {}

	/**
	 * At activation: finds the end of a list that is too long to be read at once, and the tasks
	 * there. Throws if it does not find them by `latest`, in ms since 1970.
	 */
	async fix(latest: number): Promise<void> {
		const { state, pager } = this;
		const { deadline } = pager;
		pager.deadline = latest;
		let end = await pager.end(state.frontier);
		let page: IDataObject[] = [];
		while (end !== undefined && page.length === 0) {
			page = await pager.page(Math.max(0, end - OVERLAP));
			// The list has become shorter meanwhile.
			if (page.length === 0) end = pager.has(1) ? Math.max(0, end - OVERLAP) : undefined;
		}
		if (end === undefined) throw pager.endless();
		for (const task of page) this.tasks.take(task, false);
		Object.assign(state, { end, tail: hashesOf(page).join('') });
		pager.deadline = deadline;
	}

	/** Reads from shortly before the known end until a page has no unknown task. */
	async read(): Promise<void> {
		const { state, pager } = this;
		if (state.end === undefined) return;
		const tail = new Set(hashesIn(state.tail));
		let isBehindTail = state.complete;
		const behind: string[] = [];
		let isBack = false;
		for (let offset = Math.max(0, state.end - OVERLAP); pager.has(1);) {
			const page = await pager.page(offset);
			if (page.length === 0 && offset < state.end) {
				// Tasks were here before: the list has become shorter, or the service shows no more of it.
				state.end = Math.max(0, offset - pager.size);
				if (isBack || offset === 0) break;
				isBack = true;
				offset = state.end;
				continue;
			}
			if (page.length === 0 || pager.isFirstAgain(page, offset)) break;
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
