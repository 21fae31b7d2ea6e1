/** What one poll may take: time, requests, and how often it tries to fetch a transcript. */
export const ACCOUNT_POLL = {
	/**
	 * How long a poll may take, in ms: less than n8n's scheduler allows (see n8nInternals/pollData.ts),
	 * and than the minute after which n8n may start the next poll.
	 */
	maxMs: 40_000,
	/** The same for the poll of a publication, while the editor waits for it. */
	firstMaxMs: 20_000,
	/**
	 * The same when n8n 2 repeats a failed publication, up to four times with pauses of 15 s in all, so
	 * that it shows the reason before the 84 s are over, after which it shows its own error. A search
	 * for the end of a long list may still take longer.
	 */
	repeatedMaxMs: 10_000,
	/** The poll of a publication this soon after the one before is such a repeat. */
	repeatedWithinMs: 30_000,
	/** How long to wait before reading a list again that is empty at activation, in ms. */
	emptyListMs: 1_000,
	/** List requests in a poll, out of the 60 a minute that all users of the API key share. */
	requests: 12,
	firstRequests: 45,
	/**
	 * All requests in a poll, with single tasks, results and repeats. The next poll fetches the rest.
	 */
	inAll: 25,
	/** The same after a pause of `pauseMs`, which leaves the requests of many minutes unused. */
	inAllAfterPause: 45,
	/**
	 * So many are left for results in any case, even if the lists took all: enough for one task, also one that
	 * has completed although the list calls it failed.
	 */
	forOneTask: 5,
	pauseMs: 3 * 60_000,
	/** After this many refusals of its result, the task starts the workflow without the result. */
	refusals: 5,
	/** The same for failures that may pass: half an hour with a poll every minute. */
	failures: 30,
};
