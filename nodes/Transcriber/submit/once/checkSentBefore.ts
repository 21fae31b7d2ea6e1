import type { IExecutePaginationFunctions } from 'n8n-workflow';

import type { NodeRun } from '../../item/nodeRun';
import { isSentAgain, sayItMayBeAccepted } from './mayBeAccepted';
import { recall } from './submissionMemory';

/**
 * For `performOperation`: carries out the checks of an item, which an earlier try or execution may have sent without an
 * answer. If it has, the error of a check says so first, and the error of another item names it: who follows either one
 * with a new execution would pay twice.
 */
export async function checkSentBefore(
	context: IExecutePaginationFunctions,
	{ submitted }: NodeRun,
	check: () => Promise<void>,
): Promise<void> {
	const memory = recall(context);
	if (memory?.state !== 'sent') return await check();
	const { key } = memory;
	let failure: unknown;
	try {
		if (!isSentAgain(context, key)) submitted.mayBeAccepted(context.getItemIndex());
		return await check();
	} catch (error) {
		failure = error;
	}
	sayItMayBeAccepted(context, failure, key);
	throw failure;
}
