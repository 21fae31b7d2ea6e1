const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

interface Alarm {
	dueMs: number;
	action: () => void;
	timer?: NodeJS.Timeout;
}

/** The simulated time, which runs `rate` times as fast as real time. */
export class Clock {
	private realBase = Date.now();
	private simulatedBase: number;
	private readonly alarms = new Set<Alarm>();
	private stopped = false;

	constructor(
		private rate: number,
		aheadSeconds = 0,
	) {
		this.simulatedBase = this.realBase + aheadSeconds * 1000;
	}

	/** Simulated milliseconds since the epoch. */
	now(): number {
		return this.simulatedBase + (Date.now() - this.realBase) * this.rate;
	}

	/** How many real seconds a number of simulated seconds takes. */
	realSeconds(simulatedSeconds: number): number {
		return simulatedSeconds / this.rate;
	}

	setRate(rate: number): void {
		if (!(rate > 0)) throw new RangeError('clockRate must be above 0');
		this.simulatedBase = this.now();
		this.realBase = Date.now();
		this.rate = rate;
		for (const alarm of this.alarms) this.arm(alarm);
	}

	/** Runs the action after a number of simulated seconds. Returns a function that cancels it. */
	after(seconds: number, action: () => void): () => void {
		const alarm: Alarm = { dueMs: this.now() + seconds * 1000, action };
		if (this.stopped) return () => undefined;
		this.alarms.add(alarm);
		this.arm(alarm);
		return () => this.disarm(alarm);
	}

	/** Cancels all actions and accepts no new ones. */
	stop(): void {
		this.stopped = true;
		for (const alarm of this.alarms) this.disarm(alarm);
	}

	private arm(alarm: Alarm): void {
		clearTimeout(alarm.timer);
		const waitMs = Math.max(0, Math.ceil((alarm.dueMs - this.now()) / this.rate));
		// Starts another timer if this one ended too early: timers end up to 1 ms before their time,
		// and cannot last the 30 days that a bot may be scheduled ahead.
		alarm.timer = setTimeout(
			() => {
				if (this.now() < alarm.dueMs) return this.arm(alarm);
				this.alarms.delete(alarm);
				alarm.action();
			},
			Math.min(waitMs, LONGEST_TIMEOUT_MS),
		);
	}

	private disarm(alarm: Alarm): void {
		clearTimeout(alarm.timer);
		this.alarms.delete(alarm);
	}
}
