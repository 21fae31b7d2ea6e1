import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { isToolCall } from '../../shared/n8nInternals/runIdentity';

/** How many items the node handles in this run. */
export function itemCount(context: IExecutePaginationFunctions): number {
	return isToolCall(context) || context.getNode().executeOnce ? 1 : inputCount(context);
}

/** How many items come in, of which n8n drops all but the first with 'Execute Once'. */
export function inputCount(context: IExecutePaginationFunctions): number {
	return context.getExecuteData().data.main?.[0]?.length ?? 1;
}

/** n8n starts batched items one after the other, so they cannot wait for each other. */
export function isBatched(context: IExecutePaginationFunctions): boolean {
	const { batching } = context.getNodeParameter('requestOptions', {}) as {
		batching?: { batch?: { batchInterval?: number } };
	};
	return (batching?.batch?.batchInterval ?? 0) > 0;
}
