import type { IExecutePaginationFunctions, INodeExecutionData, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { isTool } from '../../shared/n8nInternals/runIdentity';
import { asLasting, isLasting, refuse } from '../../shared/parameters/refuse';
import { credentialOf } from '../../shared/api/credential';
import { said, ServiceError } from '../../shared/api/serviceError';
import { NAMELESS } from '../../shared/api/submission';
import { fillPath } from './idParameters';
import { Abandoned, NodeRun } from './nodeRun';
import { REPEATABLE, type Policy, type RoutingRequest } from '../../shared/api/types';
import { sendOperation } from './sendOperation';
import { asError } from '../../shared/asError';

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
	const { prepare = [], submittedBefore, takeUp = [] } = operation;
	const { policy = REPEATABLE, carryOut = sendOperation } = operation;
	const itemIndex = context.getItemIndex();
	const pairedItem = { item: itemIndex };
	const run = NodeRun.of(context);
	try {
		const before = submittedBefore?.(context);
		if (before) run.submitted.accept(itemIndex, before);
		const steps = before ? takeUp : [checkCredential, fillPath, ...prepare];
		run.register(itemIndex);
		await check(context, request, steps);
		if (!(await run.mayBeSent(context))) return [];
		const output = await carryOut(context, request, policy, run);
		return output.map((item) => ({ ...item, pairedItem }));
	} catch (error) {
		if (error instanceof Abandoned) return [];
		const goesOn = goesOnAfterErrors(context);
		const described = describe(context, error, run);
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

/**
 * n8n wraps any other error that stops the node into a NodeApiError. Its constructor replaces a message
 * with certain words in it, such as ECONNRESET.
 */
function withLastingMessage(
	context: IExecutePaginationFunctions,
	failure: NodeApiError | NodeOperationError,
): NodeApiError {
	if (failure instanceof NodeApiError) return failure;
	const { message, description } = failure;
	const error = new NodeApiError(context.getNode(), failure as Error as unknown as JsonObject, {
		message,
		httpCode: 'none',
		itemIndex: context.getItemIndex(),
	});
	Object.assign(error, { message, description });
	return isLasting(failure) ? asLasting(error) : error;
}

/** Whether a failure becomes an output instead of stopping the node. */
export function goesOnAfterErrors(context: IExecutePaginationFunctions): boolean {
	// n8n hides the message of a thrown error from an AI agent's model, so a tool outputs it.
	return isTool(context) || context.continueOnFail();
}

/** The message of a failure, with advice if the message is all that is shown. */
export function inOutput(
	context: IExecutePaginationFunctions,
	message: string,
	advice: string,
): string {
	return isShownByMessage(context) ? `${message.replace(/\.$/, '')}. ${advice}` : message;
}

/** Whether the message of a failure is all that its output shows. An AI agent gets the description, too. */
function isShownByMessage(context: IExecutePaginationFunctions): boolean {
	return context.continueOnFail() && !isTool(context);
}

/** A failure as an output item, used if {@link goesOnAfterErrors}. */
export function failedItem(
	context: IExecutePaginationFunctions,
	error: unknown,
	run: NodeRun,
): INodeExecutionData {
	const failure = describe(context, error, run);
	const { message, description } = failure;
	if (isTool(context)) return { json: { error: message, what_to_do: description } };
	return { json: { error: message }, error: failure };
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

/** Adds the essentials to the message, because only the message reaches an item's output. */
function describe(
	context: IExecutePaginationFunctions,
	error: unknown,
	run: NodeRun,
): NodeApiError | NodeOperationError {
	const failure = asNodeError(context, error);
	const itemIndex = context.getItemIndex();
	failure.context.itemIndex = itemIndex;
	if (failure instanceof ServiceError && failure.isVague && isShownByMessage(context)) {
		addServiceMessage(failure);
	}
	const unnamed = run.submitted
		.acceptedFor(itemIndex)
		// If the service gave no id, the failure itself already says so.
		.filter((what) => what !== NAMELESS)
		.filter((what) => !failure.message.toLowerCase().includes(what.toLowerCase()));
	if (unnamed.length > 0) {
		const verb = unnamed.length > 1 ? 'were' : 'was';
		failure.message += ` (${unnamed.join(', ')} ${verb} accepted by the service)`;
	}
	if (!failure.message.includes(`[item ${itemIndex}]`)) failure.message += ` [item ${itemIndex}]`;
	// n8n takes an execution whose error has this word for a cancelled one, and offers no Retry of it
	// (workflow-execute.js of n8n-core). The service may say it of a task.
	failure.message = failure.message.replaceAll('canceled', 'cancelled');
	return failure;
}

function addServiceMessage(failure: ServiceError): void {
	const { serviceMessage = failure.problem.errorCode } = failure.problem;
	if (serviceMessage === undefined || failure.message.includes(serviceMessage)) return;
	failure.message = `${failure.message.replace(/\.$/, '')}. ${said(failure.problem)}`;
}

async function check(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	steps: Step[],
): Promise<void> {
	for (const step of steps) await step(context, request);
}

function asNodeError(
	context: IExecutePaginationFunctions,
	error: unknown,
): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	if (context.getExecutionCancelSignal()?.aborted) {
		return new NodeOperationError(context.getNode(), 'The execution was cancelled');
	}
	return new NodeOperationError(context.getNode(), asError(error));
}
