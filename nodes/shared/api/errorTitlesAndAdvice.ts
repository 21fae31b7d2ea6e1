import { isForeign503, isFromSomethingElse, mayBeLostRoute } from './gatewayAnswers';
import { isStillRunning, type Problem } from './noUsableAnswer';
import { MAX_FILE_BYTES } from './sizeLimits';

interface Row extends Partial<Pick<Problem, 'status' | 'errorCode' | 'transport'>> {
	path?: RegExp;
	/** A further condition on the problem. */
	when?: (problem: Problem) => boolean;
	message: string | ((problem: Problem) => string);
	next: string;
	/** What follows `next`, unless an earlier attempt of the same request may have been carried out. */
	nothingDone?: string;
	/** The message says too little without what the service said, which stands in the description. */
	isVague?: boolean;
}

/** For 503: says that the node kept trying, unless a long Retry-After or something else ruled that out. */
const unavailable = ({ retryAfter, attempts }: Problem) =>
	retryAfter || attempts === 1
		? 'The service is temporarily unavailable'
		: 'The service is temporarily unavailable and stayed so while the node was trying again';

/** E.g. `5 MB`. */
function sizeIn({ recordingBytes = 0 }: Problem): string {
	const megabytes = recordingBytes / 1024 ** 2;
	return megabytes < 1 ? 'less than 1 MB' : `${Math.round(megabytes)} MB`;
}

/** What FastAPI says by itself: of a path that it does not have, and of a missing API key. */
const SAYS_NOTHING_OF_THE_LINK = /^(not found|not authenticated)$/i;

/** Whether the service itself says why it does not take a link of a recording or a meeting. */
export function isAboutTheLink(problem: Problem): boolean {
	const { status = 0, path, isServiceShape, errorCode, serviceMessage } = problem;
	if (!/^\/(transcribe-url|meeting)$/.test(path)) return false;
	if (![403, 404].includes(status) || !isServiceShape) return false;
	const isSaid = serviceMessage !== undefined && !SAYS_NOTHING_OF_THE_LINK.test(serviceMessage);
	return errorCode !== undefined || isSaid;
}

const RAISE_LIMIT =
	'Something between n8n and the service, such as a proxy, seems to take only smaller requests. Raise its limit (nginx: client_max_body_size)';

const CHANGED_NOTHING = 'This request changed nothing.';

const MAY_BE_DONE =
	'An earlier attempt of this request may have been carried out: look at that first.';

/** Other words about a dictionary may mean a path that is not there. */
const NO_DICTIONARY =
	/^((no|there is no) dictionary|(the )?dictionary (was |is )?(not found|does not exist)|словарь не (найден|существует))/i;

const wordsFor = ({ serviceMessage, errorCode }: Problem) => serviceMessage ?? errorCode;

/**
 * What happened and what to do next, for every row of the service document's error table and for
 * failures before the service answers. The first matching row is used.
 */
const ROWS: Row[] = [
	{
		errorCode: 'consent_required',
		message: 'The bot was not sent because consent to the recording is not confirmed',
		next: "Turn on 'Consent Acknowledged' once the participants know about the recording and agree to it (152-FZ).",
	},
	{
		errorCode: 'invalid_meeting_url',
		message: "The service does not accept the link in 'Meeting URL'",
		next: 'Use the full invitation link of a meeting on one of the supported meeting services.',
		isVague: true,
	},
	{
		errorCode: 'invalid_webhook_url',
		message: 'The service does not accept the webhook address',
		next: `The address has to start with https:// and be reachable from the internet. If you entered it, correct it. If it is that of your n8n, set the public webhook URL of your n8n. Wait for the Transcript (Polling) in the Transcriber node needs no webhook.`,
	},
	{
		errorCode: 'api_balance_exhausted',
		path: /^\/meeting$/,
		message: 'The balance is empty, so no bot was sent',
		next: 'Top up the balance in your account at the service, then try again.',
	},
	{
		errorCode: 'audio_too_long_api_balance',
		message: 'The recording is longer than 4 hours',
		next: 'Split it into parts of up to 4 hours and transcribe each part.',
	},
	{
		errorCode: 'service_unavailable',
		message: unavailable,
		next: 'Try again in a few minutes.',
	},
	{
		when: isFromSomethingElse,
		message: (problem) =>
			`The answer does not come from the service, but is a web page (HTTP ${problem.status})`,
		next: "Check the 'Base URL' in the credential. If it is right, something between n8n and the service, such as a proxy or a login page, has answered instead.",
	},
	{
		status: 401,
		message: 'The service does not accept the API key',
		next: "Check the 'API Key' in the credential, and that the API is enabled in the API section of your account at the service. A rotated key stops working at once.",
		isVague: true,
	},
	{
		when: ({ status }) => status === 408 || status === 499,
		message: 'Something between n8n and the service broke the request off',
		next: 'Try again later. If this persists, check the network between n8n and the service.',
	},
	{
		status: 402,
		message: 'The balance is too low for this request',
		next: 'Top up the balance in your account at the service, then try again.',
	},
	{
		path: /^\/transcribe-url$/,
		when: isAboutTheLink,
		message: (problem) => `The service refuses the link: ${wordsFor(problem)}`,
		next: 'Check that the recording is public: its link has to open without a login. If the answer is about the API key, look in your account at the service what the key may do.',
	},
	{
		path: /^\/meeting$/,
		when: isAboutTheLink,
		message: (problem) => `The service sends no bot to this meeting: ${wordsFor(problem)}`,
		next: "Check 'Meeting URL': it has to be the full invitation link of a meeting that the bot may join. If the answer is about the API key, look in your account at the service what the key may do.",
	},
	{
		status: 403,
		path: /^\/(tasks|meeting)\//,
		message: 'The API key is not allowed to do this',
		next: 'Use the key of an account that owns the task or bot.',
		isVague: true,
	},
	{
		status: 403,
		message: 'The API key is not allowed to do this',
		next: 'Look in your account at the service what the key may do, or use another key.',
		isVague: true,
	},
	{
		status: 404,
		path: /^\/tasks\/[^/]+$/,
		message: 'The service has no task with this ID',
		next: "Check the 'Task' parameter: the id has to come from this account. If it is the ID of a meeting bot, use Meeting: Get, or Meeting: Wait Until Transcribed.",
	},
	{
		status: 404,
		path: /^\/tasks\/[^/]+\/cancel$/,
		message: 'The service has no task with this ID',
		next: "Check the 'Task' parameter: the id has to come from this account. If it is the ID of a meeting bot, use Meeting: Cancel or Stop.",
	},
	{
		// The task may be there without its transcript.
		when: ({ status }) => status === 404 || status === 410,
		path: /^\/(tasks\/[^/]+\/(result|export)|dictionary\/preview)$/,
		message: 'The service has no transcript under this ID',
		next: "Check the 'Task' parameter: the id has to come from this account. If Transcript: Get shows the task as completed, try again in some minutes; if the answer is still the same, the service no longer keeps its transcript. If it is the ID of a meeting bot, use Meeting: Wait Until Transcribed.",
	},
	{
		status: 404,
		path: /^\/tasks\//,
		message: 'The service has no such path, or no task with this ID',
		next: "Check the 'Path' and 'Task' parameters.",
	},
	{
		status: 404,
		path: /^\/meeting\//,
		message: 'The service has no meeting bot with this ID',
		next: "Check the 'Bot ID' parameter: the id has to come from this account. If it is the ID of a task, use Transcript: Get, Transcript: Cancel or Transcript: Wait Until Finished.",
	},
	{
		status: 404,
		path: /^\/dictionary$/,
		when: ({ isServiceShape, serviceMessage = '' }) =>
			isServiceShape === true && NO_DICTIONARY.test(serviceMessage),
		message: 'The service has no dictionary for this account yet',
		next: 'Dictionary: Add writes the first terms without reading it before. If that is refused, too, look in your account at the service.',
	},
	{
		status: 404,
		message: 'There is nothing at this address of the service',
		next: "Check the 'Base URL' in the credential: it is the address of the service itself, without a path of your own.",
	},
	{
		status: 407,
		message: 'The proxy between n8n and the internet wants a user name and a password',
		next: "Tell whoever runs n8n to check 'HTTPS_PROXY' in its settings. The request has not reached the service.",
	},
	{
		status: 409,
		path: /^\/transcribe/,
		when: ({ isKeyed }) => !isKeyed,
		message: 'The service refused the recording because of a conflict, so nothing was submitted',
		next: 'The same link may be in progress already: look with Transcript: Get Many and Return All. If it is not, submit this item alone in a new execution.',
		isVague: true,
	},
	{
		status: 409,
		path: /^\/transcribe/,
		when: (problem) => !isStillRunning(problem),
		message: (problem) => `The service refuses the recording: ${wordsFor(problem)}`,
		next: 'Change what the service names. If it names the idempotency key, look first with Transcript: Get Many and Return All whether the recording is there.',
	},
	{
		status: 409,
		path: /^\/transcribe/,
		message: 'The same request is still being worked on by the service',
		next: 'Another request with the same idempotency key has not ended yet. Try again when it has. If the answer says that the key came with other content, waiting does not help: look first with Transcript: Get Many and Return All whether the recording is there, because with another key you would pay again.',
	},
	{
		status: 409,
		path: /^\/tasks\/[^/]+\/(result|export|preview)/,
		message: 'The service cannot give this of the task now',
		next: 'Try again in a minute. The task is not lost: look at its status with Transcript: Get.',
		isVague: true,
	},
	{
		status: 409,
		path: /^\/(tasks|meeting)\/./,
		message: 'The service cannot do this in the present state of the task or bot',
		next: 'What has ended cannot be cancelled, for example. Look at its status first.',
		isVague: true,
	},
	{
		status: 409,
		message: 'The request conflicts with something that the service has already',
		next: 'The answer of the service says with what.',
		nothingDone: 'Nothing was done for this request.',
		isVague: true,
	},
	{
		status: 413,
		path: /^\/dictionary$/,
		when: ({ isEmpty }) => isEmpty === true,
		message: 'The request for the dictionary was refused for its size, although it sends no terms',
		next: 'Look at the dictionary in your account at the service, or try again later.',
		nothingDone: CHANGED_NOTHING,
	},
	{
		status: 413,
		path: /^\/transcribe-url$/,
		message: 'The recording behind the link is larger than the service takes',
		next: 'It takes files of up to 8 GB. Split the recording or save it with stronger compression.',
		isVague: true,
	},
	{
		status: 413,
		path: /^\/transcribe$/,
		when: ({ isRepeat, isServiceShape, recordingBytes = 0 }) =>
			isRepeat === true && !isServiceShape && recordingBytes < MAX_FILE_BYTES,
		message: (problem) =>
			`The file (${sizeIn(problem)}) was refused for its size, although the service takes up to 8 GB`,
		// As a link, the service would take it for another recording, and charge again.
		next: `${RAISE_LIMIT}.`,
	},
	{
		status: 413,
		path: /^\/transcribe$/,
		when: ({ isServiceShape, recordingBytes = 0 }) =>
			!isServiceShape && recordingBytes < MAX_FILE_BYTES,
		message: (problem) =>
			`The file (${sizeIn(problem)}) was refused for its size, although the service takes up to 8 GB`,
		next: `${RAISE_LIMIT}, or let the service fetch the recording with Audio or Video: Transcribe URL.`,
	},
	{
		status: 413,
		path: /^\/transcribe$/,
		when: ({ recordingBytes = 0 }) => recordingBytes < MAX_FILE_BYTES,
		message: (problem) =>
			`The file (${sizeIn(problem)}) is larger than the service takes, although it documents a limit of 8 GB`,
		next: 'A lower limit may apply to your account. Split the recording or save it with stronger compression.',
		isVague: true,
	},
	{
		status: 413,
		path: /^\/transcribe$/,
		message: 'The file is larger than the 8 GB the service takes',
		next: 'Split the recording or save it with stronger compression.',
	},
	{
		status: 413,
		path: /^\/dictionary/,
		when: ({ isServiceShape }) => isServiceShape === true,
		message: 'The dictionary would be larger than 20 000 characters',
		next: 'Remove terms and try again.',
		nothingDone: CHANGED_NOTHING,
		isVague: true,
	},
	{
		status: 413,
		path: /^\/dictionary/,
		message: 'The request was refused for its size: the list of terms is too large',
		nothingDone: CHANGED_NOTHING,
		next: 'The service takes up to 20 000 characters. If the list is shorter, something between n8n and the service, such as a proxy, takes only smaller requests: raise its limit.',
	},
	{
		status: 413,
		message: 'The request was refused for its size',
		next: 'Send less at once. Something between n8n and the service, such as a proxy, may take only smaller requests: then raise its limit.',
	},
	{
		status: 429,
		path: /^\/transcribe/,
		message: 'The service takes no more recordings for now',
		next: 'It allows 10 submits a minute and 20 tasks in progress at once. Try again when earlier tasks have finished. Those that wait for the balance finish only after a top-up.',
		isVague: true,
	},
	{
		status: 429,
		path: /^\/meeting$/,
		message: 'The service takes no more meeting bots for now',
		next: 'It allows 20 bot launches a minute and 20 tasks in progress at once. Try again later.',
		isVague: true,
	},
	{
		status: 429,
		message: 'The service has had too many requests with this API key',
		next: 'It allows 60 requests a minute (5 for summary regeneration). Check what else uses the same key, then try again.',
	},
	{
		// Whether the request was carried out is not known, so nothing is said about it.
		when: isForeign503,
		message: 'The service is temporarily unavailable',
		next: 'Try again in a few minutes.',
	},
	{
		status: 503,
		path: /^\/meeting$/,
		message: 'The bot service is temporarily unavailable',
		next: 'No bot was sent. Try again in a few minutes.',
	},
	{
		status: 503,
		message: unavailable,
		next: 'Try again in a few minutes.',
	},
	{
		status: 502,
		message: 'Something between n8n and the service got no usable answer from it',
		next: 'Try again later. If this persists, tell whoever runs the proxy, or the support of the service.',
	},
	{
		status: 504,
		message: 'Something between n8n and the service did not get its answer in time',
		next: 'Try again later. If this persists, tell whoever runs the proxy, or the support of the service.',
	},
	{
		transport: 'redirect',
		message: 'The service answered with a redirect, which is not followed to keep the API key safe',
		next: "Check the 'Base URL' in the credential: use the final address, with https://.",
	},
	{
		transport: 'notJson',
		message: 'Something other than the service answered at this address',
		next: "Something between n8n and the service answered instead, for example a proxy or a login page. Check the 'Base URL' in the credential.",
	},
	{
		transport: 'tls',
		message: 'No secure connection to the service can be made',
		next: "Check the 'Base URL' in the credential: whether the address speaks https, and whether its certificate is valid and trusted by n8n.",
	},
	{
		transport: 'unknownHost',
		message: 'There is no server with the name in the address of the service',
		next: "Check the 'Base URL' in the credential for a typing mistake.",
	},
	{
		transport: 'unreachable',
		message: 'The service cannot be reached',
		next: "Check the 'Base URL' in the credential and the network connection of n8n.",
	},
	{
		transport: 'blocked',
		message: 'n8n does not allow requests to the address of the service',
		next: "Check the 'Base URL' in the credential. If it is right, ask whoever runs n8n to add its host to N8N_SSRF_ALLOWED_HOSTNAMES, or its IP address to N8N_SSRF_ALLOWED_IP_RANGES (as a range such as 10.0.0.7/32).",
	},
	{
		transport: 'noTurn',
		message: 'n8n has used up the requests a minute that the service allows for this API key',
		next: 'Try again in a minute.',
	},
	{
		transport: 'timeout',
		message: 'The service did not answer in time',
		next: 'Try again later. If this persists, check the network between n8n and the service.',
	},
	{
		transport: 'broken',
		message: 'The connection to the service broke before it answered',
		next: 'Try again later. If this persists, check the network between n8n and the service.',
	},
	{
		transport: 'unreadableFile',
		message: 'The file cannot be read from the storage of n8n',
		next: 'Run the step that made the file again, and check the storage of n8n if this persists.',
	},
	{
		transport: 'storage',
		message: 'The connection of n8n to its own storage broke while the file was read',
		next: 'Try again later. If this persists, tell whoever runs n8n to check its storage for files, such as S3.',
	},
];

const FALLBACK: Row = {
	message: 'The service refused the request',
	next: 'Change what the service names in its answer, then try again.',
	isVague: true,
};

const SERVER_FAULT: Row = {
	message: 'The service has an internal fault',
	next: 'Try again later, and tell the support of the service if this persists.',
	isVague: true,
};

const OR_SOMETHING_ELSE = ', or something else has answered in its place';

const IF_LOST_ROUTE =
	'A proxy answers like this while the service restarts: then try again in a minute.';

/** The error message for a problem, and what the user can do next. */
export function rowFor(problem: Problem): { message: string; next: string; isVague: boolean } {
	const row = ROWS.find(
		(candidate) =>
			(candidate.errorCode === undefined || candidate.errorCode === problem.errorCode) &&
			(candidate.status === undefined || candidate.status === problem.status) &&
			(candidate.transport === undefined || candidate.transport === problem.transport) &&
			(candidate.path === undefined || candidate.path.test(problem.path)) &&
			(candidate.when === undefined || candidate.when(problem)),
	);
	const {
		message,
		nothingDone = '',
		isVague = false,
		...others
	} = row ?? ((problem.status ?? 0) >= 500 ? SERVER_FAULT : FALLBACK);
	const title = typeof message === 'string' ? message : message(problem);
	const done = problem.isRepeat && nothingDone ? MAY_BE_DONE : nothingDone;
	const next = [others.next, done].filter(Boolean).join(' ');
	if (!mayBeLostRoute(problem)) return { message: title, next, isVague };
	return { message: `${title}${OR_SOMETHING_ELSE}`, next: `${next} ${IF_LOST_ROUTE}`, isVague };
}
