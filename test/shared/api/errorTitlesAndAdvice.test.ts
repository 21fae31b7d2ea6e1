/** "Every request" in the contract: each service error tells what happened and what to do next. */

import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { INodeParameters } from 'n8n-workflow';

import { rowFor } from '../../../nodes/shared/api/errorTitlesAndAdvice';
import { problemOf, type Problem } from '../../../nodes/shared/api/noUsableAnswer';
import { readRefusal } from '../../../nodes/shared/api/refusalBody';
import { transportOf } from '../../../nodes/shared/api/connectionError';
import type { FaultRule, SimulatorOptions } from '../../simulator/index';
import { selfSignedCertificate } from '../../support/certificate';
import { until } from '../../simulator/testing-client';
import { runNode, storedBinary, type Outcome } from '../../support/engine';
import { giveUpSoon } from '../../support/scale';
import { byId, itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { RETRY, TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT, BOT, FILE, LINK } from '../../support/parameters';
import { few, long } from '../../support/long';

const service = serviceForTests();

const DICTIONARY = { resource: 'dictionary', operation: 'add', terms: 'n8n' };
const REGENERATE = {
	resource: 'task',
	operation: 'regenerateSummary',
	taskId: byId('1'),
	path: '/tasks/{taskId}/summary',
};

interface Row {
	/** The row of the document's table. */
	row: string;
	parameters: INodeParameters;
	/** The simulator in a state in which it refuses, or … */
	options?: Partial<SimulatorOptions>;
	/** … a fault where the node itself would not let it come to this. */
	answer?: { status: number; code?: string };
	apiKey?: string;
	httpCode: string;
	message: RegExp;
	/** What to do next. */
	next: RegExp;
	/** The service's own words. */
	words: string;
}

/** Every row of the service document's table "Errors". */
const ROWS: Row[] = [
	{
		row: '400 consent_required',
		parameters: BOT,
		answer: { status: 400, code: 'consent_required' },
		httpCode: '400',
		message: /^The bot was not sent because consent to the recording is not confirmed/,
		next: /Turn on 'Consent Acknowledged'/,
		words: 'Words of the service',
	},
	{
		row: '400 invalid_meeting_url',
		parameters: { ...BOT, meetingUrl: 'https://unsupported.example.com/abc' },
		httpCode: '400',
		message: /^The service does not accept the link in 'Meeting URL'/,
		next: /full invitation link/,
		words: 'meeting_url',
	},
	{
		row: '400 invalid_webhook_url',
		parameters: { ...BOT, onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com' },
		answer: { status: 400, code: 'invalid_webhook_url' },
		httpCode: '400',
		message: /^The service does not accept the webhook address/,
		next: /start with https:\/\/ .*If you entered it, correct it.*public webhook URL of your n8n/,
		words: 'Words of the service',
	},
	{
		row: '401 with a wrong key',
		parameters: ACCOUNT,
		apiKey: 'wrong key',
		httpCode: '401',
		message: /^The service does not accept the API key/,
		next: /Check the 'API Key' in the credential, and that the API is enabled .* your account at the service/,
		words: 'The API key is invalid',
	},
	{
		row: '401 with the API not enabled in the cabinet',
		parameters: ACCOUNT,
		options: { apiEnabled: false },
		httpCode: '401',
		message: /^The service does not accept the API key/,
		next: /the API is enabled in the API section of your account at the service/,
		words: 'The API is not enabled in the cabinet',
	},
	{
		row: '402 api_balance_exhausted',
		parameters: BOT,
		options: { balance: 0 },
		httpCode: '402',
		message: /^The balance is empty, so no bot was sent/,
		next: /Top up the balance/,
		words: 'The API balance is empty',
	},
	{
		row: '402 api_balance_exhausted where no bot was asked for',
		parameters: LINK,
		answer: { status: 402, code: 'api_balance_exhausted' },
		httpCode: '402',
		message: /^The balance is too low for this request/,
		next: /Top up the balance/,
		words: 'Words of the service',
	},
	{
		row: '409 for a bot, of which the document says nothing',
		parameters: BOT,
		answer: { status: 409 },
		httpCode: '409',
		message: /^The request conflicts with something that the service has already/,
		next: /The answer of the service says with what/,
		words: 'Words of the service',
	},
	{
		row: '409 for a result that is not ready',
		parameters: { resource: 'task', operation: 'getResult', taskId: '7f3c' },
		answer: { status: 409 },
		httpCode: '409',
		message: /^The service cannot give this of the task now/,
		next: /Try again in a minute/,
		words: 'Words of the service',
	},
	{
		row: '409 for a parallel request with the same key',
		parameters: FILE,
		answer: { status: 409 },
		httpCode: '409',
		message: /^The same request is still being worked on by the service/,
		next: /same idempotency key/,
		words: 'Words of the service',
	},
	{
		row: '409 with a code, which the documented one has not',
		parameters: FILE,
		answer: { status: 409, code: 'idempotency_key_reused' },
		httpCode: '409',
		message: /^The service refuses the recording: Words of the service/,
		next: /Get Many and Return All/,
		words: 'Words of the service',
	},
	{
		row: '413 audio_too_long_api_balance',
		parameters: FILE,
		options: { maxRecordingSeconds: 30 },
		httpCode: '413',
		message: /^The recording is longer than 4 hours/,
		next: /Split it/,
		words: 'The recording is longer than 4 hours, split it',
	},
	{
		row: '413 for a large file',
		parameters: FILE,
		options: { maxFileBytes: 3 },
		httpCode: '413',
		message: /^The file \(less than 1 MB\) is larger than the service takes, although .* of 8 GB/,
		next: /Split the recording/,
		words: 'The file is larger than 3 bytes',
	},
	{
		row: '413 for a large dictionary',
		parameters: DICTIONARY,
		answer: { status: 413 },
		httpCode: '413',
		message: /^The dictionary would be larger than 20 000 characters/,
		next: /Remove terms/,
		words: 'Words of the service',
	},
	{
		row: '429 for more than 20 tasks in progress, or 10 submits a minute',
		parameters: FILE,
		options: { tasksInProgress: 0 },
		httpCode: '429',
		message: /^The service takes no more recordings for now/,
		next: /10 submits a minute and 20 tasks in progress/,
		words: 'More than 0 tasks in progress',
	},
	{
		row: '429 for more than 20 meeting launches a minute',
		parameters: BOT,
		answer: { status: 429 },
		httpCode: '429',
		message: /^The service takes no more meeting bots for now/,
		next: /20 bot launches a minute/,
		words: 'Words of the service',
	},
	{
		row: '429 for more than 60 of the rest a minute',
		parameters: ACCOUNT,
		answer: { status: 429 },
		httpCode: '429',
		message: /^The service has had too many requests with this API key/,
		next: /60 requests a minute/,
		words: 'Words of the service',
	},
	{
		row: '429 for more than 5 summary regenerations a minute',
		parameters: REGENERATE,
		answer: { status: 429 },
		httpCode: '429',
		message: /^The service has had too many requests with this API key/,
		next: /5 for summary regeneration/,
		words: 'Words of the service',
	},
	{
		row: '503 service_unavailable',
		parameters: ACCOUNT,
		answer: { status: 503, code: 'service_unavailable' },
		httpCode: '503',
		message:
			/^The service is temporarily unavailable and stayed so while the node was trying again/,
		next: /in a few minutes/,
		words: 'Words of the service',
	},
	{
		row: '503 of the bot service',
		parameters: BOT,
		answer: { status: 503 },
		httpCode: '503',
		message: /^The bot service is temporarily unavailable/,
		next: /No bot was sent/,
		words: 'Words of the service',
	},
];

/** What the document does not show, but a client meets. */
const OTHER_ROWS: Row[] = [
	{
		row: 'an unknown task',
		parameters: { resource: 'task', operation: 'get', taskId: byId('nothing') },
		httpCode: '404',
		message: /^The service has no task with this ID/,
		next: /Check the 'Task' parameter.* meeting bot, use Meeting: Get, or/,
		words: 'No such task',
	},
	{
		row: 'an unknown task to cancel, which may be a bot that goes on recording',
		parameters: { resource: 'task', operation: 'cancel', taskId: byId('nothing') },
		httpCode: '404',
		message: /^The service has no task with this ID/,
		next: /Check the 'Task' parameter.* meeting bot, use Meeting: Cancel or Stop/,
		words: 'No such task',
	},
	{
		row: 'the result of an unknown task',
		parameters: { resource: 'task', operation: 'getResult', taskId: byId('nothing') },
		httpCode: '404',
		message: /^The service has no transcript under this ID/,
		next: /meeting bot, use Meeting: Wait Until Transcribed/,
		words: 'No such task',
	},
	{
		row: 'a path for the summary regeneration that the service does not have',
		parameters: REGENERATE,
		httpCode: '404',
		message: /^The service has no such path, or no task with this ID/,
		next: /'Path' and 'Task'/,
		words: 'No such path',
	},
	{
		row: 'an unknown bot',
		parameters: { resource: 'meeting', operation: 'get', botId: 'nothing' },
		httpCode: '404',
		message: /^The service has no meeting bot with this ID/,
		next: /Check the 'Bot ID' parameter/,
		words: 'No such bot',
	},
	{
		row: 'a 503 when a bot is looked at, which says nothing of sending one',
		parameters: { resource: 'meeting', operation: 'get', botId: 'b1' },
		answer: { status: 503 },
		httpCode: '503',
		message: /^The service is temporarily unavailable/,
		next: /^Try again in a few minutes\./,
		words: 'Words of the service',
	},
	{
		row: 'a key that may not see the task',
		parameters: { resource: 'task', operation: 'get', taskId: byId('a') },
		answer: { status: 403 },
		httpCode: '403',
		message: /^The API key is not allowed to do this/,
		next: /an account that owns the task/,
		words: 'Words of the service',
	},
	{
		row: 'a key that may not see the account',
		parameters: ACCOUNT,
		answer: { status: 403 },
		httpCode: '403',
		message: /^The API key is not allowed to do this/,
		next: /what the key may do/,
		words: 'Words of the service',
	},
	{
		row: 'a parameter the service does not take',
		parameters: { ...ACCOUNT },
		answer: { status: 422 },
		httpCode: '422',
		message: /^The service refused the request/,
		next: /Change what the service names/,
		words: 'Words of the service',
	},
	{
		row: 'an internal fault',
		parameters: ACCOUNT,
		answer: { status: 500 },
		httpCode: '500',
		message: /^The service has an internal fault/,
		next: /tell the support of the service/,
		words: 'Words of the service',
	},
];

function fault(action: FaultRule['action'], times = 100_000): void {
	service.running().fault({ match: {}, times, action });
}

function refusal({ status, code }: { status: number; code?: string }): FaultRule['action'] {
	const message = 'Words of the service';
	return { kind: 'respond', status, body: { detail: { error_code: code, message } } };
}

async function accountAt(baseUrl: string): Promise<Outcome> {
	return await runNode({ parameters: ACCOUNT, credentials: { baseUrl, apiKey: 'any key' } });
}

beforeEach(() => {
	giveUpSoon();
	// Long enough for a second attempt on a busy machine, too.
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 100);
});

few.it.each([...ROWS, ...OTHER_ROWS])(
	'$row: what happened, what to do next, the status and the service’s own words',
	async ({ parameters, options, answer, apiKey, httpCode, message, next, words }) => {
		service.running().configure(options ?? {});
		if (answer) fault(refusal(answer));
		const { error } = await service.run(parameters, {
			items: [itemWithFile()],
			credentials: service.credentials(apiKey ? { apiKey } : {}),
		});
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode,
			message: expect.stringMatching(message),
			description: expect.stringMatching(next),
			context: { itemIndex: 0 },
		});
		expect(error?.description).toContain(`HTTP ${httpCode}`);
		expect(error?.description).toContain(words);
		if (answer?.code) expect(error?.description).toContain(answer.code);
	},
);

it('the codes of the table have sentences of their own', () => {
	const sentences = ROWS.map(({ message }) => message.source);
	const shared = /API key|too many requests/;
	const own = sentences.filter((sentence) => !shared.test(sentence));
	expect(new Set(own).size).toBe(own.length);
});

it('the item that failed is named, by its number', async () => {
	const id = await service.pendingTask();
	const { error } = await service.run(
		{ resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
		{ items: itemsOf({ id }, { id: 'nothing' }) },
	);
	expect(error?.message).toMatch(/\[item 1\]$/);
	expect(error?.context).toMatchObject({ itemIndex: 1 });
});

it('the item that failed is named also where the others go on', async () => {
	const id = await service.pendingTask();
	const { items } = await service.run(
		{ resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
		{ items: itemsOf({ id }, { id: 'nothing' }), node: { onError: 'continueRegularOutput' } },
	);
	expect(items[1]?.json.error).toMatch(/\[item 1\]$/);
	expect(items[1]?.error?.context).toMatchObject({ itemIndex: 1 });
});

it.each(['object', 'string', 'list'] as const)(
	'the service’s words are kept where `detail` without a code is: %s',
	async (errorDetail) => {
		service.running().configure({ shapes: { errorDetail } });
		const parameters = { resource: 'task', operation: 'get', taskId: byId('nothing') };
		const { error } = await service.run(parameters);
		expect(error?.description).toContain('HTTP 404: “No such task”');
		service.running().configure({ shapes: { errorDetail: 'object' } });
	},
);

const MESSAGE = 'Words from elsewhere';

it.each<[string, unknown, string]>([
	['a text', MESSAGE, MESSAGE],
	['`message`', { message: MESSAGE }, MESSAGE],
	['`error` as a text', { error: MESSAGE }, MESSAGE],
	['`error` as an object', { error: { code: 'x1', message: MESSAGE } }, MESSAGE],
	['OAuth', { error: 'x1', error_description: MESSAGE }, 'x1'],
	[
		'JSON:API',
		{ errors: [{ code: 'x1', title: MESSAGE }, { detail: 'More' }] },
		`${MESSAGE}; More`,
	],
	['RFC 9457', { type: 'about:blank', title: 'Bad', detail: MESSAGE }, MESSAGE],
	['RFC 9457 without detail', { type: 'about:blank', title: MESSAGE, status: 418 }, MESSAGE],
	['FastAPI', { detail: [{ loc: ['body', 'language'], msg: MESSAGE }] }, `language: ${MESSAGE}`],
	['objects within objects', { detail: { message: { text: 'x', message: MESSAGE } } }, MESSAGE],
	['JSON that is sent as a text', JSON.stringify({ detail: MESSAGE }), MESSAGE],
	['a page with styles', `<style>p { color: red }</style><p>${MESSAGE}</p>`, MESSAGE],
])('the words of a refusal are found in %s', (_shape, body, words) => {
	expect(readRefusal(body).serviceMessage).toBe(words);
});

it.each<[string, unknown]>([
	['nothing', undefined],
	['null', null],
	['an empty object', {}],
	['an object without words', { detail: { a: { b: 1 } } }],
	['a list of nothing', [null, {}, []]],
	['true', true],
])('a refusal without words is no [object Object]: %s', (_shape, body) => {
	expect(readRefusal(body).serviceMessage).toBeUndefined();
});

it.each<[string, (inner: unknown) => unknown]>([
	['lists', (inner) => Array.from({ length: 30 }, () => inner)],
	['objects', (inner) => ({ detail: inner, message: inner, error: inner, errors: [inner] })],
])('a refusal of nested %s is not read to its end', (_what, wrap) => {
	let body: unknown = {};
	for (let level = 0; level < 1000; level++) body = wrap(body);
	expect(readRefusal(body).serviceMessage).toBeUndefined();
});

it('a code that says the service is unavailable says more than the path of a bot', () => {
	const problem = { path: '/meeting', status: 503, errorCode: 'service_unavailable' };
	expect(rowFor(problem).message).toMatch(/^The service is temporarily unavailable/);
});

describe('The path of a summary regeneration, which the user gives,', () => {
	const messageOf = (path: string, more: Partial<Problem>) => rowFor({ path, ...more }).message;

	it.each([
		...['/tasks/7', '/tasks/7/result', '/dictionary', '/dictionary/preview'],
		...['/meeting', '/meeting/7', '/transcribe', '/transcribe-url'],
	])('may end with %s, and neither message nor advice is about that path', (path) => {
		const inItsShape = { isEmpty: true, isServiceShape: true };
		const withCode = { errorCode: 'already_exists' };
		for (const status of [403, 404, 409, 413, 429, 503]) {
			for (const more of [inItsShape, withCode]) {
				const problem = { status, ...more };
				expect([status, rowFor({ path: `/summaries${path}`, ...problem })]).toEqual([
					status,
					rowFor({ path: '/summaries', ...problem }),
				]);
			}
		}
	});

	it('may begin with the path of a recording or of a bot', () => {
		expect(messageOf('/transcribe/7', { status: 413 })).toBe(messageOf('/', { status: 413 }));
		expect(messageOf('/transcribe-url/7', { status: 413 })).toBe(messageOf('/', { status: 413 }));
		expect(messageOf('/meeting/7', { status: 429 })).toBe(messageOf('/', { status: 429 }));
		expect(messageOf('/dictionary/7', { status: 413, isEmpty: true })).toMatch(/list of terms/);
	});
});

it('The message about the size of a file goes by MB of 1024², and the limit by 8 GB', () => {
	const messageOf = (recordingBytes: number, isServiceShape: boolean) =>
		rowFor({ path: '/transcribe', status: 413, recordingBytes, isServiceShape }).message;
	const [large, small] = [8 * 1024 ** 3, 1024 ** 2];
	expect(messageOf(small - 1, true)).toContain('less than 1 MB');
	expect(messageOf(small, true)).toContain('(1 MB)');
	for (const isServiceShape of [true, false]) {
		expect(messageOf(large - 1, isServiceShape)).toContain('(8192 MB)');
		expect(messageOf(large, isServiceShape)).toBe(
			'The file is larger than the 8 GB the service takes',
		);
	}
});

it('The turn that did not come is not blamed on the service', () => {
	expect(rowFor({ path: '/account', transport: 'noTurn' }).message).toMatch(/^n8n has used up/);
});

it.each([{ status: 408 }, { status: 408, isWebPage: true }, { status: 499 }])(
	'A request that a proxy has ended asks the user to change nothing: %j',
	(more) => {
		const { message, next } = rowFor({ path: '/transcribe', ...more });
		expect(message).toBe('Something between n8n and the service broke the request off');
		expect(next).toMatch(/^Try again later/);
	},
);

it('A web page with a status of a server is a fault of the service, with 499 it is not', () => {
	const messageOf = (status: number) =>
		rowFor({ path: '/account', status, isWebPage: true }).message;
	expect(messageOf(500)).toBe('The service has an internal fault');
	expect(messageOf(499)).toMatch(/is a web page \(HTTP 499\)$/);
});

describe('413', () => {
	const PAGE = '<html><h1>413 Request Entity Too Large</h1>nginx</html>';
	const file = () => itemWithFile(Buffer.alloc(5 * 1024 ** 2));

	few.it.each<[string, unknown]>([
		['in HTML', PAGE],
		['without a body', ''],
		['in other JSON', { message: 'Request size limit exceeded' }],
	])('of a proxy, %s, for 5 MB names the size and the proxy, not the 8 GB', async (_how, body) => {
		fault({ kind: 'respond', status: 413, body });
		const { error } = await service.run(FILE, { items: [file()] });
		expect(error?.message).toMatch(/^The file \(5 MB\) was refused for its size, although/);
		expect(error?.description).toMatch(/proxy.*client_max_body_size.*Transcribe URL/);
	});

	long.it('of the service for 5 MB does not say that the file is larger than 8 GB', async () => {
		fault({ kind: 'respond', status: 413, body: { detail: { message: 'Too large' } } });
		const { error } = await service.run(FILE, { items: [file()] });
		expect(error?.message).toMatch(/^The file \(5 MB\) is larger than the service takes/);
		expect(error?.description).toMatch(/lower limit.*Too large/);
	});

	it.each<[string, unknown]>([
		['the service', { detail: { message: 'Too large' } }],
		['a proxy', PAGE],
		['nobody', ''],
	])('of %s for a link is about the recording, whose size is not known', async (_who, body) => {
		fault({ kind: 'respond', status: 413, body });
		const { error } = await service.run(LINK);
		expect(error?.message).toMatch(/^The recording behind the link is larger than the service/);
		expect(error?.message).not.toContain('MB');
	});

	it.each<[string, unknown, string, RegExp]>([
		['the service', { detail: 'No' }, 'replace', /^The dictionary would be larger than 20 000/],
		['the service', { detail: 'No' }, 'clear', /refused for its size, although it sends no terms/],
		['a proxy', PAGE, 'replace', /^The request was refused for its size: the list of terms/],
		['nobody', '', 'replace', /^The request was refused for its size: the list of terms/],
		['a proxy', PAGE, 'clear', /refused for its size, although it sends no terms/],
	])(
		'of %s (%j) for the dictionary says what is too large: %s',
		async (_who, body, op, message) => {
			fault({ kind: 'respond', status: 413, body });
			const { error } = await service.run({ resource: 'dictionary', operation: op, terms: 'n8n' });
			expect(error?.message).toMatch(message);
			expect(error?.description).toContain('This request changed nothing');
		},
	);

	it('of a proxy for anything else names the size of the request', async () => {
		fault({ kind: 'respond', status: 413, body: PAGE });
		for (const parameters of [DICTIONARY, ACCOUNT]) {
			const { error } = await service.run(parameters);
			expect(error?.message).toMatch(/^The request was refused for its size/);
		}
	});
});

describe('when the service says when to try again', () => {
	it.each([
		['503', 503, '3600', 'The service asks to try again in 60 minutes.'],
		['503', 503, '180', 'The service asks to try again in 3 minutes.'],
		['429', 429, '86400', 'The service asks to try again in 24 hours.'],
	])(
		'%s (%i, Retry-After: %s) says so, and claims no further tries',
		async (_s, status, after, words) => {
			fault({ kind: 'respond', status, headers: { 'Retry-After': after } });
			const { error } = await service.run(ACCOUNT);
			expect(error?.description).toContain(words);
			expect(error?.message).not.toContain('trying again');
			expect(service.lines()).toHaveLength(1);
		},
	);

	few.it.each([
		'-5',
		'0',
		'soon',
		'',
		'100000',
		'1e9',
		'Infinity',
		'1e999',
		new Date(0).toUTCString(),
	])('Retry-After: "%s" says nothing, and the node goes on as without it', async (after) => {
		fault({ kind: 'respond', status: 503, headers: { 'Retry-After': after } });
		const { error } = await service.run(ACCOUNT);
		expect(error?.description).not.toContain('asks to try again');
		expect(error?.message).toContain('stayed so while the node was trying again');
	});
});

it('409 with a code says the same as without, if the code says so too', async () => {
	const body = { detail: { error_code: 'request_in_progress', message: 'Not yet' } };
	fault({ kind: 'respond', status: 409, body });
	const { error } = await service.run(FILE, { items: [itemWithFile()] });
	expect(error?.message).toMatch(/^The same request is still being worked on by the service/);
});

it('409 for a link without a key does not speak of a key', async () => {
	fault({ kind: 'respond', status: 409 });
	const { error } = await service.run(LINK);
	expect(error?.message).toMatch(/^The service refused the recording because of a conflict/);
	expect(`${error?.message} ${error?.description}`).not.toMatch(/key/i);
	expect(service.lines()).toHaveLength(1);
});

it.each([
	[502, /^Something between n8n and the service got no usable answer/],
	[504, /^Something between n8n and the service did not get its answer in time/],
	[409, /^The service cannot do this in the present state/],
])('HTTP %i has its own words', async (status, message) => {
	fault({ kind: 'respond', status });
	const { error } = await service.run({ resource: 'meeting', operation: 'cancel', botId: '1' });
	expect(error?.message).toMatch(message);
	expect(error?.description).toMatch(/\.$/);
});

describe('a submit that the service itself refuses with 403 or 404', () => {
	const answerOf = async (parameters: INodeParameters, status: number, detail: unknown) => {
		fault({ kind: 'respond', status, body: { detail } }, 1);
		const { error } = await service.run(parameters);
		return `${error?.message} ${error?.description}`;
	};

	it.each([
		[404, { error_code: 'video_not_found', message: 'There is no video' }, 'There is no video'],
		[404, 'Video not found', 'Video not found'],
		[403, { error_code: 'link_forbidden', message: 'The file is private' }, 'The file is private'],
		[403, { error_code: 'link_forbidden' }, 'link_forbidden'],
	])('is about the link: %i %j', async (status, detail, words) => {
		const answer = await answerOf(LINK, status, detail);
		expect(answer).toMatch(`The service refuses the link: ${words} [item 0]`);
		expect(answer).toContain('public: its link has to open without a login');
		expect(answer).not.toMatch(/Base URL|not allowed/);
	});

	it.each([404, 403])('is about the meeting: %i', async (status) => {
		const detail = { error_code: 'meeting_not_found', message: 'There is no such meeting' };
		const answer = await answerOf(BOT, status, detail);
		expect(answer).toMatch('The service sends no bot to this meeting: There is no such meeting');
		expect(answer).toContain("Check 'Meeting URL'");
		expect(answer).not.toMatch(/Base URL|not allowed/);
	});

	it('is about the Base URL if there is nothing at the address', async () => {
		expect(await answerOf(LINK, 404, 'Not Found')).toContain("Check the 'Base URL'");
	});

	it('is about the API key if FastAPI says that it is missing', async () => {
		for (const parameters of [LINK, BOT]) {
			expect(await answerOf(parameters, 403, 'Not authenticated')).toContain(
				'The API key is not allowed to do this',
			);
		}
	});

	it.each(['Forbidden', 'Access denied', 'Permission denied'])(
		'may be about the link or about the API key if it says no more: %s',
		async (detail) => {
			const answer = await answerOf(LINK, 403, detail);
			expect(answer).toMatch(/its link has to open without a login\. If .* about the API key/);
		},
	);
});

it.each(['sync', 'add', 'clear'])(
	'a service that says that there is no dictionary yet is no wrong Base URL: %s',
	async (operation) => {
		const dictionary = { resource: 'dictionary', operation, terms: 'Alpha' };
		fault({ kind: 'respond', status: 404, body: { detail: 'Dictionary not found' } }, 9);
		const { error } = await service.run(dictionary);
		expect(error?.message).toContain('has no dictionary for this account yet');
		expect(`${error?.message} ${error?.description}`).not.toContain('Base URL');
		service.running().clearFaults();
		for (const detail of ['Not Found', 'Cannot GET /api/v1/dictionary']) {
			fault({ kind: 'respond', status: 404, body: { detail } }, 9);
			expect((await service.run(dictionary)).error?.description).toContain("Check the 'Base URL'");
			service.running().clearFaults();
		}
	},
);

it('an account that is full may wait for the balance', async () => {
	fault({ kind: 'respond', status: 429 }, 99);
	const { error } = await service.run(LINK);
	expect(error?.description).toContain('wait for the balance finish only after a top-up');
});

describe('a web page instead of a refusal of the service', () => {
	const PAGE = '<!DOCTYPE html><html><body><h1>Not here</h1></body></html>';

	few.it.each(
		[400, 401, 403, 404, 405, 409, 410, 422].flatMap((status) => [
			{ status, parameters: ACCOUNT },
			{ status, parameters: { resource: 'task', operation: 'get', taskId: byId('1') } },
			{ status, parameters: { resource: 'meeting', operation: 'get', botId: '1' } },
		]),
	)('does not count as one: $status for $parameters', async ({ status, parameters }) => {
		fault({ kind: 'respond', status, body: PAGE }, 2);
		const { error } = await service.run(parameters);
		expect(error?.message).toMatch(
			`The answer does not come from the service, but is a web page (HTTP ${status})`,
		);
		expect(error?.description).toMatch(/Check the 'Base URL'.*Not here/);
		expect(error?.httpCode).toBe(String(status));
	});

	it('is recognised by its type too, if its body is that of a refusal by the service', async () => {
		const headers = { 'Content-Type': 'text/html' };
		fault({ kind: 'respond', status: 404, body: 'Not here', headers }, 1);
		const { error } = await service.run(ACCOUNT);
		expect(error?.message).toMatch(/^The answer does not come from the service/);
	});
});

it('a proxy that answers in HTML is quoted without its tags', async () => {
	const body = '<html><body><h1>Bad Gateway</h1>\n<p>nginx</p></body></html>';
	fault({ kind: 'respond', status: 502, body });
	const { error } = await service.run(ACCOUNT);
	expect(error?.description).toContain('HTTP 502: “Bad Gateway nginx”');
});

describe('where there is no answer of the service', () => {
	const failure = (message: RegExp, next: RegExp, httpCode: string | null = null) => ({
		name: 'NodeApiError',
		httpCode,
		message: expect.stringMatching(message),
		description: expect.stringMatching(next),
		context: { itemIndex: 0 },
	});

	it('connection refused', async () => {
		const { error } = await accountAt('http://127.0.0.1:1');
		expect(error).toMatchObject(
			failure(/^The service cannot be reached/, /'Base URL' .* network connection of n8n/),
		);
	});

	it('unknown host', async () => {
		// Longer than a name can be, so that it is unknown without asking anybody.
		const { error } = await accountAt(`http://${'a'.repeat(64)}.example.com`);
		expect(error).toMatchObject(
			failure(/^There is no server with the name/, /'Base URL' .* typing mistake/),
		);
	});

	it('connection broken', async () => {
		fault({ kind: 'cut', when: 'beforeBody' });
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject(failure(/^The connection to the service broke/, /Try again later/));
	});

	it('timeout', async () => {
		jest.replaceProperty(TIMEOUTS, 'request', 50);
		fault({ kind: 'stall' });
		const { error } = await service.run(ACCOUNT);
		jest.replaceProperty(TIMEOUTS, 'request', 60_000);
		expect(error).toMatchObject(
			failure(/^The service did not answer in time/, /network between n8n and the service/),
		);
	});

	it('an untrusted certificate', async () => {
		const server: Server = createServer(selfSignedCertificate());
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		const { port } = server.address() as AddressInfo;
		const { error } = await accountAt(`https://127.0.0.1:${port}`);
		server.close();
		expect(error).toMatchObject(
			failure(
				/^No secure connection to the service can be made/,
				/certificate is valid and trusted/,
			),
		);
	});

	it('https where only http is spoken', async () => {
		const { error } = await accountAt(service.running().url.replace('http:', 'https:'));
		expect(error).toMatchObject(
			failure(
				/^No secure connection to the service can be made/,
				/whether the address speaks https/,
			),
		);
	});

	it.each([
		'CERT_HAS_EXPIRED',
		'DEPTH_ZERO_SELF_SIGNED_CERT',
		'SELF_SIGNED_CERT_IN_CHAIN',
		'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
		'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
		'ERR_TLS_CERT_ALTNAME_INVALID',
		'ERR_SSL_WRONG_VERSION_NUMBER',
		'EPROTO',
	])('%s is one of TLS', (code) => {
		expect(transportOf(code)).toBe('tls');
	});

	few.it.each([301, 302, 303, 307, 308])('redirect %i: it is not followed', async (status) => {
		const location = `${service.running().url}/elsewhere`;
		fault({ kind: 'redirect', status, location }, 1);
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject(
			failure(
				/^The service answered with a redirect, which is not followed/,
				/final address/,
				String(status),
			),
		);
		expect(service.lines()).toEqual(['GET /api/v1/account']);
	});

	it.each([
		['HTML', '<html>Please log in</html>'],
		['JSON that is cut off', '{ "a":'],
		['a word', 'pong'],
	])('an answer that is not JSON but %s', async (_what, body) => {
		fault({ kind: 'respond', status: 200, body }, 1);
		const { error } = await service.run(ACCOUNT);
		expect(error).toMatchObject(
			failure(
				/^Something other than the service answered at this address/,
				/proxy or a login page.*'Base URL'/,
				'200',
			),
		);
	});

	it('a file that n8n has deleted while it waited for its turn', async () => {
		fault({ kind: 'delay', ms: 200 }, 3);
		const binary = await storedBinary(Buffer.from('recording'), 'talk.mp3', 'audio/mpeg');
		const others = [itemWithFile('1'), itemWithFile('2'), itemWithFile('3')];
		const run = service.run(FILE, { items: [...others, { json: {}, binary: { data: binary } }] });
		await until(() => service.lines().length === 3);
		await Container.get(BinaryDataService).deleteManyByBinaryDataId([binary.id ?? '']);
		const { error } = await run;
		expect(error).toMatchObject({
			...failure(/^The file cannot be read from the storage of n8n/, /Run the step that made/),
			context: { itemIndex: 3 },
		});
	});
});

describe('a connection without a way to the server', () => {
	const connecting = { code: 'EHOSTUNREACH', syscall: 'connect' };

	few.it.each([
		['while it was made', connecting, 'unreachable'],
		['at each of several addresses', { code: 'ENETUNREACH', errors: [connecting] }, 'unreachable'],
		['while it was made, as axios says it', { cause: connecting }, 'unreachable'],
		['after it was made', { code: 'EHOSTUNREACH', syscall: 'read' }, 'broken'],
		['nobody knows when', { code: 'ENETUNREACH' }, 'broken'],
	])('%s', (_when, details, transport) => {
		const failure = Object.assign(new Error('no way'), details);
		expect(problemOf(failure, '/meeting', { apiKey: 'key' })).toMatchObject({ transport });
	});
});
