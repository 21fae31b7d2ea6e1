import type { IDataObject, IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { reasonIn } from '../../shared/api/refusalBody';
import {
	ServiceError,
	adviceForKnownId,
	isNotFound,
	isUnknownToService,
} from '../../shared/api/serviceError';
import type { SubmissionIds } from '../../shared/api/submission';
import {
	awaitsBalance,
	goesOn,
	isCancelled,
	isUnknownStatus,
	statusWithoutTask,
	statusWord,
} from '../../shared/api/statusMeaning';
import { asLasting, refuse } from '../../shared/parameters/refuse';
import { againAdvice, usableKeyOf } from '../item/givenIdempotencyKey';
import { inOutput } from '../item/itemFailure';
import { WAIT_OPERATIONS } from '../item/retryAdvice';
import type { Outlook } from './pollUntilEnded';
import { waitOptionsOf } from './waitOptions';

/**
 * The error for a task or bot that has ended without a transcript. `isOneOfSeveral`: the service made other
 * tasks of the same item, such as those of a playlist, which a second submit of the item would pay for again.
 */
export function endedBadly(
	context: IExecutePaginationFunctions,
	state: IDataObject,
	ids: SubmissionIds,
	isOneOfSeveral = false,
): NodeOperationError {
	const said = reasonIn(state);
	const reason = said && `: ${said}`;
	const ending = isCancelled(state.status) ? 'cancelled' : 'failed';
	const words = ending === 'cancelled' ? `was cancelled${reason}` : `failed${reason}`;
	const ofBot = ids.taskId ? 'meeting' : 'bot';
	const ofTask = isOneOfSeveral ? 'oneOfSeveral' : 'task';
	const next = NEXT[ids.botId ? ofBot : ofTask][ending];
	const advice = ids.botId ? next : againAdvice(context, next);
	const message = `${subjectOf(ids)} ${words}`;
	const hasOwnKey = ids.taskId !== undefined && usableKeyOf(context) !== undefined;
	const mayFollow = next === NEXT.bot.cancelled && next;
	const essential = hasOwnKey && !isOneOfSeveral ? SUBMIT_WITH_ANOTHER_KEY : mayFollow;
	const shown = essential ? inOutput(context, message, essential) : message;
	return asLasting(refuse(context, shown, advice));
}

const SUBMIT_WITH_ANOTHER_KEY =
	"To submit it again, submit this item alone with another 'Idempotency Key': with the same key, the service returns the same task";

/** What to do after an end without a transcript. */
const NEXT = {
	task: {
		failed:
			'A failed task is not charged. Correct the recording or the link, then submit this recording alone in a new execution.',
		cancelled:
			'A cancelled task has no transcript. To get one, submit this recording alone in a new execution.',
	},
	oneOfSeveral: {
		failed:
			'A failed task is not charged. Submit a corrected link to this recording alone in a new execution. The link of this item would pay for the other recordings again.',
		cancelled:
			'A cancelled task has no transcript. To get one, submit a link to this recording alone in a new execution. The link of this item would pay for the other recordings again.',
	},
	meeting: {
		failed:
			'The recording of the meeting has no transcript. Look in your account at the service whether it was charged.',
		cancelled:
			'The recording of the meeting has no transcript. Look in your account at the service whether it was charged.',
	},
	bot: {
		failed:
			'Check the link of the meeting and whether the bot may join it, then send another bot to this meeting alone in a new execution.',
		cancelled:
			'If it had recorded, the transcript may follow: look with Meeting: Get. Once it shows a task_id, fetch the transcript with Transcript: Wait Until Finished.',
	},
};

/** The error for a timeout, or if the service has refused every status request for a while. */
export function notEnded(
	context: IExecutePaginationFunctions,
	{ state, failure, isRefused, hadNoTurn }: Outlook,
	ids: SubmissionIds,
	words = `within ${waitOptionsOf(context).timeout} minutes`,
): Error {
	const isKeyRefused = failure instanceof ServiceError && failure.problem.status === 401;
	if (failure instanceof ServiceError && isRefused) {
		const start = isKeyRefused ? 'Correct the key, then' : 'If it is there later,';
		const next = `${start} fetch it with ${WAIT_OPERATIONS}`;
		failure.message = inOutput(context, `${subjectOf(ids)}: ${failure.message}`, next);
		const comfort = isNotFound(failure) ? '' : ' What was submitted is not lost.';
		failure.description = `${adviceForKnownId(failure)} The service has answered this for two minutes (the node waits in case that passes).${comfort} ${next}.`;
		return isUnknownToService(failure) ? asLasting(failure) : failure;
	}
	const word = statusWord(state.status);
	const balance = awaitsBalance(state) ? ', and waits for a top-up' : '';
	const said = reasonIn(state);
	const reason = said && `; the service says: ${said}`;
	const status = `status: ${word ?? 'not known'}${balance}${reason}`;
	const { serviceMessage, isWebPage } = failure instanceof ServiceError ? failure.problem : {};
	const answer = serviceMessage && !isWebPage ? `, “${serviceMessage}”` : '';
	const lookFailed = failure ? `; the last look: ${failure.message}${answer}` : '';
	const withNewKey = `Correct the key, then fetch it with ${WAIT_OPERATIONS}`;
	const ifAllIsWell = awaitsBalance(state) ? TOP_UP_AND_FETCH : FETCH_LATER;
	const fetchLater = isKeyRefused ? withNewKey : ifAllIsWell;
	// Not to try it again with a longer one: the workflow may submit again what it waits for.
	const longer = `${FETCH_LATER}, and raise 'Timeout' for the next one.`;
	const next = isKeyRefused ? `${withNewKey}.` : longer;
	if (hadNoTurn) {
		const message = `${subjectOf(ids)}: n8n could not ask whether it has ended ${words} (${status}), because other requests had used up those that the service allows a minute for this API key`;
		return refuse(context, inOutput(context, message, fetchLater), `It is not lost. ${next}`);
	}
	if (word === undefined && !isUnknownStatus(state.status)) {
		const message = `${subjectOf(ids)}: n8n could not read its status ${words} (${status}${lookFailed})`;
		return refuse(context, inOutput(context, message, fetchLater), `It is not lost. ${next}`);
	}
	const message = `${subjectOf(ids)} has not ended ${words} (${status}${lookFailed})`;
	const isTask = ids.taskId !== undefined;
	const isKnown =
		goesOn(state.status) || state.status === statusWithoutTask({ status: 'completed' });
	if (isKnown || !isUnknownStatus(state.status)) {
		const continues = awaitsBalance(state)
			? 'It is stored at the service and not lost: top up the balance, and the service starts on its own within minutes.'
			: 'It continues at the service and is not lost.';
		const advice = `${continues} ${next}`;
		return refuse(context, inOutput(context, message, fetchLater), advice);
	}
	const howToGetIt = isTask
		? 'If it has finished, get it with Transcript: Get Result'
		: FETCH_LATER;
	return refuse(
		context,
		inOutput(context, message, howToGetIt),
		isTask
			? 'The service does not document this status, so it does not count as the end. If the task has finished, its transcript is not lost: get it with Transcript: Get Result.'
			: `The service does not document this status, so the bot may go on, or may have left the meeting. Look in your account at the service. What it has recorded is not lost. ${next}`,
	);
}

/** What waits for balance starts by itself after that. */
export const TOP_UP_AND_FETCH = `Top up the balance, and fetch it with ${WAIT_OPERATIONS}`;

const FETCH_LATER = `Fetch it later with ${WAIT_OPERATIONS}`;

/** Whether the operation submits and waits, so that it would submit again if it is repeated. */
export function hasSubmitted(context: IExecutePaginationFunctions): boolean {
	return context.getNodeParameter('operation', '') !== 'wait';
}

/** At the beginning of a message, e.g. `Task 7f3c`. */
export function subjectOf({ taskId, botId }: SubmissionIds): string {
	return taskId ? `Task ${taskId}` : `Meeting bot ${botId}`;
}
