import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { checkOwnAddress, refuse } from '../request/checks';
import { isBatched, isToolCall, type NodeRun } from '../request/run';
import type { Caller, RoutingRequest } from '../request/service';
import { hasEnded, taskIdOf } from '../request/shapes';
import { recall, runOf } from './accepted';
import { suspend, type Suspension, type WaitingItem } from './suspend';
import { checkBalance, deadlineFor, finishedTask, look } from './wait';
import { waitOptionsOf } from './waitOptions';

/** A submission this young cannot have ended unnoticed: its delivery is tried again by the service. */
const YOUNG_MS = 5_000;

/**
 * 'Wait for Webhook': suspends the execution until every task of the run has ended. n8n runs the
 * node again then, or when the time is up; what was accepted is not submitted again (see `recall`),
 * so all that is left to do is to fetch the results.
 */
export async function awaitDelivery(
	this: IExecutePaginationFunctions,
	answer: IDataObject,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = this.getItemIndex();
	const ids = { task_id: taskIdOf(answer), bot_id: answer.bot_id };
	const woken = wokenRun(this);
	if (woken) {
		await lookOnceMore(this, woken, run);
		return [await finishedTask.call(this, ids)];
	}
	checkBalance(this, answer);

	await run.meet('submitted', itemIndex);
	if (run.hasFailed() && !this.continueOnFail()) return [{ json: answer }];
	const item = await waitingItem(this, answer);
	const suspension = suspensionFor(this, answer, run);
	suspension.items[itemIndex] = item;
	await run.meet('looked at', itemIndex);
	if (Object.values(suspension.items).every(({ ended }) => ended)) {
		suspension.resumed = true;
		return [await finishedTask.call(this, ids)];
	}
	if (!suspension.asleep) {
		suspension.asleep = true;
		await suspend(this, suspension);
	}
	return [{ json: answer }];
}

/** An item that was refused before its execution was suspended is not submitted after all. */
export function checkNotRefusedBefore(context: IExecutePaginationFunctions): void {
	const reason = wokenRun(context)?.refused[context.getItemIndex()];
	if (reason === undefined) return;
	throw refuse(context, reason, 'The other items of this run were waited for.');
}

/** Where the service delivers to a suspended execution of this node. */
export function resumeAddress(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): string {
	const node = context.getNode();
	if (isToolCall(context)) {
		throw refuse(
			context,
			"'Wait for Webhook' cannot be used by an AI agent, because it suspends the execution",
			"Choose Wait by Polling in 'When Submitted'.",
		);
	}
	if (isBatched(context)) {
		throw refuse(
			context,
			"'Wait for Webhook' cannot be combined with the batching option",
			'Remove the batching: this node keeps to the rate limits of the service by itself.',
		);
	}
	const address = new URL(String(context.evaluateExpression('{{ $execution.resumeUrl }}', 0)));
	address.pathname += `/${node.id}`;
	checkOwnAddress(context, request, address.href, 'The webhook address of this n8n');
	return address.href;
}

function contextOf(context: IExecutePaginationFunctions): { suspension?: Suspension } {
	return context.getContext('node');
}

function wokenRun(context: IExecutePaginationFunctions): Suspension | undefined {
	const { suspension } = contextOf(context);
	if (!suspension) return undefined;
	const { index, isLate } = runOf(context);
	return index === suspension.run && (suspension.resumed || isLate) ? suspension : undefined;
}

/**
 * The time of a suspended run is up. A delivery may have got lost, if n8n was down for longer than
 * the service repeats it: so what has ended is not lost, and only what is still open is an error.
 */
async function lookOnceMore(
	context: IExecutePaginationFunctions,
	suspension: Suspension,
	run: NodeRun,
): Promise<void> {
	if (suspension.resumed) return;
	const itemIndex = context.getItemIndex();
	const item = suspension.items[itemIndex];
	if (!item) return;
	item.ended = await hasEndedAtService(context, item);
	await run.meet('looked at', itemIndex);
	if (!item.ended) throw timedOut(context, suspension);
}

function suspensionFor(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
	run: NodeRun,
): Suspension {
	const nodeContext = contextOf(context);
	const { index } = runOf(context);
	if (nodeContext.suspension?.run !== index) {
		nodeContext.suspension = {
			run: index,
			until: deadlineFor(context, answer),
			items: {},
			refused: {},
		};
	}
	const { suspension } = nodeContext;
	suspension.refused = run.refusals();
	suspension.until = Math.max(suspension.until, deadlineFor(context, answer));
	return suspension;
}

async function waitingItem(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
): Promise<WaitingItem> {
	const memory = recall(context);
	const accepted = memory?.state === 'accepted' ? memory : undefined;
	const item: WaitingItem = {
		taskId: taskIdOf(answer),
		botId: typeof answer.bot_id === 'string' ? answer.bot_id : undefined,
		sealedSecret: accepted?.sealedSecret,
	};
	// n8n refuses deliveries for an execution that is not suspended yet. With many items the first
	// tasks may have ended, and their deliveries been given up, before the last one is submitted.
	const age = Date.now() - (accepted?.at ?? 0);
	if (age > YOUNG_MS) item.ended = await hasEndedAtService(context, item);
	return item;
}

/** Asks the service itself whether the submission has ended. */
export async function hasEndedAtService(
	caller: Caller,
	{ taskId, botId }: WaitingItem,
): Promise<boolean> {
	if (!taskId && !botId) return false;
	const { status } = await look(caller, { task_id: taskId, bot_id: botId });
	return hasEnded(status);
}

function timedOut(
	context: IExecutePaginationFunctions,
	suspension: Suspension,
): NodeOperationError {
	const open = Object.values(suspension.items)
		.filter(({ ended }) => !ended)
		.map(({ taskId, botId }) => (taskId ? `task ${taskId}` : `bot ${botId}`))
		.join(', ');
	return refuse(
		context,
		`Not ended within ${waitOptionsOf(context).timeout} minutes: ${open}`,
		"It goes on at the service and is not lost. Fetch the result with Task: Wait Until Finished (a bot's task ID comes from Meeting: Get), or raise 'Timeout'.",
	);
}
