import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { stateIn } from '../../shared/api/undocumented/submissions';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { idInPath } from './idParameters';
import type { NodeRun } from './nodeRun';
import { sendOperation } from './sendOperation';

/**
 * Sends GET /tasks/{id} or GET /meeting/{bot_id}, and outputs the state, unwrapped and with a
 * documented status spelled as in the document (see `stateIn`).
 */
export async function outputState(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const items = await sendOperation(context, request, policy, run);
	return items.map(({ json }) => ({ json: stateIn(json, idInPath(request)) }));
}
