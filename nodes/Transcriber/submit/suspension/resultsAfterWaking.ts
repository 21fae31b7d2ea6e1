import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import type { NodeRun } from '../../item/nodeRun';
import { goesOnAfterErrors } from '../../item/itemFailure';
import { isCalledOff, isFinal } from '../../../shared/api/calledOffBot';
import { isInProgress } from '../../../shared/api/statusMeaning';
import { forEachTask } from '../../item/forEachTask';
import type { Submitted } from '../once/submissionMemory';
import { POLL, untilNextLook } from '../../wait/pauseBetweenLooks';
import type { Outlook } from '../../wait/pollUntilEnded';
import { idFields, submissionName, type SubmissionIds } from '../../../shared/api/submission';
import { waitingKey, type Suspension, type WaitingItem } from '../once/suspensionState';
import { finishedTask } from '../../wait/finishedTask';
import { endedBadly, notEnded } from '../../wait/waitErrors';
import { waitOptionsOf } from '../../wait/waitOptions';
import { look } from '../../../shared/api/askForState';
import { ServiceError } from '../../../shared/api/serviceError';
import { asError } from '../../../shared/asError';

/**
 * The shortest time, in ms, that a woken run waits for a task whose status does not show its end
 * yet, even after 'Timeout': the service may have reported the end with an undocumented status,
 * a bot that is called off may still get a task, and the service may be out of reach at that moment.
 */
export const AFTER_WAKING = { leastMs: 120_000 };

/** How much earlier than asked n8n may wake an execution whose time is up, in ms. */
const WAKES_EARLY_MS = 10_000;

/**
 * The results of an item after its execution was woken or timed out. Deliveries are lost if n8n is
 * down for longer than the service repeats them. So the service is asked once more, and only tasks
 * that have still not ended are errors. This includes items that the execution did not wait for.
 */
export async function resultsAfterWaking(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	suspension: Suspension,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = context.getItemIndex();
	const suspendedTasks = tasks.map(({ ids }, number) => ({
		ids,
		item: suspension.items[waitingKey(itemIndex, number)],
	}));
	if (suspension.resumed && suspendedTasks.every(({ item }) => item)) {
		return await forEachTask(
			context,
			run,
			suspendedTasks,
			async ({ ids, item }) => await resultAfterDelivery(context, ids, run, suspension, item),
		);
	}
	// n8n may wake an execution with the timer of an earlier suspension (wait-tracker.js).
	const isTooEarly = !suspension.resumed && Date.now() < suspension.until - WAKES_EARLY_MS;
	const seen = await Promise.all(
		suspendedTasks.map(async ({ ids, item }) => {
			const isLastLook = item && !isTooEarly;
			const outlook = isLastLook
				? await lookPatiently(context, ids, suspension)
				: await lookNow(context, ids);
			if (item) item.ended = outlook.hasEnded;
			return { ids, item, outlook };
		}),
	);
	await run.waitForAll('looked at', itemIndex);
	return await forEachTask(context, run, seen, async ({ ids, item, outlook }) => {
		if (!outlook.hasEnded && item && isTooEarly) {
			const known = { status: null, ...outlook.state, ...idFields(ids) };
			return await finishedTask(context, known, { run, bound: { deadline: suspension.until } });
		}
		if (isCalledOff(outlook.state)) {
			const known = { ...outlook.state, ...idFields(ids) };
			const deadline = Date.now() + AFTER_WAKING.leastMs;
			return await finishedTask(context, known, { run, bound: { deadline } });
		}
		if (!outlook.hasEnded) throw timedOut(context, suspension, { ids, outlook, item });
		return await finishedTask(context, idFields(ids), { run, ended: outlook.state });
	});
}

async function resultAfterDelivery(
	context: IExecutePaginationFunctions,
	submitted: SubmissionIds,
	run: NodeRun,
	{ until }: Suspension,
	item?: WaitingItem,
): Promise<INodeExecutionData[]> {
	const ids = { ...submitted, taskId: submitted.taskId ?? item?.recording };
	const needsNoLook = item?.completed && ids.taskId && waitOptionsOf(context).includeResult;
	const {
		state,
		hasEnded: isOver,
		failure,
	}: Outlook = needsNoLook
		? { state: { ...idFields(ids), status: 'completed' }, hasEnded: true }
		: await lookNow(context, ids);
	// The service document does not show the statuses of a bot, but it shows that of the delivery.
	if (item?.failed && !failure && !isOver && !isInProgress(state.status)) {
		run.submitted.endWithoutTranscript(submissionName(ids));
		const hasOthers = run.submitted.hasSeveral(context.getItemIndex());
		throw endedBadly(context, { ...state, status: 'failed' }, ids, hasOthers);
	}
	const ended = isOver ? state : undefined;
	// Starts now, so that the queueing time of the status request does not count.
	const deadline = Math.max(Date.now() + AFTER_WAKING.leastMs, until);
	const words = 'although the service has reported its end';
	// A known status, even none, makes the next look keep to 'Poll Interval'.
	const known = { status: null, ...state, ...idFields(ids) };
	return await finishedTask(context, known, { run, bound: { deadline, words }, ended });
}

/**
 * Asks the service, for a minute at most. A failed request means "not ended yet", and gives an empty
 * state.
 */
export async function lookNow(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
): Promise<Outlook> {
	const outlook = await look(context, idFields(ids), { fromTurn: POLL.look }).then(
		(state): Outlook => ({ state, hasEnded: isFinal(state) }),
		(error: unknown): Outlook => ({ state: {}, failure: asError(error) }),
	);
	context.getExecutionCancelSignal()?.throwIfAborted();
	return outlook;
}

/**
 * The same, but a look that gets no answer of the service is repeated for {@link AFTER_WAKING}: the task may have
 * ended long ago, as n8n may have been off, and be back before the network is.
 */
async function lookPatiently(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
	{ items }: Suspension,
): Promise<Outlook> {
	const began = Date.now();
	const deadline = began + AFTER_WAKING.leastMs;
	const pollInterval = waitOptionsOf(context).pollInterval * 1000;
	// All tasks are looked at together: that leaves room in the rate limit.
	const others = () => Object.keys(items).length - 1;
	let outlook = await lookNow(context, ids);
	while (mayPass(outlook.failure) && Date.now() < deadline) {
		const { failure } = outlook;
		const next = { began, lookedAt: Date.now(), pollInterval, deadline, failure, others };
		await untilNextLook(next, context.getExecutionCancelSignal());
		outlook = await lookNow(context, ids);
	}
	return outlook;
}

/** Whether another look may succeed: as long as a wait by polling goes on, too, and the address may be asked. */
function mayPass(failure?: Error): boolean {
	return failure instanceof ServiceError && failure.problem.transport !== 'blocked';
}

interface Open {
	ids: SubmissionIds;
	outlook: Outlook;
	/** Undefined if the execution did not wait for it. */
	item?: WaitingItem;
}

/**
 * Says what has not ended, and why as far as that is known. If the error of an item that was waited
 * for stops the node, it names all open tasks of the run, because it is the only error that n8n shows.
 */
function timedOut(
	context: IExecutePaginationFunctions,
	{ items, refused }: Suspension,
	{ ids, outlook, item }: Open,
): Error {
	const failure = notEnded(context, outlook, ids, item ? undefined : 'so far');
	const before = refused[context.getItemIndex()];
	if (!item && before !== undefined) failure.message = before;
	if (!item || goesOnAfterErrors(context)) return failure;
	const others = Object.values(items).filter((other) => !other.ended && other !== item);
	if (others.length > 0) {
		failure.message += `. Not ended either: ${others.map(submissionName).join(', ')}`;
	}
	return failure;
}
