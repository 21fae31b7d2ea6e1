import type { IDataObject } from 'n8n-workflow';

import { call } from './call';
import type { CallOptions, Caller } from './types';
import { statusWithoutTask, taskIdOf } from './undocumentedShapes';

/**
 * Requests the state of a task, or of its bot as long as the bot has no task. Throws a {@link
 * ServiceError}.
 */
export async function look(
	caller: Caller,
	{ task_id: known, bot_id: botId }: IDataObject,
	options: Pick<CallOptions, 'deadline' | 'fromTurn' | 'once'> = {},
): Promise<IDataObject> {
	const get = async (url: string) => await call(caller, { method: 'GET', url }, options);
	let taskId = known;
	if (!taskId) {
		const bot = { bot_id: botId, ...(await get(`/meeting/${encodeURIComponent(String(botId))}`)) };
		taskId = taskIdOf(bot);
		if (!taskId) return { ...bot, status: statusWithoutTask(bot) };
	}
	return { ...(await get(`/tasks/${encodeURIComponent(String(taskId))}`)), task_id: taskId };
}
