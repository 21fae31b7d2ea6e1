import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { attachExport, inItem } from '../shared/api/attachExport';
import { documentName } from '../shared/recordingName';
import { fetchResults, transcript } from '../shared/api/fetchResults';
import { choicesIn, collectionIn, required } from '../shared/parameters/checkedValues';
import { outputOptionsOf, type OutputOptions } from '../shared/parameters/outputOptions';
import { titleOf } from '../shared/api/undocumented/taskLists';
import { isInProgress } from '../shared/api/statusMeaning';
import { taskState } from '../shared/api/askForState';
import { messageOf } from '../shared/asError';

/** The trigger's parameters, checked. */
export interface Wanted extends OutputOptions {
	completed: boolean;
	failed: boolean;
}

/** Reads and checks the parameters. Throws a NodeOperationError that names the invalid one. */
export function wantedOf(context: IPollFunctions): Wanted {
	const names = ['transcriptCompleted', 'transcriptFailed'] as const;
	const chosen = choicesIn(context, context.getNodeParameter('events', []), 'Trigger On', names);
	const events = required(context, chosen?.length ? chosen : undefined, 'Trigger On');
	const given = collectionIn(context, context.getNodeParameter('options', {}), 'Options');
	return {
		completed: events.includes('transcriptCompleted'),
		failed: events.includes('transcriptFailed'),
		...outputOptionsOf(context, given),
	};
}

/** Whether this task starts the workflow. Any status but `completed` counts as failed. */
export function isWanted({ status }: IDataObject, { completed, failed }: Wanted): boolean {
	return status === 'completed' ? completed : failed;
}

/** The same, if the task itself may say otherwise than the list: the list calls it failed without a reason. */
export function mayBeWanted(task: IDataObject, wanted: Wanted): boolean {
	return isWanted(task, wanted) || (wanted.completed && !isReason(task.error));
}

/** The most requests of a result: with a second look at the task and at the result if all is silent. */
const REQUESTS_OF_RESULT = 3;

/** The most requests that {@link itemsFor} makes for a task, if none has to be repeated. */
export function costOf({ status, error }: IDataObject, wanted: Wanted): number {
	const ofResult = (wanted.includeResult ? REQUESTS_OF_RESULT : 0) + (wanted.exportFormat ? 1 : 0);
	if (status === 'completed') return ofResult;
	if (isReason(error)) return 0;
	// The task itself may have completed after all.
	return wanted.completed ? 1 + ofResult : 1;
}

/** Whether the list says why a task has failed: with null or an empty text it does not. */
function isReason(error: unknown): boolean {
	return (error ?? '') !== '';
}

/**
 * The items that start the workflow for a task: one for each of its results, the first with its document,
 * or one with the reason it failed. Where the list says failed but the task itself completed, that newer
 * word counts; none if the task is not wanted. If a request fails and `isLastTry` says that there is no
 * later try, they go out without the data of that request, and `error` says why.
 */
export async function itemsFor(
	context: IPollFunctions,
	listed: IDataObject & { task_id: string },
	wanted: Wanted,
	deadline: number,
	isLastTry: (failure: unknown) => boolean,
): Promise<INodeExecutionData[]> {
	const taskId = listed.task_id;
	let task: IDataObject = listed;
	let problem: string | undefined;
	const unlessGivenUp = async <T>(
		work: Promise<T>,
		otherwise: T,
		[what, next]: [what: string, next: string],
	): Promise<T> =>
		await work.catch((failure: unknown) => {
			// What goes out without its result does not wait for its document.
			if (problem === undefined && !isLastTry(failure)) throw failure;
			problem ??= `${what} cannot be fetched: ${messageOf(failure).replace(/\.$/, '')}. ${next}`;
			return otherwise;
		});
	const facts = () => (problem === undefined ? task : { ...task, error: problem });
	if (task.status !== 'completed') {
		if (isReason(task.error)) return [{ json: transcript({}, task) }];
		const state = stateAfterEnd(context, taskId, deadline);
		const whole = await unlessGivenUp<IDataObject>(state, {}, [
			'The reason of the failure',
			'Look later with Transcript: Get',
		]);
		if (whole.status !== 'completed') {
			if (!wanted.failed) return [];
			return [{ json: transcript({}, { ...facts(), ...whole, status: task.status }) }];
		}
		task = { ...task, ...whole };
		if (!isWanted(task, wanted)) return [];
	}
	const bounds = { deadline };
	const results = wanted.includeResult
		? await unlessGivenUp(
				fetchResults(context, taskId, bounds),
				[{}],
				['The result', 'Fetch it later with Transcript: Get Result'],
			)
		: [{}];
	let items = results.map((json): INodeExecutionData => ({ json }));
	const { exportFormat: format, exportAs: as, property } = wanted;
	if (format) {
		const fileName = documentName(titleOf(task) ?? '');
		const wish = { taskId, format, as, property, fileName, bounds };
		items = await unlessGivenUp(attachExport(context, inItem, items, wish), items, [
			'The exported document',
			'Get it later with Transcript: Export',
		]);
	}
	return items.map((item) => ({ ...item, json: transcript(item.json, facts()) }));
}

/** The list calls a task ended, but the service itself runs it again. A later poll may see its end. */
export class NotEnded extends Error {}

/** The state of a task that has ended. Throws {@link NotEnded} if it has not ended any more. */
async function stateAfterEnd(
	context: IPollFunctions,
	taskId: string,
	deadline: number,
): Promise<IDataObject> {
	const state = await taskState(context, taskId, { deadline });
	if (isInProgress(state.status)) throw new NotEnded();
	return state;
}
