import { pause } from '../../shared/api/deadlines';
import { ServiceError } from '../../shared/api/serviceError';

/** Time limits for polling a task, in ms. */
export const POLL = {
	/** The longest time for one look (status request), from its turn within the rate limits. */
	look: 60_000,
	/** How long 401, 404 or 410 must last to count: a key may be in rotation, a task not visible yet. */
	refused: 120_000,
	/** The last look comes at most this long before the deadline. */
	lastLook: 2_000,
	/** The longest time for the one look after the deadline, with its retries: the network wakes up, too. */
	lateLook: 15_000,
	/** The most that Retry-After can delay the next look: the header is not about the task. */
	retryAfter: 300_000,
	/** How often a pause is recalculated, because it gets shorter when other tasks end. */
	recheck: 5_000,
	/** Least pause per other polled task, in ms, so that many tasks leave room in the rate limit. */
	perTask: 1_500,
};

interface NextLook {
	/** When polling began and when the last look was, if there was one, in ms since 1970. */
	began: number;
	lookedAt?: number;
	/** Minimum time between two looks, in ms. */
	pollInterval: number;
	/** When polling ends, in ms since 1970. */
	deadline: number;
	/** Why the last look failed, if it did. */
	failure?: Error;
	/** How many other tasks are polled with the same API key now; before the first look, only those that began before. */
	others: () => number;
}

/**
 * Waits for the time of the next look, which may change meanwhile, or for the deadline. If the clock
 * is set back meanwhile, the pause gets longer by {@link POLL.recheck} at most.
 */
export async function untilNextLook(next: NextLook, cancelled?: AbortSignal): Promise<void> {
	let seen = Date.now();
	let setBack = 0;
	for (;;) {
		const now = Date.now();
		setBack += Math.max(0, seen - now);
		seen = now;
		const left = Math.min(dueAt(next), next.deadline) - setBack - now;
		if (left <= 0) return;
		await pause(Math.min(left, POLL.recheck), cancelled);
	}
}

/** When the next look is due, in ms since 1970. */
function dueAt({ began, lookedAt, pollInterval, deadline, failure, others }: NextLook): number {
	const since = lookedAt ?? began;
	const rest = Math.max(0, deadline - since);
	const last = rest - Math.min(POLL.lastLook, rest / 2);
	const delay = Math.min(delayBeforeLook(pollInterval, since - began, others()), last);
	// Only the first look may come before the interval is over.
	const least = Math.max(delay, lookedAt === undefined ? 0 : pollInterval);
	const asked = Math.min(askedPause(failure), POLL.retryAfter, last);
	return since + Math.max(least, asked);
}

/**
 * Milliseconds until the next look. At least the poll interval, and a tenth of the time waited so
 * far, up to a minute: a task that already takes long will take longer still (service document,
 * "Typical processing time"). With many tasks, looks are rarer, to leave room for other requests.
 */
function delayBeforeLook(pollInterval: number, waited: number, others: number): number {
	return Math.max(pollInterval, Math.min(waited / 10, 60_000), others * POLL.perTask);
}

/** The pause that the service asked for (`Retry-After`), in ms. */
function askedPause(failure?: Error): number {
	return failure instanceof ServiceError ? (failure.problem.retryAfter ?? 0) : 0;
}
