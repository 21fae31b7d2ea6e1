import type { IExecutePaginationFunctions, INodeExecutionData, JsonObject } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { isTool } from '../../shared/n8nInternals/runIdentity';
import { asLasting, isLasting, refuse } from '../../shared/parameters/refuse';
import { said, ServiceError } from '../../shared/api/serviceError';
import { NAMELESS } from '../../shared/api/submission';
import { asError } from '../../shared/asError';
import { usableKeyOf } from './givenIdempotencyKey';
import type { NodeRun } from './nodeRun';

/** Whether a failure becomes an output instead of stopping the node. */
export function goesOnAfterErrors(context: IExecutePaginationFunctions): boolean {
	// n8n hides the message of a thrown error from an AI agent's model, so a tool outputs it.
	return isTool(context) || context.continueOnFail();
}

/** The message of a failure, with advice if the message is all that is shown and does not have it yet. */
export function inOutput(
	context: IExecutePaginationFunctions,
	message: string,
	advice: string,
): string {
	if (!isShownByMessage(context) || message.includes(advice)) return message;
	return `${message.replace(/\.$/, '')}. ${advice}`;
}

/** The refusal that every Retry brings again. Says its advice also where only the message is shown. */
export function refuseForGood(
	context: IExecutePaginationFunctions,
	message: string,
	advice: string,
): NodeOperationError {
	return asLasting(refuse(context, inOutput(context, message, advice), advice));
}

/** Whether the message of a failure is all that its output shows. An AI agent gets the description, too. */
function isShownByMessage(context: IExecutePaginationFunctions): boolean {
	return context.continueOnFail() && !isTool(context);
}

/** For the model of an AI agent, which may call again what has been paid for. */
const SECOND_CALL = 'Except for the same call in this execution, a second submit is charged, too.';

/** A failure as an output item, used if {@link goesOnAfterErrors}. */
export function failedItem(
	context: IExecutePaginationFunctions,
	error: unknown,
	run: NodeRun,
): INodeExecutionData {
	const failure = describeFailure(context, error, run);
	const { message, description } = failure;
	if (isTool(context)) {
		const isPaidFor = run.submitted.isPaidFor(context.getItemIndex());
		const words = [description, isPaidFor && SECOND_CALL].filter(Boolean).join(' ');
		return { json: { error: message, what_to_do: words } };
	}
	return { json: { error: message }, error: plain(failure) };
}

/**
 * What n8n itself saves of an error, as a plain object. Seen in 1.123.81 and 2.41.1: their expression
 * engine (isolated-vm) cannot copy an Error, so an expression that reads all items, such as
 * `$input.all()`, would give null for the whole list.
 */
function plain(failure: NodeApiError | NodeOperationError): NodeApiError | NodeOperationError {
	const { name, message, description, context } = failure;
	const httpCode = failure instanceof NodeApiError ? failure.httpCode : null;
	const fields = { name, message, description, context: { itemIndex: context.itemIndex } };
	return Object.assign({} as typeof failure, fields, httpCode !== null && { httpCode });
}

/** Adds the essentials to the message, because only the message reaches an item's output. */
export function describeFailure(
	context: IExecutePaginationFunctions,
	error: unknown,
	run: NodeRun,
): NodeApiError | NodeOperationError {
	const failure = asNodeError(context, error);
	const itemIndex = context.getItemIndex();
	failure.context.itemIndex = itemIndex;
	const unnamed = run.submitted
		.acceptedFor(itemIndex)
		// If the service gave no id, the failure itself already says so.
		.filter((what) => what !== NAMELESS)
		.filter((what) => !failure.message.toLowerCase().includes(what.toLowerCase()));
	if (unnamed.length > 0) {
		const verb = unnamed.length > 1 ? 'were' : 'was';
		failure.message += ` (${unnamed.join(', ')} ${verb} accepted by the service)`;
	}
	if (!failure.message.includes(`[item ${itemIndex}]`)) {
		if (failure instanceof ServiceError && failure.isVague && isShownByMessage(context))
			addServiceMessage(failure);
		if (run.submitted.isPaidFor(itemIndex))
			failure.message = inOutput(context, failure.message, secondSubmit(context));
		failure.message += ` [item ${itemIndex}]`;
	}
	// n8n takes an execution whose error has this word for a cancelled one, and offers no Retry of it
	// (workflow-execute.js of n8n-core). The service may say it of a task.
	failure.message = failure.message.replaceAll('canceled', 'cancelled');
	return failure;
}

/** Who has only the output of an item runs it again, and pays again, unless a file has the same key of the user. */
function secondSubmit(context: IExecutePaginationFunctions): string {
	const isFile = context.getNodeParameter('operation', '') === 'transcribeFile';
	// The key may be another one in each execution, or may have been added since.
	const unless =
		isFile && usableKeyOf(context) !== undefined
			? ", unless it has the same 'Idempotency Key' as the first"
			: '';
	return `A second submit is charged, too${unless}`;
}

function addServiceMessage(failure: ServiceError): void {
	const { serviceMessage = failure.problem.errorCode } = failure.problem;
	if (serviceMessage === undefined || failure.message.includes(serviceMessage)) return;
	failure.message = `${failure.message.replace(/\.$/, '')}. ${said(failure.problem)}`;
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

/**
 * n8n wraps any other error that stops the node into a NodeApiError. Its constructor replaces a message
 * with certain words in it, such as ECONNRESET.
 */
export function withLastingMessage(
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

/** n8n 2 drops the output and the error of an execution that was stopped or has timed out. */
export function logIfStopped(context: IExecutePaginationFunctions, words: string): void {
	if (!context.getExecutionCancelSignal()?.aborted) return;
	const where = `${context.getNode().name}: execution ${context.getExecutionId()}`;
	context.logger.warn(`${where} was stopped. ${words}`);
}
