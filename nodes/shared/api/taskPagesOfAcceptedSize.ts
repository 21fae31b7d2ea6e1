import type { IDataObject } from 'n8n-workflow';
import { mayBeLostRoute } from './gatewayAnswers';
import { isRefusedForGood, ServiceError } from './serviceError';
import { PAGE_SIZES, holdsNothing, tasksIn } from './undocumented/taskLists';
import { refuse } from '../parameters/refuse';
import { listedTaskId } from './undocumented/idNames';
import { saysNo } from './undocumented/answers';
import { isObject, jsonOf } from '../jsonValues';
import { withoutSecrets } from './redact';
import { reasonOfNo } from './refusalBody';
import { callService } from './callService';
import { type CallOptions, type Caller } from './types';

/**
 * Reads the list of GET /tasks page by page. The service document shows neither the largest page
 * nor the shape of the answer. So the page size is reduced until the service accepts it, and then
 * kept for the other pages of this list.
 */
export class TaskPagesOfAcceptedSize {
	private readonly sizes: number[];

	private isSizeKnown = false;

	/** The offset behind the last task that a page has shown. */
	private reached = 0;

	/** The length of the page that ends at `reached`, and of the longest page. */
	private last = 0;
	private longest = 0;

	/** The task at the beginning of the page that ends at `reached`. */
	private firstOfLast?: string;

	/** Where the list certainly ends. */
	private provenEnd?: number;

	/** Offsets that the service refused and that no page leads up to: they may not be the end. */
	private readonly guesses = new Set<number>();

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
	 * The first `wanted` tasks of the list, each one once. Reads pages until one is empty: the service
	 * document does not show the largest page, so a short page is no sign of the end. All pages of a
	 * reading have the same size, and overlap if new tasks push known tasks onto later pages.
	 */
	async tasks(wanted: number): Promise<IDataObject[]> {
		const found = new Map<string, IDataObject>();
		let pagesWithoutNews = 0;
		for (let offset = 0; found.size < wanted && pagesWithoutNews < 2;) {
			const page = await this.page(offset);
			if (page.length === 0) break;
			const before = found.size;
			for (const task of page) {
				const id = identityOf(task);
				if (!found.has(id)) found.set(id, task);
			}
			// One page without new tasks may come from tasks that moved back a page; two in a row mean
			// that the service ignores the offset.
			pagesWithoutNews = found.size === before ? pagesWithoutNews + 1 : 0;
			offset += page.length;
		}
		return [...found.values()].slice(0, wanted);
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
			if (tasks) return this.noted(tasks, offset);
			if (this.isFurther(offset) && holdsNothing(answer)) return [];
			throw this.withoutList(answer);
		}
	}

	private withoutList(answer: unknown): Error {
		if (isObject(answer) && saysNo(answer)) {
			const message = `The service answered with a success, but gave no list of tasks, and says: ${reasonOfNo(withoutSecrets(answer, {}) as IDataObject)}`;
			return refuse(this.caller, message, 'Change what the service names, then try again.');
		}
		return refuse(
			this.caller,
			'The answer of the service holds no list of tasks',
			"Check the 'Base URL' in the credential, and look at the answer to GET /tasks with the HTTP Request node.",
		);
	}

	/** The page size of the next request. */
	get size(): number {
		return this.sizes[0] ?? Math.min(...PAGE_SIZES);
	}

	/** Whether an offset counts as behind the end only because the service refused it. */
	isGuess(offset: number): boolean {
		return this.guesses.has(offset);
	}

	private noted(tasks: IDataObject[], offset: number): IDataObject[] {
		this.longest = Math.max(this.longest, tasks.length);
		if (tasks.length > 0 && offset + tasks.length >= this.reached) {
			this.reached = offset + tasks.length;
			this.last = tasks.length;
			this.firstOfLast = identityOf(tasks[0] ?? {});
		}
		return tasks;
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
			const answer = await callService(
				this.caller,
				{ method: 'GET', url: '/tasks', qs },
				{ deadline, noContent: [] },
			);
			this.isSizeKnown = true;
			return answer;
		} catch (error) {
			failure = error;
		}
		// The document does not show how the service answers a page past the end.
		if (this.isFurther(offset) && isRefusedForGood(failure)) {
			if (await this.isEnd(offset, deadline)) return {};
			const isLost = failure instanceof ServiceError && mayBeLostRoute(failure.problem);
			throw isLost ? failure : this.hidden(failure);
		}
		if (this.isSizeKnown || this.sizes.length === 1 || !mayBeTheSize(failure)) throw failure;
		this.sizes.shift();
		return 'tooLarge';
	}

	/**
	 * Whether a refused offset is the end of the list. The service may refuse any large offset, so it
	 * must accept the offset before, and show only the last task there, or the last page again if it
	 * counts in pages. After a short page, this check is not needed.
	 */
	private async isEnd(offset: number, deadline: CallOptions['deadline']): Promise<boolean> {
		if (offset > this.reached) {
			this.guesses.add(offset);
			return true;
		}
		const isShort =
			this.last < this.size && this.last < Math.max(this.longest, Math.min(...PAGE_SIZES));
		if (offset === this.provenEnd || (offset === this.reached && isShort)) return true;
		const qs = { ...this.query, limit: this.size, offset: offset - 1 };
		const request = callService(this.caller, { method: 'GET', url: '/tasks', qs }, { deadline });
		const shown = await request.catch((error: unknown) => {
			if (!isRefusedForGood(error)) throw error;
			return undefined;
		});
		if (!shown) return false;
		const tasks = tasksIn(shown) ?? (holdsNothing(shown) ? [] : undefined);
		if (!tasks) throw this.withoutList(shown);
		if (tasks.length > 1 && identityOf(tasks[0] ?? {}) !== this.firstOfLast) return false;
		this.guesses.delete(offset);
		this.provenEnd = offset;
		return true;
	}

	private hidden(failure: unknown) {
		const words = failure instanceof ServiceError ? failure.problem.serviceMessage : undefined;
		return refuse(
			this.caller,
			`The service refuses to list more than the first ${this.reached} tasks of the account`,
			`The others are still there: fetch one by its ID with Transcript: Wait Until Finished. Get Many can read less of the list: with Limit, or with a Status in Filters.${words ? ` The service says: ${words}` : ''}`,
		);
	}
}

/** What tells one task of a list from another. */
export function identityOf(task: IDataObject): string {
	return listedTaskId(task) ?? jsonOf(task);
}

/** The document does not show the status for a page that is too large. */
function mayBeTheSize(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status = 0 } = failure.problem;
	return status >= 400 && status < 500 && ![401, 403, 404, 429].includes(status);
}
