import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';

import { idIn, listedTaskId } from '../shared/api/undocumented/idNames';

const HASH = 8;

/** 48 bits: with 10 000 tasks remembered, one new task in 28 billion is taken for a known task. */
export function hashOf(id: string): string {
	return createHash('sha256').update(id).digest('base64').slice(0, HASH);
}

/** The hashes that a text of the trigger's state holds, one after the other. */
export function hashesIn(text = ''): string[] {
	return text.match(/.{8}/g) ?? [];
}

/**
 * What tells each row of a page from every other row: the task's id, or the bot's as long as the
 * recording is not ready. '' for a row that has neither: it shows no place in the list.
 */
export function hashesOf(page: IDataObject[]): string[] {
	return page.map((task) => {
		const id = listedTaskId(task);
		const botId = idIn(task.bot_id);
		if (id === undefined && botId === undefined) return '';
		return hashOf(id ?? `bot ${botId}`);
	});
}
