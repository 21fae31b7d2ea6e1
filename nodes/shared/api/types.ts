import type {
	DeclarativeRestApiSettings,
	IDataObject,
	IExecuteSingleFunctions,
} from 'n8n-workflow';

import type { CredentialReader } from './credential';
import type { LimitName } from './rateLimits';

export type RoutingRequest = DeclarativeRestApiSettings.ResultOptions;

/** What an operation declares about its request. Determines rate limits and retries. */
export interface Policy {
	/** The rate limit of the service that the request counts towards. */
	limit: LimitName;
	/** Whether a repeat is harmless: decides what happens when the connection breaks. */
	repeatable: boolean;
	/** Ends what costs money, so it goes before the other requests that wait for the rate limit. */
	isUrgent?: boolean;
	/** Its answer says less the later it comes, so it goes next: before all first attempts. */
	isNext?: boolean;
	/** For a submit with an Idempotency-Key: 409 means that the same request is still in progress. */
	keyed?: boolean;
	/** The request holds a recording: few at a time, with an idle limit instead of a timeout. */
	upload?: boolean;
	/**
	 * For a submit: counts the tasks in progress, because 429 may mean that the account is full.
	 * Undefined if the list does not show the number; throws if the list cannot be read.
	 */
	countTasks?: (caller: Caller) => Promise<number | undefined>;
	/** Keeps the `webhook_secret` in the answer, because the caller seals it or outputs it. */
	keepsWebhookSecret?: boolean;
	/** Accepts a successful answer of any type, because the service gives the answer only once. */
	takesAnyAnswer?: boolean;
}

/** For reads, PUT, DELETE, cancel and dictionary add: a repeat changes nothing. */
export const REPEATABLE: Policy = { limit: 'other', repeatable: true };

/** For what ends a recording or a task, at once and harmlessly if repeated. */
export const STOPS_SPENDING: Policy = { ...REPEATABLE, isUrgent: true };

/** Options of one request beyond its policy. */
export interface CallOptions {
	policy?: Policy;
	/** Keeps `webhook_secret` in the answer, for a caller that seals or stores it: see `withoutSecrets`. */
	keepWebhookSecret?: boolean | 'everywhere';
	/**
	 * When the call must end, in ms since 1970, including queueing and retries. Without a deadline only the
	 * patience in delayBeforeRetry.ts limits the call, and for a webhook call or an editor list `briefEnd` in
	 * callService.ts.
	 */
	deadline?: number;
	/** How long an attempt may take that has begun before the `deadline`, in ms, also if it goes on after it. */
	attemptMs?: number;
	/**
	 * The longest time for the call, in ms from its first turn within the rate limits. Unlike
	 * `deadline`, it does not count the queue for that turn.
	 */
	fromTurn?: number;
	/** What an answer without content (204) stands for. Default: `{}`. */
	noContent?: IDataObject[];
	/** Only one attempt: the caller repeats the request itself, and measures the time. */
	once?: boolean;
	/** The caller has tried the request before, so it goes before those that were never tried. */
	isRepeat?: boolean;
}

/** The part of n8n's context that a request needs. Action node, triggers and editor lists all have it. */
export interface Caller extends CredentialReader {
	getExecutionCancelSignal?(): AbortSignal | undefined;
	helpers: Pick<IExecuteSingleFunctions['helpers'], 'httpRequestWithAuthentication'>;
}
