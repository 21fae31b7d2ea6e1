import type { IExecutePaginationFunctions } from 'n8n-workflow';

import { mayBeAboutKey } from '../../../shared/api/noUsableAnswer';
import { ServiceError } from '../../../shared/api/serviceError';
import { asLasting } from '../../../shared/parameters/refuse';
import { givenKeyOf } from '../../item/givenIdempotencyKey';
import type { NodeRun } from '../../item/nodeRun';
import { isHarmless, isRefusedAtOnce } from './certainlyNotSubmitted';
import { rememberWords } from './firstAnswer';
import { forgetRefusedAddress } from './formerAddress';
import { mayBeOfCrashed } from './idempotencyKey';
import {
	isAboutTheItem,
	isSentAgain,
	sayItMayBeAccepted,
	sayKeyMayHaveBeenSent,
} from './mayBeAccepted';
import { forget, recall } from './submissionMemory';

/** What was sent of the item, without an answer that accepts it. */
interface FailedSubmit {
	/** It had been sent before. */
	isRepeat: boolean;
	/** Undefined if it was sent without one. */
	key?: string;
}

/**
 * Says what a failed submit means for its item, and gives the failure to throw. Forgets what the service
 * has certainly not accepted. Else the error says that it may be accepted, and how it is not paid twice.
 */
export function settleFailure(
	context: IExecutePaginationFunctions,
	run: NodeRun,
	{ isRepeat, key }: FailedSubmit,
	failure: unknown,
): unknown {
	const isCertain =
		key === undefined
			? isHarmless(context, failure)
			: !isRepeat && isRefusedAtOnce(context, failure);
	if (isCertain) forget(context);
	forgetRefusedAddress(context, failure);
	const isAboutItsKey = failure instanceof ServiceError && mayBeAboutKey(failure.problem);
	rememberWords(context, failure);
	if (recall(context)?.state === 'sent' || (isAboutItsKey && mayBeOfCrashed(context, key))) {
		run.submitted.loseAnswer(context.getItemIndex());
		// With the same key of the user, a new execution pays nothing.
		if (!isSentAgain(context, key)) run.submitted.mayBeAccepted(context.getItemIndex());
		sayItMayBeAccepted(context, failure, key);
	} else if (isAboutItsKey && givenKeyOf(context) !== undefined) {
		sayKeyMayHaveBeenSent(context, failure);
	}
	if (isAboutTheItem(failure)) asLasting(failure);
	return failure;
}
