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
 * The context of a call outside an execution, whose requests can still be sent after the client has hung up: n8n 2
 * takes the sandbox away then, too.
 */
export function sendingWithoutSandbox(
	context: IExecutePaginationFunctions,
): IExecutePaginationFunctions {
	const helpers = { ...context.helpers, httpRequestWithAuthentication: requestWithApiKey(context) };
	return Object.create(context, { helpers: { value: helpers } }) as IExecutePaginationFunctions;
}
