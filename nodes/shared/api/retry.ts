import type { Problem } from './problem';
import type { Policy } from './types';

const MINUTE = 60_000;

export const TIMEOUTS = {
	/** From sending a request to the end of its answer, in ms. */
	request: 60_000,
	/** Without a byte moving in either direction, in ms. */
	uploadIdle: 300_000,
	/** An upload as a whole, in ms: 8 GB take a day at 100 KB a second. */
	upload: 24 * 3_600_000,
};

/** How long to wait between attempts, and by the clock since the first refusal, in ms. */
export const RETRY = {
	base: 1000,
	cap: 30_000,
	/** 429 and 409 of a submit end when other tasks do: that may take as long as a recording. */
	patienceWhenFull: 30 * MINUTE,
	/** 429 of anything else. */
	patienceWhenBusy: 3 * MINUTE,
	/** 503 and broken connections. */
	patienceWhenBroken: 2 * MINUTE,
	/** Nobody listens at the address: the service restarts, or the address is wrong and the user should know soon. */
	patienceWhenUnreachable: 15_000,
	/** Between two looks whether there is room for another task: each of them costs two requests or more. */
	look: 15_000,
	/** The same if the list of tasks does not show it: each attempt costs a whole upload. */
	tryBase: 10_000,
	tryCap: 5 * MINUTE,
	/** In all, while a webhook call or an editor list waits for us. */
	brief: 8_000,
};

/** How long a problem is worth another attempt: the name of that time in {@link RETRY}. */
export type Patience = Extract<keyof typeof RETRY, `patience${string}`>;

/**
 * The wait before the next attempt in ms, or undefined when it would last longer than `left`, the
 * rest of the patience. `Retry-After` wins; otherwise exponential backoff with full jitter.
 */
export function delayBeforeRetry(
	{ retryAfter }: Pick<Problem, 'retryAfter'>,
	tries: number,
	left: number,
): number | undefined {
	const backoff = Math.random() * Math.min(RETRY.cap, RETRY.base * 2 ** (tries - 1));
	// "Retry after 0 seconds" must not make an endless loop without a pause.
	const delay = retryAfter || backoff;
	return delay <= left ? delay : undefined;
}

/** The wait before the next look for room, or try, in ms: it grows with the refusals. */
export function pauseBeforeLook(refusals: number): number {
	const longest = Math.min(RETRY.tryCap, RETRY.tryBase * 2 ** Math.max(0, refusals - 1));
	return longest * (0.5 + Math.random() / 2);
}

/** The patience with a problem, or undefined where the request must not be sent again. */
export function patienceFor(
	{ status, transport }: Problem,
	{ limit, repeatable, keyed }: Policy,
): Patience | undefined {
	const submits = limit === 'submit' || limit === 'meeting';
	if (status === 429) return submits ? 'patienceWhenFull' : 'patienceWhenBusy';
	if (status === 503) return 'patienceWhenBroken';
	// With an Idempotency-Key, 409 means that our own request is in progress. A repeatable submit has one.
	const hasKey = keyed ?? (limit === 'submit' && repeatable);
	if (status === 409) return hasKey ? 'patienceWhenFull' : undefined;
	if (!repeatable) return undefined;
	if (transport === 'unreachable') return 'patienceWhenUnreachable';
	const broken =
		transport === 'broken' || transport === 'timeout' || status === 502 || status === 504;
	return broken ? 'patienceWhenBroken' : undefined;
}
