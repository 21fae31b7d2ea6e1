import type { IDataObject, IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool, nodeContextOf } from '../../../shared/n8nInternals/runIdentity';
import { assertCanSuspend, suspend } from '../../../shared/n8nInternals/suspendExecution';
import type { NodeRun } from '../../item/nodeRun';
import { isCalledOff, isFinal } from '../../../shared/api/calledOffBot';
import { startsIn } from '../../../shared/api/statusMeaning';
import { forEachTask } from '../../item/forEachTask';
import { runOf } from '../once/placeInRun';
import { recall, type Submitted } from '../once/submissionMemory';
import type { Outcome } from '../once/submitOnce';
import { idFields } from '../../../shared/api/submission';
import { resumeUrlOf } from '../../../shared/n8nInternals/resumeUrl';
import { waitingKey, type Suspension } from '../once/suspensionState';
import { checkBalance, deadlineFor, finishedTask } from '../../wait/finishedTask';
import { checkOwnAddress } from '../../../shared/webhook/publicAddress';
import { refuse } from '../../../shared/parameters/refuse';
import type { RoutingRequest } from '../../../shared/api/types';
import { lookAgain, lookIfNeeded } from './lookBeforeSuspending';
import { resultsAfterWaking } from './resultsAfterWaking';

/**
 * 'Wait for the Transcript (Webhook)': suspends the execution until every task of the run has ended
 * or the timeout is reached. Then n8n runs the node again. Accepted items are not submitted again
 * (see `recall`), so the second run only fetches the results.
 */
export async function awaitDeliveries(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	{ accepted, isFresh }: Outcome,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = context.getItemIndex();
	const woken = wokenRun(context);
	// Sent again on waking: nothing was waited for yet.
	if (woken?.resumed && isFresh) return await resultsWithoutSuspending(context, tasks, run);
	// A Retry of an execution that has timed out is another execution, which was not suspended: it polls.
	const hasSlept = (accepted.executionId ?? context.getExecutionId()) === context.getExecutionId();
	if (woken && (hasSlept || woken.resumed)) {
		return await resultsAfterWaking(context, tasks, woken, run);
	}
	for (const { state, ids } of tasks) checkBalance(context, state, ids);
	assertCanAwait(context);

	const answers = tasks.map(({ answer }) => ({ json: answer }));
	// A run is suspended as a whole: one item that no delivery can wake makes all items poll.
	if (accepted.deliversTo !== resumeUrlOf(context)) run.cannotSuspend = true;
	await run.waitForAll('submitted', itemIndex);
	if (run.hasFailed() && !context.continueOnFail()) return answers;
	if (run.cannotSuspend) return await resultsWithoutSuspending(context, tasks, run);
	run.looksBegan ??= Date.now();
	const seen = await Promise.all(
		tasks.map(async (task) => await lookIfNeeded(context, task, accepted)),
	);
	const suspension = suspensionFor(context, tasks, run);
	tasks.forEach(({ index, ids }, number) => {
		const { sealedSecret } = accepted.submissions[index] ?? {};
		const state = seen[number] ?? {};
		const [ended, calledOff] = [isFinal(state), isCalledOff(state)];
		const key = waitingKey(itemIndex, number);
		suspension.items[key] = { ...ids, sealedSecret, ended, calledOff };
	});
	await run.waitForAll('looked at', itemIndex);
	// An error that stops the node must not leave a suspended execution behind.
	if (run.hasFailed() && !context.continueOnFail()) return answers;
	run.lastLooks ??= lookAgain(context, suspension, run.looksBegan);
	await run.lastLooks;
	// No delivery comes for a bot that was called off, unless it gets a task within minutes.
	if (Object.values(suspension.items).every(({ ended, calledOff }) => ended || calledOff)) {
		// Not suspended after all: items that failed may be submitted when n8n tries again.
		delete contextOf(context).suspension;
		return await resultsWithoutSuspending(context, tasks, run, seen);
	}
	suspension.refused = run.refusals();
	if (!suspension.asleep) {
		suspension.asleep = true;
		run.isSuspended = true;
		// An item that n8n could not evaluate fails again on waking, before the node has begun.
		await suspend(context, new Date(suspension.until), run.hasBegunAll(context));
	}
	// Retry On Fail would treat an output with an `error` as a failure and run the node again.
	return tasks.map(({ answer: { error: _error, ...shown } }) => ({ json: shown }));
}

/** Waits by polling. What is `seen` to have ended needs no further look. */
async function resultsWithoutSuspending(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	run: NodeRun,
	seen: Array<IDataObject | undefined> = [],
): Promise<INodeExecutionData[]> {
	const states = tasks.map((task, number) => ({ ...task, now: seen[number] }));
	return await forEachTask(context, run, states, async ({ ids, state, now }) => {
		const known = { ...idFields(ids), scheduled_start_at: state.scheduled_start_at };
		const ended = now && isFinal(now) ? now : undefined;
		return await finishedTask(context, known, { run, ended });
	});
}

/**
 * Refuses an item that failed before its execution was suspended: it is not submitted later. A file
 * that the service may have accepted is sent again, because its Idempotency-Key gives the same task;
 * but not when the time is up, because nothing would wait for that task.
 */
export function checkNotRefusedBefore(context: IExecutePaginationFunctions): void {
	const woken = wokenRun(context);
	const reason = woken?.refused[context.getItemIndex()];
	if (!woken || reason === undefined) return;
	const memory = recall(context);
	if (memory?.state === 'sent' && (woken.resumed || !memory.key)) return;
	throw refuse(context, reason, 'The other items of this run were waited for.');
}

/** The checked webhook address of a suspended execution of this node. */
export function resumeAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): string {
	assertCanAwait(context);
	const address = resumeUrlOf(context);
	checkOwnAddress(context, request, address, 'The webhook address of this n8n');
	return address;
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
