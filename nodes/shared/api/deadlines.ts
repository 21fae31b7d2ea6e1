import { sleep, type IExecuteSingleFunctions } from 'n8n-workflow';

import { withCancelSignal } from '../n8nInternals/wrappedContext';
import { Late } from './noUsableAnswer';

/** The longest timer in Node.js, in ms: 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * The same as `work`, but rejects with the signal's reason as soon as the signal aborts. Then it lets go of
 * the signal, which holds the data of the execution: `work` may go on for long.
 */
export async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
	if (!signal) return await work;
	const waiting: Waiting<T> = { signal };
	const ended = new Promise<T>((resolve, reject) => Object.assign(waiting, { resolve, reject }));
	const stop = () => {
		waiting.reject?.(waiting.signal?.reason);
		waiting.resolve = waiting.reject = waiting.signal = undefined;
	};
	if (signal.aborted) stop();
	signal.addEventListener('abort', stop, { once: true });
	work
		.then(
			(result) => waiting.resolve?.(result),
			(error: unknown) => waiting.reject?.(error),
		)
		.finally(() => waiting.signal?.removeEventListener('abort', stop));
	return await ended;
}

interface Waiting<T> {
	signal?: AbortSignal;
	resolve?: (result: T) => void;
	reject?: (error: unknown) => void;
}

/** Waits `ms`, or rejects with the signal's reason as soon as the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await unlessAborted(sleep(Math.min(ms, LONGEST_TIMER)), signal);
}

/** A signal that aborts at `deadline` (ms since 1970); undefined without a deadline. */
export function signalAt(deadline?: number): AbortSignal | undefined {
	if (deadline === undefined) return undefined;
	return AbortSignal.timeout(
		Math.min(Math.max(0, Math.ceil(deadline - Date.now())), LONGEST_TIMER),
	);
}

/**
 * Keeps the sources of a combined signal alive as long as the signal. Node.js (seen in 20 and 24)
 * holds the sources weakly, so it may garbage-collect a timeout that has no other reference, and
 * then the deadline never fires.
 */
const sources = new WeakMap<AbortSignal, AbortSignal[]>();

/** A signal that aborts with the first of the given signals; undefined if none is given. */
export function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal | undefined {
	const given = signals.filter((signal) => signal !== undefined);
	if (given.length < 2) return given[0];
	const combined = AbortSignal.any(given);
	sources.set(combined, given);
	return combined;
}

/** The same as `work`, but rejects with the error from `late` at `deadline`, in ms since 1970. */
export async function unlessLate<T>(
	work: Promise<T>,
	deadline: number,
	late: () => Error,
): Promise<T> {
	const end = signalAt(deadline);
	return await unlessAborted(work, end).catch((error: unknown) => {
		throw end?.aborted && error === end.reason ? late() : error;
	});
}

/** The same as `work`, but rejects with {@link Late} after `ms`, or at `deadline` if that is earlier. */
export async function answeredWithin<T>(
	work: Promise<T>,
	ms: number,
	deadline = Infinity,
): Promise<T> {
	return await unlessLate(work, Math.min(deadline, Date.now() + ms), () => new Late());
}

/**
 * The same for a request: one that is late is aborted, too. Otherwise it would go on beside the next
 * attempt, and after the end of the node. `send` gets the context to send it with.
 */
export async function requestWithin<
	Of extends Partial<Pick<IExecuteSingleFunctions, 'getExecutionCancelSignal'>>,
	T,
>(context: Of, send: (watched: Of) => Promise<T>, ms: number, deadline?: number): Promise<T> {
	const late = new AbortController();
	const signal = anyOf(context.getExecutionCancelSignal?.(), late.signal);
	try {
		return await answeredWithin(send(withCancelSignal(context, signal)), ms, deadline);
	} finally {
		late.abort();
	}
}
