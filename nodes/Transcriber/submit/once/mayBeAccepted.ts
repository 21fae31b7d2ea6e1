import {
	NodeOperationError,
	type IDataObject,
	type IExecutePaginationFunctions,
} from 'n8n-workflow';

import { isAboutKey, mayBeAboutKey } from '../../../shared/api/noUsableAnswer';
import { isAboutTheLink } from '../../../shared/api/errorTitlesAndAdvice';
import { withoutSecrets } from '../../../shared/api/redact';
import { reasonOfNo } from '../../../shared/api/refusalBody';
import {
	ServiceError,
	adviceForRepeat,
	adviceIfUncertain,
	said,
} from '../../../shared/api/serviceError';
import { idsIn } from '../../../shared/api/submission';
import { saysNotAccepted } from '../../../shared/api/undocumented/submissions';
import { asLasting, isLasting, refuse } from '../../../shared/parameters/refuse';
import { enteredIn } from '../../../shared/parameters/expressionParts';
import { sentKeyOf } from '../../item/givenIdempotencyKey';
import { changesByItself } from './steadyValue';
import { WAIT_OPERATIONS, retryWords } from '../../item/retryAdvice';
import { goesOnAfterErrors, inOutput } from '../../item/itemFailure';

/** Advice where nobody but the user can find out whether the service has accepted an item. */
export const LOOK_FOR_SUBMISSION = `The service may have accepted it, and a second try could cost twice. Look in your account at the service (for a recording also with Transcript: Get Many and Return All) whether it is there. If it is, fetch it with ${WAIT_OPERATIONS}. If it is not, submit this item alone in a new execution, because a new execution pays for all of its items.`;

const SAME_KEY =
	"The service may have accepted it. With the same 'Idempotency Key' it is not paid twice.";

/** A service that refuses the key of an earlier request refuses it again. */
const ANOTHER_KEY = "If you gave an 'Idempotency Key', enter another one for that.";

/** For a key that this execution has sent for the first time. An earlier execution may have sent it, too. */
const IF_KEY_CAME_BEFORE =
	"If this 'Idempotency Key' was sent before, the service may have accepted the recording then, and with another key you would pay again. So look first in your account at the service (also with Transcript: Get Many and Return All) whether it is there. If it is not, submit this item alone, with a key that the service takes.";

function retryGoesOn(context: IExecutePaginationFunctions): string {
	const { ofExecution, newExecution } = retryWords(context);
	return `If the service has accepted it, a Retry of ${ofExecution} goes on with it and costs nothing more, but a ${newExecution} is charged again.`;
}

/** Makes the failure of an item that stays remembered as sent say how it is not paid twice. */
export function sayItMayBeAccepted(
	context: IExecutePaginationFunctions,
	failure: unknown,
	key: string | undefined,
): void {
	if (!(failure instanceof ServiceError || failure instanceof NodeOperationError)) return;
	if (key === undefined) asLasting(failure);
	const { message } = failure;
	// A Retry goes on with the key of before, also if the user has given one since.
	const hasOwnKey = isSentAgain(context, key);
	// n8n offers a Retry only of an execution that an error has stopped. It has the same file then, also if that is gone.
	const isLost = key !== undefined && isOfLostFile(failure);
	const hasNoRetry = goesOnAfterErrors(context) || isExecutionCancelled(context) || isLost;
	const isRefusedKey = failure instanceof ServiceError && isAboutKey(failure.problem);
	if (key === undefined || isRefusedKey || (!hasOwnKey && hasNoRetry)) {
		const advice = isLost ? failure.description : adviceIfUncertain(failure);
		const more = [isRefusedKey ? ANOTHER_KEY : '', advice];
		const words = [LOOK_FOR_SUBMISSION, ...more].filter(Boolean).join(' ');
		failure.message = inOutput(context, message, words);
		failure.description = words;
		return;
	}
	const words = hasOwnKey ? SAME_KEY : retryGoesOn(context);
	const own = failure instanceof ServiceError ? adviceForRepeat(failure) : failure.description;
	const all = [words, own].filter(Boolean).join(' ');
	const mayMeanKey = failure instanceof ServiceError && mayBeAboutKey(failure.problem);
	failure.message = inOutput(context, message, mayMeanKey ? all : words);
	failure.description = all;
}

function isOfLostFile(failure: ServiceError | NodeOperationError): boolean {
	if (failure instanceof ServiceError) return failure.problem.transport === 'unreadableFile';
	return isLasting(failure);
}

/** Makes the failure of an item that was not submitted say what the user has to find out before another key is entered. */
export function sayKeyMayHaveBeenSent(
	context: IExecutePaginationFunctions,
	failure: ServiceError,
): void {
	const advice = isAboutKey(failure.problem)
		? `${IF_KEY_CAME_BEFORE} ${said(failure.problem)}`
		: (failure.description ?? '');
	failure.message = inOutput(context, failure.message, advice);
	failure.description = advice;
}

/** Whether the service refuses the recording, link, option or key itself, so every Retry is refused too. */
export function isAboutTheItem(failure: unknown): failure is ServiceError {
	if (!(failure instanceof ServiceError)) return false;
	const { problem } = failure;
	const isRefused = [400, 413, 415, 422].includes(problem.status ?? 0);
	return isRefused || isAboutTheLink(problem) || isAboutKey(problem);
}

/**
 * Whether a key that was sent is the user's own, and a new execution sends it again. A key that a step
 * before this node makes up counts as one that comes again: nothing here shows it.
 */
export function isSentAgain(
	context: IExecutePaginationFunctions,
	key: string | undefined,
): key is string {
	if (key === undefined || key !== sentKeyOf(context)) return false;
	return !changesByItself(enteredIn(context, 'options', 'idempotencyKey'));
}

function isExecutionCancelled(context: IExecutePaginationFunctions): boolean {
	return context.getExecutionCancelSignal()?.aborted === true;
}

/** The error for an item that was sent without a key, and of which the answer was lost. */
export function mayHaveBeenAccepted(context: IExecutePaginationFunctions): NodeOperationError {
	// Retry On Fail runs the node again also after a cancellation.
	const message = isExecutionCancelled(context)
		? 'The execution was cancelled'
		: 'It is not known whether the service accepted this item, so it is not sent again';
	return refuse(context, inOutput(context, message, LOOK_FOR_SUBMISSION), LOOK_FOR_SUBMISSION);
}

/** Throws if the service says with a success that it has not accepted the item. That is never certain. */
export function checkIsAccepted(
	context: IExecutePaginationFunctions,
	[answer, ...others]: IDataObject[],
): void {
	if (!answer || others.length > 0 || !saysNotAccepted(answer)) return;
	if (Object.values(idsIn(answer)).some((id) => id !== undefined)) return;
	throw refuse(
		context,
		`The service answered that this item is not accepted: ${reasonOfNo(withoutSecrets(answer, {}) as IDataObject)}`,
		'To correct what the service names: if the recording is not in your account at the service, submit this item in a new execution.',
	);
}
