import type { IExecuteSingleFunctions } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';

/** The error for a parameter that cannot be right. It is thrown before anything is sent. */
export function refuse(
	context: Pick<IExecuteSingleFunctions, 'getNode'>,
	message: string,
	description: string,
): NodeOperationError {
	return new NodeOperationError(context.getNode(), message, { description });
}
