import type {
	IDataObject,
	IExecutePaginationFunctions,
	INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';

import { pause } from '../../shared/api/deadlines';
import { isUnknownToService, said, ServiceError } from '../../shared/api/serviceError';
import type { LookBounds } from '../../shared/api/askForState';
import { STOPS_SPENDING, type Policy, type RoutingRequest } from '../../shared/api/types';
import { goesOn, hasEnded, isCancelled, isInProgress } from '../../shared/api/statusMeaning';
import { saysNotEnded } from '../../shared/api/undocumented/answers';
import { idIn } from '../../shared/api/undocumented/idNames';
import { inOutput, logIfStopped } from '../item/itemFailure';
import { withoutError } from '../item/sendOperation';
import type { NodeRun } from '../item/nodeRun';
import { hasEndedBefore, sendCancelOrClear } from '../item/sendCancelOrClear';
import { refuseNo } from './successThatSaysNo';

/**
 * For the status request after a refusal: 30 s from its turn, and as urgent as the cancellation. On a
 * busy key it would otherwise wait behind all the others, while the recording may go on.
 */
const REFUSED_CANCEL: LookBounds = { fromTurn: 30_000, policy: STOPS_SPENDING };

/** How often a task or bot is looked at that this node has cancelled: to stop a recording takes a moment. */
export const STOPPING = { looks: 4, pauseMs: 3_000 };

const LOOK_WHETHER_IT_GOES_ON =
	'Look at its status, or in your account at the service: if it goes on, which costs money, try again.';

/** The task or bot to cancel. */
interface ToCancel {
	what: 'task' | 'meeting bot';
	/** The output field with its id, and the id. */
	id: { task_id: string } | { bot_id: string };
	/** Its present state; 'unknown' if the service does not know it, `{}` if the state cannot be read. */
	stateNow: (bounds: LookBounds) => Promise<IDataObject | 'unknown'>;
}

/**
 * Cancels a task or bot. An earlier attempt whose answer was lost may cause a refusal. So after a
 * refusal the status is requested: if the task or bot is cancelled, or gone after a repeat, that is a
 * success. So is a refusal of what this node has done in this execution, unless the status shows that it
 * goes on. A success that says that nothing was done (`saysNotEnded`) counts as a refusal.
 */
export async function sendCancel(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
	toCancel: () => ToCancel,
): Promise<INodeExecutionData[]> {
	let failure: unknown;
	try {
		return await cancelAndLook(context, request, policy, run, toCancel);
	} catch (error) {
		failure = error;
	}
	const { what, id } = toCancel();
	const name = `${what} ${Object.values(id).join()}`;
	logIfStopped(context, `It may not have cancelled ${name}. ${LOOK_WHETHER_IT_GOES_ON}`);
	throw failure;
}

async function cancelAndLook(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
	toCancel: () => ToCancel,
): Promise<INodeExecutionData[]> {
	let answers: INodeExecutionData[] = [];
	let failure: unknown;
	try {
		answers = await sendCancelOrClear(context, request, policy, run);
	} catch (error) {
		failure = error;
	}
	const no = answers.find(({ json }) => saysNotEnded(json));
	if (failure === undefined && !no) return answers;
	const refused = failure instanceof ServiceError && isAboutItsState(failure) ? failure : undefined;
	if (!refused && !no) {
		if (failure instanceof ServiceError && !isUnknownToService(failure)) {
			sayWhatItMayCost(context, failure, failure.description);
		}
		throw failure;
	}
	const { what, id, stateNow } = toCancel();
	const wasDone = hasEndedBefore(context, request);
	const mayGoOn = (seen: IDataObject | 'unknown') =>
		seen !== 'unknown' && contradictsIt(what, seen);
	const mayStop = (seen: IDataObject | 'unknown') =>
		wasDone && mayGoOn(seen) && seen !== 'unknown' && !hasEnded(seen.status);
	let found = await stateNow(REFUSED_CANCEL);
	for (let looks = 1; mayStop(found) && looks < STOPPING.looks; looks += 1) {
		await pause(STOPPING.pauseMs, context.getExecutionCancelSignal());
		const seen = await stateNow(REFUSED_CANCEL);
		// A look that fails says nothing new.
		if (seen === 'unknown' || Object.keys(seen).length > 0) found = seen;
	}
	const isGone = found === 'unknown' && refused?.problem.isRepeat === true;
	const state = found === 'unknown' ? {} : found;
	if (isGone || isCancelled(state.status) || (wasDone && !mayGoOn(state))) {
		return [{ json: withoutError({ ...state, ...id }) }];
	}
	const refusal = refused ?? refuseNo(context, `the ${what} is not cancelled`, no?.json ?? {}, '');
	const reason = refused ? said(refused.problem) : refusal.message.replace(/\.?$/, '.');
	if (hasEnded(state.status)) sayItHasEnded(context, refusal, what, state, reason);
	else if (refused && (wasDone || refused.problem.status === 404)) {
		refused.message = `It is not certain that the ${what} is cancelled`;
		sayWhatItMayCost(context, refused);
		refused.description = [refused.description, reason].filter(Boolean).join(' ');
	} else sayWhatItMayCost(context, refusal, refused?.description);
	throw refusal;
}

/**
 * Whether the status shows that an earlier cancellation of this node had no effect: the task has completed,
 * or is in progress; the bot has no task, and still waits for its meeting or records it.
 */
function contradictsIt(what: ToCancel['what'], state: IDataObject): boolean {
	const { status } = state;
	if (what === 'task') return status === 'completed' || isInProgress(status);
	return idIn(state.task_id) === undefined && goesOn(status);
}

/**
 * Whether a refused cancellation may be about the task or bot itself, so that its status can explain
 * the refusal. 404 only after a repeat: then an earlier attempt may have removed it.
 */
function isAboutItsState({ problem: { status = 0, isRepeat } }: ServiceError): boolean {
	if (status === 404) return isRepeat === true;
	return status >= 400 && status < 500 && ![401, 402, 403, 407, 429].includes(status);
}

/** Makes the failure say that the task or bot has already ended. */
function sayItHasEnded(
	context: IExecutePaginationFunctions,
	failure: NodeApiError | NodeOperationError,
	what: ToCancel['what'],
	state: IDataObject,
	reason: string,
): void {
	const taskId = what === 'meeting bot' ? idIn(state.task_id) : undefined;
	const none =
		what === 'meeting bot' && state.status === 'completed'
			? 'Its recording may still get a task: look with Meeting: Get, and stop that task with Transcript: Cancel.'
			: NOTHING_LEFT;
	const left =
		taskId === undefined
			? none
			: `If its recording is still in progress, stop that with Transcript: Cancel (task ${taskId}).`;
	const message = `The ${what} has already ended (${String(state.status)})`;
	failure.message = left === NOTHING_LEFT ? message : inOutput(context, message, left);
	failure.description = [left, reason].filter(Boolean).join(' ');
}

const NOTHING_LEFT = 'There is nothing left to cancel.';

/** Makes the failure say, also where only its message is shown, that the recording may go on. */
function sayWhatItMayCost(
	context: IExecutePaginationFunctions,
	failure: NodeApiError | NodeOperationError,
	advice?: string | null,
): void {
	failure.message = inOutput(context, failure.message, LOOK_WHETHER_IT_GOES_ON);
	failure.description = [advice, LOOK_WHETHER_IT_GOES_ON].filter(Boolean).join(' ');
}
