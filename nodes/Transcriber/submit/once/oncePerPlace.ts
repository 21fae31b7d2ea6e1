import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { nodeContextOf } from '../../../shared/n8nInternals/runIdentity';
import { placeOf } from './placeInRun';

/** The submits under way, by the context of their node and their place there. */
const beingSent = new WeakMap<object, Map<string, Promise<unknown>>>();

function beingSentAt(context: IExecutePaginationFunctions): Map<string, Promise<unknown>> {
	const key = nodeContextOf(context);
	const ofNode = beingSent.get(key) ?? new Map<string, Promise<unknown>>();
	beingSent.set(key, ofNode);
	return ofNode;
}

/** Whether {@link oncePerPlace} is at work for the item. */
export function isBeingSent(context: IExecutePaginationFunctions): boolean {
	return beingSentAt(context).has(placeOf(context));
}

/**
 * Runs `send` unless it is running for the same place: then returns the outcome of that. An AI agent
 * can make the same tool call several times at once.
 */
export async function oncePerPlace<T>(
	context: IExecutePaginationFunctions,
	send: () => Promise<T>,
): Promise<T> {
	const ofNode = beingSentAt(context);
	const place = placeOf(context);
	const twin = ofNode.get(place) as Promise<T> | undefined;
	if (twin) return await twin;
	const outcome = send().finally(() => ofNode.delete(place));
	ofNode.set(place, outcome);
	return await outcome;
}
