import { NodeOperationError, type IWebhookFunctions } from 'n8n-workflow';

import { ServiceError } from '../api/serviceError';
import { remembered } from '../processMemory';

const LOG = {
	/** The same line is written at most once in this time, in ms. */
	everyMs: 10_000,
	/** The most different lines of all nodes in this time. */
	most: 100,
};

/** When each line of each node was written, in ms since 1970. */
const writtenLines = remembered<number>('writtenLines');

/**
 * Writes a line to n8n's log, but the same line of the same node at most once in ten seconds:
 * anyone can call a webhook, and an error often affects every call.
 */
export function logSeldom(
	context: Pick<IWebhookFunctions, 'logger' | 'getNode' | 'getWorkflow'>,
	level: 'warn' | 'error',
	line: string,
): void {
	const now = Date.now();
	// The clock may have been set back since.
	const isOver = (at: number) => now < at || now - at >= LOG.everyMs;
	for (const [one, at] of writtenLines) if (isOver(at)) writtenLines.delete(one);
	const key = `${context.getWorkflow().id} ${context.getNode().id} ${line}`;
	if (writtenLines.has(key) || writtenLines.size >= LOG.most) return;
	writtenLines.set(key, now);
	context.logger[level](line);
}

/**
 * What a log line says of a failure: the message of an error of this package, and only the kind of any
 * other error, because its message may hold a secret.
 */
export function wordForLog(failure: unknown): string {
	if (failure instanceof ServiceError || failure instanceof NodeOperationError) {
		return failure.message;
	}
	if (!(failure instanceof Error)) return typeof failure;
	const { code } = failure as NodeJS.ErrnoException;
	return typeof code === 'string' ? `${failure.name} (${code})` : failure.name;
}
