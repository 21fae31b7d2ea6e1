import type { Clock } from './clock';
import { serviceTime, type Settings } from './options';
import { Refusal } from './refusal';

/** Table "Requests per minute per key". */
const PER_MINUTE = { transcribe: 10, meeting: 20, summary: 5, other: 60 };
const WINDOW_MS = 60_000;

export type Operation = keyof typeof PER_MINUTE;

/** A sliding window of a minute for each key and operation. Refused requests do not count. */
export class RateLimits {
	private readonly windows = new Map<string, number[]>();

	constructor(
		private readonly settings: Settings,
		private readonly clock: Clock,
	) {}

	take(apiKey: string, operation: Operation): void {
		if (!this.settings.rateLimits) return;
		const name = `${operation} ${apiKey}`;
		const now = this.clock.now();
		const recent = (this.windows.get(name) ?? []).filter((at) => at > now - WINDOW_MS);
		this.windows.set(name, recent);
		const [oldest] = recent;
		if (oldest !== undefined && recent.length >= PER_MINUTE[operation]) {
			throw new Refusal(
				429,
				`More than ${PER_MINUTE[operation]} requests per minute`,
				undefined,
				this.retryAfter((oldest + WINDOW_MS - now) / 1000),
			);
		}
		recent.push(now);
	}

	private retryAfter(simulatedSeconds: number): Record<string, string> {
		const seconds = Math.ceil(this.clock.realSeconds(simulatedSeconds));
		switch (this.settings.shapes.retryAfter) {
			case 'none':
				return {};
			case 'seconds':
				return { 'Retry-After': String(seconds) };
			case 'date':
				// The date has whole seconds only, so one second is added, and it is never too early.
				return {
					'Retry-After': new Date(serviceTime(this.settings) + (seconds + 1) * 1000).toUTCString(),
				};
		}
	}
}
