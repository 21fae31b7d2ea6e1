import type { IDataObject } from 'n8n-workflow';

/** POST /transcribe-url and GET /tasks: names for the id of a task, besides `task_id`. */
export const ID_NAMES = ['task_id', 'id', 'taskId', 'uuid'] as const;

/** The id of the task in an answer about a task or bot; undefined if it has none (yet). */
export function taskIdOf(answer: IDataObject): string | undefined {
	// In an answer about a bot, `id` would be the bot's id.
	const names = isNoId(answer.bot_id) ? ID_NAMES : (['task_id'] as const);
	return names.map((name) => idIn(answer[name])).find((id) => id !== undefined);
}

/**
 * The id of a task in a list of tasks, where `id` is that of the task even beside a `bot_id`. Only
 * `task_id` may be the same as the bot's: tasks and bots may be counted separately.
 */
export function listedTaskId(task: IDataObject): string | undefined {
	const botId = idIn(task.bot_id);
	const others = ID_NAMES.map((name) => idIn(task[name])).filter((id) => id !== botId);
	return idIn(task.task_id) ?? others.find((id) => id !== undefined);
}

const DOTS = /^\s*\.{1,2}\s*$/;

const NO_ID = /^(0|-+|n\/?a|nil|none|null|undefined|false|0{8}-0{4}-0{4}-0{4}-0{12})?$/i;

/** Whether a field for an id says that there is none. It may be of an unverified call, so long texts are fast, too. */
export function isNoId(value: unknown): boolean {
	return (value || 0) === 0 || (typeof value === 'string' && NO_ID.test(value.trim()));
}

/**
 * An id, which the service may send as a number. Ignores what means "none" in some databases and languages
 * (0, the nil UUID, `None`, `n/a`, a dash), and a number that JavaScript has rounded, which identifies
 * another task or none. Also `.` and `..`, which would change the path of a URL.
 */
export function idIn(value: unknown): string | undefined {
	if (isNoId(value) || (typeof value === 'string' && DOTS.test(value))) return undefined;
	return typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : undefined;
}
