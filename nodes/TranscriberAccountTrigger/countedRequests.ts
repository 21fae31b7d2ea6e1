import type { IPollFunctions } from 'n8n-workflow';

import { requestWithApiKey } from '../shared/api/requestWithApiKey';

/** A poll whose requests are counted. */
export interface CountedRequests {
	/** The poll's context; every request that leaves through it counts, each repeat included. */
	context: IPollFunctions;
	sent: number;
}

export function countedRequests(context: IPollFunctions): CountedRequests {
	const send = requestWithApiKey(context);
	const helpers: IPollFunctions['helpers'] = {
		...context.helpers,
		httpRequestWithAuthentication: async (...request) => {
			counted.sent += 1;
			return await send.call(context, ...request);
		},
	};
	const counted: CountedRequests = {
		context: Object.create(context, { helpers: { value: helpers } }),
		sent: 0,
	};
	return counted;
}
