import { NodeOperationError, type IExecutePaginationFunctions } from 'n8n-workflow';

import { neverLeft } from '../../../shared/api/sendWithRetries';
import { ServiceError, wasCertainlyRefused } from '../../../shared/api/serviceError';
import { nodeContextOf, runIndexOf } from '../../../shared/n8nInternals/runIdentity';
import { inOutput, logIfStopped } from '../../item/itemFailure';
import { isSame } from './syncReport';
import { distinct } from './terms';

/** A write of the whole dictionary of which the outcome is not known. */
interface LostWrite {
	/** The run of the node, by its index. */
	run: number;
	/** What the dictionary had before. */
	had: string[];
	/** Those are the terms of the team owner, which are never changed. */
	isInherited: boolean;
	sent: string[];
}

/** What a node that makes the dictionary match its input keeps in the execution. */
interface Replacement {
	/** The first run of the node that has done so, by its index. */
	run?: number;
	lost?: LostWrite[];
}

export function replacementOf(context: IExecutePaginationFunctions): Replacement {
	const memory = nodeContextOf(context) as { replacement?: Replacement };
	memory.replacement ??= {};
	return memory.replacement;
}

/** Notes that this run of the node has synced the dictionary, even if that changed nothing. */
export function noteReplacement(context: IExecutePaginationFunctions): void {
	const memory = replacementOf(context);
	memory.run ??= runIndexOf(context);
	delete memory.lost;
}

/** Keeps a write until its outcome is known. Returns how to forget it, if it was certainly not carried out. */
export function beginWrite(
	context: IExecutePaginationFunctions,
	terms: Omit<LostWrite, 'run'>,
): () => void {
	const memory = replacementOf(context);
	const write = { run: runIndexOf(context), ...terms };
	memory.lost = [...(memory.lost ?? []), write];
	return () => (memory.lost = memory.lost?.filter((other) => other !== write));
}

/**
 * What the dictionary had before each write of which the outcome is not known. A try after a lost answer
 * finds the terms of the try before, and would report that it has removed none. `now`: what it has now. A
 * write that has changed nothing is forgotten.
 */
export function hadBeforeLostWrites(
	context: IExecutePaginationFunctions,
	now: string[],
): string[][] {
	const memory = replacementOf(context);
	memory.lost = memory.lost?.filter(({ had }) => !isSame(had, now));
	return (memory.lost ?? []).map(({ had, isInherited }) => (isInherited ? [] : had));
}

/** The terms that writes with an unknown outcome may have removed. */
function mayBeRemoved(context: IExecutePaginationFunctions): string[] {
	const { lost = [] } = replacementOf(context);
	return lost.flatMap(({ had, sent, isInherited }) => (isInherited ? [] : lackedBy(sent, had)));
}

/** The terms of `had` that are not among `terms`. */
export function lackedBy(terms: string[], had: string[]): string[] {
	return had.filter((term) => !terms.includes(term));
}

/** Whether the service has not carried out any attempt. */
export function isCertainlyNotWritten(
	context: IExecutePaginationFunctions,
	failure: unknown,
): boolean {
	const stopped = context.getExecutionCancelSignal();
	// `sendWithRetries` throws the reason of the signal only if the service has done nothing.
	if (neverLeft(failure) || (stopped?.aborted && failure === stopped.reason)) return true;
	return (
		failure instanceof ServiceError && wasCertainlyRefused(failure) && !failure.problem.isRepeat
	);
}

/** The removed terms are nowhere else, and n8n may not run the node again. */
export function sayWhatMayBeRemoved(context: IExecutePaginationFunctions, failure: unknown): void {
	const terms = distinct(mayBeRemoved(context));
	if (terms.length === 0) return;
	const words = `The service may have replaced the dictionary, and removed: ${terms.join(', ')}`;
	logIfStopped(context, words);
	if (!(failure instanceof ServiceError || failure instanceof NodeOperationError)) return;
	failure.message = inOutput(context, failure.message, words);
	failure.description = [words, failure.description].filter(Boolean).join('. ');
}

const MAY_BE_WRITTEN = 'The dictionary may have been changed: look with Dictionary: Get.';

/** Makes the failure of a write, or the log after a stop, say so if the service may have carried the write out. */
export function sayItMayBeWritten(context: IExecutePaginationFunctions, failure: unknown): void {
	if (isCertainlyNotWritten(context, failure)) return;
	logIfStopped(context, MAY_BE_WRITTEN);
	if (!(failure instanceof ServiceError)) return;
	failure.message = inOutput(context, failure.message, MAY_BE_WRITTEN);
	failure.description = [failure.description, MAY_BE_WRITTEN].filter(Boolean).join(' ');
}
