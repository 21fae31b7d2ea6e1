import type { IDataObject } from 'n8n-workflow';

import { callService } from './callService';
import type { CallOptions, Caller } from './types';
import { isNoId, taskIdOf } from './undocumented/idNames';
import { statusWithoutTask } from './statusMeaning';
import { stateIn } from './undocumented/submissions';

/** See {@link CallOptions}. */
export type LookBounds = Pick<CallOptions, 'deadline' | 'fromTurn' | 'once' | 'policy'>;

/**
 * Requests the state of a task, or of its bot as long as the bot has no task. Throws a {@link
 * ServiceError}.
 */
export async function look(
	caller: Caller,
	{ task_id: known, bot_id: botId }: IDataObject,
	options: LookBounds = {},
): Promise<IDataObject> {
	if (known) return await taskState(caller, String(known), options);
	const state = await botState(caller, String(botId), options);
	// Without an id of the bot beside it, `id` would count as that of a task.
	const bot = { bot_id: botId, ...state, ...(isNoId(state.bot_id) && { bot_id: botId }) };
	const taskId = taskIdOf(bot);
	if (!taskId) return { ...bot, status: statusWithoutTask(bot) };
	return await taskState(caller, taskId, options);
}

/** GET /tasks/{id}. Throws a {@link ServiceError}. */
export async function taskState(
	caller: Caller,
	taskId: string,
	options?: LookBounds,
): Promise<IDataObject> {
	const url = `/tasks/${encodeURIComponent(taskId)}`;
	const state = stateIn(await callService(caller, { method: 'GET', url }, options), taskId);
	return { ...state, task_id: taskId };
}

/** GET /meeting/{bot_id}. Throws a {@link ServiceError}. */
export async function botState(
	caller: Caller,
	botId: string,
	options?: LookBounds,
): Promise<IDataObject> {
	const url = `/meeting/${encodeURIComponent(botId)}`;
	return stateIn(await callService(caller, { method: 'GET', url }, options), botId);
}
