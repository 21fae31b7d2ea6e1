import type { IDataObject } from 'n8n-workflow';
import { ServiceError } from './serviceError';
import { PAGE_SIZES, holdsNothing, tasksIn } from './undocumented';
import { refuse } from '../parameters/refuse';
import { call } from './call';
import { type CallOptions, type Caller } from './types';

/**
 * Reads the list of GET /tasks page by page. The service document shows neither the largest page
 * nor the shape of the answer. So the page size is reduced until the service accepts it, and then
 * kept for the other pages of this list.
 */
export class TaskList {
	private readonly sizes: number[];

	private isSizeKnown = false;

	/**
	 * @param query Further parameters of the request, such as `status`.
	 * @param most The most tasks wanted in a page. Default: the largest page.
	 */
	constructor(
		private readonly caller: Caller,
		private readonly query: IDataObject = {},
		most = Infinity,
	) {
		const [largest = most, ...smaller] = PAGE_SIZES;
		const first = Math.min(largest, most);
		this.sizes = [first, ...smaller.filter((size) => size < first)];
	}

	/**
	 * At most one page of tasks from `offset` on, in the order of the service. An empty list is the
	 * end. Throws a ServiceError if the service refuses, or a NodeOperationError if the answer holds
	 * no list. `deadline` as in {@link CallOptions}.
	 */
	async page(offset: number, deadline?: CallOptions['deadline']): Promise<IDataObject[]> {
		for (;;) {
			const answer = await this.ask(offset, deadline);
			if (answer === 'tooLarge') continue;
			const tasks = tasksIn(answer);
			if (tasks) return tasks;
			if (this.isFurther(offset) && holdsNothing(answer)) return [];
			throw refuse(
				this.caller,
				'The answer of the service holds no list of tasks',
				"Check the 'Base URL' in the credential, and look at the answer to GET /tasks with the HTTP Request node.",
			);
		}
	}

	/** The page size of the next request. */
	get size(): number {
		return this.sizes[0] ?? Math.min(...PAGE_SIZES);
	}

	/** Whether an earlier page could be read. */
	private isFurther(offset: number): boolean {
		return offset > 0 && this.isSizeKnown;
	}

	private async ask(
		offset: number,
		deadline: CallOptions['deadline'],
	): Promise<IDataObject | 'tooLarge'> {
		const qs = { ...this.query, limit: this.sizes[0], offset };
		let failure: unknown;
		try {
			const answer = await call(this.caller, { method: 'GET', url: '/tasks', qs }, { deadline });
			this.isSizeKnown = true;
			return answer;
		} catch (error) {
			failure = error;
		}
		if (this.isFurther(offset) && mayBeTheEnd(failure)) return {};
		if (this.isSizeKnown || this.sizes.length === 1 || !mayBeTheSize(failure)) throw failure;
		this.sizes.shift();
		return 'tooLarge';
	}
}

/** The document does not show how the service answers a page past the end. */
function mayBeTheEnd(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status = 0, isWebPage } = failure.problem;
	return [400, 404, 416, 422].includes(status) && !isWebPage;
}

/** The document does not show the status for a page that is too large. */
function mayBeTheSize(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status = 0 } = failure.problem;
	return status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status);
}
