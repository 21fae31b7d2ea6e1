import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type IExecutePaginationFunctions,
} from 'n8n-workflow';

import { jsonOf } from '../../shared/jsonValues';
import { readRefusal, reasonOfNo } from '../../shared/api/refusalBody';
import { withoutSecrets } from '../../shared/api/redact';
import { NAMELESS } from '../../shared/api/submission';
import { isRefused, saysNotAccepted } from '../../shared/api/undocumented/submissions';
import { againAdvice } from '../item/givenIdempotencyKey';
import { inOutput, refuseForGood } from '../item/itemFailure';
import type { NodeRun } from '../item/nodeRun';
import type { Submitted } from './once/submissionMemory';

export function isNamed({ ids }: Submitted): boolean {
	return ids.taskId !== undefined || ids.botId !== undefined;
}

/** Whether the service may have accepted a task, but gave no id. */
export function isNameless(task: Submitted, all: Submitted[]): boolean {
	return !isNamed(task) && !isRefusedOfSeveral(task.answer, all.length);
}

/** Whether the service refused one of several recordings. An answer about a single one is a success. */
function isRefusedOfSeveral(answer: IDataObject, count: number): boolean {
	return count > 1 && isRefused(answer);
}

/** The errors of what the service accepted without an id, or refused as one of several. */
export function withoutIds(
	context: IExecutePaginationFunctions,
	all: Submitted[],
	run: NodeRun,
): NodeOperationError[] {
	const mayBeAccepted = all.some((task) => isNameless(task, all));
	const count = { of: all.length, hasNamed: all.some(isNamed), mayBeAccepted };
	const unnamed = all
		.filter((task) => !isNamed(task))
		// First what is paid for and cannot be found: of several errors, a node that stops shows one.
		.sort((one, other) => Number(isNameless(other, all)) - Number(isNameless(one, all)));
	if (unnamed.length > 0) run.submitted.endWithoutTranscript(NAMELESS);
	if (mayBeAccepted) run.submitted.mayBeAccepted(context.getItemIndex());
	return unnamed.map(({ answer }) => withoutId(context, answer, count));
}

/** What the service accepted without an id, or refused as one of several. */
function withoutId(
	context: IExecutePaginationFunctions,
	answer: IDataObject,
	count: { of: number; hasNamed: boolean; mayBeAccepted: boolean },
): NodeOperationError {
	const answered = withoutSecrets(answer, {}) as IDataObject;
	const said = `The service answered: ${jsonOf(answered).slice(0, 300)}.`;
	if (isRefusedOfSeveral(answer, count.of)) {
		const { serviceMessage = 'without a reason' } = readRefusal(answered);
		const again = againAdvice(
			context,
			count.hasNamed || count.mayBeAccepted
				? 'To try again, submit a link to this recording alone in a new execution: the link of this item would pay for the others again.'
				: 'It accepted none of them. To try again, submit this item alone in a new execution.',
		);
		const fetch = count.hasNamed && 'Fetch the accepted ones with Transcript: Wait Until Finished.';
		const advice = [said, fetch, again].filter(Boolean).join(' ');
		return refuseForGood(
			context,
			`The service refused one of the recordings: ${serviceMessage}`,
			advice,
		);
	}
	const isRefusal = saysNotAccepted(answer);
	const subject = count.of > 1 ? 'a recording of this item' : 'this item';
	const message = isRefusal
		? `The service answered with a success, but without an id, and says: ${reasonOfNo(answered)}`
		: `The service answered that ${subject} is accepted, but without an id`;
	const isBot = context.getNodeParameter('operation', '') === 'sendBot';
	const find = isBot
		? 'Look in your account at the service for the bot and its id, then fetch its transcript with Meeting: Wait Until Transcribed.'
		: 'Look in your account at the service (or with Transcript: Get Many and Return All) for its id, then fetch it with Transcript: Wait Until Finished.';
	const what = count.of > 1 ? 'a link to this recording' : 'this item';
	const correct = `If it is not there, correct what the service names, and submit ${what} alone in a new execution.`;
	const ifNotThere = isRefusal ? ` ${againAdvice(context, correct)}` : '';
	const advice = `It is not submitted again, because that could cost twice. ${said} ${find}${ifNotThere}`;
	return refuseForGood(context, message, advice);
}

/** Makes the one error of an item say what became of its other recordings. */
export function sayAlso(
	context: IExecutePaginationFunctions,
	failure: unknown,
	others: NodeOperationError[],
): void {
	if (!(failure instanceof NodeOperationError || failure instanceof NodeApiError)) return;
	for (const { message, description } of others) {
		// Its advice may be in its message already.
		const words = message.includes(description ?? '') ? message : `${message}. ${description}`;
		failure.message = inOutput(context, failure.message, words);
		failure.description = [failure.description, words].filter(Boolean).join(' ');
	}
}
