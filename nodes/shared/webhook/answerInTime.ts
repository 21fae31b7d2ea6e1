import { unlessLate } from '../api/deadlines';

/** The time to decide the answer to a webhook call, in ms. The caller waits for 10 s. */
export const ANSWER = { withinMs: 8_000 };

/**
 * A delivery cannot be decided now. The service will deliver it again. The message is the reason, if n8n's
 * log does not have it yet.
 */
export class Undecided extends Error {}

/**
 * Rejects with {@link Undecided} if `work` has not ended by `deadline`, in ms since 1970. The work
 * itself continues.
 */
export async function decidedBy<T>(work: Promise<T>, deadline: number): Promise<T> {
	return await unlessLate(work, deadline, () => new Undecided('n8n or the service took too long'));
}
