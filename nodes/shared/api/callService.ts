import type {
	IDataObject,
	IExecuteSingleFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { isForEditorList, isForWebhookCall } from '../n8nInternals/webhookOrEditor';
import { requestWithin } from './deadlines';
import { bodyOf } from './responseBody';
import { forHttpClient } from './credential';
import { sendWithRetries } from './sendWithRetries';
import { withoutSecrets } from './redact';
import { RETRY, TIMEOUTS } from './delayBeforeRetry';
import { REPEATABLE, type CallOptions, type Caller } from './types';

/**
 * Sends a request that no operation declares (status checks, results, exports, editor lists), with
 * the same rate limits and retries. Returns the JSON body, or `{}` if it is empty.
 */
export async function callService(
	caller: Caller,
	options: Pick<IHttpRequestOptions, 'method' | 'url' | 'qs' | 'body'>,
	{
		policy = REPEATABLE,
		keepWebhookSecret = false,
		deadline,
		attemptMs = 0,
		fromTurn,
		once,
		isRepeat,
		noContent,
	}: CallOptions = {},
): Promise<IDataObject> {
	const end = earliest(deadline, briefEnd(caller));
	let began: number | undefined;
	return await sendWithRetries(
		caller,
		{ policy, path: options.url, deadline: end, fromTurn, once, isRepeat, isEmpty: !options.body },
		async (credential) => {
			began ??= Date.now();
			const last = earliest(
				end === undefined ? undefined : Math.max(end, Date.now() + attemptMs),
				fromTurn === undefined ? undefined : began + fromTurn,
			);
			const send = async (watched: Caller): Promise<IN8nHttpFullResponse> =>
				(await caller.helpers.httpRequestWithAuthentication.call(
					watched as IExecuteSingleFunctions,
					'transcriberApi',
					{
						...options,
						baseURL: credential.baseUrl,
						json: true,
						disableFollowRedirect: true,
						ignoreHttpStatusErrors: true,
						returnFullResponse: true,
						timeout: TIMEOUTS.request,
					},
					forHttpClient(credential),
				)) as IN8nHttpFullResponse;
			const response = await requestWithin(caller, send, TIMEOUTS.request, last);
			if (noContent && response.statusCode === 204) return noContent as unknown as IDataObject;
			return withoutSecrets(
				bodyOf(response, options.method),
				credential,
				keepWebhookSecret,
			) as IDataObject;
		},
	);
}

/** When each caller made its first call, in ms since 1970. */
const firstCalls = new WeakMap<Caller, number>();

/**
 * The deadline for all requests of a webhook call or an editor list, because the service or the
 * user waits for the answer; undefined for other callers.
 */
function briefEnd(caller: Caller): number | undefined {
	if (!isForWebhookCall(caller) && !isForEditorList(caller)) return undefined;
	const first = firstCalls.get(caller) ?? Date.now();
	firstCalls.set(caller, first);
	return first + RETRY.brief;
}

function earliest(...times: Array<number | undefined>): number | undefined {
	const given = times.filter((time) => time !== undefined);
	return given.length > 0 ? Math.min(...given) : undefined;
}
