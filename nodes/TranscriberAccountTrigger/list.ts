import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { refuse } from '../Transcriber/request/checks';
import { ServiceError } from '../Transcriber/request/errors';
import { call } from '../Transcriber/request/service';
import { PAGE_SIZES, tasksIn } from '../Transcriber/request/shapes';

/** Reads the tasks of the account with a limited number of requests, until a deadline. */
export class Reader {
	constructor(
		private readonly caller: IPollFunctions,
		/** How many tasks are asked for at a time. Gets smaller when the service refuses. */
		public size: number,
		/** How many requests are left. */
		public left: number,
		/** In ms since 1970. */
		readonly deadline: number,
	) {}

	/** Whether there is time, and so many requests are left. */
	has(requests: number): boolean {
		return this.left >= requests && Date.now() < this.deadline;
	}

	/** GET /tasks. An answer without a list is no empty list: it would make all tasks new later. */
	async page(offset: number, status?: string): Promise<IDataObject[]> {
		for (;;) {
			const qs = { limit: this.size, offset, ...(status === undefined ? {} : { status }) };
			const smaller = status === undefined && PAGE_SIZES.find((size) => size < this.size);
			this.left -= 1;
			const request = this.get('/tasks', qs);
			const answer = await (smaller ? unlessRefused(request) : request);
			const tasks = tasksIn(answer);
			if (tasks) return tasks;
			if (answer === undefined && smaller) {
				this.size = smaller;
				continue;
			}
			throw refuse(
				this.caller,
				'The answer of the service holds no list of tasks',
				"Check the 'Base URL' of the credential. The next poll tries again.",
			);
		}
	}

	/** GET /tasks/{id}. */
	async task(id: string): Promise<IDataObject> {
		return { ...(await this.get(`/tasks/${encodeURIComponent(id)}`)), task_id: id };
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

	private async get(url: string, qs?: IDataObject): Promise<IDataObject> {
		return await call(this.caller, { method: 'GET', url, qs }, { deadline: this.deadline });
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
