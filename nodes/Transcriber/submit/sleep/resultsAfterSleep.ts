import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import type { NodeRun } from '../../item/nodeRun';
import { goesOnAfterErrors } from '../../item/perform';
import { hasEnded } from '../../../shared/api/undocumented/statuses';
import { eachTask } from '../eachTask';
import type { Submitted } from '../once/submissionMemory';
import { POLL } from '../../wait/polling';
import { idFields, submissionName, type SubmissionIds } from '../../../shared/api/submission';
import { waitingKey, type Suspension, type WaitingItem } from './sleepingItems';
import { finishedTask } from '../../wait/finishedTask';
import { waitOptionsOf } from '../../wait/waitOptions';
import { refuse } from '../../../shared/parameters/refuse';
import { look } from '../../../shared/api/taskState';

/**
 * The shortest time, in ms, that a woken run waits for a task whose status does not show its end
 * yet, even after 'Timeout': the service may have reported the end with an undocumented status.
 */
export const AFTER_WAKING = { leastMs: 120_000 };

/**
 * The results of an item after its execution was woken or timed out. Deliveries are lost if n8n is
 * down for longer than the service repeats them. So the service is asked once more, and only tasks
 * that have still not ended are errors. This includes items that the execution did not wait for.
 */
export async function resultsAfterSleep(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	suspension: Suspension,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = context.getItemIndex();
	const sleepers = tasks.map(({ ids }, number) => ({
		ids,
		item: suspension.items[waitingKey(itemIndex, number)],
	}));
	if (suspension.resumed && sleepers.every(({ item }) => item)) {
		return await eachTask(
			context,
			run,
			sleepers,
			async ({ ids, item }) => await resultAfterDelivery(context, ids, run, suspension, item),
		);
	}
	const seen = await Promise.all(
		sleepers.map(async ({ ids, item }) => {
			const state = await lookNow(context, ids);
			if (item) item.ended = hasEnded(state.status);
			return { ids, item, state };
		}),
	);
	await run.waitForAll('looked at', itemIndex);
	return await eachTask(context, run, seen, async ({ ids, item, state }) => {
		if (!hasEnded(state.status)) throw timedOut(context, suspension, ids, item);
		return await finishedTask(context, idFields(ids), { run, ended: state });
	});
}

async function resultAfterDelivery(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
	run: NodeRun,
	{ until }: Suspension,
	item?: WaitingItem,
): Promise<INodeExecutionData> {
	const needsNoLook = item?.completed && ids.taskId && waitOptionsOf(context).includeResult;
	const state: IDataObject = needsNoLook
		? { ...idFields(ids), status: 'completed' }
		: await lookNow(context, ids);
	const ended = hasEnded(state.status) ? state : undefined;
	// Starts now, so that the queueing time of the status request does not count.
	const deadline = Math.max(Date.now() + AFTER_WAKING.leastMs, until);
	const words = 'although the service has reported its end';
	// A known status, even none, makes the next look keep to 'Poll Interval'.
	const known = { status: null, ...state, ...idFields(ids) };
	return await finishedTask(context, known, { run, bound: { deadline, words }, ended });
}

/**
 * Asks the service, for a minute at most. A failed request means "not ended yet" and gives `{}`.
 */
export async function lookNow(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
): Promise<IDataObject> {
	const state = await look(context, idFields(ids), { fromTurn: POLL.look }).catch(
		(): IDataObject => ({}),
	);
	context.getExecutionCancelSignal()?.throwIfAborted();
	return state;
}

/**
 * Names what has not ended. If the error of an item that was waited for stops the node, it names all
 * open tasks of the run, because it is the only error that n8n shows.
 */
function timedOut(
	context: IExecutePaginationFunctions,
	{ items, refused }: Suspension,
	ids: SubmissionIds,
	item?: WaitingItem,
): NodeOperationError {
	const isWaitedFor = item !== undefined;
	const namesAll = isWaitedFor && !goesOnAfterErrors(context);
	const open = namesAll ? Object.values(items).filter(({ ended }) => !ended) : [ids];
	const names = open.map(submissionName).join(', ');
	const before = refused[context.getItemIndex()];
	return refuse(
		context,
		isWaitedFor
			? `Not ended within ${waitOptionsOf(context).timeout} minutes: ${names}`
			: (before ?? `Not ended so far: ${names}`),
		"It continues at the service and is not lost. Fetch the result with Transcript: Wait Until Finished (of a bot with Meeting: Wait Until Transcribed), or raise 'Timeout'.",
	);
}
