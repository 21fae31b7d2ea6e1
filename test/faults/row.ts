/** A row of the matrix: what is done, and which of its requests meets the fault. */
import { action, type Act, type ActionRow } from './acts';
import type { Cell } from './cell';
import type { Target } from './weather';

/** What the contract promises depends on this, not on the operation. */
export type Kind =
	| 'repeatable'
	| 'file'
	| 'once'
	| 'activation'
	| 'first look'
	| 'look'
	| 'result'
	| 'asleep'
	| 'trigger'
	| 'switch off';

export interface Row {
	/** The value of the operation, and what of it meets the fault. */
	name: string;
	kind: Kind;
	target: Target;
	/** How many tasks or bots it submits. */
	submits: number;
	begin: (cell: Cell) => Promise<Act>;
}

/**
 * Whether n8n's Retry of its execution could do again what must not be done twice. Publishing a trigger is no execution.
 */
export function hasRetry({ kind, submits }: Pick<Row, 'kind' | 'submits'>): boolean {
	return kind === 'once' || (submits > 0 && kind !== 'activation');
}

export const TASK = { method: 'GET', path: '/tasks/[^/]+' };
export const BOT = { method: 'GET', path: '/meeting/[^/]+' };
export const RESULT = { method: 'GET', path: '/tasks/[^/]+/result' };
export const EXPORT = { method: 'GET', path: '/tasks/[^/]+/export' };
export const POST_FILE = { method: 'POST', path: '/transcribe' };
export const POST_LINK = { method: 'POST', path: '/transcribe-url' };
export const DELETE_BOT = { method: 'DELETE', path: '/meeting/[^/]+' };
export const POST_BOT = { method: 'POST', path: '/meeting' };

export const SUBTITLES = { exportFormat: 'srt', exportAs: 'text' };

export function later(target: Target): Target {
	return { ...target, isLater: true };
}

export function row(name: string, kind: Kind, target: Target, of: ActionRow, submits = 0): Row {
	return { name, kind, target, submits, begin: async (cell) => await action(of, cell) };
}

export function operationNamed(name: string): { resource?: string; operation?: string } {
	const [resource, operation] = name.split('.');
	return { resource, operation };
}
