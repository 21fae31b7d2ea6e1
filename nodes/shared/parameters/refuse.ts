import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** A parameter that cannot be right: refused before anything is sent. */
export function refuse(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	message: string,
	description: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, { description });
}
