import { NodeOperationError, type IDataObject } from 'n8n-workflow';

import {
	hasBlankParts,
	resultsIn,
	saysItComesLater,
	silentResultsIn,
} from './undocumented/results';
import { pause } from './deadlines';
import { callService } from './callService';
import { taskState } from './askForState';
import type { CallOptions, Caller } from './types';

/** The first output fields of a transcript, the most useful ones first. `segments` comes last. */
const LEADING = ['text', 'summary', 'speakers', 'task_id', 'bot_id', 'status'];

/** Fields about the task itself. They override fields of the same name in the result. */
const FACTS = ['task_id', 'bot_id', 'status'];

/**
 * The output of a finished task: `{ text, summary, speakers, task_id, bot_id, status, …, segments }`,
 * without the fields that have no value. `facts` are the fields of the task; `result` is one of the
 * answer of {@link fetchResults}, or `{}`.
 */
export function transcript(result: IDataObject, facts: IDataObject): IDataObject {
	const known = FACTS.filter((name) => (facts[name] ?? '') !== '');
	const all: IDataObject = {
		...facts,
		...result,
		...Object.fromEntries(known.map((name) => [name, facts[name]])),
	};
	const others = Object.keys(all).filter((name) => ![...LEADING, 'segments'].includes(name));
	return Object.fromEntries(
		[...LEADING, ...others, 'segments']
			.filter((name) => isSet(name, all[name]))
			.map((name) => [name, all[name]]),
	);
}

/** The service document calls missing ids "empty"; in other fields, an empty text is a value. */
function isSet(name: string, value: unknown): boolean {
	return value !== undefined && !(FACTS.includes(name) && (value === null || value === ''));
}

/** When to stop fetching the data of a task. */
export type FetchBounds = Pick<CallOptions, 'deadline' | 'once' | 'isRepeat'>;

/** The answer is a success, but lacks the requested data, which may follow a moment later. */
export class NotThereYet extends NodeOperationError {}

/** The pause before a result without any speech is requested again, in ms. */
export const SILENT = { pauseMs: 1_000 };

/**
 * GET /tasks/{id}/result of a task that has completed. Returns one result, or all of them if the
 * answer is a list of several. If all documented parts are null, or empty beside an error, or the answer says
 * that the task goes on, they may
 * follow a moment later, so the result is requested once more. If there are also no parts of an unknown
 * name, the status of the task is asked before that. Throws {@link NotThereYet} if the answer holds no result.
 */
export async function fetchResults(
	caller: Caller,
	taskId: string,
	bounds: FetchBounds = {},
): Promise<IDataObject[]> {
	const url = `/tasks/${encodeURIComponent(taskId)}/result`;
	const answer = await callService(caller, { method: 'GET', url }, bounds);
	const results = resultsIn(answer);
	if (results && !hasBlankParts(answer) && !saysItComesLater(answer)) return results;
	if (!results) {
		if (!silentResultsIn(answer)) throw withoutResult(caller, taskId);
		const { status } = await taskState(caller, taskId, bounds);
		if (status !== 'completed') throw withoutResult(caller, taskId);
	}
	await pause(SILENT.pauseMs, caller.getExecutionCancelSignal?.());
	const again = await callService(caller, { method: 'GET', url }, bounds);
	const final = resultsIn(again) ?? silentResultsIn(again);
	if (final) return final;
	throw withoutResult(caller, taskId);
}

/** The error for an answer of GET /tasks/{id}/result that holds no part of a result. */
export function withoutResult(caller: Pick<Caller, 'getNode'>, taskId: string) {
	const message = `The answer of the service holds no result of task ${taskId}`;
	return new NotThereYet(caller.getNode(), message, {
		description:
			'The task is not lost. Fetch the result again later with Transcript: Get Result, or get the transcript with Transcript: Export.',
	});
}
