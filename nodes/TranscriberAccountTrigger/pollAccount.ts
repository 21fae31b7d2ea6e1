import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import { ServiceError } from '../shared/api/serviceError';
import { isRefused, Reader } from './listReader';
import { Look, ONE_TASK_MS } from './look';
import { costOf, isWanted, outputOf, wantedOf, type Wanted } from './accountTriggerOutput';
import { PollStateStore, type State } from './pollState';
import type { Tasks } from './seenTasks';
import { newest } from './newest';

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
	if (context.getMode() === 'manual') {
		const deadline = Date.now() + ACCOUNT_POLL.maxMs;
		const reader = new Reader(context, 100, ACCOUNT_POLL.inAll, deadline);
		return [[await newest(context, reader, wanted)]];
	}
	const store = new PollStateStore(context);
	return await store.alone(async () => {
		const saved = store.load();
		const account = await store.account();
		const hasNewKey = saved !== undefined && saved.account !== account;
		const state = saved ?? (await store.fresh());
		let found: Found;
		try {
			found = await lookAt(context, state, hasNewKey);
			if (hasNewKey ? isOtherAccount(found.look) : isReplaced(found.look, state)) {
				found = await lookAt(context, await store.fresh(), false);
			}
		} catch (error) {
			// Others use the requests of this minute: nothing is wrong, and nothing is lost.
			if (saved && isNoTurn(error)) return null;
			throw errorOf(context, error);
		}
		const { look, reader } = found;
		const bounds = { left: ACCOUNT_POLL.inAll - reader.made, deadline: reader.deadline };
		const items = await outputs(context, look.tasks, wanted, bounds);
		if (!store.isCurrent()) return null;
		const result = look.result();
		// With all of the list known, an empty one needs no decision: what comes later is new.
		const isDecided = !look.isEmpty || result.complete;
		store.save(isDecided ? { ...result, account } : result);
		return items.length > 0 ? [items] : null;
	});
}

interface Found {
	look: Look;
	reader: Reader;
}

/** Reads the lists. With a fresh state nothing that it finds starts the workflow. */
async function lookAt(context: IPollFunctions, state: State, hasNewKey: boolean): Promise<Found> {
	const isFirst = state.turn === 0;
	const [maxMs, requests] = isFirst
		? [ACCOUNT_POLL.firstMaxMs, ACCOUNT_POLL.firstRequests]
		: [ACCOUNT_POLL.maxMs, ACCOUNT_POLL.requests];
	const reader = new Reader(context, state.size, requests, Date.now() + maxMs);
	const look = new Look(state, reader);
	await look.begin(isFirst || hasNewKey);
	await look.goOn(Date.now() + ACCOUNT_POLL.maxMs, (error) => {
		// Without all that the first poll can know, a later one could not tell what is new.
		if (isFirst) throw error;
		context.logger.warn(`The tasks could not be read to the end: ${wordsOf(error)}`);
	});
	return { look, reader };
}

/**
 * Whether a new key is the key of another account: then what had ended there before must start
 * nothing. After a rotation the service shows tasks that are known. Where none was known there is
 * nothing to tell by, and many old tasks are likelier than a first one. An empty list tells nothing.
 */
function isOtherAccount({ tasks, isEmpty }: Look): boolean {
	return !tasks.hasMetKnown && !isEmpty;
}

/** Service document, "Limits": as many tasks in progress, and so many submits a minute. */
const IN_PROGRESS = 20;
const SUBMITS_A_MINUTE = 10;

/**
 * Whether the tasks of the account have been replaced under the same key: all that were known are
 * gone, and more have ended than can have since the last poll. Fewer may well have: the service may
 * have deleted the old ones.
 */
function isReplaced({ tasks, hasReadAll }: Look, { at }: State): boolean {
	const possible = IN_PROGRESS + (SUBMITS_A_MINUTE * (Date.now() - at)) / 60_000;
	return tasks.hasLostAll && hasReadAll && tasks.news.size > possible;
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
