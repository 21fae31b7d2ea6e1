import type { Problem } from './problem';
import type { Policy } from './service';

const MINUTE = 60_000;

/** How long to wait between attempts, and in all, in ms. */
export const RETRY = {
	base: 1000,
	cap: 30_000,
	/** 429 and 409 end when other tasks and requests do: that may take as long as a recording. */
	patienceWhenBusy: 30 * MINUTE,
	/** 503 and broken connections. */
	patienceWhenBroken: 2 * MINUTE,
	/** Nobody listens at the address: a restart of the service, or a wrong address that the user waits to hear of. */
	patienceWhenUnreachable: 15_000,
};

/**
 * The wait before the next attempt in ms, or undefined when there shall be none. `Retry-After`
 * wins; otherwise exponential backoff with full jitter. `waited` is what earlier waits add up to.
 */
export function delayBeforeRetry(
	problem: Problem,
	policy: Policy,
	tries: number,
	waited: number,
): number | undefined {
	const patience = patienceFor(problem, policy);
	const backoff = Math.random() * Math.min(RETRY.cap, RETRY.base * 2 ** (tries - 1));
	// "Retry after 0 seconds" must not become a loop without a pause and without an end.
	const delay = problem.retryAfter || backoff;
	return waited + delay <= patience ? delay : undefined;
}

function patienceFor({ status, transport }: Problem, { limit, repeatable }: Policy): number {
	if (status === 429) return RETRY.patienceWhenBusy;
	if (status === 503) return RETRY.patienceWhenBroken;
	// Only a repeatable submit carries a key, so only there is 409 the echo of our own request.
	if (status === 409) return limit === 'submit' && repeatable ? RETRY.patienceWhenBusy : -1;
	if (!repeatable) return -1;
	if (transport === 'unreachable') return RETRY.patienceWhenUnreachable;
	const broken =
		transport === 'broken' || transport === 'timeout' || status === 502 || status === 504;
	return broken ? RETRY.patienceWhenBroken : -1;
}
