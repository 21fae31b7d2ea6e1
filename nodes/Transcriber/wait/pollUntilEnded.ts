import type { IDataObject, IExecutePaginationFunctions } from 'n8n-workflow';

import { credentialOf, keyHash } from '../../shared/api/credential';
import { ServiceError, isNotFound } from '../../shared/api/serviceError';
import { look } from '../../shared/api/askForState';
import { CALLED_OFF, calledOffSince, isFinal, mayGetTask } from '../../shared/api/calledOffBot';
import { idFields, idsIn, type SubmissionIds } from '../../shared/api/submission';
import { remembered } from '../../shared/processMemory';
import { asError } from '../../shared/asError';
import { untilNextLook, POLL } from './pauseBetweenLooks';

/** What to poll, and for how long. */
export interface Polling {
	ids: SubmissionIds;
	/** What is known about the task so far, e.g. the answer to its submit. */
	state: IDataObject;
	/** Minimum time between two looks, in ms. */
	pollInterval: number;
	/** When polling ends, in ms since 1970, according to a state of the task. */
	deadlineFor: (state: IDataObject) => number;
	/** The id comes from the user: a first look that is refused or impossible is reported at once. */
	reportsRefusal?: boolean;
	/** Called with each state. Throws to stop polling. */
	check: (state: IDataObject) => void;
}

/** The last known state of a task. Without `hasEnded`, polling has timed out or is refused. */
export interface Outlook {
	state: IDataObject;
	hasEnded?: boolean;
	/** Why the last look failed, if it did. */
	failure?: Error;
	/** The service has refused every look for so long that waiting is pointless. */
	isRefused?: boolean;
	/** The last look has waited until the deadline for its turn, so the task may have ended meanwhile. */
	hadNoTurn?: boolean;
}

/** How many tasks this process polls per API key (hashed): they share 60 requests a minute. */
const polledTasks = remembered<number>('polledTasks');

/**
 * Polls the task (or its bot, as long as the bot has no task) until the task has ended or the
 * deadline is reached. A failed look means "not yet". If the computer slept until after the deadline,
 * looks once more.
 */
export async function untilEnded(
	context: IExecutePaginationFunctions,
	polling: Polling,
): Promise<Outlook> {
	const account = keyHash((await credentialOf(context)).apiKey);
	polledTasks.set(account, (polledTasks.get(account) ?? 0) + 1);
	try {
		return await pollUntilEnded(context, polling, account);
	} finally {
		const left = (polledTasks.get(account) ?? 1) - 1;
		if (left > 0) polledTasks.set(account, left);
		else polledTasks.delete(account);
	}
}

async function pollUntilEnded(
	context: IExecutePaginationFunctions,
	{ ids, state: first, pollInterval, deadlineFor, reportsRefusal, check }: Polling,
	account: string,
): Promise<Outlook> {
	const began = Date.now();
	const tasksBefore = othersPolled(account);
	let deadline = deadlineFor(first);
	const latest: Outlook = { state: first };
	let lookedAt: number | undefined;
	let refusedSince: number | undefined;
	let isScheduleKnown = false;
	let calledOff: number | undefined;
	let looksAtCalledOff = 0;
	for (let isFirst = true; ; isFirst = false) {
		check(latest.state);
		let isOverslept = false;
		// If the status is still unknown, the first look comes at once.
		if (lookedAt !== undefined || first.status !== undefined) {
			// Tasks that begin together have their first looks one after the other, not all at the end.
			const most = lookedAt === undefined ? tasksBefore : Infinity;
			const others = () => Math.min(most, othersPolled(account));
			const { failure } = latest;
			await untilNextLook(
				{ began, lookedAt, pollInterval, deadline, failure, others },
				context.getExecutionCancelSignal(),
			);
			// An awake computer has looked shortly before the deadline (see `untilNextLook`).
			isOverslept = Date.now() - (lookedAt ?? began) > pollInterval + POLL.lastLook;
		}
		const isLate = Date.now() >= deadline;
		if (isLate && !isOverslept) return latest;
		lookedAt = Date.now();
		const known = { ...idFields(ids), ...idFields(idsIn(latest.state)) };
		// A first look that reports its refusal is retried; other looks are not.
		const once = !(isFirst && reportsRefusal);
		const bounds = isLate
			? { deadline: Date.now() + POLL.lateLook }
			: { deadline, fromTurn: POLL.look, once };
		const seen = await look(context, known, bounds).catch(asError);
		context.getExecutionCancelSignal()?.throwIfAborted();
		// The turn of a look may come minutes later, so everything counts from its answer.
		lookedAt = Date.now();
		if (!(seen instanceof Error)) {
			latest.state = seen;
			latest.failure = undefined;
			refusedSince = undefined;
			calledOff = calledOffSince(seen, calledOff);
			if (calledOff !== undefined) looksAtCalledOff += 1;
			const isWaitedFor =
				calledOff === undefined || (looksAtCalledOff < CALLED_OFF.looks && mayGetTask(calledOff));
			latest.hasEnded = isFinal(seen) || !isWaitedFor;
			if (latest.hasEnded) return latest;
			if (!isScheduleKnown) deadline = Math.max(deadline, deadlineFor(seen));
			isScheduleKnown = true;
			continue;
		}
		// A deadline that passed during the last look says nothing about the service.
		if (Date.now() >= deadline && isUnanswered(seen)) {
			return { ...latest, hadNoTurn: transportOf(seen) === 'noTurn' };
		}
		latest.failure = seen;
		const mayBeSoon = !ids.taskId && isUnknownTask(seen);
		if (isFirst && reportsRefusal && !mayBeSoon && noLookCanSucceed(seen)) throw seen;
		if (!isRefusedLook(seen)) {
			refusedSince = undefined;
			continue;
		}
		refusedSince ??= lookedAt;
		latest.isRefused = Date.now() - refusedSince >= POLL.refused;
		if (latest.isRefused) return latest;
	}
}

function othersPolled(account: string): number {
	return (polledTasks.get(account) ?? 1) - 1;
}

/** Whether a look failed in a way that counts if it lasts (see {@link POLL}). */
function isRefusedLook(failure: unknown): boolean {
	if (!(failure instanceof ServiceError)) return false;
	return [401, 404, 410].includes(failure.problem.status ?? 0);
}

function isUnanswered(failure: Error): boolean {
	return ['timeout', 'noTurn'].includes(transportOf(failure) ?? '');
}

function transportOf(failure: Error): string | undefined {
	return failure instanceof ServiceError ? failure.problem.transport : undefined;
}

/** The task of a bot may be unknown to the service for a moment. */
function isUnknownTask(failure: Error): boolean {
	if (!(failure instanceof ServiceError) || !isNotFound(failure)) return false;
	return failure.problem.path.startsWith('/tasks/');
}

/**
 * Whether the first look shows that no look can succeed: a 4xx other than "too many requests", an
 * address that is not the service's, or no usable credential.
 */
function noLookCanSucceed(failure: Error): boolean {
	if (!(failure instanceof ServiceError)) return true;
	const { status = 0, transport } = failure.problem;
	if (transport && ['blocked', 'unknownHost', 'tls', 'redirect', 'notJson'].includes(transport))
		return true;
	return status >= 400 && status < 500 && status !== 429;
}
