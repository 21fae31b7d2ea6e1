/** Shortens the times of the retry and pacing policy for tests. Its decisions stay the same. */
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';

const asShipped = { ...RETRY };

/** Divides the waits between attempts by `factor`. */
export function shortenRetries(factor: number): void {
	for (const name of Object.keys(asShipped) as Array<keyof typeof asShipped>) {
		// What is known of an account must not reach from one test into the next.
		if (name === 'room') continue;
		jest.replaceProperty(RETRY, name, asShipped[name] / factor);
	}
}

/** Replaces so many properties until the next test, before which Jest restores them. */
export function replaceValues<T extends object>(object: T, values: Partial<T>): void {
	for (const name of Object.keys(values) as Array<keyof T & string>)
		jest.replaceProperty(object, name, values[name] as T[typeof name]);
}

/** Few attempts before the error: for tests of the error message. */
export function giveUpSoon(): void {
	shortenRetries(1000);
	jest.replaceProperty(RETRY, 'patienceWhenFull', 3);
	jest.replaceProperty(RETRY, 'patienceWhenBusy', 3);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 3);
	jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 3);
}

/** For a simulator with a faster clock: shortens the rate limit windows of both sides. */
export function shortenWindow(clockRate: number): number {
	const windowMs = 60_250 / clockRate;
	jest.replaceProperty(LIMITS, 'windowMs', windowMs);
	return windowMs;
}
