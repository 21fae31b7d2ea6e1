import type { IExecutePaginationFunctions, IHttpRequestHelper } from 'n8n-workflow';

import { pasted } from './baseUrl';
import type { Caller } from './types';

/**
 * Sends as n8n's `httpRequestWithAuthentication` does, but sets the header with the API key itself. n8n 2
 * would resolve the expression in credentials/TranscriberApi.credentials.ts with a sandbox that it
 * takes away too early (`releaseIsolate`): when a hook or a webhook call returns (live-webhooks.js),
 * and when a poll of any trigger of the workflow ends (poll-trigger-executor.js). Every later request
 * of the workflow's triggers would fail before it is sent. The credential is the given one: see
 * `forHttpClient`.
 */
export function requestWithApiKey({
	helpers,
}: {
	helpers: Pick<IHttpRequestHelper['helpers'], 'httpRequest'>;
}): Caller['helpers']['httpRequestWithAuthentication'] {
	return async (_type, options, given) => {
		const apiKey = pasted(given?.credentialsDecrypted?.data?.apiKey);
		const headers = { ...options.headers, 'X-API-Key': apiKey };
		return await helpers.httpRequest({ ...options, headers });
	};
}

/**
 * The context of a tool call whose requests can still be sent after its client has hung up: n8n 2 takes
 * the sandbox away then, too. Unlike those of {@link requestWithApiKey}, the requests end with the cancel
 * signal of their context.
 */
export function sendingWithoutSandbox(
	context: IExecutePaginationFunctions,
): IExecutePaginationFunctions {
	const send = requestWithApiKey(context);
	const httpRequestWithAuthentication: typeof send = async function (type, options, given) {
		// The context that is called with has the signal of this request: see withCancelSignal().
		const abortSignal = (this as Caller).getExecutionCancelSignal?.();
		return (await send.call(this, type, { ...options, abortSignal }, given)) as unknown;
	};
	const helpers = { ...context.helpers, httpRequestWithAuthentication };
	return Object.create(context, { helpers: { value: helpers } }) as IExecutePaginationFunctions;
}
