import { createHash } from 'crypto';
import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf } from '../../../shared/api/credential';
import { isOutsideExecution } from '../../../shared/n8nInternals/runIdentity';
import { remembered } from '../../../shared/processMemory';
import { callFromOutside } from './sameRequest';
import { recall } from './submissionMemory';

/** When the same call counts as the repeat of one that has ended, in ms. */
export const REPEATS = {
	/** For how long after its end. */
	withinMs: 120_000,
	/** Only if it took so long that the client may have given up. Otherwise it has its answer. */
	slowMs: 30_000,
};

const callsOutsideExecutions = remembered<Promise<unknown>>('callsOutsideExecutions');

/**
 * Carries out a submit, from the request to the transcript. A tool call outside an execution is not carried out
 * a second time: its repeat gets the outcome of the first. An MCP client gives up after a minute, while the node
 * waits for the transcript for longer, and the model then calls the tool again. n8n keeps nothing of such a call, so
 * only this process knows it.
 */
export async function sharedByRepeats<T>(
	context: IExecutePaginationFunctions,
	carryOut: () => Promise<T>,
): Promise<T> {
	if (!isOutsideExecution(context)) return await carryOut();
	const { baseUrl, apiKey } = await credentialOf(context);
	const asked = [context.getWorkflow().id, baseUrl, apiKey, callFromOutside(context)];
	const key = createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
	const first = callsOutsideExecutions.get(key) as Promise<T> | undefined;
	if (first) return await first;
	const began = Date.now();
	const call = carryOut();
	callsOutsideExecutions.set(key, call);
	call.then(
		() => (Date.now() - began < REPEATS.slowMs ? forget(key, call) : forgetLater(key, call)),
		() => (mayBeRepeated(context) ? forget(key, call) : forgetLater(key, call)),
	);
	return await call;
}

function forget(key: string, call: Promise<unknown>): void {
	if (callsOutsideExecutions.get(key) === call) callsOutsideExecutions.delete(key);
}

/** Knows nothing of the context, which holds the data of the caller. Does not keep the process from exiting. */
function forgetLater(key: string, call: Promise<unknown>): void {
	AbortSignal.timeout(REPEATS.withinMs).addEventListener('abort', () => forget(key, call));
}

/** Whether the same submit may be sent after a failure: the service has certainly not accepted it. */
function mayBeRepeated(context: IExecutePaginationFunctions): boolean {
	try {
		return recall(context) === undefined;
	} catch {
		// n8n 2.41 evaluates no expression after the client has hung up.
		return false;
	}
}
