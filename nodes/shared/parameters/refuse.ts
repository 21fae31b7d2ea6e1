import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** The error for an item that the node refuses. `description` tells the user what to do. */
export function refuse(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	message: string,
	description: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, { description });
}
