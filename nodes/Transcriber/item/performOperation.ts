import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { isTool } from '../../shared/n8nInternals/runIdentity';
import { restoreOnError } from '../../shared/n8nInternals/suspendExecution';
import { refuse } from '../../shared/parameters/refuse';
import { credentialOf } from '../../shared/api/credential';
import { fillPath } from './idParameters';
import { describeFailure, failedItem, goesOnAfterErrors, withLastingMessage } from './itemFailure';
import { Abandoned, NodeRun } from './nodeRun';
import { REPEATABLE, type Policy, type RoutingRequest } from '../../shared/api/types';
import { sendOperation } from './sendOperation';

/** Checks a parameter, or completes the request with it. Throws when the item cannot be sent. */
export type Step = (
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
) => void | Promise<void>;

/** What an operation adds to the request it declares. */
export interface Operation {
	/** The checks of an item. See {@link NodeRun.mayBeSent} for when a valid item is sent. */
	prepare?: Step[];
	/**
	 * Names of what was submitted for the item before, or undefined. If defined, `takeUp` runs
	 * instead of `prepare`.
	 */
	submittedBefore?: (context: IExecutePaginationFunctions) => string[] | undefined;
	takeUp?: Step[];
	/** Carries out the checks, and adds to their errors what an earlier try may have sent. Default: only carries them out. */
	checkSentBefore?: (
		context: IExecutePaginationFunctions,
		run: NodeRun,
		check: () => Promise<void>,
	) => Promise<void>;
	/** Carries the item out; of a tool call that n8n does not remember, with the data of earlier ones that ask for the same. */
	shareWithRepeats?: (
		context: IExecutePaginationFunctions,
		carryOut: (context: IExecutePaginationFunctions) => Promise<INodeExecutionData[]>,
	) => Promise<INodeExecutionData[]>;
	policy?: Policy;
	/** Sends the request. Default: {@link sendOperation}. */
	carryOut?: (
		context: IExecutePaginationFunctions,
		request: RoutingRequest,
		policy: Policy,
		run: NodeRun,
	) => Promise<INodeExecutionData[]>;
}

/**
 * Handles one item from its parameters to its output: checks and sends it, pairs the output with
 * the input, and adds the item number to an error. Every operation uses it as its `pagination`, the
 * only hook of n8n's declarative engine that wraps the request.
 */
export function performOperation(operation: Operation = {}) {
	return async function (
		this: IExecutePaginationFunctions,
		request: RoutingRequest,
	): Promise<INodeExecutionData[]> {
		const { shareWithRepeats } = operation;
		if (!shareWithRepeats) return await performItem(this, request, operation);
		return await shareWithRepeats(
			this,
			async (context) => await performItem(context, request, operation),
		);
	};
}

async function performItem(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const { prepare = [], submittedBefore, takeUp = [], checkSentBefore } = operation;
	const { policy = REPEATABLE, carryOut = sendOperation } = operation;
	// A tool is never suspended.
	if (!isTool(context)) restoreOnError(context);
	const itemIndex = context.getItemIndex();
	const pairedItem = { item: itemIndex };
	const run = NodeRun.of(context);
	try {
		const before = submittedBefore?.(context);
		if (before) run.submitted.accept(itemIndex, before);
		const steps = before ? takeUp : [checkCredential, fillPath, ...prepare];
		run.register(itemIndex);
		const checks = async () => await check(context, request, steps);
		await (checkSentBefore ? checkSentBefore(context, run, checks) : checks());
		if (!(await run.mayBeSent(context))) return [];
		const output = await carryOut(context, request, policy, run);
		return output.map((item) => ({ ...item, pairedItem }));
	} catch (error) {
		if (error instanceof Abandoned) return [];
		const goesOn = goesOnAfterErrors(context);
		const described = describeFailure(context, error, run);
		const failure = goesOn ? described : withLastingMessage(context, described);
		const isStopped = context.getExecutionCancelSignal()?.aborted === true;
		run.fail(itemIndex, failure, { stopsNode: !goesOn, isStopped });
		if (!goesOn) throw failure;
		const output = [{ ...failedItem(context, failure, run), pairedItem }];
		if (isTool(context)) return output;
		run.leave(itemIndex);
		await run.waitForAll('end', itemIndex);
		// While the execution is suspended, the item outputs no error: Retry On Fail would take it for
		// a failure and run the node again. The item fails when the execution wakes.
		if (run.isSuspended) return [{ json: {}, pairedItem }];
		return output;
	} finally {
		run.leave(itemIndex);
	}
}

/** Finds an unusable credential before an item counts as sent. */
async function checkCredential(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): Promise<void> {
	await credentialOf(context);
	const baseUrl = request.options.baseURL ?? '';
	if (/^https?:\/\/[^/]/i.test(baseUrl) && URL.canParse(baseUrl)) return;
	// Without the value: it may be the API key, in the wrong field.
	throw refuse(
		context,
		"The 'Base URL' of the credential is not a web address",
		'Enter the address of the service in the credential, for example https://transcriber.example.com.',
	);
}

async function check(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	steps: Step[],
): Promise<void> {
	for (const step of steps) await step(context, request);
}
