/** How long a webhook call may take until its answer is decided, in ms. The caller waits for 10 s. */
export const ANSWER_WITHIN_MS = 8_000;

/** It cannot be decided now. The service delivers again. */
export class Undecided extends Error {}

/**
 * Rejects with {@link Undecided} when `work` has not ended at `deadline`, in ms since 1970. The work
 * itself goes on.
 */
export async function inTime<T>(work: Promise<T>, deadline: number): Promise<T> {
	const late = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - Date.now())));
	return await new Promise<T>((resolve, reject) => {
		const tooLate = () => reject(new Undecided('It takes too long'));
		late.addEventListener('abort', tooLate, { once: true });
		work.then(resolve, reject).finally(() => late.removeEventListener('abort', tooLate));
	});
}
