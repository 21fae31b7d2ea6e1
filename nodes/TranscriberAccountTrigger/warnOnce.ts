import type { IDataObject, IPollFunctions } from 'n8n-workflow';

import { ID_NAMES, idIn, listedTaskId } from '../shared/api/undocumented/idNames';
import { hasEnded, isUnknownStatus, statusWord } from '../shared/api/statusMeaning';
import { messageOf } from '../shared/asError';
import { remembered } from '../shared/processMemory';
import { logSeldom } from '../shared/webhook/logSeldom';

/** Warnings that this process has written, by workflow, node and topic. */
const accountWarnings = remembered<true>('accountWarnings');

/** Longer statuses are cut off in a warning. */
const LONGEST_WORD = 40;

/**
 * Warns once per status that the service document does not show: such a task never starts the
 * workflow. `task` is an answer of GET /tasks/{id}.
 */
export function warnOfStatus(context: IPollFunctions, task: IDataObject): void {
	const { task_id: id, status } = task;
	const said = statusWord(status);
	if (said !== undefined && !isUnknownStatus(status)) return;
	const isMissing = said === undefined;
	const word = said?.slice(0, LONGEST_WORD);
	const says = isMissing
		? `The service does not say the status of task ${String(id)}`
		: `The service says that task ${String(id)} has the status '${word}', which it does not document`;
	warnOnce(
		context,
		isMissing ? 'no status' : `status ${word}`,
		`${says}. Until it says completed or failed, no task like this starts the workflow. If the task has finished, get its transcript with Transcript: Get Result, and use Transcriber Trigger for further ones.`,
	);
}

/** Warns once if tasks of the list have no id that can be read: they never start the workflow. */
export function warnOfIds(context: IPollFunctions, page: IDataObject[]): void {
	// A bot gets its task when its recording is ready, and starts the workflow then.
	const isNameless = (task: IDataObject) =>
		listedTaskId(task) === undefined && (idIn(task.bot_id) === undefined || hasEnded(task.status));
	const nameless = page.filter(isNameless).length;
	if (nameless === 0) return;
	warnOnce(
		context,
		'no id',
		`${nameless} of ${page.length} tasks in the list of the service have no readable id (${ID_NAMES.join(', ')}), so they do not start the workflow. Use Transcriber Trigger, or look at the tasks with Transcript: Get Many.`,
	);
}

/** Warns once if a poll after a pause could not fetch all transcripts that have ended since then. */
export function warnOfBacklog(context: IPollFunctions, count: number): void {
	warnOnce(
		context,
		'backlog',
		`One poll could not fetch all finished transcripts. At least ${count} of them start the workflow at the next polls. If it does not catch up, let the trigger poll more often.`,
	);
}

/** Warns once if a poll found finished tasks, but had no time or request left to fetch any of them. */
export function warnOfNoOutput(context: IPollFunctions, count: number): void {
	warnOnce(
		context,
		'no output',
		`One poll found ${count} finished tasks, but could not fetch any of them in time, because the service was slow or other requests with the same API key used up the rate limit. The next polls try again. If the workflow does not start, use Transcriber Trigger, or fewer nodes with this API key.`,
	);
}

/** Warns once if a poll could not even read the task list, because the rate limit was used up. */
export function warnOfBusyKey(context: IPollFunctions): void {
	warnOnce(
		context,
		'busy key',
		'One poll could not read the task list, because other requests with the same API key used up the rate limit. The next polls try again. If the workflow does not start, use Transcriber Trigger, or fewer nodes with this API key.',
	);
}

/** Warns if the service has deleted all tasks by which the trigger tells new tasks from old ones. */
export function warnOfLostTasks(context: IPollFunctions): void {
	warn(
		context,
		'The service no longer lists the tasks that the trigger knows. Transcripts that have ended since the last poll may not start the workflow. Get them with Transcript: Get Many and Return All.',
	);
}

/** Warns if the poll with which n8n activates the workflow at its start has failed. */
export function warnOfFailedStart(context: IPollFunctions, error: unknown): void {
	warn(
		context,
		`The poll at the start of n8n failed, and the next polls go on: ${messageOf(error)}`,
	);
}

/** Warns if two polls in a row could not read the list up to the tasks that the trigger knows. */
export function warnOfUnread(context: IPollFunctions): void {
	warn(
		context,
		'Two polls could not read the task list up to the tasks that the trigger knows: more are new than they can read, or the service has deleted many. The next polls go on. If the trigger does not catch up, let it poll more often.',
	);
}

/** Warns if a poll could not find out whether a new API key belongs to the same account. */
export function warnOfUnknownKey(context: IPollFunctions): void {
	warn(
		context,
		'The API key is new, and one poll could not find out whether it belongs to the same account. The next polls go on, and nothing is lost.',
	);
}

/** Warns that the trigger starts afresh: n8n saves that with the next transcript, and not before. */
export function warnOfOtherAccount(context: IPollFunctions): void {
	warn(
		context,
		'The API key belongs to another account. The trigger starts afresh: what is there already does not start the workflow. n8n saves this with the next transcript that starts the workflow, or when you change this node, for example its poll times, and publish a new version (n8n 1: save the workflow while it is active). If n8n is restarted before, transcripts may be missed, or old ones start the workflow. Do not switch the workflow off for this: that skips what has ended since the last poll.',
	);
}

/**
 * Warns if the trigger starts afresh, because its node seems to have been disabled. `polled`: its last
 * poll, if this process has seen one; `at`: when its state was last saved.
 */
export function warnOfBreak(context: IPollFunctions, polled: number | undefined, at: number): void {
	const since = new Date(polled ?? at).toISOString();
	const whatIsMissing = polled === undefined ? 'has saved nothing' : 'was not polled';
	warn(
		context,
		`The trigger ${whatIsMissing} since ${since}, as if its node had been disabled, and starts afresh. What has finished since then does not start the workflow. Get it with Transcript: Get Many and Return All.`,
	);
}

function warn(context: IPollFunctions, line: string): void {
	logSeldom(context, 'warn', `${context.getNode().name}: ${line}`);
}

function warnOnce(context: IPollFunctions, topic: string, line: string): void {
	// n8n's Duplicate keeps the ids of the nodes.
	const key = `${context.getWorkflow().id} ${context.getNode().id} ${topic}`;
	if (accountWarnings.has(key)) return;
	accountWarnings.set(key, true);
	context.logger.warn(`${context.getNode().name}: ${line}`);
}
