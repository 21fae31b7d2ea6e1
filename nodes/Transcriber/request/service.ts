import type {
	IDataObject,
	IExecuteData,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	INodeExecutionData,
	IExecuteSingleFunctions,
	IExecutePaginationFunctions,
	DeclarativeRestApiSettings,
} from 'n8n-workflow';

import { withinTime } from './abortable';
import type { CredentialReader } from './credential';
import { exchange } from './exchange';
import type { LimitName } from './limits';
import { Refused, isWebPage } from './problem';
import { recordingIn, whileMoving } from './recording';
import { RETRY } from './retry';
import { holdsLongerKey, withoutSecrets } from './secrets';
import { objectsIn, submissionIn } from './shapes';

export type RoutingRequest = DeclarativeRestApiSettings.ResultOptions;

/** What an operation declares about its request; pacing and retries follow from it. */
export interface Policy {
	/** Which of the service's rate limits it counts towards. */
	limit: LimitName;
	/** Whether sending it twice costs nothing: decides what happens when the connection breaks. */
	repeatable: boolean;
	/** A recording is sent along: few at a time, and no overall time limit, only an idle one. */
	upload?: boolean;
	/**
	 * For a submit: counts the tasks in progress, because 429 may mean that the account takes no more of
	 * them. Undefined where that is not to be found out; throws where the list cannot be read.
	 */
	countTasks?: (caller: Caller) => Promise<number | undefined>;
	/** Any answer of a success counts, whatever its type: nothing like it ever comes again. */
	takesAnyAnswer?: boolean;
}

/** Reads, PUT, DELETE, cancel and dictionary add: a repeat changes nothing. */
export const REPEATABLE: Policy = { limit: 'other', repeatable: true };

export const TIMEOUTS = {
	/** From sending a request to the end of its answer, in ms. */
	request: 60_000,
	/** Without a byte moving in either direction, in ms. */
	uploadIdle: 300_000,
	/** An upload as a whole, in ms: 8 GB take a day at 100 KB a second. */
	upload: 24 * 3_600_000,
};

/** What one request may ask for beyond its policy. */
export interface CallOptions {
	policy?: Policy;
	/** The answer's `webhook_secret` stays in it: for the caller that seals or stores it. */
	keepWebhookSecret?: boolean;
	/**
	 * When the call has to have ended, in ms since 1970, queueing and retries included. Without it
	 * the patience of retry.ts is the only end.
	 */
	deadline?: number;
	/**
	 * The longest time for the call, in ms from its first turn within the rate limits. A deadline
	 * counts the queue for that turn, which says nothing about the service.
	 */
	fromTurn?: number;
	/** One attempt: the caller asks again by itself, and counts the time in between. */
	once?: boolean;
}

/** What is needed of n8n to talk to the service: action node, trigger and editor lists have it all. */
export interface Caller extends CredentialReader {
	getExecutionCancelSignal?(): AbortSignal | undefined;
	helpers: Pick<IExecuteSingleFunctions['helpers'], 'httpRequestWithAuthentication'>;
}

/**
 * Sends the request an operation declared (its `routing.request`), paced and retried, and returns
 * the items its `postReceive` hooks made.
 */
export async function send(
	this: IExecutePaginationFunctions,
	request: RoutingRequest,
	policy: Policy = REPEATABLE,
): Promise<INodeExecutionData[]> {
	request.options.disableFollowRedirect = true;
	request.options.ignoreHttpStatusErrors = true;
	// n8n's HTTP client counts its timeout over the whole upload, so an upload has its own watch.
	request.options.timeout = policy.upload ? TIMEOUTS.upload : TIMEOUTS.request;
	const recordingBytes = policy.upload ? recordingIn(request.options.body)?.size : undefined;
	const bounds = { policy, path: request.options.url ?? '', recordingBytes };
	return await exchange(this, bounds, async ({ apiKey }) => {
		noteSending(this, { apiKey, policy, method: request.options.method });
		// A copy, because n8n writes the API key into the headers it is given.
		const options = { ...request.options, headers: { ...request.options.headers } };
		if (policy.upload) return await upload(this, options);
		return await withinTime(this.makeRoutingRequest({ ...request, options }), TIMEOUTS.request);
	});
}

/** What `onlyAnswers` has to know of the request that was answered. */
interface Sending {
	apiKey: string;
	policy: Policy;
	method?: string;
}

/** With what each item of a run is sent: to ask n8n for the key again is to ask its database. */
const sendings = new WeakMap<IExecuteData, Sending[]>();

function noteSending(context: IExecuteSingleFunctions, sending: Sending): void {
	const ofRun = sendings.get(context.getExecuteData()) ?? [];
	sendings.set(context.getExecuteData(), ofRun);
	ofRun[context.getItemIndex()] = sending;
}

/** The same as n8n's routing does, but broken off when nothing moves any longer. */
async function upload(
	context: IExecutePaginationFunctions,
	options: RoutingRequest['options'],
): Promise<INodeExecutionData[]> {
	const response = await whileMoving(
		context,
		options.body,
		TIMEOUTS.uploadIdle,
		async (watched) => {
			return await watched.helpers.httpRequestWithAuthentication.call(watched, 'transcriberApi', {
				...(options as IHttpRequestOptions),
				returnFullResponse: true,
			});
		},
	);
	return await onlyAnswers.call(context, [{ json: {} }], response as IN8nHttpFullResponse);
}

/**
 * The first `postReceive` hook of every operation: lets only answers of the service through. Where
 * the service answers with a list instead of an object, each element becomes an item.
 */
export async function onlyAnswers(
	this: IExecuteSingleFunctions,
	_items: INodeExecutionData[],
	response: IN8nHttpFullResponse,
): Promise<INodeExecutionData[]> {
	const sending = sendings.get(this.getExecuteData())?.[this.getItemIndex()];
	const { apiKey = '', policy = REPEATABLE, method } = sending ?? {};
	const onCompletion = this.getNodeParameter('onCompletion', 'returnTask') as string;
	// The secret is for whoever receives the webhook, so it is of use only where one is sent.
	const isForWebhook = !['returnTask', 'poll'].includes(onCompletion);
	const body = policy.takesAnyAnswer ? anyBodyOf(response) : bodyOf(response, method);
	const answer = submits(policy)
		? submissionIn(body as IDataObject, policy.limit === 'meeting')
		: body;
	const masked = policy.takesAnyAnswer && holdsLongerKey(answer, apiKey) ? '' : apiKey;
	return objectsIn(withoutSecrets(answer, masked, isForWebhook)).map((json) => ({ json }));
}

/**
 * A request beside the declared one (status checks, results, exports, editor lists), under the
 * same policy. Returns the JSON body, `{}` where it is empty.
 */
export async function call(
	caller: Caller,
	options: Pick<IHttpRequestOptions, 'method' | 'url' | 'qs' | 'body'>,
	{ policy = REPEATABLE, keepWebhookSecret = false, deadline, fromTurn, once }: CallOptions = {},
): Promise<IDataObject> {
	const end = earliest(deadline, briefEnd(caller));
	return await exchange(
		caller,
		{ policy, path: options.url, deadline: end, fromTurn, once },
		async (credential) => {
			const { baseUrl, apiKey } = credential;
			const request = caller.helpers.httpRequestWithAuthentication.call(
				caller as IExecuteSingleFunctions,
				'transcriberApi',
				{
					...options,
					baseURL: baseUrl,
					json: true,
					disableFollowRedirect: true,
					ignoreHttpStatusErrors: true,
					returnFullResponse: true,
					timeout: TIMEOUTS.request,
				},
			);
			const response: IN8nHttpFullResponse = await withinTime(request, TIMEOUTS.request, end);
			return withoutSecrets(
				bodyOf(response, options.method),
				apiKey,
				keepWebhookSecret,
			) as IDataObject;
		},
	);
}

/** When the first call for each was made, in ms since 1970. */
const firstCalls = new WeakMap<Caller, number>();

/**
 * When all calls for a webhook call or an editor list have to have ended, because a service or a
 * person waits for the answer; undefined for any other caller. n8n makes a context of its own for
 * each of them, and these methods belong to these two alone.
 */
function briefEnd(caller: Caller): number | undefined {
	if (!('getRequestObject' in caller || 'getCurrentNodeParameter' in caller)) return undefined;
	const first = firstCalls.get(caller) ?? Date.now();
	firstCalls.set(caller, first);
	return first + RETRY.brief;
}

function earliest(...times: Array<number | undefined>): number | undefined {
	const given = times.filter((time) => time !== undefined);
	return given.length > 0 ? Math.min(...given) : undefined;
}

/** What is paid for: POST /transcribe, POST /transcribe-url, POST /meeting. */
function submits({ limit }: Policy): boolean {
	return limit === 'submit' || limit === 'meeting';
}

/**
 * The body of a success: an object or a list, `{}` where it is empty. The answers to most writes are
 * not shown, so a text or another plain value is one of them, as `{ value }`, but never a web page or
 * JSON that breaks off. Throws {@link Refused}.
 */
function bodyOf(response: IN8nHttpFullResponse, method = 'GET'): IDataObject {
	const body = anyBodyOf(response) ?? '';
	if (body === '') return {};
	if (typeof body === 'object') return body as IDataObject;
	const isCutOff = typeof body === 'string' && /^\s*[{[]/.test(body);
	if (method === 'GET' || isCutOff || isWebPage(response)) throw new Refused(response);
	return { value: body as IDataObject[string] };
}

/** The body of a success, whatever it is; bytes as text. Throws {@link Refused}. */
function anyBodyOf(response: IN8nHttpFullResponse): unknown {
	const { body, statusCode } = response;
	if (statusCode < 200 || statusCode >= 300) throw new Refused(response);
	return Buffer.isBuffer(body) ? body.toString('utf8') : body;
}
