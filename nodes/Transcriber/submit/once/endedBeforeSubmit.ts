import type { IDataObject, IExecutePaginationFunctions, NodeOperationError } from 'n8n-workflow';

import { idFields, submissionName } from '../../../shared/api/submission';
import { look, type LookBounds } from '../../../shared/api/askForState';
import { isFinal } from '../../../shared/api/calledOffBot';
import { statusIn, withStatus } from '../../../shared/api/statusMeaning';
import { REPEATABLE } from '../../../shared/api/types';
import { againAdvice, givenKeyOf } from '../../item/givenIdempotencyKey';
import { refuseForGood } from '../../item/itemFailure';
import type { NodeRun } from '../../item/nodeRun';
import { WAIT_OPERATIONS } from '../../item/retryAdvice';
import { endedBadly } from '../../wait/waitErrors';
import { nameOfAddress } from './refuseChangedItem';
import { recall, remember, type Submitted } from './submissionMemory';

/** How long a status request about a task that may have ended unheard may take, in ms, from its turn. */
const LOOK_MS = 30_000;

/** How long such a request may take when nothing waits for its answer but the output, in ms from its turn. */
const AFTERWARDS_MS = 10_000;

/**
 * How long after the answer to the submit the end of a task proves that the task is not new, in ms.
 * Includes the queue for the status request. Shorter than any transcription takes.
 */
const NEW_FOR_MS = 1_500;

/** What {@link endedBeforeSubmit} finds. */
interface EndedBefore {
	/** The indexes of the tasks that had ended. */
	indexes: Set<number>;
	/** First the refusal of those that had not failed, then the failure of each other one. */
	errors: NodeOperationError[];
}

/**
 * Tasks that had already ended when they were accepted, if their webhook is to go to another address.
 * The user's own Idempotency Key was used before, so the service has returned the task of an earlier
 * request. It will not report that task again. A task that has failed may also be new, and so may one
 * that has ended when the answer comes late. Asks the service once, right after its answer to the first
 * request of the item: a new task may end later, or before a repeated request.
 */
export async function endedBeforeSubmit(
	context: IExecutePaginationFunctions,
	tasks: Submitted[],
	{ isFresh, isRepeat }: { isFresh: boolean; isRepeat?: boolean },
	{ submitted }: NodeRun,
): Promise<EndedBefore> {
	const address = nameOfAddress(context);
	if (!address) return { indexes: new Set(), errors: [] };
	if (isFresh && !isRepeat && givenKeyOf(context) !== undefined) await noteEnded(context, tasks);
	const memory = recall(context);
	if (memory?.state !== 'accepted') return { indexes: new Set(), errors: [] };
	const { endedTasks = [], hadEnded = true, submissions } = memory;
	const isOneOfSeveral = submissions.length > 1;
	const failures = endedTasks.flatMap(({ failed, ids }) => {
		if (!failed) return [];
		submitted.endWithoutTranscript(submissionName(ids));
		return [endedBadly(context, failed, ids, isOneOfSeveral)];
	});
	const names = endedTasks.filter(({ failed }) => !failed).map(({ ids }) => submissionName(ids));
	// A Retry goes on only with the others.
	if (endedTasks.length < submissions.length)
		names.forEach((name) => submitted.endWithoutTranscript(name));
	const what = isOneOfSeveral ? 'a link to it' : 'this item';
	const advice = againAdvice(
		context,
		`Fetch its result with ${WAIT_OPERATIONS} (a cancelled task has none). To transcribe the recording again, submit ${what} alone in a new execution.`,
	);
	const refusal = refusalOf(names.join(', '), address, hadEnded);
	const refusals = names.length > 0 ? [refuseForGood(context, refusal, advice)] : [];
	const indexes = new Set(endedTasks.map(({ index }) => index));
	return { indexes, errors: [...refusals, ...failures] };
}

function refusalOf(names: string, address: string, hadEnded: true | 'perhaps'): string {
	if (hadEnded === true) {
		return `'Idempotency Key' was used before, so the service returned ${names}, which had already ended and is not reported to '${address}'`;
	}
	return `'Idempotency Key' may have been used before: ${names} had ended when the service could be asked about it, and is then not reported to '${address}'`;
}

/** Remembers which of the tasks have ended by now. */
async function noteEnded(context: IExecutePaginationFunctions, tasks: Submitted[]): Promise<void> {
	const answeredAt = Date.now();
	const bounds = { fromTurn: LOOK_MS, policy: { ...REPEATABLE, isNext: true } };
	const looks = tasks.map(async (task) => {
		const ending = await endingOf(context, task, bounds).catch(() => undefined);
		if (!ending) return [];
		const failed = statusIn(ending.status) === 'failed' ? { error: ending.error } : undefined;
		return [{ index: task.index, ids: task.ids, failed }];
	});
	const ended = (await Promise.all(looks)).flat();
	context.getExecutionCancelSignal()?.throwIfAborted();
	const memory = recall(context);
	if (memory?.state !== 'accepted' || ended.length === 0) return;
	const hadEnded = Date.now() - answeredAt > NEW_FOR_MS ? 'perhaps' : true;
	remember(context, { ...memory, hadEnded, endedTasks: ended });
}

/**
 * How old a submission that may have ended unheard is: its upload or answer took long, it was repeated,
 * or an earlier try or execution has made it, which could not hand it over.
 */
export type SubmissionAge = 'slow' | 'repeated' | 'earlier';

/**
 * Whether a task has ended long enough ago for its webhook to be missed. Asks the service once; false if
 * that takes too long. For an `earlier` submission, it waits for the answer, and throws a {@link
 * ServiceError} if there is none. After a slow upload or answer, a task that has failed may be new. The
 * service then delivers its webhook, or delivers it again.
 */
export async function hasAlreadyEnded(
	context: IExecutePaginationFunctions,
	task: Pick<Submitted, 'answer' | 'ids'>,
	age: SubmissionAge,
): Promise<boolean> {
	// Until the hand-over, the trigger refuses the webhook of a task that is still in progress.
	const ending =
		age === 'earlier'
			? await endingOf(context, task, { fromTurn: LOOK_MS })
			: await endingOf(context, task, { deadline: Date.now() + NEW_FOR_MS }).catch(() => undefined);
	context.getExecutionCancelSignal()?.throwIfAborted();
	return ending !== undefined && !(age === 'slow' && statusIn(ending.status) === 'failed');
}

/** Whether a task may have ended by now: true also if the service, which is asked once, does not say. */
export async function mayHaveEnded(
	context: IExecutePaginationFunctions,
	task: Pick<Submitted, 'answer' | 'ids'>,
): Promise<boolean> {
	const bounds = { fromTurn: AFTERWARDS_MS, policy: { ...REPEATABLE, isNext: true } };
	const isEnded = await endingOf(context, task, bounds).then(
		(ending) => ending !== undefined,
		() => true,
	);
	context.getExecutionCancelSignal()?.throwIfAborted();
	return isEnded;
}

/** The state of a task that has ended; undefined if it has not. Throws a {@link ServiceError}. */
async function endingOf(
	context: IExecutePaginationFunctions,
	{ answer, ids }: Pick<Submitted, 'answer' | 'ids'>,
	bounds: LookBounds,
): Promise<IDataObject | undefined> {
	if (isFinal(withStatus({ ...answer, ...idFields(ids) }))) return answer;
	const state = await look(context, idFields(ids), bounds);
	return isFinal(state) ? state : undefined;
}
