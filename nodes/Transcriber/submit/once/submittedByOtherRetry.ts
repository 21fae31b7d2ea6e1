import { createHash, randomUUID } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import {
	isRetry,
	nodeContextOf,
	sharedByRetriesOf,
} from '../../../shared/n8nInternals/runIdentity';
import { remembered } from '../../../shared/processMemory';
import { runOf } from './placeInRun';

/**
 * What the Retries of an execution have submitted, by lineage (see {@link Lineage}) and place.
 *
 * n8n offers Retry on the first execution until a Retry has succeeded, and starts each Retry with
 * the data of the execution that it repeats. So a second Retry of the first execution does not see
 * what the first Retry has submitted. Only this process knows, for as long as it runs.
 */
const retriedSubmissions = remembered<object>('retriedSubmissions');

/**
 * An execution and all its Retries. A Retry has a new execution id, but keeps the data that n8n
 * saved for the node. If the execution failed before this node, n8n saved none; then other shared
 * data identifies the Retries.
 */
interface Lineage {
	/** Execution ids alone may repeat: a new n8n counts from 1 again. */
	id: string;
	/** A hash of what the execution shares with all its Retries, or else the id of the first execution. */
	firstExecution: string;
	/** The id of the first execution, unless the node first ran in a Retry. */
	executionId?: string;
	/** For each run of the node, by its index: whether it first began in a Retry. */
	beganInRetry?: Record<number, boolean>;
}

function lineageOf(context: IExecutePaginationFunctions): Lineage {
	const nodeContext = nodeContextOf(context) as { lineage?: Lineage };
	const lineage = (nodeContext.lineage ??= newLineage(context));
	// An execution of an earlier version may have none.
	lineage.beganInRetry ??= {};
	lineage.beganInRetry[runOf(context).index] ??= isRetry(context);
	return lineage;
}

function newLineage(context: IExecutePaginationFunctions): Lineage {
	const shared = sharedByRetriesOf(context);
	const executionId = isRetry(context) ? undefined : context.getExecutionId();
	if (!shared) return { id: randomUUID(), firstExecution: context.getExecutionId(), executionId };
	return { id: `${shared} ${context.getNode().id}`, firstExecution: shared, executionId };
}

/** Identifies the execution in which the node ran first: see {@link Lineage}. */
export function firstExecutionOf(context: IExecutePaginationFunctions): string {
	return lineageOf(context).firstExecution;
}

/**
 * Whether n8n had kept nothing of this run of the node when a Retry began it: the execution before failed
 * before the run, or crashed. n8n does not tell which.
 */
export function beganInRetry(context: IExecutePaginationFunctions): boolean {
	return lineageOf(context).beganInRetry?.[runOf(context).index] === true;
}

/** What another Retry has remembered for the same place, with {@link rememberRetried}. */
export function recallRetried<Memory extends object>(
	context: IExecutePaginationFunctions,
	place: string,
): Memory | undefined {
	return retriedSubmissions.get(keyOf(context, place)) as Memory | undefined;
}

/**
 * Does nothing outside a Retry: the data of an execution that is no Retry already holds what it has
 * submitted.
 */
export function rememberRetried(
	context: IExecutePaginationFunctions,
	place: string,
	memory: object | undefined,
): void {
	const { executionId, firstExecution } = lineageOf(context);
	if ((executionId ?? firstExecution) === context.getExecutionId()) return;
	const key = keyOf(context, place);
	if (memory) retriedSubmissions.set(key, memory);
	else retriedSubmissions.delete(key);
}

function keyOf(context: IExecutePaginationFunctions, place: string): string {
	// `place` may hold all parameters of a tool call.
	return createHash('sha256')
		.update(`${lineageOf(context).id} ${place}`)
		.digest('base64url');
}
