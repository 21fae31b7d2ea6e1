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
