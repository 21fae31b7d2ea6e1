import type {
	IDataObject,
	IExecutePaginationFunctions,
	IExecuteSingleFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	INodeExecutionData,
} from 'n8n-workflow';

import { requestWithin } from '../../shared/api/deadlines';
import { forHttpClient, type TranscriberCredential } from '../../shared/api/credential';
import { anyBodyOf, bodyOf } from '../../shared/api/responseBody';
import { asUnsent, sendWithRetries } from '../../shared/api/sendWithRetries';
import { recordingIn, whileMoving } from '../../shared/api/uploadStream';
import { withoutSecrets, withoutSecretsInText } from '../../shared/api/redact';
import { TIMEOUTS, patienceFor } from '../../shared/api/delayBeforeRetry';
import { ServiceError } from '../../shared/api/serviceError';
import type { Policy, RoutingRequest } from '../../shared/api/types';
import { objectsIn } from '../../shared/api/undocumented/answers';
import { submissionsIn, type SubmissionKind } from '../../shared/api/undocumented/submissions';
import { refuse } from '../../shared/parameters/refuse';
import type { NodeRun } from './nodeRun';

/**
 * Sends the request that an operation declares in `routing.request`, with rate limits and retries. Returns
 * an item for each answer (see {@link answersIn}). Throws {@link Abandoned} if a failure stops the run
 * while the request waits for its turn. With `once`, does not repeat the request. Calls `onAttempt` before
 * each attempt, and says whether the service may have accepted an earlier one, and with which key this one
 * is sent.
 */
export async function sendOperation(
	context: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy,
	run?: Partial<Pick<NodeRun, 'stopped' | 'began'>> & { once?: boolean },
	onAttempt?: (isRepeat: boolean, credential: TranscriberCredential) => void,
): Promise<INodeExecutionData[]> {
	request.options.disableFollowRedirect = true;
	request.options.ignoreHttpStatusErrors = true;
	// The timeout of n8n's HTTP client covers the whole upload, so `upload` watches for idle time.
	request.options.timeout = policy.upload ? TIMEOUTS.upload : TIMEOUTS.request;
	const recordingBytes = policy.upload ? recordingIn(request.options.body)?.size : undefined;
	const path = request.options.url ?? '';
	const isEmpty = isBodiless(request.options.method);
	const bounds = {
		policy,
		path,
		recordingBytes,
		isEmpty,
		abandoned: run?.stopped,
		began: run?.began,
		once: run?.once,
	};
	return await sendWithRetries(context, bounds, async (credential, mayBeAccepted) => {
		checkSameService(context, request, credential);
		onAttempt?.(mayBeAccepted, credential);
		const sending = { credential, policy, method: request.options.method };
		// A copy, because n8n writes the API key into these headers.
		const options = { ...request.options, headers: { ...request.options.headers } };
		if (policy.upload) return await upload(context, options, sending);
		return await requestWithin(
			context,
			async (watched) => await sendOnce(watched, options, sending),
			TIMEOUTS.request,
		);
	});
}

/** Whether a request has failed although it was repeated for its whole patience: the service is away. */
export function isAway(failure: unknown, policy: Policy): boolean {
	if (!(failure instanceof ServiceError)) return false;
	const { status = 503 } = failure.problem;
	// A 408 of a proxy may be about what is asked for.
	return (status >= 500 || status === 429) && patienceFor(failure.problem, policy) !== undefined;
}

/**
 * n8n reads the Base URL when the item begins, and the key is that of now: refuses to send the key of
 * another service. An earlier attempt may have been accepted, so the request stays where it was.
 */
function checkSameService(
	context: IExecutePaginationFunctions,
	{ options }: RoutingRequest,
	{ baseUrl }: TranscriberCredential,
): void {
	if (options.baseURL === baseUrl) return;
	const message =
		"The 'Base URL' of the credential was changed while the request waited, so it was not sent. Run the node again";
	throw asUnsent(refuse(context, message, ''));
}

/** Of the declared requests, only these never have a body. */
function isBodiless(method = 'GET'): boolean {
	return method === 'GET' || method === 'DELETE';
}

/** What {@link sendOnce} and {@link answersIn} have to know about the request. */
interface Sending {
	credential: TranscriberCredential;
	policy: Policy;
	method?: string;
}

/** The same as {@link sendOnce}, but aborts an upload that stands still. */
async function upload(
	context: IExecutePaginationFunctions,
	options: RoutingRequest['options'],
	sending: Sending,
): Promise<INodeExecutionData[]> {
	return await whileMoving(
		context,
		recordingIn(options.body),
		TIMEOUTS.uploadIdle,
		async (watched) => await sendOnce(watched, options, sending),
	);
}

/**
 * Not with n8n's `makeRoutingRequest`, which hands the answer only to a hook in the description of
 * the node: the hook would not know of which request the answer is.
 */
async function sendOnce(
	context: IExecuteSingleFunctions,
	options: RoutingRequest['options'],
	sending: Sending,
): Promise<INodeExecutionData[]> {
	const request = { ...(options as IHttpRequestOptions), returnFullResponse: true };
	const response = await context.helpers.httpRequestWithAuthentication.call(
		context,
		'transcriberApi',
		request,
		forHttpClient(sending.credential),
	);
	return answersIn(response as IN8nHttpFullResponse, sending);
}

/**
 * Throws unless the response is an answer of the service. If the service answers with a list instead
 * of an object, each element becomes an item.
 */
function answersIn(
	response: IN8nHttpFullResponse,
	{ credential, policy, method }: Sending,
): INodeExecutionData[] {
	const body = policy.takesAnyAnswer ? anyBodyOf(response) : bodyOf(response, method);
	const answer = submits(policy)
		? submissionsIn(body, kindOf(policy)).map(withoutSecretsInText)
		: body;
	const kept = policy.takesAnyAnswer ? 'everywhere' : policy.keepsWebhookSecret;
	const answers = objectsIn(withoutSecrets(answer, credential, kept, policy.takesAnyAnswer));
	const mustNotFail = !policy.repeatable && !submits(policy);
	return answers.map((json) => ({ json: mustNotFail ? withoutError(json) : json }));
}

/**
 * With Retry On Fail, n8n runs the node again if its first item has a field `error` (n8n 1: also if that
 * is null). A second run would do harm here, so the field has another name.
 */
export function withoutError(answer: IDataObject): IDataObject {
	if (!('error' in answer)) return answer;
	const { error, ...others } = answer;
	return { ...others, service_error: error };
}

function kindOf({ limit, upload }: Policy): SubmissionKind {
	if (limit === 'meeting') return 'bot';
	return upload ? 'file' : 'link';
}

/** The requests that cost money: POST /transcribe, POST /transcribe-url, POST /meeting. */
function submits({ limit }: Policy): boolean {
	return limit === 'submit' || limit === 'meeting';
}
