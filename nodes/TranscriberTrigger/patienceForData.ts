import type { IWebhookFunctions } from 'n8n-workflow';

import { isWithoutAnswer } from '../shared/api/gatewayAnswers';
import { NotThereYet } from '../shared/api/fetchResults';
import { ServiceError, isNotFound } from '../shared/api/serviceError';
import { messageOf } from '../shared/asError';
import { remembered } from '../shared/processMemory';
import type { DeliveredEvent } from './deliveredEvent';

export const PATIENCE = {
	/**
	 * How long the service may refuse some data, or answer without the data, until the event goes out
	 * without it, in ms from the first such failure.
	 */
	refusedMs: 120_000,
	/** The same for any other failure. */
	failedMs: 10 * 60_000,
	/** The same for a failure that a new API key or less load ends. */
	passingMs: 60 * 60_000,
};

/** Since when requests for the same data of a delivery have failed in one way, in ms since 1970. */
const refusedDeliveries = remembered<number>('refusedDeliveries');

type Data = 'state' | 'result' | 'document';

/** The operations that fetch what is missing, in messages. */
const FETCHES: Record<Data, string> = {
	// Also fetches the result: without the state, this is not tried.
	state: 'Transcript: Wait Until Finished (a bot with Meeting: Wait Until Transcribed)',
	result: 'Transcript: Get Result',
	document: 'Transcript: Export',
};

/**
 * Decides when an event goes out without data that the service does not give. Until then the delivery
 * fails, so that the service repeats it.
 */
export class PatienceForData {
	/** Why some data is missing in what goes out. */
	problem?: string;

	/** The operations that fetch what is missing. */
	private readonly missing: string[] = [];

	/** The longest patience that has ended, in ms. */
	private outlasted = 0;

	constructor(
		private readonly context: IWebhookFunctions,
		private readonly event: DeliveredEvent,
	) {}

	/**
	 * The data. If it cannot be had: throws until the patience for this kind of failure ends, and then
	 * returns `otherwise`.
	 */
	async unlessFailingForLong<T>(data: Data, work: Promise<T>, otherwise: T): Promise<T> {
		const had = await work.catch((error: unknown) => {
			this.throwUntilLong(data, error);
			return otherwise;
		});
		if (had !== otherwise) for (const kind of KINDS) refusedDeliveries.delete(this.key(data, kind));
		return had;
	}

	private throwUntilLong(data: Data, error: unknown): void {
		const kind = kindOf(error);
		const key = this.key(data, kind);
		const now = Date.now();
		// The clock may have been set back since the first failure.
		const since = Math.min(refusedDeliveries.get(key) ?? now, now);
		refusedDeliveries.set(key, since);
		// What goes out without some data does not wait as long again for other data: the service may
		// give up its deliveries.
		const isIncomplete = this.problem !== undefined && PATIENCE[kind] <= this.outlasted;
		if (!isIncomplete && now - since < PATIENCE[kind]) throw error;
		this.outlasted = Math.max(this.outlasted, PATIENCE[kind]);
		this.missing.push(FETCHES[data]);
		const fetch = `${howToFetch(error)} with ${this.missing.join(' and ')}`;
		// The log names more, but who reads the output of the workflow does not see that.
		this.problem = `${messageOf(error).replace(/\.$/, '')}. ${fetch}`;
	}

	private key(data: string, kind: FailureKind): string {
		const { context, event } = this;
		const owner = [context.getWorkflow().id, context.getNode().id];
		return JSON.stringify([...owner, event.taskId, event.botId, data, kind]);
	}
}

function howToFetch(error: unknown): string {
	if (isNotFound(error)) return 'If it is there later, fetch it';
	const isKeyRefused = error instanceof ServiceError && error.problem.status === 401;
	return isKeyRefused ? 'Correct the API key in the credential, then fetch it' : 'Fetch it later';
}

/** How a request for data has failed: the name of its patience in {@link PATIENCE}. */
const KINDS = ['refusedMs', 'failedMs', 'passingMs'] as const;

type FailureKind = (typeof KINDS)[number];

/**
 * `refusedMs`: a 4xx of the service other than those below, or a success that does not hold the data. The
 * data may follow a moment later, but if it does not, no repeat brings it. `passingMs`: 401, which a
 * new key ends; 429 and the rate limit of this package; and the documented 503.
 */
function kindOf(error: unknown): FailureKind {
	if (error instanceof NotThereYet) return 'refusedMs';
	if (!(error instanceof ServiceError)) return 'failedMs';
	const { status = 0, transport, errorCode } = error.problem;
	if (transport === 'noTurn' || status === 401 || status === 429) return 'passingMs';
	if (status === 503 && errorCode === 'service_unavailable') return 'passingMs';
	if (transport === 'notJson') return 'refusedMs';
	const isRefused = status >= 400 && status < 500 && !isWithoutAnswer(error.problem);
	return isRefused ? 'refusedMs' : 'failedMs';
}
