import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { ServiceError } from '../../shared/api/serviceError';
import { saysNotEnded } from '../../shared/api/undocumented/answers';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { nodeContextOf } from '../../shared/n8nInternals/runIdentity';
import { sendOperation, withoutError } from './sendOperation';

/** The paths with which this node has ended something in this execution; n8n saves them with it. */
interface Endings {
	ended?: Record<string, true>;
}

/** The latest request with each path, by the data of its node. */
const latestSent = new WeakMap<object, Map<string, Promise<unknown>>>();

/**
 * Sends a request that ends something for good: a task, a bot, the dictionary. Remembers a success,
 * because with Retry On Fail n8n sends it again for all items if one of them has failed. Requests for
 * the same thing are sent one after the other. A refusal after a success counts as that of a repeat.
 * A success that says that nothing was done is returned, but not remembered.
 */
export async function sendCancelOrClear(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
): Promise<INodeExecutionData[]> {
	const endings: Endings = nodeContextOf(context);
	const path = request.options.url ?? '';
	const ofNode = latestSent.get(endings) ?? new Map<string, Promise<unknown>>();
	latestSent.set(endings, ofNode);
	const sent = (ofNode.get(path) ?? Promise.resolve()).then(
		async () => await sendOperation(context, request, policy),
	);
	ofNode.set(
		path,
		sent.catch(() => undefined),
	);
	let failure: unknown;
	try {
		const items = await sent;
		if (!items.some(({ json }) => saysNotEnded(json)))
			endings.ended = { ...endings.ended, [path]: true };
		return items.map(({ json }) => ({ json: withoutError(json) }));
	} catch (error) {
		failure = error;
	}
	if (failure instanceof ServiceError && hasEndedBefore(context, request)) {
		failure.problem.isRepeat = true;
	}
	throw failure;
}

/** Whether {@link sendCancelOrClear} has had success with the same request in this execution. */
export function hasEndedBefore(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
): boolean {
	const { ended }: Endings = nodeContextOf(context);
	return ended?.[request.options.url ?? ''] === true;
}
