import type { IDataObject, ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { ServiceError, isRefusedForGood } from '../../../shared/api/serviceError';
import { mayBeLostRoute } from '../../../shared/api/gatewayAnswers';
import { statusWord } from '../../../shared/api/statusMeaning';
import { listedTaskId } from '../../../shared/api/undocumented/idNames';
import { dateOf, titleOf } from '../../../shared/api/undocumented/taskLists';
import { refuse } from '../../../shared/parameters/refuse';
import { TaskPagesOfAcceptedSize } from '../../../shared/api/taskPagesOfAcceptedSize';

/** One search reads at most this many pages: each costs one of the 60 requests a minute. */
const PAGES_AT_ONCE = 10;

/** This many matches fill the list in the editor; scrolling loads more. */
const ENOUGH = 20;

interface Listed {
	id: string;
	/** As shown to the user. */
	name: string;
	/** In ms since 1970. Without dates the order of the service is kept. */
	date?: number;
}

/** The tasks to choose from in the editor: newest first, found by id, status, date or name. */
export async function searchTasks(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const words = (filter ?? '').trim().toLowerCase().split(/\s+/);
	const matches = ({ id, name }: Listed) =>
		words.every((word) => `${name} ${id}`.toLowerCase().includes(word));
	const wanted = filter?.trim() ? ENOUGH : 1;

	const list = new TaskPagesOfAcceptedSize(this);
	const seen = new Map<string, Listed>();
	let offset = Number(paginationToken ?? 0);
	let isEnd = false;
	for (let pages = 0; !isEnd && pages < PAGES_AT_ONCE; pages++) {
		const page = await list.page(offset).catch((error: unknown) => {
			// Who scrolls asks for what follows the last page shown, and the service may refuse it.
			if (paginationToken !== undefined && pages === 0 && isRefusedOffset(error)) return [];
			// If time runs out, the matches so far are shown. Scrolling continues from there.
			if (![...seen.values()].some(matches)) throw error;
			return undefined;
		});
		if (!page) break;
		if (page.length > 0 && seen.size === 0 && !page.some(listedTaskId)) throw withoutIds(this);
		const before = seen.size;
		for (const task of page.map((one) => asListed(one, this.getTimezone()))) {
			if (task && !seen.has(task.id)) seen.set(task.id, task);
		}
		offset += page.length;
		// Also ends if a server ignores the offset.
		isEnd = seen.size === before;
		// If the oldest tasks come first, the newest are on the last page.
		const found = [...seen.values()].filter(matches).length;
		if (found >= wanted && isNewestFirst([...seen.values()])) break;
	}
	return {
		results: [...seen.values()]
			.filter(matches)
			.sort((one, other) => (other.date ?? 0) - (one.date ?? 0))
			.map(({ id, name }) => ({ name, value: id })),
		paginationToken: isEnd ? undefined : String(offset),
	};
}

/** Not the 404 of a proxy that has lost its way to the service. */
function isRefusedOffset(error: unknown): boolean {
	const isLost = error instanceof ServiceError && mayBeLostRoute(error.problem);
	return isRefusedForGood(error) && !isLost;
}

function withoutIds(context: ILoadOptionsFunctions) {
	return refuse(
		context,
		'The tasks in the list of the service have no readable ID',
		"Choose 'By ID' and enter the ID of the task, for example from your account at the service.",
	);
}

function isNewestFirst(tasks: Listed[]): boolean {
	const dates = tasks.flatMap(({ date }) => (date === undefined ? [] : [date]));
	return dates.every((date, index) => index === 0 || date <= (dates[index - 1] ?? date));
}

/** E.g. `7f3c (completed)`, or `talk.mp3 (completed, 2030-01-31 10:00)`. */
function asListed(task: IDataObject, timeZone: string): Listed | undefined {
	const id = listedTaskId(task);
	if (!id) return undefined;
	const title = titleOf(task) ?? id;
	const date = dateOf(task);
	const details = [statusWord(task.status), date === undefined ? '' : day(date, timeZone)]
		.filter(Boolean)
		.join(', ');
	return { id, date, name: details ? `${title} (${details})` : title };
}

/** E.g. 2030-01-31 10:00, the format of the Swedish locale. */
function day(time: number, timeZone: string): string {
	return new Date(time).toLocaleString('sv-SE', {
		timeZone,
		dateStyle: 'short',
		timeStyle: 'short',
	});
}
