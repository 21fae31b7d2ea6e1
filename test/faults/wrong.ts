/** What is wrong with what came out; '' if nothing is. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Item } from '../n8n/rest';
import { taskOf } from './acts';
import type { Cell } from './cell';

type Wrong = (items: Item[], cell: Cell, id: string) => string;

/** Of this task, or of the meeting of this bot. */
export const isTranscript: Wrong = (items, { simulator }, id) => {
	const [item] = items;
	const isOwn = item?.json['task_id'] === taskOf(simulator, id);
	return items.length === 1 && isOwn && /simulat/i.test(String(item?.json['text']))
		? ''
		: shown(items);
};

/** The id of this task, or of this bot. */
export const isTask: Wrong = (items, _, id) => {
	const { task_id: taskId, bot_id: botId } = items[0]?.json ?? {};
	return items.length === 1 && (botId ?? taskId) === id ? '' : shown(items);
};

export const containsTask: Wrong = (items, _, id) =>
	items.some(({ json }) => json['task_id'] === id) ? '' : shown(items);

export function textOf(field: string, part: string): Wrong {
	return (items) => (new RegExp(part, 'i').test(String(items[0]?.json[field])) ? '' : shown(items));
}

export function answers(field: string): Wrong {
	return (items) => (items[0]?.json[field] === undefined ? shown(items) : '');
}

/** The output has the secret of the submission, and the service delivers to the address in time. */
export async function isDelivered(
	items: Item[],
	cell: Cell,
	id: string,
	withinMs = 30_000,
): Promise<string> {
	const { deliveries, tasks, bots } = cell.simulator;
	const submission = [...tasks(), ...bots()].find((one) => one.id === id);
	const secret = items[0]?.json['webhook_secret'];
	if (secret === undefined || secret !== submission?.webhookSecret) return shown(items);
	const deadline = Date.now() + withinMs;
	const isThere = () => deliveries.some(({ status }) => status === 200);
	while (!isThere() && Date.now() < deadline) await sleep(100);
	return isThere() ? isTask(items, cell, id) : 'nothing was delivered to the address';
}

export function shown(items: Item[]): string {
	return `the output is ${JSON.stringify(items.map(({ json }) => json)).slice(0, 200)}`;
}
