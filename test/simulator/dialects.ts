/**
 * Dialects: how real frameworks, proxies and APIs answer in cases that the service document leaves
 * open. Each dialect changes the simulator's own answers. It changes only what the document leaves
 * open, or what a proxy between client and service changes.
 */
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import type { Shapes } from './options';

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

/** An answer before it goes over the wire. */
export interface Wire {
	status: number;
	headers: Record<string, string>;
	body: Json | undefined;
	/** Sent in place of the body. */
	raw?: string | Buffer;
}

export type Kind = (typeof KINDS)[number][0];

/** The request whose answer a dialect changes. */
export interface Asked {
	kind: Kind | undefined;
	path: string;
	query: Record<string, string>;
	/** 1 for the first request of its kind. */
	nth: number;
	/** For example the `Idempotency-Key` of an upload. */
	headers: Record<string, string | string[] | undefined>;
}

/** A webhook before it is signed. */
export interface Delivery {
	body: JsonObject;
	raw?: string;
	headers?: Record<string, string>;
	/** How the signature is written. */
	signature?: (signature: string) => string;
}

export interface Dialect {
	/** Which real services answer like this, and how. */
	like: string;
	/** The rows of docs/undocumented.md that this tests, by the beginning of the first column. */
	rows: string[];
	/** The requests that it applies to; all if undefined. */
	on?: Kind[];
	shapes?: Partial<Shapes>;
	/** Answers in place of the service, which never gets the request. */
	instead?: (asked: Asked) => Partial<Wire> | undefined;
	success?: (wire: Wire, asked: Asked) => Partial<Wire>;
	refusal?: (wire: Wire, asked: Asked) => Partial<Wire>;
	delivery?: (body: JsonObject, copy: number) => Partial<Delivery>;
	/** How often each delivery is sent, and how often a failed one is repeated. */
	copies?: number;
	retries?: number;
}

const KINDS = [
	['account', /^GET account$/],
	['upload', /^POST transcribe$/],
	['link', /^POST transcribe-url$/],
	['list', /^GET tasks$/],
	['task', /^GET tasks\/[^/]+$/],
	['result', /^GET tasks\/[^/]+\/result$/],
	['export', /^GET tasks\/[^/]+\/export$/],
	['cancelTask', /^POST tasks\/[^/]+\/cancel$/],
	['summary', /^POST tasks\/[^/]+\/summary$/],
	['rotate', /^POST api-key\/generate$/],
	['sendBot', /^POST meeting$/],
	['bot', /^GET meeting\/[^/]+$/],
	['cancelBot', /^DELETE meeting\/[^/]+$/],
	['dictionary', /^GET dictionary$/],
	['writeDictionary', /^(PUT|POST|DELETE) dictionary$/],
	['preview', /^POST dictionary\/preview$/],
] as const;

export function kindOf(method: string, path: string): Kind | undefined {
	const line = `${method} ${path.replace(/^\/api\/v1\//, '')}`;
	return KINDS.find(([, pattern]) => pattern.test(line))?.[0];
}

/** Operations whose successful answer is "not shown". */
const NOT_SHOWN: Kind[] = [
	'account',
	'link',
	'cancelTask',
	'cancelBot',
	'rotate',
	'preview',
	'summary',
	'writeDictionary',
];
const WRITES: Kind[] = ['cancelTask', 'cancelBot', 'writeDictionary'];
const SUBMITS: Kind[] = ['upload', 'link', 'sendBot'];
const OF_A_FINISHED_TASK: Kind[] = ['result', 'export', 'preview'];

const LIST = 'Shape of the task list';
const PAGES = 'Default and maximum of `limit`';
const LIST_ID = 'Name of the id in the task list';
const SUBMIT_ID = 'Place of the id in the answer to a submit';
const STATE = 'Place of the state';
const ORDER = 'Order of the task list, and the date';
const ACCOUNT_ORDER = 'Order of the task list, for';
const TITLE = "Name of a task's recording";
const LINK_BODY = 'Body of POST /transcribe-url';
const LINK_KEY = 'Whether /transcribe-url heeds';
const KEY = 'How long an `Idempotency-Key` counts';
const LINK_RATE = 'Rate limit of POST /transcribe-url';
const WHICH_LIMIT = 'Which of its two limits';
const CANCELLED = 'Status of a cancelled task';
const STATUSES = 'Other statuses of a task';
const BALANCE = 'How insufficient balance shows';
const BOT_STATUSES = 'Statuses of a meeting bot';
const UNKNOWN_BOT = 'Answer for an unknown bot';
const WEBHOOK = "Body of a transcription's webhook";
const REDELIVERY = 'Which answers make the service deliver';
const PASSED_ON = 'Fields of account, segments';
const ROTATION = 'Type of the answer to the key rotation';
const UNFINISHED = 'Answers for the result, export or preview';
const CANCEL_TWICE = 'Answers to cancelling what is cancelled';
const RESULT = 'Where the parts of a result stand';
const EXPORT = "Type of an export's `content`";
const SIGNS = 'What counts as a character';
const LIMIT_FOR_ALL = "Whether the dictionary's limit";
const WRITING = 'Answers to writing the dictionary';
const FILE_SIZE = 'Whether "8 GB" is';
const LANGUAGES = 'The languages';
const TEMPLATES = 'The names of the 92 summary templates';
const FURTHER = 'Further fields of a submit';
const REGENERATION = 'Method, path and payload of summary';
const DETAIL = '`detail` of errors without';
const INVALID = 'Status for invalid parameters';
const REFUSED_503 = 'Whether a refusal with 503';
const TWICE = 'Whether cancelling or deleting twice';
/** Whatever the service says to a wrong parameter, it says to all of them. */
const REFUSALS = [DETAIL, INVALID, LANGUAGES, TEMPLATES, FURTHER, LINK_BODY];

const JSON_TYPE = { 'Content-Type': 'application/json' };

const isObject = (value: Json | undefined): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);
const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
/** The tasks of a list, whatever shape the simulator was given. */
const tasksOf = ({ body }: Wire): JsonObject[] =>
	(Array.isArray(body) ? body : (objectIn(body)['tasks'] as Json[])).map(objectIn);
const totalOf = ({ body }: Wire): number => Number(objectIn(body)['total'] ?? 0);
/** The simulator's words for a refusal. */
const wordsOf = ({ body }: Wire): string => {
	const detail = objectIn(body)['detail'] ?? '';
	return typeof detail === 'string' ? detail : String(objectIn(detail)['message'] ?? '');
};
const codeOf = ({ body }: Wire): Json | undefined =>
	objectIn(objectIn(body)['detail'])['error_code'];
/** Errors with a code are documented: only the others may look otherwise. */
const undocumented =
	(change: (wire: Wire, asked: Asked) => Partial<Wire>) => (wire: Wire, asked: Asked) =>
		codeOf(wire) === undefined ? change(wire, asked) : {};
const listAs = (shape: (tasks: JsonObject[], wire: Wire, asked: Asked) => Json) => ({
	on: ['list'] as Kind[],
	success: (wire: Wire, asked: Asked) => ({ body: shape(tasksOf(wire), wire, asked) }),
});
const page = (status: number, title: string, more: Record<string, string> = {}): Partial<Wire> => ({
	status,
	headers: { 'Content-Type': 'text/html; charset=utf-8', ...more },
	raw: `<!DOCTYPE html><html><head><title>${title}</title><style>body{color:#333}</style></head><body><center><h1>${title}</h1></center><hr></body></html>`,
});
const textOf = (wire: Wire) => JSON.stringify(wire.body);
/** Ids as JSON numbers, digit by digit: JSON.stringify cannot write large ones. */
const withNumericIds = (text: string) => text.replace(/"(task_id|id)":"(\d+)"/g, '"$1":$2');
const EMPTY: Partial<Wire> = { status: 204, headers: {}, raw: '' };

export const DIALECTS = {
	// GET /tasks
	bareList: {
		like: 'Many small Express and Flask services: the array itself',
		rows: [LIST],
		...listAs((tasks) => tasks),
	},
	laravelList: {
		like: 'Laravel API resources: `data` with `links` and `meta` beside',
		rows: [LIST, PASSED_ON],
		...listAs((tasks, wire) => ({
			data: tasks,
			links: { first: '/api/v1/tasks?page=1', prev: null, next: null },
			meta: { current_page: 1, per_page: tasks.length, total: totalOf(wire) },
		})),
	},
	djangoList: {
		like: 'Django REST framework: `results` with `count`, `next` and `previous`',
		rows: [LIST],
		...listAs((tasks, wire) => ({
			count: totalOf(wire),
			next: null,
			previous: null,
			results: tasks,
		})),
	},
	fastApiPages: {
		like: 'fastapi-pagination: `items` with `total`, `page`, `size` and `pages`',
		rows: [LIST],
		...listAs((tasks, wire) => ({
			items: tasks,
			total: totalOf(wire),
			page: 1,
			size: 50,
			pages: 1,
		})),
	},
	cursorBeside: {
		like: 'Slack: the list under `data`, a cursor beside it',
		rows: [LIST],
		...listAs((tasks) => ({
			ok: true,
			data: { tasks, next_cursor: '' },
			response_metadata: { next_cursor: 'dGVhbTpDMDYxRkE1UEI=' },
		})),
	},
	stripeList: {
		like: 'Stripe: `data` with `object` and `has_more`',
		rows: [LIST],
		...listAs((tasks) => ({ object: 'list', url: '/v1/tasks', has_more: false, data: tasks })),
	},
	halList: {
		like: 'Spring HATEOAS: `_embedded`',
		rows: [LIST],
		...listAs((tasks) => ({ _embedded: { tasks }, _links: { self: { href: '/tasks' } } })),
	},
	springPage: {
		like: 'Spring Data: `content` with `pageable`',
		rows: [LIST],
		...listAs((tasks) => ({
			content: tasks,
			pageable: { pageNumber: 0, pageSize: 20, sort: [] },
			last: true,
			empty: tasks.length === 0,
		})),
	},
	odataList: {
		like: 'OData (Azure): `value`',
		rows: [LIST],
		...listAs((tasks) => ({ '@odata.context': '$metadata#tasks', value: tasks })),
	},
	listById: {
		like: 'Firebase: an object with a member for each id, and no list',
		rows: [LIST],
		...listAs((tasks) => Object.fromEntries(tasks.map((task) => [String(task['task_id']), task]))),
	},
	linesList: {
		like: 'Logs and search engines: NDJSON, one object a line',
		rows: [LIST],
		on: ['list'],
		success: (wire) => ({
			headers: { 'Content-Type': 'application/x-ndjson' },
			raw: tasksOf(wire)
				.map((task) => `${JSON.stringify(task)}\n`)
				.join(''),
		}),
	},
	pageRefused422: {
		like: 'FastAPI with `le=50`: 422 with a list of mistakes',
		rows: [PAGES],
		on: ['list'],
		shapes: { taskListMaximum: 50, taskListAboveMaximum: 'refused', errorDetail: 'list' },
	},
	pageRefused400: {
		like: 'ASP.NET: 400 with RFC 9457, above 20',
		rows: [PAGES],
		on: ['list'],
		shapes: { taskListMaximum: 20, taskListAboveMaximum: 'refused', invalidParameterStatus: 400 },
		refusal: (wire) => ({
			headers: { 'Content-Type': 'application/problem+json' },
			body: {
				type: 'about:blank',
				title: 'Bad Request',
				status: 400,
				errors: { limit: [wordsOf(wire)] },
			},
		}),
	},
	pageCut: {
		like: 'GitHub: `per_page` is cut silently, here to 2',
		rows: [PAGES, ACCOUNT_ORDER],
		on: ['list'],
		shapes: { taskListMaximum: 2 },
	},
	noOffset: {
		like: 'Services that page by number: `offset` has no effect',
		rows: [PAGES, ACCOUNT_ORDER],
		on: ['list'],
		shapes: { taskListIgnores: ['offset'] },
	},
	pastEnd404: {
		like: 'Django REST framework: a page past the end is 404',
		rows: [PAGES],
		on: ['list'],
		success: (wire) =>
			tasksOf(wire).length === 0 ? { status: 404, body: { detail: 'Invalid page.' } } : {},
	},
	pastEnd204: {
		like: 'Some Java services: a list without elements is 204 without a body',
		rows: [PAGES],
		on: ['list'],
		success: (wire) => (tasksOf(wire).length === 0 ? EMPTY : {}),
	},
	oldestFirst: {
		like: 'A plain `SELECT`: by id, the oldest first, with `created_at` as ISO 8601',
		rows: [ORDER, ACCOUNT_ORDER],
		on: ['list'],
		shapes: { taskListOrder: 'oldestFirst', taskListDates: 'created_at' },
	},
	hashOrder: {
		like: 'DynamoDB: in the order of a hash, `created` in seconds (Stripe)',
		rows: [ORDER, ACCOUNT_ORDER],
		...listAs((tasks) => tasks.map((task, place) => ({ ...task, created: 1_790_000_000 - place }))),
		shapes: { taskListOrder: 'byId' },
	},
	millisecondDates: {
		like: 'MongoDB with Mongoose: `createdAt` in milliseconds, the recording as `filename`',
		rows: [ORDER, TITLE],
		...listAs((tasks) =>
			tasks.map((task, place) => ({
				...task,
				createdAt: 1_790_000_000_000 - place,
				filename: 'talk.mp3',
			})),
		),
	},
	titled: {
		like: 'Services for meetings: the recording as `title`, in any script',
		rows: [TITLE],
		...listAs((tasks) => tasks.map((task) => ({ ...task, title: 'Планёрка 🎧 <b>“Q3”</b>' }))),
	},
	untitled: {
		like: 'Go: what is not set comes as `null`, or as an empty text',
		rows: [TITLE, ORDER],
		...listAs((tasks) =>
			tasks.map((task) => ({ ...task, file_name: '', title: null, created_at: null })),
		),
	},
	plainId: {
		like: 'Most services: an object’s own id is `id`',
		rows: [LIST_ID, SUBMIT_ID],
		on: ['list', 'link'],
		success: (wire) => ({ raw: textOf(wire).replaceAll('"task_id"', '"id"') }),
	},
	numericId: {
		like: 'MySQL and PostgreSQL keys: ids are JSON numbers',
		rows: [LIST_ID, SUBMIT_ID],
		on: ['list', 'link', 'upload'],
		shapes: { taskIds: 'number' },
		success: (wire) => ({ raw: withNumericIds(textOf(wire)) }),
	},
	hugeNumericId: {
		like: 'Snowflake ids as JSON numbers: JavaScript rounds them, so they name another task or none',
		rows: [LIST_ID, SUBMIT_ID],
		on: ['list', 'link'],
		shapes: { taskIds: 'snowflake' },
		success: (wire) => ({ raw: withNumericIds(textOf(wire)) }),
	},
	otherIdName: {
		like: 'Services that call it `uuid`',
		rows: [LIST_ID, SUBMIT_ID],
		on: ['list', 'link'],
		success: (wire) => ({ raw: textOf(wire).replaceAll('"task_id"', '"uuid"') }),
	},
	strangeIdName: {
		like: 'A name that nobody can guess: `transcript_ref`',
		rows: [LIST_ID, SUBMIT_ID],
		on: ['list', 'link'],
		success: (wire) => ({ raw: textOf(wire).replaceAll('"task_id"', '"transcript_ref"') }),
	},
	jsonRpc: {
		like: 'JSON-RPC: all under `result`, and the `id` beside it is that of the request',
		rows: [SUBMIT_ID, PASSED_ON],
		on: NOT_SHOWN,
		success: ({ body = null }) => ({ body: { jsonrpc: '2.0', id: 7, result: body } }),
	},
	// Answers to what is submitted, written, or not shown
	enveloped: {
		like: 'Many PHP services and Cloudflare: `success`, `errors`, and all else under `result`',
		rows: [SUBMIT_ID, PASSED_ON, ROTATION, WRITING],
		on: NOT_SHOWN,
		success: ({ body = null }) => ({
			body: { success: true, errors: [], messages: [], result: body },
		}),
	},
	underData: {
		like: 'Laravel and Strapi: everything under `data`',
		rows: [SUBMIT_ID, PASSED_ON, ROTATION],
		on: NOT_SHOWN,
		success: ({ body = null }) => ({ body: { data: body, meta: {} } }),
	},
	inList: {
		like: 'Batch endpoints and PostgREST: a list with one element',
		rows: [SUBMIT_ID, PASSED_ON, ROTATION],
		on: NOT_SHOWN,
		success: ({ body = null }) => ({ body: [body] }),
	},
	// The state of a task or bot
	stateUnderData: {
		like: 'Laravel and Strapi: the state under `data`',
		rows: [STATE],
		on: ['task', 'bot'],
		success: ({ body = null }) => ({ body: { data: body, meta: {} } }),
	},
	stateUnderItsKind: {
		like: 'Rails with a root element: the state under `task` or `meeting`',
		rows: [STATE],
		on: ['task', 'bot'],
		success: ({ body = null }, { kind }) => ({
			body: { [kind === 'bot' ? 'meeting' : 'task']: body },
		}),
	},
	stateInJSend: {
		like: 'JSend: a `status` of the request, and the state under `data`',
		rows: [STATE],
		on: ['task', 'bot'],
		success: ({ body = null }) => ({ body: { status: 'success', data: body } }),
	},
	stateInJsonRpc: {
		like: 'JSON-RPC: the state under `result`, beside the `id` of the request',
		rows: [STATE],
		on: ['task', 'bot'],
		success: ({ body = null }) => ({ body: { jsonrpc: '2.0', id: 7, result: body } }),
	},
	stateInList: {
		like: 'PostgREST: the state in a list with one element',
		rows: [STATE],
		on: ['task', 'bot'],
		success: ({ body = null }) => ({ body: [body] }),
	},
	created201: {
		like: 'REST by the book: 201 with `Location`',
		rows: [SUBMIT_ID],
		on: SUBMITS,
		success: () => ({
			status: 201,
			headers: { 'Content-Type': 'application/json', Location: '/api/v1/tasks/1' },
		}),
	},
	accepted202: {
		like: 'Queues (Azure, Celery behind Flask): 202 for what is not done yet',
		rows: [SUBMIT_ID, WRITING, PASSED_ON],
		on: [...SUBMITS, ...NOT_SHOWN],
		success: () => ({ status: 202 }),
	},
	idInLocationOnly: {
		like: 'REST by the book without a body: the id stands in `Location` alone',
		rows: [SUBMIT_ID],
		on: ['link'],
		success: (wire) => ({
			status: 201,
			headers: { Location: `/api/v1/tasks/${String(objectIn(wire.body)['task_id'])}` },
			raw: '',
		}),
	},
	idAsText: {
		like: 'Spring returning a `String`: the bare id as plain text',
		rows: [SUBMIT_ID],
		on: ['link'],
		success: (wire) => ({
			headers: { 'Content-Type': 'text/plain;charset=UTF-8' },
			raw: String(objectIn(wire.body)['task_id']),
		}),
	},
	emptyWrites: {
		like: 'Rails `head :no_content`, Django `perform_destroy`: 204 without a body',
		rows: [WRITING, PASSED_ON, CANCEL_TWICE, TWICE],
		on: WRITES,
		success: () => EMPTY,
	},
	okWrites: {
		like: 'PHP scripts: the text OK',
		rows: [WRITING, PASSED_ON],
		on: WRITES,
		success: () => ({ headers: { 'Content-Type': 'text/plain' }, raw: 'OK' }),
	},
	trueWrites: {
		like: 'Telegram-like services: `true`',
		rows: [WRITING, PASSED_ON],
		on: WRITES,
		success: () => ({ body: true }),
	},
	keyAsText: {
		like: 'Command-line minded services: the new key as plain text with a line break',
		rows: [ROTATION],
		on: ['rotate'],
		success: (wire) => ({
			headers: { 'Content-Type': 'text/plain' },
			raw: `${String(objectIn(wire.body)['api_key'])}\n`,
		}),
	},
	keyAsJsonText: {
		like: 'ASP.NET returning a string: a JSON text',
		rows: [ROTATION],
		on: ['rotate'],
		success: (wire) => ({ body: objectIn(wire.body)['api_key'] ?? null }),
	},
	keyNotShown: {
		like: 'Services that send the key by mail: an empty answer',
		rows: [ROTATION],
		on: ['rotate'],
		success: () => EMPTY,
	},
	// States
	canceled: {
		like: 'American spelling: `canceled`',
		rows: [CANCELLED],
		on: ['cancelTask', 'task', 'list'],
		shapes: { cancelledStatus: 'canceled' },
	},
	cancelledInCapitals: {
		like: 'Java enums: `CANCELLED`',
		rows: [CANCELLED],
		on: ['cancelTask', 'task', 'list'],
		shapes: { cancelledStatus: 'CANCELLED' },
	},
	cancelledByUser: {
		like: 'LLM batches: `cancelled_by_user`',
		rows: [CANCELLED],
		on: ['cancelTask', 'task', 'list'],
		shapes: { cancelledStatus: 'cancelled_by_user' },
	},
	revoked: {
		like: 'Celery: `REVOKED`',
		rows: [CANCELLED],
		on: ['cancelTask', 'task', 'list'],
		shapes: { cancelledStatus: 'REVOKED' },
	},
	moreStatuses: {
		like: 'AssemblyAI, Replicate: `queued` and `starting` before `processing`',
		rows: [STATUSES],
		on: ['task', 'list', 'upload', 'link'],
		success: (wire) => ({
			raw: textOf(wire).replaceAll('"status":"pending"', '"status":"queued"'),
		}),
	},
	statusesInCapitals: {
		like: 'AWS Transcribe, Java enums: `COMPLETED`',
		rows: [STATUSES],
		on: ['task', 'list'],
		success: (wire) => ({
			raw: textOf(wire).replace(
				/"status":"(\w+)"/g,
				(_, word: string) => `"status":"${word.toUpperCase()}"`,
			),
		}),
	},
	succeeded: {
		like: 'Replicate, Deepgram: `succeeded` instead of `completed`',
		rows: [STATUSES],
		on: ['task', 'list'],
		success: (wire) => ({
			raw: textOf(wire).replaceAll('"status":"completed"', '"status":"succeeded"'),
		}),
	},
	balanceByQueueState: {
		like: 'One field says it: `queue_state`, and no flag',
		rows: [BALANCE],
		on: ['task'],
		success: ({ body }) => {
			const { awaiting_balance: _flag, ...task } = objectIn(body);
			return { body: task };
		},
	},
	balanceByNumber: {
		like: 'MySQL and PHP: booleans are 1 and 0',
		rows: [BALANCE],
		on: ['task', 'list'],
		success: (wire) => ({
			raw: textOf(wire)
				.replace(/:true/g, ':1')
				.replace(/:false/g, ':0'),
		}),
	},
	balanceByStatus: {
		like: 'One field says it: `status`',
		rows: [BALANCE],
		on: ['task', 'upload', 'link'],
		success: ({ body }) => {
			const { awaiting_balance: waits, queue_state: _state, ...task } = objectIn(body);
			return { body: { ...task, ...(waits === true ? { status: 'awaiting_balance' } : {}) } };
		},
	},
	recallBots: {
		like: 'Recall.ai: `in_call_recording`, `call_ended`, `done`',
		rows: [BOT_STATUSES],
		on: ['bot', 'sendBot', 'cancelBot'],
		shapes: {
			emptyTaskId: 'absent',
			botStatuses: {
				scheduled: 'ready',
				joining: 'joining',
				recording: 'in_call_recording',
				processing: 'call_ended',
				completed: 'done',
				failed: 'fatal',
				cancelled: 'canceled',
			},
		},
	},
	numberedBots: {
		like: 'Enums as numbers, and an empty text for what is not there (protobuf)',
		rows: [BOT_STATUSES],
		on: ['bot', 'cancelBot'],
		shapes: { emptyTaskId: 'emptyString' },
		success: ({ body }) => ({ body: { ...objectIn(body), status: 3 } }),
	},
	endedBots: {
		like: 'A bot that says `completed` before its recording has a task',
		rows: [BOT_STATUSES],
		on: ['bot'],
		success: ({ body }) => ({ body: { ...objectIn(body), status: 'completed' } }),
	},
	unknown400: {
		like: 'A malformed UUID in FastAPI or Spring: 400',
		rows: [UNKNOWN_BOT, INVALID],
		on: ['task', 'bot', 'cancelTask', 'cancelBot'],
		shapes: { unknownIdStatus: 400 },
	},
	unknown403: {
		like: 'AWS: 403, so that nobody learns what exists',
		rows: [UNKNOWN_BOT, INVALID],
		on: ['task', 'bot', 'cancelTask', 'cancelBot'],
		shapes: { unknownIdStatus: 403 },
	},
	unknown410: {
		like: 'What was deleted is 410',
		rows: [UNKNOWN_BOT, CANCEL_TWICE],
		on: ['task', 'bot', 'cancelTask', 'cancelBot'],
		shapes: { unknownIdStatus: 410, notCancellableStatus: 410 },
	},
	unknown422: {
		like: 'Rails: 422',
		rows: [UNKNOWN_BOT, INVALID, CANCEL_TWICE, TWICE],
		on: ['task', 'bot', 'cancelTask', 'cancelBot'],
		shapes: { unknownIdStatus: 422, notCancellableStatus: 422 },
	},
	cancelTwice400: {
		like: 'Stripe: 400 for what is cancelled already',
		rows: [CANCEL_TWICE, TWICE],
		on: ['task', 'bot', 'cancelTask', 'cancelBot'],
		shapes: { notCancellableStatus: 400 },
	},
	// Results
	unfinished404: {
		like: 'Most services: there is no such result yet',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		shapes: { notCompletedStatus: 404 },
	},
	unfinished409: {
		like: 'OpenAI batches: 409',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		shapes: { notCompletedStatus: 409 },
	},
	unfinished425: {
		like: 'Too Early: 425',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		shapes: { notCompletedStatus: 425 },
	},
	unfinished202: {
		like: 'Azure and AWS: 202 with the state of the task',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		shapes: { notCompletedStatus: 404 },
		refusal: ({ status }) =>
			status === 404
				? {
						status: 202,
						headers: { 'Content-Type': 'application/json', 'Retry-After': '5' },
						body: { status: 'processing', progress: 40 },
					}
				: {},
	},
	unfinished204: {
		like: 'REST by the book: 204',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		refusal: ({ status }) => (status === 400 ? EMPTY : {}),
	},
	unfinishedNulls: {
		like: 'ORM rows: 200, and every part is `null`',
		rows: [UNFINISHED],
		on: OF_A_FINISHED_TASK,
		refusal: ({ status }) =>
			status === 400
				? {
						status: 200,
						body: {
							text: null,
							segments: null,
							summary: null,
							speakers: null,
							content: null,
							changes: null,
						},
					}
				: {},
	},
	resultUnderData: {
		like: 'Laravel: the result under `data`',
		rows: [RESULT],
		on: ['result'],
		success: ({ body = null }) => ({ body: { data: body } }),
	},
	resultUnderTranscript: {
		like: 'Rev: under `transcript`, the task beside it',
		rows: [RESULT],
		on: ['result'],
		success: ({ body = null }) => ({
			body: { task_id: 'x', status: 'completed', transcript: body },
		}),
	},
	resultInList: {
		like: 'PostgREST: a list with one element',
		rows: [RESULT],
		on: ['result'],
		success: ({ body = null }) => ({ body: [body] }),
	},
	resultWithNaN: {
		like: 'Python `json.dumps`: NaN for a number that could not be computed',
		rows: [RESULT],
		on: ['result'],
		success: (wire) => ({
			raw: textOf(wire).replace('"segments":[{', '"segments":[{"confidence":NaN,'),
		}),
	},
	resultDeep: {
		like: 'Deepgram: under `results`, deeper',
		rows: [RESULT],
		on: ['result'],
		success: ({ body = null }) => ({
			body: { metadata: { duration: 60 }, results: { channels: [{ alternatives: [body] }] } },
		}),
	},
	exportParsed: {
		like: 'A JSON document as JSON',
		rows: [EXPORT],
		on: ['export'],
		success: ({ body }, { query }) =>
			query['format'] === 'json'
				? {
						body: {
							...objectIn(body),
							content: JSON.parse(String(objectIn(body)['content'])) as Json,
						},
					}
				: {},
	},
	exportTyped: {
		like: 'The format as a MIME type, the content with CRLF and a byte order mark (Windows)',
		rows: [EXPORT],
		on: ['export'],
		success: ({ body }) => ({
			body: {
				content: `\ufeff${String(objectIn(body)['content']).replaceAll('\n', '\r\n')}`,
				format: 'text/plain',
				encoding: 'utf-8',
			},
		}),
	},
	exportRaw: {
		like: 'Most services: the document itself, as a download',
		rows: [EXPORT],
		on: ['export'],
		success: ({ body }) => ({
			headers: {
				'Content-Type': 'text/plain; charset=utf-8',
				'Content-Disposition': 'attachment; filename="talk.srt"',
			},
			raw: String(objectIn(body)['content']),
		}),
	},
	// The dictionary
	dictionaryBytes: {
		like: 'Python `len` of bytes: Cyrillic counts twice',
		rows: [SIGNS, LIMIT_FOR_ALL],
		on: ['writeDictionary', 'dictionary'],
		success: ({ body }) => ({
			body: {
				...objectIn(body),
				chars: Buffer.byteLength(JSON.stringify(objectIn(body)['terms'] ?? [])),
			},
		}),
	},
	dictionarySmall: {
		like: 'A plan with less: `limit_chars` is 5000',
		rows: [SIGNS, LIMIT_FOR_ALL],
		on: ['dictionary'],
		success: ({ body }) => ({ body: { ...objectIn(body), limit_chars: 5000 } }),
	},
	dictionaryFull: {
		like: 'A limit that counts separators: 413 for what seemed to fit',
		rows: [SIGNS, LIMIT_FOR_ALL],
		on: ['writeDictionary'],
		instead: ({ kind }) =>
			kind === 'writeDictionary'
				? { status: 413, body: { detail: 'The dictionary is too large' } }
				: undefined,
	},
	// Refusals
	fastApiErrors: {
		like: 'FastAPI: 422, `detail` is a list with `loc`, `msg` and `type`',
		rows: REFUSALS,
		refusal: undocumented((wire) => ({
			body: {
				detail: [
					{ type: 'value_error', loc: ['body', 'language'], msg: wordsOf(wire), input: 'zz' },
				],
			},
		})),
	},
	djangoErrors: {
		like: 'Django REST framework: 400, each field with its own list',
		rows: REFUSALS,
		shapes: { invalidParameterStatus: 400 },
		refusal: undocumented((wire) => ({
			body: { [wire.status === 400 ? 'language' : 'detail']: [wordsOf(wire)] },
		})),
	},
	laravelErrors: {
		like: 'Laravel: 422, `message` and `errors` with a list for each field',
		rows: REFUSALS,
		refusal: undocumented((wire) => ({
			body: { message: 'The given data was invalid.', errors: { language: [wordsOf(wire)] } },
		})),
	},
	railsErrors: {
		like: 'Rails: `errors` is a list of sentences',
		rows: [DETAIL, INVALID],
		refusal: undocumented((wire) => ({ body: { errors: [wordsOf(wire)] } })),
	},
	springErrors: {
		like: 'Spring Boot: `timestamp`, `status`, `error`, `message`, `path`',
		rows: [DETAIL],
		refusal: undocumented((wire, { path }) => ({
			body: {
				timestamp: '2026-01-01T00:00:00Z',
				status: wire.status,
				error: 'Bad Request',
				message: wordsOf(wire),
				path,
			},
		})),
	},
	problemErrors: {
		like: 'RFC 9457: `type`, `title`, `status`, `detail`',
		rows: [DETAIL],
		refusal: undocumented((wire) => ({
			headers: { 'Content-Type': 'application/problem+json' },
			body: {
				type: 'https://example.com/probs/invalid',
				title: 'Invalid',
				status: wire.status,
				detail: wordsOf(wire),
			},
		})),
	},
	jsonApiErrors: {
		like: 'JSON:API: `errors` with `status`, `title` and `detail`',
		rows: [DETAIL],
		refusal: undocumented((wire) => ({
			body: {
				errors: [
					{ status: String(wire.status), code: 'invalid', title: 'Invalid', detail: wordsOf(wire) },
				],
			},
		})),
	},
	zodErrors: {
		like: 'Zod and NestJS: `issues` with `path` and `message`',
		rows: [DETAIL],
		refusal: undocumented((wire) => ({
			body: {
				success: false,
				error: {
					name: 'ZodError',
					issues: [{ code: 'custom', path: ['language'], message: wordsOf(wire) }],
				},
			},
		})),
	},
	gatewayErrors: {
		like: 'AWS API Gateway: `message` alone',
		rows: [DETAIL],
		refusal: undocumented((wire) => ({ body: { message: wordsOf(wire) } })),
	},
	textErrors: {
		like: 'Go `http.Error`: plain text with a line break',
		rows: [DETAIL],
		refusal: undocumented((wire) => ({
			headers: { 'Content-Type': 'text/plain; charset=utf-8' },
			raw: `${wordsOf(wire)}\n`,
		})),
	},
	emptyErrors: {
		like: 'Servers without an error page: no body at all',
		rows: [DETAIL],
		refusal: undocumented(() => ({ headers: {}, raw: '' })),
	},
	htmlErrors: {
		like: 'nginx and Apache: an HTML page',
		rows: [DETAIL, FILE_SIZE],
		refusal: undocumented(({ status }) => page(status, `${status} Refused`)),
	},
	tooLargeService: {
		like: '2 GB, as another overview says: 413 of the service',
		rows: [FILE_SIZE],
		on: ['upload'],
		instead: ({ kind }) =>
			kind === 'upload' ? { status: 413, body: { detail: 'File too large' } } : undefined,
	},
	tooLargeProxy: {
		like: 'nginx `client_max_body_size`: 413 as HTML',
		rows: [FILE_SIZE],
		on: ['upload'],
		instead: ({ kind }) =>
			kind === 'upload' ? page(413, '413 Request Entity Too Large') : undefined,
	},
	noRegeneration: {
		like: 'The operation is at another path: 404',
		rows: [REGENERATION],
		on: ['summary'],
		instead: ({ kind }) =>
			kind === 'summary' ? { status: 404, body: { detail: 'Not Found' } } : undefined,
	},
	otherMethod: {
		like: 'The operation has another method: 405',
		rows: [REGENERATION],
		on: ['summary'],
		instead: ({ kind }) =>
			kind === 'summary'
				? {
						status: 405,
						headers: { 'Content-Type': 'application/json', Allow: 'PUT' },
						body: { detail: 'Method Not Allowed' },
					}
				: undefined,
	},
	laterRegeneration: {
		like: 'The summary is made later: 202 with a task',
		rows: [REGENERATION],
		on: ['summary'],
		success: ({ body }) => ({
			status: 202,
			body: { task_id: objectIn(body)['task_id'] ?? null, status: 'processing' },
		}),
	},
	linkKeyHeeded: {
		like: 'Stripe: every POST heeds an `Idempotency-Key`, and says so in the answer',
		rows: [LINK_KEY],
		on: ['link'],
		success: ({ headers }) => ({ headers: { ...headers, 'Idempotent-Replayed': 'false' } }),
	},
	linkKeyRefused: {
		like: 'A strict gateway: 400 for headers that it does not know',
		rows: [LINK_KEY],
		on: ['link'],
		instead: ({ kind, headers }) =>
			kind === 'link' && headers['idempotency-key'] !== undefined
				? { status: 400, body: { detail: 'Unknown header: Idempotency-Key' } }
				: undefined,
	},
	linkKeyConflict: {
		like: 'A lock on the link itself: 409 for the first',
		rows: [LINK_KEY],
		on: ['link'],
		instead: ({ kind, nth }) =>
			kind === 'link' && nth === 1
				? { status: 409, body: { detail: 'Already in progress' } }
				: undefined,
	},
	otherRequest400: {
		like: 'Stripe: 400 for a key that comes with another request',
		rows: [KEY],
		on: ['upload'],
		shapes: { otherRequestWithKeyStatus: 400 },
	},
	otherRequest409: {
		like: 'Square: the code `IDEMPOTENCY_KEY_REUSED`, here with 409',
		rows: [KEY],
		on: ['upload'],
		shapes: { otherRequestWithKeyStatus: 409 },
		refusal: ({ status }) =>
			status === 409
				? { body: { errors: [{ code: 'IDEMPOTENCY_KEY_REUSED', detail: 'Different parameters' }] } }
				: {},
	},
	otherRequest422: {
		like: 'The draft of the IETF: 422',
		rows: [KEY],
		on: ['upload'],
		shapes: { otherRequestWithKeyStatus: 422 },
	},
	busySeconds: {
		like: 'Most limiters: 429 once, `Retry-After` in seconds',
		rows: [LINK_RATE, WHICH_LIMIT],
		on: SUBMITS,
		instead: busy({ 'Retry-After': '1' }, { detail: 'Rate limit exceeded' }),
	},
	busyDate: {
		like: 'RFC 9110: 429 once, `Retry-After` as a date',
		rows: [LINK_RATE, WHICH_LIMIT],
		on: SUBMITS,
		instead: busy(
			{ 'Retry-After': new Date(0).toUTCString() },
			{ detail: { message: 'Too many tasks in progress' } },
		),
	},
	busyPlain: {
		like: 'AWS ALB and nginx `limit_req`: 429 once as HTML, and nothing that says when',
		rows: [LINK_RATE, WHICH_LIMIT],
		on: SUBMITS,
		instead: ({ nth }) => (nth === 1 ? page(429, '429 Too Many Requests') : undefined),
	},
	restarting: {
		like: 'A deployment: 503 once as HTML',
		rows: [REFUSED_503],
		instead: ({ nth }) =>
			nth === 1 ? page(503, '503 Service Temporarily Unavailable') : undefined,
	},
	restartingJson: {
		like: 'Kubernetes: 503 once as plain text, "no healthy upstream"',
		rows: [REFUSED_503],
		instead: ({ nth }) =>
			nth === 1
				? { status: 503, headers: { 'Content-Type': 'text/plain' }, raw: 'no healthy upstream' }
				: undefined,
	},
	maintenance: {
		like: 'Cloudflare: 503 as HTML for hours, `Retry-After: 3600`',
		rows: [REFUSED_503],
		instead: () => page(503, 'Down for maintenance', { 'Retry-After': '3600' }),
	},
	// On the way
	gzipped: {
		like: 'nginx, Express: gzip',
		rows: [],
		success: (wire) => compressed(wire, 'gzip'),
		refusal: (wire) => compressed(wire, 'gzip'),
	},
	deflated: {
		like: 'Older IIS: deflate',
		rows: [],
		success: (wire) => compressed(wire, 'deflate'),
		refusal: (wire) => compressed(wire, 'deflate'),
	},
	brotli: {
		like: 'Cloudflare: br',
		rows: [],
		success: (wire) => compressed(wire, 'br'),
		refusal: (wire) => compressed(wire, 'br'),
	},
	markedJson: {
		like: 'ASP.NET: a byte order mark, charset in capitals',
		rows: [],
		success: (wire) => ({
			headers: { 'Content-Type': 'application/json; charset=UTF-8' },
			raw: `\ufeff${textOf(wire)}`,
		}),
	},
	jsonAsText: {
		like: 'PHP without a header: JSON as text/html',
		rows: [],
		success: (wire) => ({
			headers: { 'Content-Type': 'text/html; charset=UTF-8' },
			raw: textOf(wire),
		}),
	},
	prettyJson: {
		like: '`JSON_PRETTY_PRINT`, with escapes for all that is not ASCII',
		rows: [],
		success: (wire) => ({
			headers: { 'Content-Type': 'application/vnd.api+json' },
			raw: ascii(JSON.stringify(wire.body, null, 4)),
		}),
	},
	moreFields: {
		like: 'A later version: fields that nobody knows, some with names of JavaScript',
		rows: [PASSED_ON],
		success: ({ body }) =>
			isObject(body)
				? {
						raw: `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x","_links":{},${JSON.stringify(body).slice(1)}`.replace(
							/,\}$/,
							'}',
						),
					}
				: {},
	},
	loginPage: {
		like: 'A single sign-on before the service: its page with 200',
		rows: [],
		instead: () => page(200, 'Sign in'),
	},
	loginRedirect: {
		like: 'The same with a redirect: 302',
		rows: [],
		instead: () => ({ status: 302, headers: { Location: '/login' }, raw: '' }),
	},
	slashRedirect: {
		like: 'Starlette and Django: 307 to the address with a slash',
		rows: [],
		instead: ({ path }) => ({ status: 307, headers: { Location: `${path}/` }, raw: '' }),
	},
	challenge: {
		like: 'Cloudflare: 403 with a page that wants a browser',
		rows: [],
		instead: () => page(403, 'Just a moment...', { 'cf-mitigated': 'challenge' }),
	},
	badGateway: {
		like: 'nginx: 502 as HTML, all the time',
		rows: [],
		instead: () => page(502, '502 Bad Gateway'),
	},
	crashed: {
		like: 'Starlette: 500 with plain text',
		rows: [],
		instead: () => ({
			status: 500,
			headers: { 'Content-Type': 'text/plain; charset=utf-8' },
			raw: 'Internal Server Error',
		}),
	},
	// Webhooks
	fullWebhook: {
		like: 'GitHub, Svix: id, time, attempt and more beside what is documented',
		rows: [WEBHOOK],
		delivery: (body) => ({
			body: {
				...body,
				id: 'evt_1',
				type: 'transcript',
				created_at: 1_790_000_000,
				attempt: 1,
				data: { nested: [null, { deep: true }] },
			},
		}),
	},
	envelopedWebhook: {
		like: 'Paddle, Svix: an event, with what it is about under `data`',
		rows: [WEBHOOK],
		delivery: (body) => ({
			body: { id: 'evt_1', type: 'event', created: 1_790_000_000, data: body },
		}),
	},
	spacedWebhook: {
		like: 'Python `json.dumps`: a space after each colon, other order',
		rows: [WEBHOOK],
		delivery: (body) => ({
			raw: `{${Object.entries(body)
				.reverse()
				.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
				.join(', ')}}`,
		}),
	},
	prettyWebhook: {
		like: 'An indented body with CRLF at its end',
		rows: [WEBHOOK],
		delivery: (body) => ({ raw: `${JSON.stringify(body, null, 2).replaceAll('\n', '\r\n')}\r\n` }),
	},
	escapedWebhook: {
		like: 'PHP `json_encode`: escaped slashes and signs',
		rows: [WEBHOOK],
		delivery: (body) => ({
			raw: ascii(JSON.stringify({ ...body, file: 'Планёрка.mp3' })).replaceAll('/', '\\/'),
			headers: { 'Content-Type': 'application/json; charset=utf-8' },
		}),
	},
	markedWebhook: {
		like: '.NET: a byte order mark, and a signature in capitals',
		rows: [WEBHOOK],
		delivery: (body) => ({
			raw: `\ufeff${JSON.stringify(body)}`,
			signature: (signature) => signature.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase()),
		}),
	},
	cloudEvent: {
		like: 'CloudEvents: another content type',
		rows: [WEBHOOK],
		delivery: (body) => ({
			body: { specversion: '1.0', ...body },
			headers: { 'Content-Type': 'application/cloudevents+json' },
		}),
	},
	numericWebhook: {
		like: 'Ids as numbers in the webhook too',
		rows: [WEBHOOK],
		shapes: { taskIds: 'number' },
		delivery: (body) => ({ raw: withNumericIds(JSON.stringify(body)) }),
	},
	wordyWebhook: {
		like: 'A status in other words: `done`',
		rows: [WEBHOOK],
		delivery: (body) => ({ body: 'bot_id' in body ? body : { ...body, status: 'done' } }),
	},
	formWebhook: {
		like: 'Twilio: a form instead of JSON',
		rows: [WEBHOOK],
		delivery: (body) => ({
			raw: new URLSearchParams(body as Record<string, string>).toString(),
			headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
		}),
	},
	stubbornWebhook: {
		like: 'At least once: the same delivery three times over',
		rows: [REDELIVERY],
		copies: 3,
	},
	onlyOnceWebhook: {
		like: 'Fire and forget: one try, whatever the answer',
		rows: [REDELIVERY],
		retries: 0,
	},
	countedWebhook: {
		like: 'Each try differs: a counter and a time in the body',
		rows: [REDELIVERY],
		copies: 2,
		delivery: (body, copy) => ({ body: { ...body, attempt: copy, sent_at: Date.now() } }),
	},
} satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];

export function dialectOf(name: DialectName | undefined): Dialect {
	return name === undefined ? { like: '', rows: [] } : DIALECTS[name];
}

/** The answer in this dialect. `wire` is missing where the service has not been asked yet. */
export function spoken(
	name: DialectName | undefined,
	asked: Asked,
	wire: Wire | undefined,
): Wire | undefined {
	const { on, instead, success, refusal } = dialectOf(name);
	const isMeant = on === undefined || (asked.kind !== undefined && on.includes(asked.kind));
	if (!isMeant) return wire;
	const plain = { status: 200, headers: JSON_TYPE, body: undefined };
	if (!wire) {
		const said = instead?.(asked);
		return said && { ...plain, ...said };
	}
	const change = wire.status < 300 ? success : refusal;
	return { ...wire, ...change?.(wire, asked) };
}

/** The bytes of a body. */
export function bytesOf({ body, raw }: Wire): string | Buffer {
	return raw ?? (body === undefined ? '' : JSON.stringify(body));
}

function busy(headers: Record<string, string>, body: Json) {
	return ({ nth }: Asked): Partial<Wire> | undefined =>
		nth === 1 ? { status: 429, headers: { ...JSON_TYPE, ...headers }, body } : undefined;
}

const PACKERS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };

function compressed(wire: Wire, encoding: keyof typeof PACKERS): Partial<Wire> {
	const raw = PACKERS[encoding](bytesOf(wire));
	return { headers: { ...wire.headers, 'Content-Encoding': encoding }, raw };
}

/** With an escape for every sign that is not ASCII. */
function ascii(text: string): string {
	return text.replace(
		/[^\0-\x7f]/g,
		(sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
}
