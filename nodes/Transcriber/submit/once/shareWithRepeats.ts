import { createHash } from 'crypto';
import type {
	IDataObject,
	IExecuteData,
	IExecutePaginationFunctions,
	IGetNodeParameterOptions,
	INodeExecutionData,
} from 'n8n-workflow';

import { credentialOf } from '../../../shared/api/credential';
import { sendingWithoutSandbox } from '../../../shared/api/requestWithApiKey';
import {
	isUnrememberedCall,
	nodeContextOf,
	runKeyOf,
} from '../../../shared/n8nInternals/runIdentity';
import { remembered } from '../../../shared/processMemory';
import { toolCallOf } from './toolCall';
import { recall } from './submissionMemory';

/** When a call that has ended is still remembered, for its repeats; in ms. */
export const REPEATS = {
	/** For how long after its end. */
	withinMs: 120_000,
	/**
	 * Only if it took so long that the client may have given up, or if it submitted and failed. Otherwise the
	 * client has its answer, and a quick repeat that fails in the same way must not keep the user from
	 * submitting anew.
	 */
	slowMs: 30_000,
};

/** A call, and its repeats. */
interface Call {
	/** Takes the place of the data that n8n saves with an execution: see `nodeContextOf`. */
	data: IDataObject;
	/** How many of them run. */
	running: number;
	/** Until when the call is remembered while none of them runs, in ms since 1970. */
	until: number;
}

/** Several with one key, if a sub-agent goes on with an older call while another client makes the same one. */
const unrememberedCalls = remembered<Set<Call>>('unrememberedCalls');

/** The same for one run of a caller, as long as that runs: a sub-agent may make the same call again. */
const callsOfRun = new WeakMap<IExecuteData, Map<string, Call>>();

/**
 * Carries out a submit. A tool call of which n8n keeps nothing shares its data with its repeats, as those
 * of an AI agent share the data of their execution: what was submitted before is not submitted again, and
 * the repeat goes on with it. An MCP client gives up after a minute, while the node waits for the
 * transcript for longer, and the model then calls the tool again. Only this process knows the first call.
 */
export async function shareWithRepeats(
	context: IExecutePaginationFunctions,
	carryOut: (context: IExecutePaginationFunctions) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	if (!isUnrememberedCall(context)) return await carryOut(context);
	const began = Date.now();
	const lasting = withFixedParameters(sendingWithoutSandbox(context));
	const key = await keyOf(lasting).catch(() => undefined);
	// What is wrong with the credential or an expression, the checks of the item say.
	if (key === undefined) return await carryOut(lasting);
	const call = callOf(context, key);
	const shared = withData(lasting, call.data);
	call.running += 1;
	const isRepeat = recall(shared) !== undefined;
	let hasAnswer = false;
	try {
		const output = await carryOut(shared);
		hasAnswer = output.every(({ json }) => typeof json.error !== 'string');
		return output;
	} finally {
		call.running -= 1;
		const isSlow = Date.now() - began >= REPEATS.slowMs;
		if (recall(shared) === undefined) {
			call.until = 0;
			// If another client has submitted it by the next try of this run, that try goes on with it.
			callsOfRun.get(runKeyOf(context))?.delete(key);
		} else if (isSlow || !(hasAnswer || isRepeat)) call.until = Date.now() + REPEATS.withinMs;
		forgetInTime(key, call);
	}
}

/** Which recording was given which Idempotency Key stays a matter of the caller: see givenIdempotencyKeyUses.ts. */
function callOf(context: IExecutePaginationFunctions, key: string): Call {
	const run = runKeyOf(context);
	const ofRun = callsOfRun.get(run) ?? new Map<string, Call>();
	const others = unrememberedCalls.get(key) ?? new Set();
	const [latest] = [...others].reverse();
	const call = ofRun.get(key) ?? latest ?? { data: {}, running: 0, until: 0 };
	callsOfRun.set(run, ofRun.set(key, call));
	unrememberedCalls.set(key, others.add(call));
	const own = nodeContextOf(context);
	Object.assign(call.data, { keys: (own.keys ??= {}), keyUses: (own.keyUses ??= {}) });
	return call;
}

/** Knows nothing of the context, which holds the data of the caller. Does not keep the process from exiting. */
function forgetInTime(key: string, call: Call): void {
	if (call.running > 0) return;
	const left = Math.min(call.until - Date.now(), REPEATS.withinMs);
	if (left > 0) {
		AbortSignal.timeout(left + 1).addEventListener('abort', () => forgetInTime(key, call));
		return;
	}
	const calls = unrememberedCalls.get(key);
	calls?.delete(call);
	if (calls?.size === 0) unrememberedCalls.delete(key);
}

async function keyOf(context: IExecutePaginationFunctions): Promise<string> {
	const { baseUrl, apiKey } = await credentialOf(context);
	const asked = [context.getWorkflow().id, baseUrl, apiKey, toolCallOf(context)];
	return createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
}

function withData(
	context: IExecutePaginationFunctions,
	data: IDataObject,
): IExecutePaginationFunctions {
	return Object.create(context, {
		getContext: { value: () => data },
	}) as IExecutePaginationFunctions;
}

/**
 * The context with the values that its parameters and their expressions have while the client is
 * connected: after it has hung up, n8n 2.41 evaluates no expression any more (live-webhooks.js,
 * `releaseIsolate`).
 */
function withFixedParameters(context: IExecutePaginationFunctions): IExecutePaginationFunctions {
	const { parameters } = context.getNode();
	const values = new Map<string, unknown>();
	const getNodeParameter = (
		name: string,
		fallback?: unknown,
		options?: IGetNodeParameterOptions,
	) => {
		const key = `${name} ${JSON.stringify(options)}`;
		if (values.has(key)) return values.get(key);
		const value: unknown = context.getNodeParameter(name, fallback, options);
		// Without a value, each caller gets its own fallback.
		if (name in parameters) values.set(key, value);
		return value;
	};
	const results = new Map<string, unknown>();
	const evaluateExpression = (expression: string, itemIndex: number) => {
		const key = `${itemIndex} ${expression}`;
		if (!results.has(key)) results.set(key, context.evaluateExpression(expression, itemIndex));
		return results.get(key);
	};
	return Object.create(context, {
		getNodeParameter: { value: getNodeParameter },
		evaluateExpression: { value: evaluateExpression },
	}) as IExecutePaginationFunctions;
}
