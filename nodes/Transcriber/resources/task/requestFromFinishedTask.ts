import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	INodeExecutionData,
} from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { reasonIn } from '../../../shared/api/refusalBody';
import { ServiceError, said } from '../../../shared/api/serviceError';
import { idFrom } from '../../item/idParameters';
import {
	awaitsBalance,
	hasEnded,
	isCancelled,
	isUnknownStatus,
} from '../../../shared/api/statusMeaning';
import { saysOnlyNo } from '../../../shared/api/undocumented/answers';
import { holdsContent } from '../../../shared/api/undocumented/results';
import { refuse } from '../../../shared/parameters/refuse';
import { taskState, type LookBounds } from '../../../shared/api/askForState';
import type { NodeRun } from '../../item/nodeRun';
import { refuseNo } from '../successThatSaysNo';
import { sendOperation } from '../../item/sendOperation';
import { type Policy, type RoutingRequest } from '../../../shared/api/types';

/** How long the extra status request, which makes errors clearer, may take, in ms, from its turn. */
const STATUS_REQUEST_MS = 30_000;

/** What the service answered to a request that needs a finished task. */
interface AnswerOfTask {
	items: INodeExecutionData[];
	/** The status of the task was requested, and it has certainly completed. */
	isCompleted: boolean;
}

/** {@link answerOfFinished} for a request of which any content is a success: preview. */
export async function requestFromFinishedTask(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
): Promise<INodeExecutionData[]> {
	const isWhole = (json: IDataObject) => holdsContent(json) && !saysOnlyNo(json);
	return (await answerOfFinished(context, request, policy, run, { isWhole })).items;
}

/**
 * Sends a request that needs a finished task: result, export, preview. The service document does
 * not show the answer for an unfinished task. So after a refusal, or an answer that is not whole, the
 * state of the task is requested: throws if the task has not finished, has failed or was cancelled.
 * Otherwise rethrows the refusal.
 */
export async function answerOfFinished(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run: NodeRun,
	{ isWhole, hasContent = isWhole }: Record<'isWhole', Test> & Partial<Record<'hasContent', Test>>,
): Promise<AnswerOfTask> {
	let items: INodeExecutionData[] | undefined;
	let failure: unknown;
	try {
		items = await sendOperation(context, request, policy, run);
	} catch (error) {
		failure = error;
	}
	if (items?.every(({ json }) => isWhole(json))) return { items, isCompleted: false };
	const no = items?.find(({ json }) => saysOnlyNo(json));
	if (no) failure = refuseNo(context, 'the request has failed', no.json, LOOK_AT_TASK);
	if (!items && !mayBeTheTask(context, failure)) throw failure;
	const takesUnknown = items?.every(({ json }) => hasContent(json)) ?? false;
	const isCompleted = await refuseUnfinished(context, failure, takesUnknown);
	if (!items || no) throw failure;
	return { items, isCompleted };
}

const LOOK_AT_TASK = 'Look at the task with Transcript: Get, or in your account at the service.';

/** Of an answer, or an element of it. */
type Test = (json: IDataObject) => boolean;

/**
 * Throws if the task has not finished, has failed or was cancelled. Returns whether it certainly has
 * completed; false if its status cannot be read, or is an unknown word and `takesUnknown` is set: an
 * answer with content says more than such a word. `refusal` keeps its status and the service's message.
 */
async function refuseUnfinished(
	context: IExecuteSingleFunctions,
	refusal: unknown,
	takesUnknown: boolean,
): Promise<boolean> {
	const taskId = idFrom(context, 'taskId');
	const task = await stateOf(context, taskId);
	if ((task.status ?? '') === '') return false;
	if (task.status === 'completed') return true;
	if (takesUnknown && isUnknownStatus(task.status)) return false;
	const [message, next] = unfinishedWords(taskId, task);
	if (!(refusal instanceof ServiceError)) throw refuse(context, message, next);
	refusal.message = message;
	refusal.description = [next, said(refusal.problem)].filter(Boolean).join(' ');
	throw refusal;
}

/** The present state of the task; `{}` if it cannot be read. */
export async function stateOf(
	context: IExecuteSingleFunctions,
	taskId: string,
	bounds: LookBounds = { fromTurn: STATUS_REQUEST_MS },
): Promise<IDataObject> {
	return await taskState(context, taskId, bounds).catch(() => ({}));
}

/** The error for an empty transcript of a task that may not have finished. */
export function emptyTranscript(context: IExecuteSingleFunctions): NodeOperationError {
	return refuse(
		context,
		`The service has given an empty transcript of task ${idFrom(context, 'taskId')}, and the status of the task cannot be read`,
		'The task may not have finished. Look at its status with Transcript: Get, then try again.',
	);
}

function mayBeTheTask(context: IExecutePaginationFunctions, failure: unknown): boolean {
	if (context.getExecutionCancelSignal()?.aborted) return false;
	if (!(failure instanceof ServiceError)) return failure instanceof NodeOperationError;
	const { status = 0, transport } = failure.problem;
	return !transport && status >= 400 && ![401, 402, 403, 429, 503].includes(status);
}

const WAIT_FIRST =
	"To get this transcript, use Transcript: Wait Until Finished with By ID, in a workflow that does not submit the recording again. For the next ones, put 'Transcript: Wait Until Finished' before this node, or choose 'Wait for the Transcript (Polling)' where the recording is submitted.";

const UNKNOWN_STATUS =
	'The service does not document this status, so it does not count as the end. Look at the task with Transcript: Get, or in your account at the service.';

function unfinishedWords(taskId: string, task: IDataObject): [message: string, next: string] {
	const said = reasonIn(task);
	const reason = said && `: ${said}`;
	if (isCancelled(task.status)) {
		const next =
			'It has no transcript. To get one, submit this recording alone in a new execution.';
		return [`Task ${taskId} was cancelled${reason}`, next];
	}
	if (hasEnded(task.status)) {
		return [
			`Task ${taskId} failed${reason}`,
			'A failed task is not charged, and has no transcript. Correct the recording or the link, then submit this recording alone in a new execution.',
		];
	}
	const progress = Number(task.progress) > 0 ? `, ${Number(task.progress)} %` : '';
	const balance = awaitsBalance(task) ? ', waits for a top-up' : '';
	return [
		`Task ${taskId} has not finished yet (status: ${String(task.status)}${progress}${balance})${reason}`,
		isUnknownStatus(task.status) ? UNKNOWN_STATUS : WAIT_FIRST,
	];
}
