import type { INodeExecutionData, IPollFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { ServiceError } from '../shared/api/serviceError';
import { messageOf } from '../shared/asError';
import { refuse, withNextStep } from '../shared/parameters/refuse';
import { wantedOf } from './accountTriggerOutput';
import { countedRequests } from './countedRequests';
import { fetchTranscripts, isNoTurn } from './fetchTranscripts';
import { PagesWithinBudget } from './pagesWithinBudget';
import { newest } from './newestTranscript';
import { ACCOUNT_POLL } from './pollLimits';
import { possibleSince, type State } from './rememberedBetweenPolls';
import { PollStore } from './pollStore';
import { EndedTaskFinder } from './endedTaskFinder';
import {
	warnOfBacklog,
	warnOfBusyKey,
	warnOfFailedStart,
	warnOfNoOutput,
	warnOfOtherAccount,
	warnOfUnknownKey,
	warnOfUnread,
} from './warnOnce';

/**
 * The tasks that have ended since the last poll, each with its result; null if there are none. The
 * first poll after activation only records the existing tasks, and outputs none.
 *
 * n8n saves the state and starts the execution at the same moment, but independently (see
 * n8nInternals/pollData.ts). Only a crash in the milliseconds between the two can start the workflow
 * twice for a task, or not at all.
 */
export async function poll(context: IPollFunctions): Promise<INodeExecutionData[][] | null> {
	if (context.getMode() === 'manual') {
		const wanted = wantedOf(context);
		const deadline = Date.now() + ACCOUNT_POLL.maxMs;
		const pages = new PagesWithinBudget(context, 100, ACCOUNT_POLL.inAll, deadline);
		return [await newest(context, pages, wanted)];
	}
	const store = new PollStore(context);
	return await store.alone(async () => {
		const saved = store.load();
		try {
			return await pollFrom(context, store, saved);
		} catch (error) {
			if (store.isStartOfN8n()) {
				// After a power cut, n8n may be back before the internet is. n8n 2.41 would give the trigger up.
				store.noteActive();
				warnOfFailedStart(context, error);
				return null;
			}
			throw saved ? error : withNextStep(context, error);
		}
	});
}

async function pollFrom(
	context: IPollFunctions,
	store: PollStore,
	saved: State | undefined,
): Promise<INodeExecutionData[][] | null> {
	// Read after load(): a publication that fails because of an invalid parameter must still end
	// the old state.
	const wanted = wantedOf(context);
	const account = await store.account();
	const newAccount = saved && saved.account !== account ? account : undefined;
	const state = saved ?? (await store.fresh());
	const requests = countedRequests(context);
	const isWaitedFor = !saved || store.isPublishing();
	const isRepeat = isWaitedFor && store.sinceLastTry < ACCOUNT_POLL.repeatedWithinMs;
	const firstMaxMs = isRepeat ? ACCOUNT_POLL.repeatedMaxMs : ACCOUNT_POLL.firstMaxMs;
	let found: ListReading;
	try {
		const maxMs = isWaitedFor ? firstMaxMs : ACCOUNT_POLL.maxMs;
		found = await readList(requests.context, state, newAccount, maxMs);
		if (found.isSame === undefined) {
			warnOfUnknownKey(context);
			if (store.isCurrent()) store.save(state);
			return null;
		}
		if (!found.isSame || (!newAccount && isReplaced(found.list, state))) {
			// n8n saves the static data when an activation ends.
			if (!found.isSame && !store.isPublishing() && !store.isStartOfN8n()) {
				warnOfOtherAccount(context);
			}
			found = await readList(requests.context, await store.fresh(), undefined, firstMaxMs);
		}
	} catch (error) {
		// The rate limit of this minute is used up. The next poll continues, and nothing is lost.
		if (saved && isNoTurn(error)) {
			warnOfBusyKey(context);
			store.noteActive();
			return null;
		}
		throw isNoTurn(error) ? busyAtPublication(context) : errorOf(context, error);
	}
	const { list, pages } = found;
	const hasPaused = saved !== undefined && Date.now() - saved.at >= ACCOUNT_POLL.pauseMs;
	const inAll = hasPaused ? ACCOUNT_POLL.inAllAfterPause : ACCOUNT_POLL.inAll;
	const most = Math.max(inAll, requests.sent + ACCOUNT_POLL.forOneTask);
	const bounds = { most, deadline: pages.deadline };
	const { items, skipped } = await fetchTranscripts(requests, list.tasks, wanted, bounds);
	if (hasPaused && skipped > 0) warnOfBacklog(context, skipped);
	if (items.length === 0 && skipped > 0) warnOfNoOutput(context, skipped);
	if (!store.isCurrent()) return null;
	const result = list.result();
	const wasBehind = saved?.unread !== undefined || saved?.sought !== undefined;
	const isBehind = result.unread !== undefined || result.sought !== undefined;
	if (wasBehind && isBehind) warnOfUnread(context);
	// An empty list does not show which account the key belongs to. Unless the whole list is known,
	// a later poll has to find out.
	const isDecided = !list.isEmpty || result.complete;
	store.save(isDecided ? { ...result, account } : result);
	return items.length > 0 ? [items] : null;
}

interface ListReading {
	list: EndedTaskFinder;
	pages: PagesWithinBudget;
	/** Whether the list is one of the account that the state is about; undefined if that is not clear. */
	isSame: boolean | undefined;
}

/**
 * Reads the lists; only as far as necessary to see that they are of another account. With a fresh
 * state, no task that is already there starts the workflow. `newAccount` is the hash of a key that the
 * state is not about: see {@link State.account}.
 */
async function readList(
	context: IPollFunctions,
	state: State,
	newAccount: string | undefined,
	maxMs: number,
): Promise<ListReading> {
	const isFirst = state.turn === 0;
	const requests = isFirst ? ACCOUNT_POLL.firstRequests : ACCOUNT_POLL.requests;
	const pages = new PagesWithinBudget(context, state.size, requests, Date.now() + maxMs);
	const list = new EndedTaskFinder(state, pages);
	await list.begin(isFirst || newAccount !== undefined);
	const isSame = newAccount ? await list.isSameAccount(newAccount) : true;
	if (!isSame) return { list, pages, isSame };
	await list.goOn(Date.now() + ACCOUNT_POLL.maxMs, (error) => {
		// The poll itself has ended the reading: at the first one, the time is up, at a later one, the
		// rest of it is for the results.
		const isOver = Date.now() >= pages.listsUntil();
		// If the first poll misses tasks, later polls would take them for new.
		if (isFirst) throw isOver && isTimeout(error) ? pages.endless() : error;
		if (isOver) return;
		const why = messageOf(error);
		context.logger.warn(
			`${context.getNode().name}: the tasks could not be read to the end: ${why}`,
		);
	});
	return { list, pages, isSame };
}

/**
 * Whether the tasks of the account were replaced under the same key: all known tasks are gone, and
 * more have ended than is possible since the last poll. If fewer have ended, the service may simply
 * have deleted the old tasks.
 */
function isReplaced({ tasks, hasReadAll }: EndedTaskFinder, state: State): boolean {
	return tasks.hasLostAll && hasReadAll && tasks.appeared > possibleSince(state);
}

/** Whether the service was asked, and did not answer in time. */
function isTimeout(error: unknown): boolean {
	return error instanceof ServiceError && error.problem.transport === 'timeout';
}

/** The error for a publication that has waited for its turn, while the service was not slow at all. */
function busyAtPublication(context: IPollFunctions): NodeOperationError {
	return refuse(
		context,
		'The requests a minute that the service allows for this API key are used up, so the list of tasks could not be read',
		'Publish the workflow again in a minute (n8n 1: activate it). Everything with the same API key counts: other nodes, other workflows, and a publication just before this one.',
	);
}

function errorOf(context: IPollFunctions, error: unknown): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	return new NodeOperationError(context.getNode(), messageOf(error));
}
