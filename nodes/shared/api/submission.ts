import type { IDataObject } from 'n8n-workflow';

import { idIn, taskIdOf } from './undocumented';

/** What identifies a submission at the service: a task id, a bot id, or both. */
export interface SubmissionIds {
	taskId?: string;
	botId?: string;
}

/** The ids in the answer to a submit. Both are missing where the service gave none. */
export function idsIn(answer: IDataObject): SubmissionIds {
	return { taskId: taskIdOf(answer), botId: idIn(answer.bot_id) };
}

/** The ids under the names of the service, for an output or a look. */
export function idFields({ taskId, botId }: SubmissionIds): IDataObject {
	return { ...(taskId && { task_id: taskId }), ...(botId && { bot_id: botId }) };
}

/**
 * Ties a sealed secret to its submission (see `seal`), and tells submissions apart. Suspended
 * executions hold secrets sealed with it, so it never changes.
 */
export function submissionKey({ taskId, botId }: SubmissionIds): string {
	return taskId ? `task ${taskId}` : `bot ${botId}`;
}

/** What messages call a submission, e.g. `task 7f3c`. */
export function submissionName({ taskId, botId }: SubmissionIds): string {
	if (taskId) return `task ${taskId}`;
	return botId ? `bot ${botId}` : 'something without an id';
}
