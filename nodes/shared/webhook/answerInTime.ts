/** The time to decide the answer to a webhook call, in ms. The caller waits for 10 s. */
export const ANSWER = { withinMs: 8_000 };

/** A delivery cannot be decided now. The service will deliver it again. */
export class Undecided extends Error {}

/**
 * Rejects with {@link Undecided} if `work` has not ended by `deadline`, in ms since 1970. The work
 * itself continues.
 */
export async function inTime<T>(work: Promise<T>, deadline: number): Promise<T> {
	const late = AbortSignal.timeout(Math.max(0, Math.ceil(deadline - Date.now())));
	return await new Promise<T>((resolve, reject) => {
		const tooLate = () => reject(new Undecided('It takes too long'));
		late.addEventListener('abort', tooLate, { once: true });
		work.then(resolve, reject).finally(() => late.removeEventListener('abort', tooLate));
	});
}
