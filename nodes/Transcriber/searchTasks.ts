import type { IDataObject, ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { call } from './request/service';
import { PAGE_SIZE, taskIdOf, tasksIn } from './request/shapes';

/** One look at the list costs at most so many of the 60 requests a minute. */
const PAGES_AT_ONCE = 10;

/** So many finds fill the list in the editor; it asks for more when the user scrolls. */
const ENOUGH = 20;

/**
 * GET /tasks: the service document shows neither the fields of a listed task nor the order. Should a
 * task carry a date or a name, it has one of these names; without a date the service's own order
 * stands.
 */
const DATE_NAMES = ['created_at', 'createdAt', 'created', 'submitted_at', 'date', 'started_at'];
const TITLE_NAMES = ['file_name', 'filename', 'original_filename', 'title', 'name'];

interface Listed {
	id: string;
	/** As the user reads it. */
	name: string;
	/** In ms since 1970. */
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

	const seen = new Map<string, Listed>();
	let offset = Number(paginationToken ?? 0);
	let isEnd = false;
	for (let pages = 0; !isEnd && pages < PAGES_AT_ONCE; pages++) {
		const answer = await call(this, {
			method: 'GET',
			url: '/tasks',
			qs: { limit: PAGE_SIZE, offset },
		});
		const page = tasksIn(answer);
		const before = seen.size;
		for (const task of page.map((one) => asListed(one, this.getTimezone()))) {
			if (task && !seen.has(task.id)) seen.set(task.id, task);
		}
		offset += page.length;
		// Also where a server does not heed the offset.
		isEnd = seen.size === before;
		// Where the oldest come first, the newest are on the last page.
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

function isNewestFirst(tasks: Listed[]): boolean {
	const dates = tasks.flatMap(({ date }) => (date === undefined ? [] : [date]));
	return dates.every((date, index) => index === 0 || date <= (dates[index - 1] ?? date));
}

/** E.g. `7f3c (completed)`, or `talk.mp3 (completed, 2030-01-31 10:00)`. */
function asListed(task: IDataObject, timeZone: string): Listed | undefined {
	const id = taskIdOf(task);
	if (!id) return undefined;
	const title = TITLE_NAMES.map((name) => task[name]).find(
		(value): value is string => typeof value === 'string' && value.trim() !== '',
	);
	const date = DATE_NAMES.map((name) => timeOf(task[name])).find((time) => time !== undefined);
	const details = [
		task.status ? String(task.status) : '',
		date === undefined ? '' : day(date, timeZone),
	]
		.filter(Boolean)
		.join(', ');
	return { id, date, name: details ? `${title ?? id} (${details})` : (title ?? id) };
}

/** ISO 8601, or a number of seconds or milliseconds. */
function timeOf(value: unknown): number | undefined {
	if (typeof value === 'number') return value < 1e11 ? value * 1000 : value;
	const time = typeof value === 'string' ? Date.parse(value) : NaN;
	return Number.isNaN(time) ? undefined : time;
}

/** E.g. 2030-01-31 10:00, which is how Swedish writes it. */
function day(time: number, timeZone: string): string {
	return new Date(time).toLocaleString('sv-SE', {
		timeZone,
		dateStyle: 'short',
		timeStyle: 'short',
	});
}
