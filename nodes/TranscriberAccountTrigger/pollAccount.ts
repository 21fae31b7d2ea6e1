import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { ServiceError } from '../shared/api/serviceError';
import { dateOf, hasEnded, taskIdOf } from '../shared/api/undocumented';
import { isRefused, Reader } from './listReader';
import { Look, ONE_TASK_MS } from './look';
import { costOf, isWanted, outputOf, wantedOf, type Wanted } from './accountTriggerOutput';
import { PollStateStore } from './pollState';
import type { Tasks } from './seenTasks';
import { refuse } from '../shared/parameters/refuse';

export const ACCOUNT_POLL = {
	/** When a poll ends, in ms: before n8n starts the next one a minute later. */
	maxMs: 50_000,
	/** The first one, while the editor waits for the activation. */
	firstMaxMs: 20_000,
	/** Requests for lists a poll, of the 60 a minute that all share. */
	requests: 12,
	firstRequests: 45,
	/** All requests of a poll, those for single tasks and results included. The rest comes with the next. */
	inAll: 25,
	/** So often the service may refuse a result before the task starts the workflow without it. */
	refusals: 5,
	/** The same where it fails in a way that may pass: half an hour of polls every minute. */
	failures: 30,
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
	const store = new PollStateStore(context);
	return await store.alone(async () => {
		const saved = await store.load();
		const state = saved ?? (await store.fresh());
		const [maxMs, requests] = saved
			? [ACCOUNT_POLL.maxMs, ACCOUNT_POLL.requests]
			: [ACCOUNT_POLL.firstMaxMs, ACCOUNT_POLL.firstRequests];
		const deadline = Date.now() + maxMs;
		const reader = new Reader(context, state.size, requests, deadline);
		const look = new Look(state, reader);
		try {
			await look.begin();
			await look.goOn(Date.now() + ACCOUNT_POLL.maxMs, (error) => {
				// Without all that the first poll can know, a later one could not tell what is new.
				if (!saved) throw error;
				context.logger.warn(`The tasks could not be read to the end: ${wordsOf(error)}`);
			});
		} catch (error) {
			// Others use the requests of this minute: nothing is wrong, and nothing is lost.
			if (saved && isNoTurn(error)) return null;
			throw errorOf(context, error);
		}
		const left = ACCOUNT_POLL.inAll - reader.made;
		const items = await outputs(context, look.tasks, wanted, { left, deadline });
		if (!store.isCurrent()) return null;
		store.save(look.result());
		return items.length > 0 ? [items] : null;
	});
}

/** What starts the workflow now. A task whose result cannot be had now comes with a later poll. */
async function outputs(
	context: IPollFunctions,
	tasks: Tasks,
	wanted: Wanted,
	{ left, deadline }: { left: number; deadline: number },
): Promise<INodeExecutionData[]> {
	const items: INodeExecutionData[] = [];
	for (const [id, task] of tasks.inTurn()) {
		if (!isWanted(task, wanted)) {
			tasks.finish(id);
			continue;
		}
		const cost = costOf(task, wanted);
		if (cost > left || Date.now() >= deadline) continue;
		left -= cost;
		const facts = { ...task, task_id: id };
		try {
			const end = Math.min(deadline, Date.now() + ONE_TASK_MS);
			items.push(await outputOf(context, facts, wanted, end));
			tasks.finish(id);
		} catch (error) {
			context.logger.warn(`Task ${id} has ended, but cannot be fetched: ${wordsOf(error)}`);
			// The request was never sent: that says nothing of this task.
			if (isNoTurn(error)) return items;
			// An answer without a result is no ServiceError.
			const isForGood = isRefused(error) || !(error instanceof ServiceError);
			const kind = isForGood ? 'refusals' : 'failures';
			if (tasks.count(kind, id) < ACCOUNT_POLL[kind]) continue;
			items.push({ json: { ...facts, error: `The result cannot be fetched: ${wordsOf(error)}` } });
			tasks.finish(id);
		}
	}
	return items;
}

/** "Execute step" in the editor: what there is to build the workflow with. Changes nothing. */
async function newest(context: IPollFunctions, wanted: Wanted): Promise<INodeExecutionData> {
	const deadline = Date.now() + ACCOUNT_POLL.maxMs;
	const reader = new Reader(context, 100, ACCOUNT_POLL.inAll, deadline);
	const first = await reader.page(0);
	const dates = first.map((task) => dateOf(task) ?? 0);
	const isOldestFirst = (dates.at(0) ?? 0) < (dates.at(-1) ?? 0);
	const end = isOldestFirst ? await reader.end(first.length) : undefined;
	const seen = new Map<string, IDataObject>();
	let found: IDataObject | undefined;
	// From the end of the list back, or from its beginning on.
	for (let page = first, place = end ?? 0; ;) {
		if (end !== undefined) place = Math.max(0, place - first.length);
		page = place > 0 ? await reader.page(place) : first;
		const before = seen.size;
		for (const task of page) seen.set(taskIdOf(task) ?? '', task);
		const ended = [...seen.values()].filter(
			(task) => hasEnded(task.status) && isWanted(task, wanted) && taskIdOf(task),
		);
		// Without dates, the first of the list counts as the newest.
		[found] = ended.sort((one, other) => (dateOf(other) ?? 0) - (dateOf(one) ?? 0));
		if (found || seen.size === before || !reader.has(2)) break;
		if (end === undefined) place += page.length;
		else if (place === 0) break;
	}
	if (found)
		return await outputOf(context, { ...found, task_id: taskIdOf(found) ?? '' }, wanted, deadline);
	throw refuse(
		context,
		'Your account at the service has no finished transcript to show yet',
		'Transcribe a recording, then execute this step again. The published workflow starts without it.',
	);
}

/** Others use the requests of this minute. */
function isNoTurn(error: unknown): boolean {
	return error instanceof ServiceError && error.problem.transport === 'noTurn';
}

function errorOf(context: IPollFunctions, error: unknown): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(context.getNode(), wordsOf(error));
}

function wordsOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}
