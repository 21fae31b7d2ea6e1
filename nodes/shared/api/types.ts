import type { DeclarativeRestApiSettings, IExecuteSingleFunctions } from 'n8n-workflow';

import type { CredentialReader } from './credential';
import type { LimitName } from './rateLimits';

export type RoutingRequest = DeclarativeRestApiSettings.ResultOptions;

/** What an operation declares about its request; pacing and retries follow from it. */
export interface Policy {
	/** Which of the service's rate limits it counts towards. */
	limit: LimitName;
	/** Whether sending it twice costs nothing: decides what happens when the connection breaks. */
	repeatable: boolean;
	/** For a submit with an Idempotency-Key: 409 says that the same request is still being worked on. */
	keyed?: boolean;
	/** A recording is sent along: few at a time, and no overall time limit, only an idle one. */
	upload?: boolean;
	/**
	 * For a submit: counts the tasks in progress, because 429 may mean that the account is full.
	 * Undefined if the list does not show it; throws if the list cannot be read.
	 */
	countTasks?: (caller: Caller) => Promise<number | undefined>;
	/** Any successful answer counts, whatever its type, because the service gives it only once. */
	takesAnyAnswer?: boolean;
}

/** Reads, PUT, DELETE, cancel and dictionary add: a repeat changes nothing. */
export const REPEATABLE: Policy = { limit: 'other', repeatable: true };

/** What one request may ask for beyond its policy. */
export interface CallOptions {
	policy?: Policy;
	/** The answer's `webhook_secret` stays in it: for the caller that seals or stores it. */
	keepWebhookSecret?: boolean;
	/**
	 * When the call has to have ended, in ms since 1970, queueing and retries included. Without it
	 * the patience of retry.ts is the only end.
	 */
	deadline?: number;
	/**
	 * The longest time for the call, in ms from its first turn within the rate limits. A deadline
	 * counts the queue for that turn, which says nothing about the service.
	 */
	fromTurn?: number;
	/** One attempt: the caller asks again by itself, and counts the time in between. */
	once?: boolean;
}

/** The part of n8n's context that a request needs. Action node, triggers and editor lists all have it. */
export interface Caller extends CredentialReader {
	getExecutionCancelSignal?(): AbortSignal | undefined;
	helpers: Pick<IExecuteSingleFunctions['helpers'], 'httpRequestWithAuthentication'>;
}
