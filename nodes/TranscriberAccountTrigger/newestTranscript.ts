import type { IDataObject, INodeExecutionData, IPollFunctions } from 'n8n-workflow';

import { listedTaskId } from '../shared/api/undocumented/idNames';
import { hasEnded, isInProgress, isUnknownStatus } from '../shared/api/statusMeaning';
import { dateOf } from '../shared/api/undocumented/taskLists';
import { refuse } from '../shared/parameters/refuse';
import { NotEnded, isWanted, itemsFor, type Wanted } from './accountTriggerOutput';
import type { PagesWithinBudget } from './pagesWithinBudget';

/** The most single tasks to ask for, if the list does not say whether they have ended. */
const MOST_ASKED = 8;

/** "Fetch Test Event" in the editor: outputs the newest finished task, and changes nothing. */
export async function newest(
	context: IPollFunctions,
	pages: PagesWithinBudget,
	wanted: Wanted,
): Promise<INodeExecutionData[]> {
	const first = await pages.page(0);
	const dates = first.map((task) => dateOf(task) ?? 0);
	const isOldestFirst = (dates.at(0) ?? 0) < (dates.at(-1) ?? 0);
	const end = isOldestFirst ? await pages.end(first.length) : undefined;
	const seen = new Map<string, IDataObject>();
	/** Tasks that the list calls ended and that are not, or not in the way that is wanted. */
	const otherwise = new Set<unknown>();
	let asked = 0;
	// Backwards from the end of an oldest-first list, otherwise forwards from the beginning.
	for (let page = first, offset = end ?? 0; ;) {
		if (end !== undefined) offset = Math.max(0, offset - first.length);
		page = offset > 0 ? await pages.page(offset) : first;
		const before = seen.size;
		for (const task of page) {
			const id = listedTaskId(task);
			if (id !== undefined && !seen.has(id)) seen.set(id, { ...task, task_id: id });
		}
		// Without dates, the first task of the list counts as the newest.
		const inTurn = [...seen.values()].sort(
			(one, other) => (dateOf(other) ?? 0) - (dateOf(one) ?? 0),
		);
		for (const task of inTurn) {
			if (isInProgress(task.status) || otherwise.has(task.task_id)) continue;
			if (!hasEnded(task.status)) {
				if (asked >= MOST_ASKED) continue;
				asked += 1;
				Object.assign(task, await pages.task(String(task.task_id)));
			}
			if (!hasEnded(task.status) || !isWanted(task, wanted)) continue;
			const known = { ...task, task_id: String(task.task_id) };
			const items = await itemsFor(context, known, wanted, pages.deadline, () => false).catch(
				(error: unknown) => {
					if (error instanceof NotEnded) return [];
					throw error;
				},
			);
			if (items.length > 0) return items;
			otherwise.add(task.task_id);
			if (otherwise.size >= MOST_ASKED) break;
		}
		if (otherwise.size >= MOST_ASKED || seen.size === before || !pages.has(2)) break;
		if (end === undefined) offset += page.length;
		else if (offset === 0) break;
	}
	const words = [...seen.values()].map(({ status }) => status).filter(isUnknownStatus);
	if (first.length > 0 && seen.size === 0) {
		throw refuse(
			context,
			'The tasks in the list of the service have no readable ID',
			'Look at the tasks with Transcript: Get Many. Transcriber Trigger does not need the list.',
		);
	}
	const onlyFailed = wanted.completed ? '' : 'Trigger On asks for failed tasks only. ';
	if (words.length > 0) {
		const end = wanted.failed ? 'finished' : 'completed';
		throw refuse(
			context,
			`The service says of no task that it has ${onlyFailed ? 'failed' : end}, but has a status that it does not document: '${String(words[0]).slice(0, 40)}'`,
			`${onlyFailed}If such a task has finished, get its transcript with Transcript: Get Result. Transcriber Trigger does not need the list.`,
		);
	}
	const isWhole = asked < MOST_ASKED && otherwise.size < MOST_ASKED && pages.has(2);
	if (onlyFailed) {
		throw refuse(
			context,
			isWhole
				? 'No task of your account at the service has failed'
				: 'None of the newest tasks that this step has looked at has failed',
			`${onlyFailed}Select Transcript Completed too, then execute this step again. The published workflow starts without it.`,
		);
	}
	throw refuse(
		context,
		isWhole
			? 'Your account at the service has no finished transcript to show yet'
			: 'None of the newest tasks that this step has looked at is a finished transcript',
		'Transcribe a recording, or wait until one has finished, then execute this step again. The published workflow starts without it.',
	);
}
