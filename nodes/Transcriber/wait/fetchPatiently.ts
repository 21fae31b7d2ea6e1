import { NodeOperationError, type IExecutePaginationFunctions } from 'n8n-workflow';

import { pause } from '../../shared/api/deadlines';
import type { Problem } from '../../shared/api/noUsableAnswer';
import { type ExportFormat } from '../../shared/exportFormats';
import { NotThereYet, type FetchBounds } from '../../shared/api/fetchResults';
import { RETRY, delayBeforeRetry, type Patience } from '../../shared/api/delayBeforeRetry';
import {
	ServiceError,
	isNotFound,
	isUnknownToService,
	isRefusedForGood,
	said,
} from '../../shared/api/serviceError';
import { asLasting } from '../../shared/parameters/refuse';
import { goesOnAfterErrors, inOutput } from '../item/itemFailure';
import { retryWords } from '../item/retryAdvice';
import { hasSubmitted } from './waitErrors';

/**
 * Fetches the result of a finished task, or its document in a format, one attempt at a time. The task
 * is paid for, so every failure of the service is retried for a while. So is a refusal, but for a
 * shorter time: the result may come a moment after the end. Each kind of failure has its own patience,
 * from the first such failure, and all kinds together have the longest one. Time in the queue for the
 * rate limit before the first failure does not count, because it says nothing about the service. After
 * it, the request goes to the front of the queue.
 */
export async function fetchPatiently<T>(
	context: IExecutePaginationFunctions,
	taskId: string,
	what: 'result' | ExportFormat,
	work: (bounds: FetchBounds) => Promise<T>,
): Promise<T> {
	const firstFailures = new Map<Patience, number>();
	for (let tries = 1; ; tries++) {
		let failure: unknown;
		try {
			return await work({ once: true, isRepeat: tries > 1 });
		} catch (error) {
			failure = error;
		}
		const cancelled = context.getExecutionCancelSignal();
		if (cancelled?.aborted) throw failure;
		const patience = patienceFor(failure);
		const first = firstFailures.get(patience) ?? Date.now();
		firstFailures.set(patience, first);
		const began = Math.min(...firstFailures.values());
		const end = Math.min(first + RETRY[patience], began + RETRY.patienceWhenBusy);
		const left = end - Date.now();
		const mayPass =
			failure instanceof NotThereYet ||
			(failure instanceof ServiceError && failure.problem.transport !== 'blocked');
		const delay = mayPass ? delayBeforeRetry(retryAfterIn(failure), tries, left) : undefined;
		if (delay === undefined) {
			const { problem, next, inShort } = adviceFor(context, what);
			if (failure instanceof NodeOperationError) {
				// It already names the task.
				failure.message = inOutput(context, failure.message, inShort);
			}
			if (!(failure instanceof ServiceError)) throw failure;
			const isLate = [409, 425].includes(failure.problem.status ?? 0);
			const reason = isLate ? 'The service has not prepared it yet' : failure.message;
			// The task comes from the service itself, so the user has nothing to change but the balance.
			const isForGood = isRefusedForGood(failure) && failure.problem.status !== 402;
			const advice = isForGood ? said(failure.problem) : failure.description;
			const comfort = isNotFound(failure) ? '' : 'The transcript is not lost.';
			const message = `Task ${taskId} has finished, but its ${problem}: ${reason}`;
			const ifThere = isNotFound(failure) ? 'If it is there later: ' : '';
			failure.message = inOutput(context, message, `${ifThere}${inShort}`);
			failure.description = [advice, comfort, next].filter(Boolean).join(' ');
			// A Retry without the document can succeed.
			throw what === 'result' && isUnknownToService(failure) ? asLasting(failure) : failure;
		}
		await pause(delay, cancelled);
	}
}

function adviceFor(context: IExecutePaginationFunctions, what: 'result' | ExportFormat) {
	if (what === 'result') {
		const inShort = 'Fetch it later with Transcript: Get Result';
		return { problem: 'result cannot be fetched', next: `${inShort}.`, inShort };
	}
	return {
		problem: `${what} document cannot be exported`,
		next: `Get the document later with Transcript: Export, or the transcript with Transcript: Get Result. To do without the document, ${withoutDocument(context)}.`,
		inShort: 'Get it later with Transcript: Export or Get Result',
	};
}

/** A new execution would pay again. n8n offers a Retry only of an execution that an error has stopped. */
function withoutDocument(context: IExecutePaginationFunctions): string {
	const change = "set 'Export Format' to None";
	if (!hasSubmitted(context) || goesOnAfterErrors(context)) return change;
	return `${change}, save the workflow, and choose 'Retry with currently saved workflow' for ${retryWords(context).ofExecution}`;
}

function patienceFor(failure: unknown): Patience {
	const { status = 0 } = failure instanceof ServiceError ? failure.problem : {};
	if (status === 429) return 'patienceWhenBusy';
	const isRefusal = status >= 400 && status < 500 && !MAY_PASS.includes(status);
	return isRefusal ? 'patienceWhenRefused' : 'patienceWhenBroken';
}

/** A key in rotation, a request that was cut off, a result that is not there yet. */
const MAY_PASS = [401, 404, 408, 409, 425];

function retryAfterIn(failure: unknown): Pick<Problem, 'retryAfter'> {
	return failure instanceof ServiceError ? failure.problem : {};
}
