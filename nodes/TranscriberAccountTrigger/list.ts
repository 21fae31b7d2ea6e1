import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { ServiceError } from '../Transcriber/request/errors';
import { call } from '../Transcriber/request/service';
import { TaskList } from '../Transcriber/request/taskList';

/** Reads the tasks of the account with a limited number of requests, until a deadline. */
export class Reader {
	private readonly all: TaskList;

	constructor(
		private readonly caller: IPollFunctions,
		/** The page size that the service accepted last time. */
		size: number,
		/** How many requests are left, but for those that find out the page size. */
		private left: number,
		/** In ms since 1970. */
		readonly deadline: number,
	) {
		this.all = new TaskList(caller, {}, size);
	}

	/** How many tasks are asked for at a time. */
	get size(): number {
		return this.all.size;
	}

	/** Whether there is time, and so many requests are left. */
	has(requests: number): boolean {
		return this.left >= requests && Date.now() < this.deadline;
	}

	/** The tasks from `offset` on, at most a page; those in one state where that is given. */
	async page(offset: number, status?: string): Promise<IDataObject[]> {
		this.left -= 1;
		const list = status ? new TaskList(this.caller, { status }, this.size) : this.all;
		return await list.page(offset, this.deadline);
	}

	/** GET /tasks/{id}. */
	async task(id: string): Promise<IDataObject> {
		const url = `/tasks/${encodeURIComponent(id)}`;
		const task = await call(this.caller, { method: 'GET', url }, { deadline: this.deadline });
		return { ...task, task_id: id };
	}

	/**
	 * Where the list ends, from a place before its end: in steps twice as long each time, then by
	 * halves: some 20 requests at most. Undefined where they do not suffice.
	 */
	async end(from: number): Promise<number | undefined> {
		let low = from;
		let high = Infinity;
		for (let step = Math.max(this.size, from); low < high; step *= 2) {
			if (!this.has(1)) return undefined;
			const place = high === Infinity ? low + step : Math.floor((low + high) / 2);
			const { length } = await this.page(place);
			if (length > 0) low = place + length;
			else high = place;
		}
		return low;
	}
}

/** The service does not want the request as it is: to repeat it is of no use. */
export function isRefused(error: unknown): boolean {
	if (!(error instanceof ServiceError)) return false;
	const { status = 0 } = error.problem;
	return status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
}

/** The answer; undefined where the service refuses for good. Any other failure is thrown. */
export async function unlessRefused<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (!isRefused(error)) throw error;
		return undefined;
	});
}
