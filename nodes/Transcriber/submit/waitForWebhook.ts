import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { isTool, nodeContextOf } from '../../shared/n8nInternals/nodeRuns';
import { assertCanSuspend, suspend } from '../../shared/n8nInternals/suspension';
import { isBatched, type NodeRun } from '../item/nodeRun';
import { hasEnded, startsIn } from '../../shared/api/undocumentedShapes';
import { eachTask } from './eachTask';
import { runOf, type AcceptedMemory, type Submitted } from './submissionMemory';
import { POLL } from '../wait/polling';
import { idFields, submissionName, type SubmissionIds } from '../../shared/api/submission';
import { waitingKey, type Suspension, type WaitingItem } from './sleepingItems';
import { checkBalance, deadlineFor, finishedTask } from '../wait/finishedTask';
import { waitOptionsOf } from '../wait/waitOptions';
import { checkOwnAddress } from '../../shared/webhook/publicAddress';
import { refuse } from '../../shared/parameters/refuse';
import type { RoutingRequest } from '../../shared/api/types';
import { look } from '../../shared/api/taskState';

/** A submission younger than this (in ms) is not checked: the service repeats early deliveries. */
const YOUNG_MS = 5_000;

/**
 * How long, in ms, a woken run waits at least for an ended task whose status does not show it yet. It
 * waits until 'Timeout' in any case: a delivery proves the end of a task only as far as its status is
 * one that the service documents.
 */
export const AFTER_WAKING = { leastMs: 120_000 };

/**
 * 'Wait for the Transcript (Webhook)': suspends the execution until every task of the run has ended
 * or the timeout is reached. Then n8n runs the node again. Accepted items are not submitted again
 * (see `recall`), so the second run only fetches the results.
 */
export async function awaitDeliveries(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	accepted: AcceptedMemory,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = context.getItemIndex();
	const woken = wokenRun(context);
	// A Retry of an execution that has timed out is another execution, which did not sleep: it polls.
	const hasSlept = (accepted.executionId ?? context.getExecutionId()) === context.getExecutionId();
	if (woken && (hasSlept || woken.resumed)) {
		return await resultsAfterSleep(context, tasks, woken, run);
	}
	for (const { state, ids } of tasks) checkBalance(context, state, ids);
	assertCanAwait(context);

	const poll = async (fields: (task: Submitted) => IDataObject) =>
		await eachTask(
			context,
			run,
			tasks,
			async (task) => await finishedTask(context, fields(task), { run }),
		);
	const answers = tasks.map(({ answer }) => ({ json: answer }));
	// A run is suspended as a whole: one item that no delivery can wake makes all items poll.
	if (accepted.deliversTo !== ownAddress(context)) run.cannotSleep = true;
	await run.waitForAll('submitted', itemIndex);
	if (run.hasFailed() && !context.continueOnFail()) return answers;
	if (run.cannotSleep) {
		return await poll(({ ids, state: { scheduled_start_at: start } }) => ({
			...idFields(ids),
			scheduled_start_at: start,
		}));
	}
	const items = await Promise.all(
		tasks.map(async (task) => await waitingItem(context, task, accepted)),
	);
	const suspension = suspensionFor(context, tasks, run);
	items.forEach((item, number) => (suspension.items[waitingKey(itemIndex, number)] = item));
	await run.waitForAll('looked at', itemIndex);
	// An error that stops the node must not leave a suspended execution behind.
	if (run.hasFailed() && !context.continueOnFail()) return answers;
	if (Object.values(suspension.items).every(({ ended }) => ended)) {
		// Not suspended after all: items that failed may be submitted when n8n tries again.
		delete contextOf(context).suspension;
		return await poll(({ ids }) => idFields(ids));
	}
	suspension.refused = run.refusals();
	if (!suspension.asleep) {
		suspension.asleep = true;
		run.isAsleep = true;
		await suspend(context, new Date(suspension.until));
	}
	// Retry On Fail would treat an output with an `error` as a failure and run the node again.
	return tasks.map(({ answer: { error: _error, ...shown } }) => ({ json: shown }));
}

/** Refuses an item that failed before its execution was suspended: it is not submitted later. */
export function checkNotRefusedBefore(context: IExecutePaginationFunctions): void {
	const reason = wokenRun(context)?.refused[context.getItemIndex()];
	if (reason === undefined) return;
	throw refuse(context, reason, 'The other items of this run were waited for.');
}

/** The checked webhook address of a suspended execution of this node. */
export function resumeAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): string {
	assertCanAwait(context);
	const address = ownAddress(context);
	checkOwnAddress(context, request, address, 'The webhook address of this n8n');
	return address;
}

/** The webhook address of this execution and this node. */
export function ownAddress(context: IExecutePaginationFunctions): string {
	const address = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	address.pathname += `/${context.getNode().id}`;
	return address.href;
}

/** Throws if this node cannot suspend this execution. */
function assertCanAwait(context: IExecutePaginationFunctions): void {
	if (isTool(context)) {
		throw refuse(
			context,
			"'Wait for the Transcript (Webhook)' cannot be used by an AI agent, because it suspends the execution",
			"Choose Wait for the Transcript (Polling) in 'Get the Transcript'.",
		);
	}
	if (isBatched(context)) {
		throw refuse(
			context,
			"'Wait for the Transcript (Webhook)' cannot be combined with the batching option",
			'Remove the batching: this node keeps to the rate limits of the service by itself.',
		);
	}
	assertCanSuspend(context);
}

function contextOf(context: IExecutePaginationFunctions): { suspension?: Suspension } {
	return nodeContextOf(context);
}

function wokenRun(context: IExecutePaginationFunctions): Suspension | undefined {
	const { suspension } = contextOf(context);
	if (!suspension) return undefined;
	const { index, isLate } = runOf(context);
	return index === suspension.run && (suspension.resumed || isLate) ? suspension : undefined;
}

/**
 * The results of an item after its execution was woken or timed out. Deliveries are lost if n8n is
 * down for longer than the service repeats them. So the service is asked once more, and only tasks
 * that have still not ended are errors. This includes items that the execution did not wait for.
 */
async function resultsAfterSleep(
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
	return await finishedTask(context, idFields(ids), { run, bound: { deadline, words }, ended });
}

function suspensionFor(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	run: NodeRun,
): Suspension {
	const nodeContext = contextOf(context);
	const { index } = runOf(context);
	if (nodeContext.suspension?.run !== index) {
		nodeContext.suspension = { run: index, until: 0, items: {}, refused: {} };
	}
	const { suspension } = nodeContext;
	suspension.refused = run.refusals();
	const deadlines = tasks.map(({ state }) => deadlineFor(context, startsIn(state)));
	suspension.until = Math.max(suspension.until, ...deadlines);
	return suspension;
}

async function waitingItem(
	context: IExecutePaginationFunctions,
	{ index, ids, answer }: Submitted,
	accepted: AcceptedMemory,
): Promise<WaitingItem> {
	const item: WaitingItem = { ...ids, sealedSecret: accepted.submissions[index]?.sealedSecret };
	// Until it is suspended, an execution refuses deliveries. With many or slow submissions, the
	// service may have given up the first deliveries before the last item is submitted.
	const isOld = Date.now() - accepted.at > YOUNG_MS;
	const hasToFail = waitOptionsOf(context).onInsufficientBalance === 'fail';
	// The answer to the submit may not mention a low balance, and its status is no proof.
	if (isOld || hasToFail || hasEnded(answer.status)) {
		const state = await lookNow(context, ids);
		checkBalance(context, state, ids);
		item.ended = hasEnded(state.status);
	}
	return item;
}

/**
 * Asks the service, for a minute at most. A failed request means "not ended yet" and gives `{}`.
 */
async function lookNow(
	context: IExecutePaginationFunctions,
	ids: SubmissionIds,
): Promise<IDataObject> {
	const state = await look(context, idFields(ids), { fromTurn: POLL.look }).catch(
		(): IDataObject => ({}),
	);
	context.getExecutionCancelSignal()?.throwIfAborted();
	return state;
}

/** Names what has not ended: for an item that was waited for, all open tasks of the run. */
function timedOut(
	context: IExecutePaginationFunctions,
	{ items, refused }: Suspension,
	ids: SubmissionIds,
	item?: WaitingItem,
): NodeOperationError {
	const isWaitedFor = item !== undefined;
	const open = isWaitedFor ? Object.values(items).filter(({ ended }) => !ended) : [ids];
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
