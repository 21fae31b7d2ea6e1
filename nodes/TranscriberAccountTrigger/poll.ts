import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { refuse } from '../Transcriber/request/checks';
import { ServiceError } from '../Transcriber/request/errors';
import { dateOf, hasEnded, taskIdOf } from '../Transcriber/request/shapes';
import { isRefused, Reader } from './list';
import { Look } from './look';
import { costOf, isWanted, outputOf, wantedOf, type Wanted } from './output';
import { Store } from './state';
import type { Tasks } from './tasks';

export const POLL = {
	/** When a poll ends, in ms: before n8n starts the next one a minute later. */
	maxMs: 50_000,
	/** The first one, while the editor waits for the activation. */
	firstMaxMs: 20_000,
	/** Requests for lists a poll, of the 60 a minute that all share. */
	requests: 12,
	firstRequests: 45,
	/** Requests for results a poll. What has ended beyond that comes with the next one. */
	results: 20,
	/** So often the service may refuse a result before the task starts the workflow without it. */
	refusals: 5,
};

/**
 * The tasks that have ended since the last poll, each with its result; null where there are none.
 * The first poll after activation finds out what is there, and starts nothing with it.
 *
 * n8n saves the state and starts the execution at the same moment, but not in one transaction: only
 * if the power goes in the milliseconds between may a task start the workflow twice or not at all.
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	const wanted = wantedOf(context);
	if (context.getMode() === 'manual') return [[await newest(context, wanted)]];
	const store = new Store(context);
	return await store.alone(async () => {
		const saved = await store.load();
		const state = saved ?? (await store.fresh());
		const [maxMs, requests] = saved
			? [POLL.maxMs, POLL.requests]
			: [POLL.firstMaxMs, POLL.firstRequests];
		const deadline = Date.now() + maxMs;
		const look = new Look(state, new Reader(context, state.size, requests, deadline));
		try {
			await look.begin();
			// Without all that the first poll can know, a later one could not tell what is new.
			if (!saved) await look.goOn();
		} catch (error) {
			// Others use the requests of this minute: nothing is wrong, and nothing is lost.
			if (saved && error instanceof ServiceError && error.problem.transport === 'noTurn')
				return null;
			throw errorOf(context, error);
		}
		if (saved) {
			await look.goOn().catch((error: unknown) => {
				context.logger.warn(`The tasks could not be read to the end: ${wordsOf(error)}`);
			});
		}
		const items = await outputs(context, look.tasks, wanted, deadline);
		store.save(look.result());
		return items.length > 0 ? [items] : null;
	});
}

/** What starts the workflow now. A task whose result cannot be had now comes with a later poll. */
async function outputs(
	context: IPollFunctions,
	tasks: Tasks,
	wanted: Wanted,
	deadline: number,
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	let left = POLL.results;
	for (const [id, task] of tasks.news) {
		if (!isWanted(task, wanted)) {
			tasks.finish(id);
			continue;
		}
		const cost = costOf(task, wanted);
		if (cost > left || Date.now() >= deadline) continue;
		left -= cost;
		const facts = { ...task, task_id: id };
		try {
			items.push(await outputOf(context, facts, wanted, deadline));
			tasks.finish(id);
		} catch (error) {
			context.logger.warn(`Task ${id} has ended, but cannot be fetched: ${wordsOf(error)}`);
			// An answer without a result is no ServiceError.
			const isForGood = isRefused(error) || !(error instanceof ServiceError);
			if (!isForGood || tasks.refused(id) < POLL.refusals) continue;
			items.push({ json: { ...facts, error: `The result cannot be fetched: ${wordsOf(error)}` } });
			tasks.finish(id);
		}
	}
	return items;
}

/** "Execute step" in the editor: what there is to build the workflow with. Changes nothing. */
async function newest(context: IPollFunctions, wanted: Wanted): Promise<INodeExecutionData> {
	const deadline = Date.now() + POLL.maxMs;
	const reader = new Reader(context, 100, POLL.requests, deadline);
	const seen = new Map<string, IDataObject>();
	let found: IDataObject | undefined;
	for (let offset = 0; reader.has(1);) {
		const page = await reader.page(offset);
		const before = seen.size;
		for (const task of page) seen.set(taskIdOf(task) ?? '', task);
		const ended = [...seen.values()].filter(
			(task) => hasEnded(task.status) && isWanted(task, wanted) && taskIdOf(task),
		);
		// Without dates, the first of the list counts as the newest.
		[found] = ended.sort((one, other) => (dateOf(other) ?? 0) - (dateOf(one) ?? 0));
		const dates = [...seen.values()].map((task) => dateOf(task) ?? 0);
		const isOldestFirst = (dates.at(0) ?? 0) < (dates.at(-1) ?? 0);
		if (seen.size === before || (found && !isOldestFirst)) break;
		offset += page.length;
	}
	if (found)
		return await outputOf(context, { ...found, task_id: taskIdOf(found) ?? '' }, wanted, deadline);
	throw refuse(
		context,
		'Your account at the service has no finished transcript to show yet',
		'Transcribe a recording, then execute this step again. The published workflow starts without it.',
	);
}

function errorOf(context: IPollFunctions, error: unknown): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(context.getNode(), wordsOf(error));
}

function wordsOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
