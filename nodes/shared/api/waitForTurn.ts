import type { Problem } from './problem';
import { queueFor } from './rateLimits';
import type { CountTasks } from './roomForTasks';
import type { Caller, Policy } from './types';

/** Counts the tasks in progress. Unknown if the list cannot be read; throws if cancelled. */
export function countFor(
	caller: Caller,
	count: (caller: Caller) => Promise<number | undefined>,
	cancelled?: AbortSignal,
): CountTasks {
	return async () =>
		await count(caller).catch((error: unknown) => {
			if (cancelled?.aborted) throw error;
			return undefined;
		});
}

/** Ends a turn: `accepted`, `unsent`, the refusal, or undefined if the outcome is unknown. */
export type Leave = (end: 'accepted' | 'unsent' | Problem | undefined) => void;

type EnterRoom = (stop?: AbortSignal) => Promise<Leave>;

/** Waits for the rate limit and, for a submit, for room. Returns a function that frees both. */
export async function takeTurn(
	apiKey: string,
	{ limit, isUrgent }: Policy,
	{ enterRoom, stop }: { enterRoom?: EnterRoom; stop?: AbortSignal },
): Promise<Leave> {
	const leaveLimit = await queueFor(apiKey, limit).take(stop, isUrgent);
	if (!enterRoom) return (end) => leaveLimit(end !== 'unsent');
	const leaveRoom = await enterRoom(stop).catch((error: unknown) => {
		leaveLimit(false);
		throw error;
	});
	return (end) => {
		leaveLimit(end !== 'unsent');
		leaveRoom(end);
	};
}
