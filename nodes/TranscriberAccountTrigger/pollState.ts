import { createHash } from 'crypto';

export const ACCOUNT_MEMORY = {
	/** The most finished tasks that are remembered, eight characters each: 80 kB. */
	done: 10_000,
	/** The most tasks that are recorded as existing before activation. The rest is for new tasks. */
	census: 8_000,
	/** The most unfinished tasks that are watched. */
	open: 1_000,
	/** How many tasks at the end of the list are remembered, see `tail`. */
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
}

/** The state of the trigger between two polls. */
export interface State {
	/** Hash of Base URL, credential id and API key: another key may mean another account. */
	account: string;
	/** When the workflow was published, in ms since 1970. */
	since: number;
	/** When the last poll ended, in ms since 1970. */
	at: number;
	/** Counts the polls. */
	turn: number;
	/** The page size that the service accepts. */
	size: number;
	/** Whether GET /tasks respects `status`, as far as is known. */
	filters: boolean;
	/** Hashes of the tasks that will not start the workflow again, eight characters each. */
	done: string;
	open: OpenTask[];
	/** All tasks before this offset of the list are known. */
	frontier: number;
	/** Until `complete`: hashes of the last tasks before that offset, in the order of the list. */
	edge: string;
	/**
	 * Until `complete`: more new tasks may stand before the known part than it is long. The offset
	 * down to which it has been sought, and the offset where it must have begun.
	 */
	sought?: { place: number; until: number };
	/** Where a poll that had no request left stopped reading the new tasks at the beginning. */
	unread?: number;
	/** How many polls in a row have seen the list end too early: before the edge or the tail. */
	shortLists?: number;
	/** All tasks of the list are known, so every unknown task is new. */
	complete: boolean;
	/** Where the list ended, as far as is known. */
	end?: number;
	/**
	 * The tasks at the known end are not there: how many polls in a row have seen that, and the offset
	 * down to which they have looked.
	 */
	lost?: { polls: number; place: number };
	/** Until `complete`: hashes of tasks at the list's end. Unknown tasks behind them are new. */
	tail: string;
	/** The offset of the next page of the sweep, which finds what nothing else finds. */
	sweep: number;
}

/** Service document, "Limits": the most tasks in progress, and the most submits a minute. */
const MOST_IN_PROGRESS = 20;
const SUBMITS_A_MINUTE = 10;

/** The most tasks that can have ended since the last poll. */
export function possibleSince({ at }: Pick<State, 'at'>): number {
	return MOST_IN_PROGRESS + (SUBMITS_A_MINUTE * (Date.now() - at)) / 60_000;
}

const HASH = 8;

/** 48 bits: with 10 000 tasks remembered, one new task in 28 billion is taken for a known task. */
export function hashOf(id: string): string {
	return createHash('sha256').update(id).digest('base64').slice(0, HASH);
}

export function hashesIn(text = ''): string[] {
	return text.match(/.{8}/g) ?? [];
}
