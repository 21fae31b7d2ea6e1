import type { IExecuteSingleFunctions } from 'n8n-workflow';

/**
 * A context of n8n with one method replaced, for the requests that are sent with it. n8n does not
 * document which methods `helpers.httpRequestWithAuthentication` calls on its `this`. Seen in 2.41.1
 * (request-helpers/authentication.js) and 1.123.81 (request-helper-functions.js):
 * `getExecutionCancelSignal`, whose signal aborts the request, and `getCredentials`.
 */
type Context = Pick<IExecuteSingleFunctions, 'getExecutionCancelSignal' | 'getCredentials'>;

/** If an n8n ignores the signal, the request goes on: callers must not wait for its end. */
export function withCancelSignal<Of extends Context>(context: Of, signal?: AbortSignal): Of {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as Of;
}

/**
 * Calls `onFailure` if the credential cannot be read. If an n8n reads it in another way, that is not
 * noticed: the failure counts as one of a request that may have been sent.
 */
export function watchingCredentials<Of extends Context>(
	context: Of,
	onFailure: (reason: unknown) => void,
): Of {
	return Object.create(context, {
		getCredentials: {
			value: async (type: string) =>
				await context.getCredentials(type).catch((reason: unknown) => {
					onFailure(reason);
					throw reason;
				}),
		},
	}) as Of;
}
