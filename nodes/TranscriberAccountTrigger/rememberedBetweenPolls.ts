export const ACCOUNT_MEMORY = {
	/** The most finished tasks that are remembered, eight characters each: 80 kB. */
	done: 10_000,
	/** The most tasks that are recorded as existing before activation. The rest is for new tasks. */
	census: 8_000,
	/** The most tasks that have ended without a transcript: see {@link State.failed}. */
	failed: 1_000,
	/** How many unknown statuses are remembered, and how many tasks of each: see {@link State.unclear}. */
	unclear: { words: 20, ofOneWord: 100 },
	/** The most unfinished tasks that are watched, and as many ended ones that wait for their turn. */
	open: 1_000,
	/** How many tasks are remembered at the end of the list, and at the edge: see `tail` and `edge`. */
	tail: 200,
	/** If n8n activates again within this time, in ms, it counts as the same activation. */
	sameActivation: 5_000,
	/** How late a poll may be before the trigger counts as disabled in between, in ms. */
	late: 3_600_000,
	/** The same where another process may have polled, in ms. */
	otherProcess: 24 * 3_600_000,
};

/** A task that has not ended yet, or that has ended but has not started the workflow yet. */
export interface OpenTask {
	id: string;
	/** It was being processed when last seen. */
	isWorking?: boolean;
	/** It has ended, but its result has not been fetched yet. */
	hasEnded?: boolean;
	/** The list does not say whether it has ended. */
	isUnclear?: boolean;
	/** The status that GET /tasks/{id} said, if the list cannot say more. */
	answered?: string;
	/** The poll that last asked for this one task. */
	looked?: number;
	/** How often the service has refused it for good. */
	refusals?: number;
	/** How often fetching its result has failed for another reason. */
	failures?: number;
	/** How often the list has called it failed while the service was processing it again. */
	runsAgain?: number;
}

/** The state of the trigger between two polls. */
export interface State {
	/** Hash of Base URL, credential id and API key: another key may mean another account. */
	account: string;
	/** When the workflow was published, in ms since 1970. */
	since: number;
	/** When the last poll ended, in ms since 1970. */
	at: number;
	/**
	 * When a poll last found what it knew in the list, in ms since 1970: the time from which new tasks
	 * are counted. Missing in a state that an older version has saved.
	 */
	locatedAt?: number;
	/** Counts the polls. */
	turn: number;
	/** The page size that the service accepts. */
	size: number;
	/** Whether GET /tasks respects `status`, as far as is known. */
	filters: boolean;
	/** Hashes of the tasks that will not start the workflow again, eight characters each. */
	done: string;
	/**
	 * Hashes of those of them that have ended without a transcript, and have started nothing. The
	 * service may run them again. Missing in a state that an older version has saved.
	 */
	failed?: string;
	/**
	 * By each status that the service document does not show: hashes of the tasks that had this status
	 * when they counted as old, so that they start the workflow if the list shows later that they end. A
	 * status that more tasks have than fit means that they had ended: then none of them does. Missing in a
	 * state that an older version has saved.
	 */
	unclear?: Record<string, string>;
	open: OpenTask[];
	/** All tasks before this offset of the list are known. */
	frontier: number;
	/** Until `complete`: hashes of the last tasks before that offset, in the order of the list. */
	edge: string;
	/**
	 * Until `complete`: a search for the edge that is not over. The offset where it goes on, and whether
	 * it has started again from the beginning of the list. Then also the last page of known tasks before
	 * others, and the page of known tasks of which it is not clear yet what follows.
	 */
	sought?: {
		place: number;
		isSecondRound?: boolean;
		known?: number;
		run?: { place: number; end: number };
	};
	/**
	 * A search for known tasks in the list of a new API key, by the hash that {@link State.account} would
	 * have: between which offsets this list ends, and at which offset the search looks next before the known
	 * end.
	 */
	keySearch?: { account: string; low: number; high?: number; before: number };
	/** Where a poll that had no request left stopped reading the new tasks at the beginning. */
	unread?: number;
	/** Until this offset, tasks that earlier polls have read may stand between tasks that are unread. */
	readPast?: number;
	/** How many polls in a row have seen the list end too early: before the edge or the tail. */
	shortLists?: number;
	/** All tasks of the list are known, so every unknown task is new. */
	complete: boolean;
	/** Where the list ended, as far as is known. */
	end?: number;
	/**
	 * The tasks at the known end are not there: how many pages have been looked through for them, and the
	 * offset down to which. An older version has saved no number of pages.
	 */
	lost?: { pages?: number; place: number };
	/** Hashes of the tasks at the known end of the list. Until `complete`, unknown tasks behind them are new. */
	tail: string;
	/** The offset of the next page of the sweep, which finds what nothing else finds. */
	sweep: number;
}

/** Service document, "Limits": the most tasks in progress, and the most recordings and bots a minute. */
const MOST_IN_PROGRESS = 20;
const SUBMITS_A_MINUTE = 10 + 20;

/** The most tasks that can have come since a poll last found what it knew. */
export function possibleSince({ at, locatedAt = at }: Pick<State, 'at' | 'locatedAt'>): number {
	// The clock may have been set back since.
	const sinceMs = Math.max(0, Date.now() - locatedAt);
	return MOST_IN_PROGRESS + (SUBMITS_A_MINUTE * sinceMs) / 60_000;
}
