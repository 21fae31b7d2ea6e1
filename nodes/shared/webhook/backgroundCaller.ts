import type { IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import type { TranscriberCredential } from '../api/credential';
import { requestWithApiKey } from '../api/requestWithApiKey';
import type { Caller } from '../api/types';

/**
 * A caller that still works after n8n's hook or webhook call has returned. `signal` ends its waiting for
 * turns and repeats; it does not abort a request that is under way.
 */
export function backgroundCaller(
	context: IHookFunctions | IWebhookFunctions,
	credential: () => Promise<TranscriberCredential>,
	signal?: AbortSignal,
): Caller {
	return {
		getNode: () => context.getNode(),
		getCredentials: async <T extends object>() => (await credential()) as object as T,
		getExecutionCancelSignal: () => signal,
		helpers: { httpRequestWithAuthentication: requestWithApiKey(context) },
	};
}
