import { NodeOperationError, type INode } from 'n8n-workflow';

import { anyOf, pause, signalAt, unlessAborted, unlessLate } from './deadlines';
import { credentialOf, currentCredential, type TranscriberCredential } from './credential';
import { ServiceError, isCertainRefusal, said } from './serviceError';
import { isWithoutAnswer } from './gatewayAnswers';
import { isStillRunning, problemOf, type Problem } from './noUsableAnswer';
import {
	RETRY,
	TIMEOUTS,
	delayBeforeRetry,
	hasKey,
	patienceFor,
	type Patience,
} from './delayBeforeRetry';
import { NoRoom, countFor, roomOf, type Room } from './roomForTasks';
import { queueFor, takeTurn, type Leave } from './waitForTurn';
import { masked } from './redact';
import { isLasting } from '../parameters/refuse';
import type { CallOptions, Caller, Policy } from './types';

/** The limits and facts of one request, however it is sent. */
interface RequestBounds extends Pick<CallOptions, 'deadline' | 'fromTurn' | 'once' | 'isRepeat'> {
	policy: Policy;
	/** Below /api/v1. */
	path: string;
	/** Size of the recording in the request. */
	recordingBytes?: number;
	/** The request sends no content. */
	isEmpty?: boolean;
	/**
	 * Ends the wait for a turn or for the next attempt with its reason, as long as the service has
	 * certainly done nothing. Never ends an attempt.
	 */
	abandoned?: AbortSignal;
	/** When the run of the node began, in ms since 1970. Default: now. */
	began?: number;
}

/** Sends the request once. `mayBeAccepted`: the service may have accepted an earlier attempt. */
type Attempt<T> = (credential: TranscriberCredential, mayBeAccepted: boolean) => Promise<T>;

/** Failures that happened before anything was sent, or that say that nothing was accepted. */
const unsent = new WeakSet<object>();

/** Marks a failure that happened before anything was sent, or that says that nothing was accepted. Returns it. */
export function asUnsent<T>(failure: T): T {
	if (typeof failure === 'object' && failure !== null) unsent.add(failure);
	return failure;
}

/** Whether a failure is marked with {@link asUnsent}. {@link sendWithRetries} marks its own. */
export function neverLeft(failure: unknown): boolean {
	return unsent.has(failure as object);
}

/**
 * Sends every request: waits for its turn within the rate limits, sends it, and repeats it if that is
 * allowed (service document, "Errors" and "Limits"). Each kind of refusal has its own patience, in clock
 * time from the first such refusal; that for a service which is not there, from the first after it was.
 * Throws a {@link ServiceError}, or a NodeOperationError if the execution was cancelled or the request
 * could not be made. If the execution was cancelled and the service has certainly done nothing, throws the
 * reason of the cancellation.
 */
export async function sendWithRetries<T>(
	caller: Caller,
	bounds: RequestBounds,
	attempt: Attempt<T>,
): Promise<T> {
	let isSent = false;
	let failure: unknown;
	try {
		return await attempts(caller, bounds, async (credential, mayBeAccepted) => {
			isSent = true;
			return await attempt(credential, mayBeAccepted);
		});
	} catch (error) {
		failure = error;
	}
	throw isSent ? failure : asUnsent(failure);
}

async function attempts<T>(
	caller: Caller,
	{
		policy,
		path,
		deadline,
		fromTurn,
		once,
		isRepeat = false,
		recordingBytes,
		isEmpty,
		abandoned,
		began = Date.now(),
	}: RequestBounds,
	attempt: Attempt<T>,
): Promise<T> {
	const node = caller.getNode();
	let credential = await credentialOf(caller);
	// The queues and the room stay those of the first key: a rotated key belongs to the same account.
	const { apiKey } = credential;
	const cancelled = caller.getExecutionCancelSignal?.();
	let stop = anyOf(cancelled, signalAt(deadline));
	const firstRefusals = new Map<Patience, number>();
	let problem: Problem = { path, transport: 'noTurn' };
	// Also set by a 409 on a keyed upload: the service is already processing it.
	let mayBeAccepted = false;
	const stopWaiting = () => (mayBeAccepted ? stop : anyOf(stop, abandoned));
	const waitFor = async <W>(wait: Promise<W>): Promise<W> =>
		await wait.catch((error: unknown) => {
			if (error instanceof NoRoom) {
				throw new ServiceError(node, { ...error.problem, path, isRepeat: mayBeAccepted });
			}
			if (abandoned?.aborted && error === abandoned.reason) throw error;
			if (cancelled?.aborted && mayBeAccepted) throw wasCancelled(node);
			throw stop?.aborted && !cancelled?.aborted ? new ServiceError(node, problem) : error;
		});
	const countTasks = policy.countTasks && countFor(caller, policy.countTasks, cancelled);
	let room: Room | undefined;
	const enterRoom =
		countTasks &&
		(async (stopRoom?: AbortSignal): Promise<Leave> => {
			// Keeps the room of the first attempt, because a new one would not know about the refusal.
			room ??= roomOf(apiKey);
			return await room.enter(countTasks, began, stopRoom);
		});
	let leaveUploads: (() => void) | undefined;
	const leaveUploadLine = () => {
		leaveUploads?.();
		leaveUploads = undefined;
	};
	try {
		for (let tries = 1; ; tries++) {
			const wasTried = isRepeat || tries > 1;
			if (policy.upload) {
				const rank = wasTried ? 'next' : 'first';
				leaveUploads ??= await waitFor(queueFor(apiKey, 'uploads').take(stopWaiting(), rank));
			}
			const ended = stopWaiting();
			const leave = await waitFor(
				takeTurn(apiKey, policy, { enterRoom, stop: ended, isRepeat: wasTried }),
			);
			if (ended?.aborted) {
				leave('unsent');
				await waitFor(Promise.reject(ended.reason as Error));
			}
			if (tries === 1 && fromTurn !== undefined) {
				stop = anyOf(stop, signalAt(Date.now() + fromTurn));
			}
			let failure: unknown;
			try {
				credential = await credentialOfNow(caller, credential, cancelled);
				const result = await attempt(credential, mayBeAccepted);
				leave('accepted');
				return result;
			} catch (error) {
				failure = error;
			}
			const found = problemOf(failure, path, credential);
			leave(found);
			if (cancelled?.aborted) {
				// The service did nothing, so treat it as cancelled in the pause that would follow.
				const isRefused = found && isCertainRefusal(found) && !isInProgressAtService(found, policy);
				const hasDoneNothing = isRefused || neverLeft(failure);
				throw hasDoneNothing && !mayBeAccepted ? cancelled.reason : wasCancelled(node);
			}
			if (neverLeft(failure) && !mayBeAccepted) {
				if (!(failure instanceof NodeOperationError && isLasting(failure))) {
					throw asUnsent(new NodeOperationError(node, messageWithoutSecrets(failure, credential)));
				}
				// The refusal that has taken so much time is part of the reason.
				if (tries > 1) failure.description = `${failure.description} ${said(problem)}`.trim();
				throw failure;
			}
			// An earlier attempt may have arrived, so no failure may count as unsent from here on.
			if (failure instanceof NodeOperationError && !neverLeft(failure)) throw failure;
			if (!found) throw new NodeOperationError(node, messageWithoutSecrets(failure, credential));
			const request = { recordingBytes, isEmpty, isKeyed: hasKey(policy) };
			problem = { ...found, ...request, isRepeat: mayBeAccepted, attempts: tries };
			mayBeAccepted ||= isWithoutAnswer(found) || isInProgressAtService(found, policy);
			const patience = once ? undefined : patienceFor(problem, policy);
			if (!patience) throw new ServiceError(node, problem);
			// The service is there again: what breaks from now on is another problem.
			if (isBusy(problem)) for (const gone of NOT_THERE) firstRefusals.delete(gone);
			// The next attempt first waits for room, which has a patience of its full length. It keeps its
			// place among the uploads, so that they stay in order.
			if (countTasks && problem.status === 429) continue;
			const first = firstRefusals.get(patience) ?? Date.now();
			firstRefusals.set(patience, first);
			const delay = delayBeforeRetry(problem, tries, first + RETRY[patience] - Date.now());
			if (delay === undefined) throw new ServiceError(node, problem);
			// Other uploads need not wait for this one.
			leaveUploadLine();
			await waitFor(pause(delay, stopWaiting()));
		}
	} finally {
		leaveUploadLine();
	}
}

/** How long a service may not be there, in one way or another. */
const NOT_THERE = ['patienceWhenBroken', 'patienceWhenUnreachable'] as const;

/** Whether the service itself refuses what it may take later. */
function isBusy({ status }: Problem): boolean {
	return status === 429 || status === 409;
}

/** Whether an upload is refused because the service works on one with the same Idempotency-Key. */
function isInProgressAtService(problem: Problem, policy: Policy): boolean {
	return isStillRunning(problem) && policy.repeatable && hasKey(policy);
}

/** The credential of now. A failure to read it, which may take long, is one before anything was sent. */
async function credentialOfNow(
	caller: Caller,
	credential: TranscriberCredential,
	cancelled?: AbortSignal,
): Promise<TranscriberCredential> {
	const end = Date.now() + TIMEOUTS.request;
	const late = () => new Error('n8n did not read the credential in time');
	const reading = unlessLate(currentCredential(caller, credential), end, late);
	return await unlessAborted(reading, cancelled).catch((error: unknown) => {
		throw asUnsent(error);
	});
}

function wasCancelled(node: INode): NodeOperationError {
	return new NodeOperationError(node, 'The execution was cancelled');
}

function messageWithoutSecrets(error: unknown, credential: TranscriberCredential): string {
	return masked(error instanceof Error ? error.message : String(error), credential);
}
