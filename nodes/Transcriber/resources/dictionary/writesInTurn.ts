import type { IExecutePaginationFunctions, INodeExecutionData } from 'n8n-workflow';

import type { NodeRun } from '../../item/nodeRun';
import { isAway, sendOperation } from '../../item/sendOperation';
import { saysNo } from '../../../shared/api/undocumented/answers';
import { sayItMayBeWritten } from './lostWrites';
import { dictionaryNotChanged } from '../successThatSaysNo';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

/** The items of one run that write the dictionary: when each ends, and whether one failed. */
interface Turns {
	ended: Map<number, Promise<void>>;
	hasFailed: boolean;
	/** The last item waited for the service until its patience ended. If each of hundreds did, it would take hours. */
	isAway?: boolean;
}

const turns = new WeakMap<NodeRun, Turns>();

/**
 * Carries out the writes of a run one after the other in item order, because the order decides the
 * final dictionary, and n8n starts all items at once. After a failure that stops the node, nothing
 * more is sent.
 */
export async function inTurn(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const itemIndex = context.getItemIndex();
	const ofRun = turns.get(run) ?? { ended: new Map<number, Promise<void>>(), hasFailed: false };
	turns.set(run, ofRun);
	let end = () => {};
	let isDone = false;
	let failure: unknown;
	ofRun.ended.set(itemIndex, new Promise((resolve) => (end = resolve)));
	try {
		await run.waitForAll('in turn', itemIndex);
		for (const [other, ended] of ofRun.ended) if (other < itemIndex) await ended;
		if (ofRun.hasFailed && !context.continueOnFail()) return [];
		const items = await sendOperation(context, request, policy, { once: ofRun.isAway });
		// Of terms that are there already, the service may say that it has added none.
		const adds = request.options.method === 'POST';
		const refusal = adds ? undefined : items.find(({ json }) => saysNo(json));
		if (refusal) throw dictionaryNotChanged(context, refusal.json);
		isDone = true;
		return items;
	} catch (error) {
		failure = error;
	} finally {
		ofRun.hasFailed ||= !isDone;
		ofRun.isAway = isAway(failure, policy);
		end();
	}
	sayItMayBeWritten(context, failure);
	throw failure;
}
