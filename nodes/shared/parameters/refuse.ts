import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { NodeApiError, NodeOperationError } from 'n8n-workflow';

import { asError } from '../asError';

/** The part of n8n's context that an error needs. */
export type WithNode = Pick<IExecuteSingleFunctions, 'getNode'>;

/** The error for an item that the node refuses. `description` tells the user what to do. */
export function refuse(
	context: WithNode,
	message: string,
	description: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, { description });
}

/** The error with the next step in its message: on publishing, n8n does not show the description. */
export function withNextStep(context: WithNode, thrown: unknown): Error {
	const isNodeError = thrown instanceof NodeApiError || thrown instanceof NodeOperationError;
	const error = isNodeError ? thrown : new NodeOperationError(context.getNode(), asError(thrown));
	error.message = [error.message, error.description].filter(Boolean).join('. ');
	return error;
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
