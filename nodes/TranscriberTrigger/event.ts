import type { IDataObject } from 'n8n-workflow';

import { hasEnded } from '../Transcriber/request/shapes';

export const EVENTS = [
	'transcriptionCompleted',
	'transcriptionFailed',
	'meetingCompleted',
	'meetingFailed',
] as const;

export type EventName = (typeof EVENTS)[number];

/** A verified delivery. */
export interface DeliveredEvent {
	/** As it came. */
	body: IDataObject;
	taskId?: string;
	botId?: string;
	/** Final status. The service document shows none for transcriptions. */
	status?: string;
}

/** The ids that a body names, whoever has sent it. */
export function idsIn(body: Record<string, unknown> = {}): string[] {
	return [body.task_id, body.bot_id].filter(isId);
}

/**
 * The body as documented ("Events"): a transcription's has a `task_id`, a meeting's also `event`,
 * `bot_id`, `status` and `result_url`. More fields are welcome, of another type they are not.
 */
export function eventIn(body: Record<string, unknown> = {}): DeliveredEvent | undefined {
	const { task_id: taskId, bot_id: botId, event, status, result_url: resultUrl } = body;
	const isText = [event, status, resultUrl].every((value) => isMissing(value) || isString(value));
	const isNamed = isId(botId) ? isMissing(taskId) || isString(taskId) : isId(taskId);
	if (!isText || !isNamed || !(isMissing(botId) || isId(botId))) return undefined;
	if (isMissing(status) ? isId(botId) : !hasEnded(status)) return undefined;
	return {
		body: body as IDataObject,
		taskId: isId(taskId) ? taskId : undefined,
		botId: isId(botId) ? botId : undefined,
		status: isString(status) ? status : undefined,
	};
}

/** What 'Trigger On' calls it. Whatever is not completed has failed, be it cancelled. */
export function nameOf({ botId, body }: DeliveredEvent, status: string): EventName {
	const isMeeting = botId !== undefined || String(body.event ?? '').startsWith('meeting');
	if (isMeeting) return status === 'completed' ? 'meetingCompleted' : 'meetingFailed';
	return status === 'completed' ? 'transcriptionCompleted' : 'transcriptionFailed';
}

function isMissing(value: unknown): boolean {
	return value === undefined || value === null;
}

function isString(value: unknown): value is string {
	return typeof value === 'string';
}

function isId(value: unknown): value is string {
	return isString(value) && value !== '' && value.length <= 256;
}
