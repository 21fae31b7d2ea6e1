import { sleep } from 'n8n-workflow';

import { Late } from './problem';

/** The longest time that a timer of Node.js can take, in ms: 24.8 days. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The same as `work`, but rejects with the reason of the signal as soon as that aborts. */
export async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
	return await new Promise<T>((resolve, reject) => {
		const stop = () => reject(signal?.reason);
		if (signal?.aborted) stop();
		signal?.addEventListener('abort', stop, { once: true });
		work.then(resolve, reject).finally(() => signal?.removeEventListener('abort', stop));
	});
}

/** Waits `ms`, or rejects at once with the reason of the signal when that aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	signal?.throwIfAborted();
	await unlessAborted(sleep(Math.min(ms, LONGEST_TIMER)), signal);
}

/** Aborts at this time (ms since 1970); undefined where there is none. */
export function signalAt(deadline?: number): AbortSignal | undefined {
	if (deadline === undefined) return undefined;
	return AbortSignal.timeout(
		Math.min(Math.max(0, Math.ceil(deadline - Date.now())), LONGEST_TIMER),
	);
}

/**
 * Node.js holds the sources of a combined signal weakly. A timeout without any other
 * reference is garbage-collected early, and then the deadline never comes. This map keeps the sources
 * as long as the combined signal (seen in Node.js 20 and 24).
 */
const sources = new WeakMap<AbortSignal, AbortSignal[]>();

/** Aborts with the first of the signals; undefined where there is none. */
export function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal | undefined {
	const given = signals.filter((signal) => signal !== undefined);
	if (given.length < 2) return given[0];
	const combined = AbortSignal.any(given);
	sources.set(combined, given);
	return combined;
}

/** The same as `work`, but rejects with {@link Late} after `ms`, or at `deadline` if that is earlier. */
export async function withinTime<T>(work: Promise<T>, ms: number, deadline = Infinity): Promise<T> {
	const end = signalAt(Math.min(deadline, Date.now() + ms));
	return await unlessAborted(work, end).catch((error: unknown) => {
		throw end?.aborted && error === end.reason ? new Late() : error;
	});
}
