import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** The part of n8n's context that an error needs. */
export type WithNode = Pick<IExecuteSingleFunctions, 'getNode'>;

/** The error for an item that the node refuses. `description` tells the user what to do. */
export function refuse(
	context: WithNode,
	message: string,
	description: string,
): NodeOperationError {
	return errorSaying(context, message, description);
}

/** An error that says exactly this: n8n replaces a message with certain words in it, such as ECONNRESET. */
function errorSaying(context: WithNode, message: string, description?: string): NodeOperationError {
	const error = new NodeOperationError(context.getNode(), message, { description });
	error.message = message;
	return error;
}

/**
 * The error with the next step in its message: on publishing, n8n does not show the description. Never
 * a NodeApiError, of which n8n 1 shows only the description.
 */
export function withNextStep(context: WithNode, error: unknown): NodeOperationError {
	const { message, description } = error as { message?: string; description?: string | null };
	const words = [message, description].filter(Boolean).join('. ') || String(error);
	return errorSaying(context, words, description ?? undefined);
}

/** Failures that a Retry of the execution cannot mend. */
const lasting = new WeakSet<Error>();

/** Marks a failure that every Retry of the execution brings again, and returns it. */
export function asLasting<T extends Error>(failure: T): T {
	lasting.add(failure);
	return failure;
}

/** Whether a failure is marked with {@link asLasting}. */
export function isLasting(failure: Error): boolean {
	return lasting.has(failure);
}
