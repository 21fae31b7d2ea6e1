import { createHash } from 'crypto';
import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf } from '../../shared/api/credential';
import { ServiceError } from '../../shared/api/serviceError';
import { pause } from '../../shared/api/abortable';
import { look } from '../../shared/api/taskState';
import { hasEnded } from '../../shared/api/undocumented';
import { idFields, idsIn, type SubmissionIds } from '../../shared/api/submission';
import { remembered } from '../../shared/processState';

/** Times of polling, in ms. */
export const POLL = {
	/** The longest time for one look, from its turn within the rate limits. */
	look: 60_000,
	/** How long 401 or 404 has to last until it counts: a key may be in rotation, a task not visible yet. */
	refused: 120_000,
	/** The most of the time that is left which is kept for the last look. */
	lastLook: 2_000,
	/** The most that Retry-After can delay the next look: it is about one answer, not about the task. */
	retryAfter: 300_000,
	/** How often a pause is looked at again, because it gets shorter when other tasks end. */
	recheck: 5_000,
};

export interface Polling {
	ids: SubmissionIds;
	/** What is known of the task so far, e.g. the answer to its submit. */
	state: IDataObject;
	/** Milliseconds between any two looks. */
	pollInterval: number;
	/** When polling ends, in ms since 1970, by the first state that is known. */
	deadlineFor: (state: IDataObject) => number;
	/**
	 * The first look reports a refusal of the service, and what prevents a look at all: the id comes
	 * from the user.
	 */
	reportsRefusal?: boolean;
	/** Called with each state, to stop polling by throwing. */
	check: (state: IDataObject) => void;
}

/** The last that is known of a task. Where it has not ended, the time is up or it is refused. */
export interface Outlook {
	state: IDataObject;
	hasEnded?: boolean;
	/** Of the last look, where that failed. */
	failure?: Error;
	/** The service has refused every look for so long that waiting makes no sense. */
	isRefused?: boolean;
}

/** How many tasks this process polls for each API key (its hash): they share 60 requests a minute. */
const polled = remembered<number>('polledTasks');

/**
 * Looks at the task (or its bot, as long as that has no task) until it has ended or the deadline is
 * there. A look that fails means "not yet".
 */
export async function untilEnded(
	context: IExecutePaginationFunctions,
	polling: Polling,
): Promise<Outlook> {
	const account = await accountOf(context);
	polled.set(account, (polled.get(account) ?? 0) + 1);
	try {
		return await pollUntilEnded(context, polling, account);
	} finally {
		const left = (polled.get(account) ?? 1) - 1;
		if (left > 0) polled.set(account, left);
		else polled.delete(account);
	}
}

async function accountOf(context: IExecutePaginationFunctions): Promise<string> {
	const { apiKey } = await credentialOf(context);
	return createHash('sha256').update(apiKey).digest('hex');
}

async function pollUntilEnded(
	context: IExecutePaginationFunctions,
	{ ids, state: first, pollInterval, deadlineFor, reportsRefusal, check }: Polling,
	account: string,
): Promise<Outlook> {
	const began = Date.now();
	let deadline = deadlineFor(first);
	const latest: Outlook = { state: first };
	let lookedAt: number | undefined;
	let refusedSince: number | undefined;
	for (let isFirst = true; ; isFirst = false) {
		check(latest.state);
		// A task whose state is not known yet is looked at at once.
		if (lookedAt !== undefined || first.status !== undefined) {
			const since = lookedAt ?? began;
			const dueAt = () => {
				const others = (polled.get(account) ?? 1) - 1;
				const rest = Math.max(0, deadline - since);
				const last = rest - Math.min(POLL.lastLook, rest / 2);
				const delay = Math.min(delayBeforeLook(pollInterval, since - began, others), last);
				// Only the first look may come before the interval is over: nothing was looked at before.
				const asked = Math.max(delay, lookedAt === undefined ? 0 : pollInterval);
				const wanted = Math.min(retryAfterOf(latest.failure), POLL.retryAfter, last);
				return since + Math.max(asked, wanted);
			};
			await pauseUntil(dueAt, deadline, context.getExecutionCancelSignal());
		}
		if (Date.now() >= deadline) return latest;
		lookedAt = Date.now();
		const known = { ...idFields(ids), ...idFields(idsIn(latest.state)) };
		// Whoever waits for an answer to the first look gets what retries can do.
		const once = !(isFirst && reportsRefusal);
		const seen = await look(context, known, { deadline, fromTurn: POLL.look, once }).catch(asError);
		context.getExecutionCancelSignal()?.throwIfAborted();
		if (!(seen instanceof Error)) {
			latest.state = seen;
			latest.failure = undefined;
			refusedSince = undefined;
			latest.hasEnded = hasEnded(seen.status);
			if (latest.hasEnded) return latest;
			if (isFirst) deadline = Math.max(deadline, deadlineFor(seen));
			continue;
		}
		// That the time was up during the last look says nothing about the service.
		if (Date.now() >= deadline && isUnanswered(seen)) return latest;
		latest.failure = seen;
		if (isFirst && reportsRefusal && isRefusal(seen)) throw seen;
		const status = seen instanceof ServiceError ? seen.problem.status : undefined;
		if (status !== 401 && status !== 404) continue;
		refusedSince ??= lookedAt;
		latest.isRefused = Date.now() - refusedSince >= POLL.refused;
		if (latest.isRefused) return latest;
	}
}

function asError(error: unknown): Error {
	return error instanceof Error ? error : new Error(String(error));
}

function isUnanswered(failure: Error): boolean {
	const transport = failure instanceof ServiceError ? failure.problem.transport : undefined;
	return transport === 'timeout' || transport === 'noTurn';
}

function retryAfterOf(failure?: Error): number {
	return failure instanceof ServiceError ? (failure.problem.retryAfter ?? 0) : 0;
}

/**
 * Whether a first look has shown that no look can succeed: any 4xx but "too many requests", an
 * address that is not the service's, or no usable credential.
 */
function isRefusal(failure: Error): boolean {
	if (!(failure instanceof ServiceError)) return true;
	const { status = 0, transport } = failure.problem;
	if (transport && ['unknownHost', 'tls', 'redirect', 'notJson'].includes(transport)) return true;
	return status >= 400 && status < 500 && status !== 429;
}

/**
 * Milliseconds until the next look: the poll interval, but a tenth of the time waited so far, up to
 * a minute, because a task that takes long takes longer still (service document, "Typical processing
 * time"); and with many tasks at once so seldom that there is room left for other requests.
 */
function delayBeforeLook(pollInterval: number, waited: number, others: number): number {
	return Math.max(pollInterval, Math.min(waited / 10, 60_000), others * 1500);
}

/** Waits until the time that `dueAt` says, which may change meanwhile, or until the deadline. */
async function pauseUntil(
	dueAt: () => number,
	deadline: number,
	cancelled?: AbortSignal,
): Promise<void> {
	for (;;) {
		const left = Math.min(dueAt(), deadline) - Date.now();
		if (left <= 0) return;
		await pause(Math.min(left, POLL.recheck), cancelled);
	}
}
