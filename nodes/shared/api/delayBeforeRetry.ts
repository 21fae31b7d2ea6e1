import { isBrokenConnection, isForeign503, isWithoutAnswer } from './gatewayAnswers';
import { isStillRunning, type Problem } from './noUsableAnswer';
import type { Policy } from './types';

const MINUTE = 60_000;

export const TIMEOUTS = {
	/** From sending a request to the end of its answer, in ms. */
	request: 60_000,
	/** Without a piece of the recording being read, in ms. */
	uploadIdle: 300_000,
	/** An upload as a whole, in ms: 8 GB take a day at 100 KB a second. */
	upload: 24 * 3_600_000,
};

/** Pauses between attempts, and patience by the clock since the first refusal, in ms. */
export const RETRY = {
	base: 1000,
	cap: 30_000,
	/** 429 and 409 of a submit end when other tasks end, which may take as long as a recording. */
	patienceWhenFull: 30 * MINUTE,
	/** 429 of anything else. */
	patienceWhenBusy: 3 * MINUTE,
	/** 503 and broken connections. */
	patienceWhenBroken: 2 * MINUTE,
	/** Nothing listens: the service restarts, or the address is wrong and the user must know. */
	patienceWhenUnreachable: 15_000,
	/** A refusal of the result of a finished task. */
	patienceWhenRefused: 10_000,
	/** Between two checks for room for another task. Each costs two or more requests. */
	look: 15_000,
	/** The same if the task list does not show the room: each attempt costs a whole upload. */
	tryBase: 10_000,
	tryCap: 5 * MINUTE,
	/** For this long after the last submit, what is known of the room for tasks is remembered. */
	room: MINUTE,
	/** For all requests together, while a webhook call or an editor list waits for the answer. */
	brief: 8_000,
};

/** How long a problem is worth retrying: the name of a time in {@link RETRY}. */
export type Patience = Extract<keyof typeof RETRY, `patience${string}`>;

/**
 * The wait before the next attempt in ms; undefined if it exceeds `left`, the remaining patience.
 * `Retry-After` takes precedence; otherwise exponential backoff with full jitter. The last attempt comes
 * when the patience ends, never earlier by chance. Each attempt of an upload that 409 holds up sends the
 * whole file, so the pauses are long.
 */
export function delayBeforeRetry(
	{ retryAfter, status, recordingBytes }: Pick<Problem, 'retryAfter' | 'status' | 'recordingBytes'>,
	tries: number,
	left: number,
): number | undefined {
	const backoff = Math.random() * Math.min(RETRY.cap, RETRY.base * 2 ** (tries - 1));
	const isUpload = status === 409 && recordingBytes !== undefined;
	const pause = Math.min(isUpload ? pauseWhenFull(tries) : backoff, left);
	// "Retry after 0 seconds" must not cause an endless loop without a pause.
	const delay = retryAfter || pause;
	return left > 0 && delay <= left ? delay : undefined;
}

/**
 * While the account is full: the wait before the next check for room, or before the next upload, in ms.
 * Grows with each refusal.
 */
export function pauseWhenFull(refusals: number): number {
	const longest = Math.min(RETRY.tryCap, RETRY.tryBase * 2 ** Math.max(0, refusals - 1));
	return longest * (0.5 + Math.random() / 2);
}

/** The patience for a problem; undefined if the request must not be sent again. */
export function patienceFor(problem: Problem, policy: Policy): Patience | undefined {
	const { limit, repeatable } = policy;
	const { status, transport } = problem;
	const submits = limit === 'submit' || limit === 'meeting';
	if (status === 429) return submits ? 'patienceWhenFull' : 'patienceWhenBusy';
	if (status === 503 && !isForeign503(problem)) return 'patienceWhenBroken';
	if (status === 409) {
		return hasKey(policy) && isStillRunning(problem) ? 'patienceWhenFull' : undefined;
	}
	if (!repeatable) return undefined;
	if (transport === 'unreachable') return 'patienceWhenUnreachable';
	const mayPass =
		transport === 'storage' || isBrokenConnection(problem) || isWithoutAnswer(problem);
	return mayPass ? 'patienceWhenBroken' : undefined;
}

/** Whether the request carries an Idempotency-Key, as a repeatable submit does. */
export function hasKey({ limit, repeatable, keyed }: Policy): boolean {
	return keyed ?? (limit === 'submit' && repeatable);
}
