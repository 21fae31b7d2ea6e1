import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import type { TranscriberCredential } from '../shared/api/credential';
import type { Caller } from '../shared/api/types';

/**
 * A caller that still works after n8n's hook or webhook call has returned. `signal` aborts its requests.
 *
 * It sets the header with the API key itself. `httpRequestWithAuthentication` would resolve the expression
 * in credentials/TranscriberApi.credentials.ts with the sandbox of the call, which n8n 2 takes away
 * when the call returns (live-webhooks.js, `releaseIsolate`). Every later request would fail.
 */
export function lastingCaller(
	context: IHookFunctions | IWebhookFunctions,
	credential: () => Promise<TranscriberCredential>,
	signal?: AbortSignal,
): Caller {
	return {
		getNode: () => context.getNode(),
		getCredentials: async <T extends object>() => (await credential()) as object as T,
		getExecutionCancelSignal: () => signal,
		helpers: {
			httpRequestWithAuthentication: async (_type, options) => {
				const { apiKey } = await credential();
				const headers = { ...options.headers, 'X-API-Key': apiKey };
				return await context.helpers.httpRequest({ ...options, headers });
			},
		},
	};
}
