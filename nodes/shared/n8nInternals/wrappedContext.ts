import type { IExecuteSingleFunctions } from 'n8n-workflow';

/**
 * The context with another cancel signal, for the requests that are sent with it. n8n does not document
 * that `helpers.httpRequestWithAuthentication` calls `getExecutionCancelSignal` on its `this`, and
 * aborts the request with that signal. Seen in 2.41.1 (request-helpers/authentication.js) and 1.123.81
 * (request-helper-functions.js). If an n8n ignores the signal, the request goes on: callers must not
 * wait for its end.
 */
export function withCancelSignal<
	Of extends Partial<Pick<IExecuteSingleFunctions, 'getExecutionCancelSignal'>>,
>(context: Of, signal?: AbortSignal): Of {
	return Object.create(context, {
		getExecutionCancelSignal: { value: () => signal },
	}) as Of;
}
