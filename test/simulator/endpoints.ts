import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { Exchange } from './exchange';
import { acceptedTerms, termsFrom } from './dictionary';
import type { ExportFormat, Shapes } from './options';
import {
	integer,
	invalid,
	meetingParameters,
	recordingUrl,
	submitParameters,
	type Fields,
} from './parameters';
import type { Operation } from './rate-limits';
import { Refusal } from './refusal';
import type { Service } from './service';
import type { Task } from './tasks';
import { applyTerms, exportTranscript } from './transcripts';
import { checkAnnouncedSize, readForm } from './upload';

export interface Endpoint {
	method: string;
	/** `{id}` matches one segment. */
	path: string;
	operation: Operation;
	/** Returns the body of the answer. */
	handle: (exchange: Exchange, service: Service, id: string) => unknown;
}

const FORMATS: readonly ExportFormat[] = ['txt', 'srt', 'vtt', 'json'];
const DONE = { message: 'Done' };

/** Section "Endpoints": every method and path of the service. */
export const ENDPOINTS: readonly Endpoint[] = [
	endpoint('GET', 'account', (_exchange, { billing }) => ({
		account_id: 'simulated',
		plan: 'api',
		minutes_used: round(billing.minutesThisMonth(), 2),
		balance: round(billing.balance, 4),
	})),
	endpoint('POST', 'transcribe', transcribeFile, 'transcribe'),
	endpoint('POST', 'transcribe-url', transcribeUrl, 'transcribe'),
	endpoint('GET', 'tasks', listTasks),
	endpoint('GET', 'tasks/{id}', (_exchange, { tasks }, id) => tasks.resource(tasks.get(id))),
	endpoint('GET', 'tasks/{id}/result', (_exchange, service, id) => result(service, id)),
	endpoint('GET', 'tasks/{id}/export', exportTask),
	endpoint('POST', 'tasks/{id}/cancel', (_exchange, { tasks, settings }, id) =>
		answerOr(settings.shapes.cancelAnswer, 'task', tasks.resource(tasks.cancel(id))),
	),
	endpoint('POST', 'api-key/generate', (_exchange, service) => ({
		[service.settings.shapes.apiKeyField]: service.rotateKey(),
	})),
	endpoint('POST', 'meeting', sendBot, 'meeting'),
	endpoint('GET', 'meeting/{id}', (_exchange, { meetings }, id) =>
		meetings.resource(meetings.get(id)),
	),
	endpoint('DELETE', 'meeting/{id}', (_exchange, { meetings, settings }, id) =>
		answerOr(settings.shapes.cancelBotAnswer, 'bot', meetings.resource(meetings.cancel(id))),
	),
	endpoint('GET', 'dictionary', (_exchange, { dictionary }) => dictionary.resource()),
	endpoint('PUT', 'dictionary', async (exchange, service) => {
		service.dictionary.replace(termsFrom(await exchange.readJson(), service.settings.shapes));
		return dictionaryAnswer(service);
	}),
	endpoint('POST', 'dictionary', async (exchange, service) => {
		service.dictionary.add(termsFrom(await exchange.readJson(), service.settings.shapes));
		return dictionaryAnswer(service);
	}),
	endpoint('DELETE', 'dictionary', (_exchange, service) => {
		service.dictionary.clear();
		return dictionaryAnswer(service);
	}),
	endpoint('POST', 'dictionary/preview', previewDictionary),
];

/** Section "Summary regeneration": an endpoint only if a shape sets its method and path. */
export function regenerateSummaryEndpoint(service: Service): Endpoint[] {
	const shape = service.settings.shapes.regenerateSummary;
	if (!shape) return [];
	const path = shape.path.replace(/^(\/?api\/v1)?\//, '').replace(/\{\w+\}/, '{id}');
	return [endpoint(shape.method.toUpperCase(), path, regenerateSummary, 'summary')];
}

function endpoint(
	method: string,
	path: string,
	handle: Endpoint['handle'],
	operation: Operation = 'other',
): Endpoint {
	return { method, path, operation, handle };
}

/** POST /api/v1/transcribe */
async function transcribeFile(exchange: Exchange, service: Service): Promise<unknown> {
	const header = exchange.request.headers['idempotency-key'];
	const key = typeof header === 'string' && header !== '' ? header : undefined;
	if (key === undefined) return await receiveFile(exchange, service);
	if (service.running.has(key)) {
		throw new Refusal(409, 'A request with the same Idempotency-Key is still running');
	}
	const earlier = service.answers.get(key);
	if (earlier !== undefined) {
		return await repeated(exchange, service, earlier);
	}
	service.running.add(key);
	try {
		const answer = await receiveFile(exchange, service);
		service.answers.set(key, { answer, fields: exchange.entry.body });
		return answer;
	} finally {
		service.running.delete(key);
	}
}

async function repeated(
	exchange: Exchange,
	{ settings }: Service,
	earlier: { answer: unknown; fields: unknown },
): Promise<unknown> {
	const { otherRequestWithKeyStatus } = settings.shapes;
	if (otherRequestWithKeyStatus === undefined) {
		await exchange.drain();
		return earlier.answer;
	}
	const { fields } = await readForm(exchange.body, exchange.request.headers, settings);
	exchange.entry.body = fields;
	if (isDeepStrictEqual(fields, earlier.fields)) return earlier.answer;
	throw new Refusal(
		otherRequestWithKeyStatus,
		'This Idempotency-Key was used for a request with other parameters',
	);
}

async function receiveFile(exchange: Exchange, service: Service): Promise<unknown> {
	const { settings, tasks } = service;
	tasks.checkRoom();
	checkAnnouncedSize(exchange.request.headers, settings);
	const { fields, file } = await whileUploading(service, () =>
		readForm(exchange.body, exchange.request.headers, settings),
	);
	exchange.entry.body = fields;
	if (file) {
		const { field, name, mimeType, size, sha256 } = file;
		exchange.entry.file = { field, name, mimeType, size, sha256 };
	}
	if (file?.field !== 'file') throw invalid(settings, 'file is required');
	if (file.size === 0) throw invalid(settings, 'file is empty');
	const parameters = submitParameters(fields, settings);
	// Others may have taken the last places while this one was uploading.
	tasks.checkRoom();
	const known = service.known(file.sha256, file.name);
	const seconds = known?.seconds ?? file.seconds ?? settings.defaultRecordingSeconds;
	return submitted(service, tasks.create({ name: file.name, seconds, parameters, known, file }));
}

async function whileUploading<T>(service: Service, upload: () => Promise<T>): Promise<T> {
	service.uploadsNow += 1;
	service.uploadsAtOnce = Math.max(service.uploadsAtOnce, service.uploadsNow);
	try {
		return await upload();
	} finally {
		service.uploadsNow -= 1;
	}
}

/** POST /api/v1/transcribe-url. Not shown; assumed to be like an upload, but in JSON. */
async function transcribeUrl(exchange: Exchange, service: Service): Promise<unknown> {
	const { settings, tasks } = service;
	const body = await exchange.readJson();
	const name = recordingUrl(body, settings);
	const parameters = submitParameters(body, settings);
	tasks.checkRoom();
	const known = service.known('', name);
	const seconds = known?.seconds ?? settings.defaultRecordingSeconds;
	return submitted(service, tasks.create({ name, seconds, parameters, known }));
}

function submitted({ settings }: Service, task: Task): Record<string, unknown> {
	return {
		task_id: task.id,
		status: task.awaitingBalance ? settings.shapes.submitStatusAwaitingBalance : task.status,
		...(task.webhookSecret === undefined ? {} : { webhook_secret: task.webhookSecret }),
	};
}

/** GET /api/v1/tasks */
function listTasks({ entry }: Exchange, { settings, tasks }: Service): unknown {
	const { shapes } = settings;
	const { limit: limitText, offset: offsetText, status } = entry.query;
	const asked = integer(limitText, 'limit', 1, settings) ?? shapes.taskListDefault;
	const offset = integer(offsetText, 'offset', 0, settings) ?? 0;
	const statuses = ['pending', 'processing', 'completed', 'failed', shapes.cancelledStatus];
	if (status !== undefined && !statuses.includes(status)) {
		throw invalid(settings, `status must be one of ${statuses.join(', ')}`);
	}
	if (asked > shapes.taskListMaximum && shapes.taskListAboveMaximum === 'refused') {
		throw invalid(settings, `limit must be ${shapes.taskListMaximum} at most`);
	}
	if (offset > shapes.taskListLargestOffset) {
		throw invalid(settings, `offset must be ${shapes.taskListLargestOffset} at most`);
	}
	const limit = Math.min(asked, shapes.taskListMaximum);
	const isWanted = (task: Task) =>
		status === undefined || shapes.taskListIgnores.includes('status') || task.status === status;
	const matching = inOrder(tasks.all().filter(isWanted), shapes.taskListOrder);
	const from = shapes.taskListIgnores.includes('offset') ? 0 : offset;
	const page = matching.slice(from, from + limit).map((task) => ({
		...(shapes.taskListStatus === 'shown' ? tasks.resource(task) : { task_id: task.id }),
		...(shapes.taskListDates === 'none'
			? {}
			: { created_at: new Date(task.createdAt).toISOString() }),
	}));
	if (shapes.taskList === 'array') return page;
	if (shapes.taskList === 'nested') return { data: { tasks: page } };
	return { [shapes.taskList]: page, total: matching.length, limit, offset };
}

function inOrder(newestFirst: Task[], order: Shapes['taskListOrder']): Task[] {
	if (order === 'newestFirst') return newestFirst;
	if (order === 'oldestFirst') return newestFirst.reverse();
	const hash = ({ id }: Task) => createHash('md5').update(id).digest('hex');
	const keyed = newestFirst.map((task) => ({ task, key: hash(task) }));
	return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ task }) => task);
}

/** GET /api/v1/tasks/{id}/result */
function result({ tasks, settings }: Service, id: string): Record<string, unknown> {
	const { text, segments, summary, speakers } = tasks.transcript(id).transcript;
	const named = settings.shapes.resultSpeakers === 'names';
	return {
		text,
		segments,
		summary,
		speakers: named ? speakers : speakers.map((name, index) => ({ id: index + 1, name })),
	};
}

/** GET /api/v1/tasks/{id}/export */
function exportTask({ entry }: Exchange, { settings, tasks }: Service, id: string): unknown {
	const asked = entry.query['format'] ?? settings.shapes.defaultExportFormat;
	const format = FORMATS.find((known) => known === asked);
	if (!format) throw invalid(settings, `format must be one of ${FORMATS.join(', ')}`);
	return { content: exportTranscript(tasks.transcript(id).transcript, format), format };
}

/** POST /api/v1/meeting */
async function sendBot(exchange: Exchange, service: Service): Promise<unknown> {
	const { settings, meetings, billing } = service;
	const type = exchange.request.headers['content-type'] ?? '';
	const isForm = /^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(type);
	const fields = isForm ? await readFields(exchange, type) : await exchange.readJson();
	const parameters = meetingParameters(fields, isForm, settings);
	if (billing.balance <= 0) {
		throw new Refusal(402, 'The API balance is empty', 'api_balance_exhausted');
	}
	const bot = meetings.send(parameters);
	const { task_id: _noneYet, ...answer } = meetings.resource(bot);
	return {
		...answer,
		...(bot.webhookSecret === undefined ? {} : { webhook_secret: bot.webhookSecret }),
	};
}

async function readFields(exchange: Exchange, type: string): Promise<Fields> {
	const { request, settings } = exchange;
	const fields = /^multipart/i.test(type)
		? (await readForm(exchange.body, request.headers, settings)).fields
		: Object.fromEntries(new URLSearchParams(await exchange.readText()));
	exchange.entry.body = fields;
	return fields;
}

/** POST /api/v1/dictionary/preview: the answer's fields are not shown. */
async function previewDictionary(exchange: Exchange, service: Service): Promise<unknown> {
	const { settings, tasks } = service;
	const body = await exchange.readJson();
	const { task_id: taskId, terms } = body;
	if (typeof taskId !== 'string') throw invalid(settings, 'task_id must be a string');
	const list = acceptedTerms(termsFrom({ terms: terms ?? null }, settings.shapes));
	const { transcript } = tasks.transcript(taskId);
	const { changes } = applyTerms(transcript, list.slice(0, settings.limitTerms));
	return { task_id: taskId, changes_count: changes.length, changes };
}

function dictionaryAnswer({ settings, dictionary }: Service): unknown {
	return answerOr(settings.shapes.dictionaryAnswer, 'dictionary', dictionary.resource());
}

async function regenerateSummary(
	exchange: Exchange,
	{ tasks }: Service,
	id: string,
): Promise<unknown> {
	const hasBody = Number(exchange.request.headers['content-length'] ?? 0) > 0;
	const body = hasBody ? await exchange.readJson() : {};
	const { task, transcript } = tasks.transcript(id);
	const template = body['summary_template'] ?? task.parameters.summaryTemplate;
	const summary = `${transcript.summary} (regenerated: ${String(template)})`;
	task.transcript = { ...transcript, summary };
	return { task_id: id, summary };
}

function answerOr(shape: string, resourceShape: string, resource: unknown): unknown {
	if (shape === resourceShape) return resource;
	return shape === 'message' ? DONE : {};
}

function round(value: number, digits: number): number {
	return Math.round(value * 10 ** digits) / 10 ** digits;
}
