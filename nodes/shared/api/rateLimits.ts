/**
 * The service's limits (service document, "Limits"): the most requests in any `windowMs`, per API
 * key. This package stays within them, so that the service need not refuse.
 */
export const LIMITS = {
	/** A little over 60 s, because clocks do not run at exactly the same speed. */
	windowMs: 60_250,
	/** POST /transcribe and /transcribe-url together. */
	submit: 10,
	/** POST /meeting. */
	meeting: 20,
	/** Summary regeneration. */
	summary: 5,
	/** Everything else. */
	other: 60,
	/** Places of `other` that only urgent requests take: a bot that nobody wants must not wait a minute. */
	keptForUrgent: 2,
	/** Simultaneous uploads. Not a limit of the service, but a bound for memory and bandwidth. */
	uploadsAtOnce: 3,
	/** Tasks in progress, per account. */
	tasksInProgress: 20,
};

export type LimitName = 'submit' | 'meeting' | 'summary' | 'other';
