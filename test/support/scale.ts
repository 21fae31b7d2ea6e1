/** The policy's times, shortened for tests. Only the times: what is decided stays as it ships. */
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/retry';

const asShipped = { ...RETRY };

/** Waits between attempts are so many times shorter. */
export function shortenRetries(factor: number): void {
	for (const name of Object.keys(asShipped) as Array<keyof typeof asShipped>) {
		jest.replaceProperty(RETRY, name, asShipped[name] / factor);
	}
}

/** A few attempts, then the error: for tests of what the error says. */
export function giveUpSoon(): void {
	shortenRetries(1000);
	jest.replaceProperty(RETRY, 'patienceWhenFull', 3);
	jest.replaceProperty(RETRY, 'patienceWhenBusy', 3);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 3);
	jest.replaceProperty(RETRY, 'patienceWhenUnreachable', 3);
}

/** For a simulator whose clock is so many times as fast: the windows of both sides are shortened. */
export function shortenWindow(clockRate: number): number {
	const windowMs = 60_250 / clockRate;
	jest.replaceProperty(LIMITS, 'windowMs', windowMs);
	return windowMs;
}
