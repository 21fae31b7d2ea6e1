import type { IDataObject } from 'n8n-workflow';

import { idIn, taskIdOf } from './undocumented/idNames';

/** The ids of a submission at the service: a task id, a bot id, or both. */
export interface SubmissionIds {
	taskId?: string;
	botId?: string;
}

/** The ids in the answer to a submit. Both are undefined if the service gave none. */
export function idsIn(answer: IDataObject): SubmissionIds {
	return { taskId: taskIdOf(answer), botId: idIn(answer.bot_id) };
}

/** The ids under the service's field names, for an output or a status request. */
export function idFields({ taskId, botId }: SubmissionIds): IDataObject {
	return { ...(taskId && { task_id: taskId }), ...(botId && { bot_id: botId }) };
}

/**
 * Identifies a submission, and binds a sealed secret to it (see `seal`). The format must never
 * change, because suspended executions hold secrets sealed with it.
 */
export function submissionKey({ taskId, botId }: SubmissionIds): string {
	return taskId ? `task ${taskId}` : `bot ${botId}`;
}

/** The name of a submission in messages, e.g. `task 7f3c`. */
export function submissionName({ taskId, botId }: SubmissionIds): string {
	if (taskId) return `task ${taskId}`;
	return botId ? `bot ${botId}` : NAMELESS;
}

/** What messages call a submission that the service gave no id. */
export const NAMELESS = 'something without an id';

/** What messages call a recording that the service refused beside others. */
export const REFUSED = 'a refused recording';
