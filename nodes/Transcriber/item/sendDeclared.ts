import type {
	IExecuteData,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	INodeExecutionData,
} from 'n8n-workflow';

import { withinTime } from '../../shared/api/abortable';
import { anyBodyOf, bodyOf } from '../../shared/api/answer';
import { asUnsent, exchange } from '../../shared/api/exchange';
import { recordingIn, whileMoving } from '../../shared/api/recording';
import { holdsLongerKey, withoutSecrets } from '../../shared/api/redact';
import { TIMEOUTS } from '../../shared/api/retry';
import { REPEATABLE, type Policy, type RoutingRequest } from '../../shared/api/types';
import { objectsIn, submissionsIn } from '../../shared/api/undocumented';
import type { NodeRun } from './nodeRun';

/**
 * Sends the request that an operation declares in `routing.request`, with rate limits and retries.
 * Returns the items that its `postReceive` hooks made. Throws {@link Abandoned} if a failure stops
 * the run while the request waits for its turn.
 */
export async function sendDeclared(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy = REPEATABLE,
	run?: Pick<NodeRun, 'stopped'>,
): Promise<INodeExecutionData[]> {
	request.options.disableFollowRedirect = true;
	request.options.ignoreHttpStatusErrors = true;
	// The timeout of n8n's HTTP client covers the whole upload, so `upload` watches for idle time.
	request.options.timeout = policy.upload ? TIMEOUTS.upload : TIMEOUTS.request;
	const recordingBytes = policy.upload ? recordingIn(request.options.body)?.size : undefined;
	const path = request.options.url ?? '';
	const bounds = { policy, path, recordingBytes, abandoned: run?.stopped };
	return await exchange(context, bounds, async ({ apiKey }) => {
		noteSending(context, { apiKey, policy, method: request.options.method });
		// A copy, because n8n writes the API key into these headers.
		const options = { ...request.options, headers: { ...request.options.headers } };
		if (policy.upload) return await upload(context, options);
		const answered = policy.repeatable
			? context.makeRoutingRequest({ ...request, options })
			: sendByOurselves(context, options);
		return await withinTime(answered, TIMEOUTS.request);
	});
}

/** What `onlyAnswers` has to know about the request. */
interface Sending {
	apiKey: string;
	policy: Policy;
	method?: string;
}

/** How each item of a run is sent. Saves reading the key again, which queries n8n's database. */
const sendings = new WeakMap<IExecuteData, Sending[]>();

function noteSending(context: IExecuteSingleFunctions, sending: Sending): void {
	const ofRun = sendings.get(context.getExecuteData()) ?? [];
	sendings.set(context.getExecuteData(), ofRun);
	ofRun[context.getItemIndex()] = sending;
}

/** The same as {@link sendByOurselves}, but aborts an upload that stands still. */
async function upload(
	context: IExecutePaginationFunctions,
	options: RoutingRequest['options'],
): Promise<INodeExecutionData[]> {
	return await whileMoving(
		context,
		options.body,
		TIMEOUTS.uploadIdle,
		async (watched) => await sendByOurselves(watched, options),
	);
}

/**
 * Does the same as n8n's routing for a request whose only hook is {@link onlyAnswers}, but marks a
 * failure to read the credential as unsent.
 */
async function sendByOurselves(
	context: IExecuteSingleFunctions,
	options: RoutingRequest['options'],
): Promise<INodeExecutionData[]> {
	let unread: { reason: unknown } | undefined;
	const watched: IExecuteSingleFunctions = Object.create(context, {
		getCredentials: {
			value: async (type: string) =>
				await context.getCredentials(type).catch((reason: unknown) => {
					unread = { reason };
					throw reason;
				}),
		},
	});
	const request = { ...(options as IHttpRequestOptions), returnFullResponse: true };
	const response = await watched.helpers.httpRequestWithAuthentication
		.call(watched, 'transcriberApi', request)
		.catch((error: unknown) => {
			throw unread ? asUnsent(unread.reason) : error;
		});
	return await onlyAnswers.call(context, [{ json: {} }], response as IN8nHttpFullResponse);
}

/**
 * The first `postReceive` hook of every operation: throws unless the response is an answer of the
 * service. If the service answers with a list instead of an object, each element becomes an item.
 */
export async function onlyAnswers(
	this: IExecuteSingleFunctions,
	_items: INodeExecutionData[],
	response: IN8nHttpFullResponse,
): Promise<INodeExecutionData[]> {
	const sending = sendings.get(this.getExecuteData())?.[this.getItemIndex()];
	const { apiKey = '', policy = REPEATABLE, method } = sending ?? {};
	const onCompletion = this.getNodeParameter('onCompletion', 'returnTask') as string;
	// Only the receiver of a webhook needs the secret.
	const isForWebhook = !['returnTask', 'poll'].includes(onCompletion);
	const body = policy.takesAnyAnswer ? anyBodyOf(response) : bodyOf(response, method);
	const answer = submits(policy) ? submissionsIn(body, policy.limit === 'meeting') : body;
	const masked = policy.takesAnyAnswer && holdsLongerKey(answer, apiKey) ? '' : apiKey;
	const kept = policy.takesAnyAnswer ? 'everywhere' : isForWebhook;
	return objectsIn(withoutSecrets(answer, masked, kept)).map((json) => ({ json }));
}

/** The requests that cost money: POST /transcribe, POST /transcribe-url, POST /meeting. */
function submits({ limit }: Policy): boolean {
	return limit === 'submit' || limit === 'meeting';
}
