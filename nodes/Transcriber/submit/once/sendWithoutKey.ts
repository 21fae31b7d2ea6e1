import type {
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';

import { isHarmless } from './certainlyNotSubmitted';
import { rememberWords, sayFirstAnswer } from './firstAnswer';
import { oncePerPlace } from './oncePerPlace';
import { forget, recall, remember, type AcceptedMemory, type SentMemory } from './submissionMemory';

/** A request that must not be repeated, and that no Idempotency-Key protects. */
interface OneTimeRequest {
	/** A hash of what the item asks for. What was sent for something else does not count. */
	asked?: string;
	send: () => Promise<INodeExecutionData[]>;
	/** What to remember of the answer. */
	submissionsIn: (items: INodeExecutionData[]) => AcceptedMemory['submissions'];
	/** The output if the request has succeeded before. May throw. */
	again: (before: AcceptedMemory) => INodeExecutionData[];
	/** The error if an earlier request may have succeeded. */
	unknownOutcome: () => NodeOperationError;
	/** Whether a failure that looks harmless may come because an earlier attempt has succeeded. */
	mayHaveSucceeded?: (failure: unknown) => boolean;
	/** Says in a failure that the request may have succeeded. */
	explain: (failure: unknown) => void;
}

/**
 * Sends a request of the item at most once, although Retry On Fail runs all items again if one fails.
 * The attempt is remembered with the execution. It is forgotten only if the service has certainly done
 * nothing: then what was remembered before counts again. Submits do the same in submitOnce.ts, but may be sent again with an Idempotency-Key.
 */
export async function sendWithoutKey(
	context: IExecutePaginationFunctions,
	request: OneTimeRequest,
): Promise<INodeExecutionData[]> {
	return await oncePerPlace(context, async () => await sendOrRecall(context, request));
}

async function sendOrRecall(
	context: IExecutePaginationFunctions,
	{ asked, send, submissionsIn, again, unknownOutcome, ...onFailure }: OneTimeRequest,
): Promise<INodeExecutionData[]> {
	const before = recall(context);
	if (before && isFor(before, asked)) {
		if (before.state === 'accepted') return again(before);
		throw sayFirstAnswer(context, unknownOutcome());
	}
	remember(context, { state: 'sent', asked });
	let failure: unknown;
	try {
		const items = await send();
		const submissions = submissionsIn(items);
		remember(context, { state: 'accepted', submissions, at: Date.now(), asked });
		return items;
	} catch (error) {
		failure = error;
	}
	const hasDoneNothing = isHarmless(context, failure) && !onFailure.mayHaveSucceeded?.(failure);
	if (!hasDoneNothing) {
		rememberWords(context, failure);
		onFailure.explain(failure);
	} else if (before) remember(context, before);
	else forget(context);
	throw failure;
}

/** Whether the memory is about the same request: the user may have changed the item before a Retry. */
function isFor(memory: AcceptedMemory | SentMemory, asked?: string): boolean {
	// A submit: the user has chosen another operation since, and may go back.
	if (memory.executionId !== undefined) return false;
	// Version 0.1.0 did not remember what it was sending.
	const before = memory.state === 'sent' ? (memory.asked ?? asked) : memory.asked;
	return asked === undefined || before === asked;
}
