import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import { ServiceError } from '../../shared/api/serviceError';
import { saysNotEnded } from '../../shared/api/undocumented/answers';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { nodeContextOf } from '../../shared/n8nInternals/runIdentity';
import type { NodeRun } from './nodeRun';
import { isAway, sendOperation, withoutError } from './sendOperation';

/** The paths with which this node has ended something in this execution; n8n saves them with it. */
interface Endings {
	ended?: Record<string, true>;
}

/** The end of the latest request with each path, by the data of its node: its run, if the service was away. */
const latestSent = new WeakMap<object, Map<string, Promise<NodeRun | undefined>>>();

/**
 * Sends a request that ends something for good: a task, a bot, the dictionary. Remembers a success,
 * because with Retry On Fail n8n sends it again for all items if one of them has failed. Requests for the
 * same thing are sent one after the other; if the service is away for one of them, the others of the run
 * do not wait for it again, and are not sent if that stops the node. A refusal after a success counts as
 * that of a repeat. A success that says that nothing was done is returned, but not remembered.
 */
export async function sendCancelOrClear(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const endings: Endings = nodeContextOf(context);
	const path = request.options.url ?? '';
	const ofNode = latestSent.get(endings) ?? new Map<string, Promise<NodeRun | undefined>>();
	latestSent.set(endings, ofNode);
	const before = ofNode.get(path) ?? Promise.resolve(undefined);
	const sent = before.then(async (awayFor) => {
		const once = awayFor === run;
		if (once && !context.continueOnFail()) return undefined;
		return await sendOperation(context, request, policy, { once });
	});
	ofNode.set(
		path,
		sent.then(
			(items) => (items ? undefined : run),
			(error: unknown) => (isAway(error, policy) ? run : undefined),
		),
	);
	let failure: unknown;
	try {
		const items = await sent;
		if (!items) return [];
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
