/** What is tried in every dialect: each operation, and what people do with several of them. */
import type {
	INodeExecutionData,
	INodeListSearchResult,
	INodeParameters,
	NodeOperationError,
} from 'n8n-workflow';

import type { Dialect, Kind } from '../simulator/dialects';
import type { LoggedDelivery } from '../simulator';
import { until } from '../simulator/testing-client';
import { listTasks } from '../support/editor';
import type { Outcome } from '../support/engine';
import { EVERY_OPERATION } from '../support/everyOperation';
import { byId, itemWithFile, type ServiceForTests } from '../support/service';
import { workflowWith } from '../support/suspended';
import { WORKS } from './expected';
import { AccountHost } from '../TranscriberAccountTrigger/host';
import { TriggerHost } from '../TranscriberTrigger/host';

/** What came out, in the few words that are compared with the table. */

export interface Situation {
	name: string;
	/** The requests that it makes. Dialects of other requests cannot be heard in it. */
	kinds: Kind[];
	/** Whether it ends in a refusal, or has webhooks delivered. */
	isRefused?: boolean;
	hasWebhook?: boolean;
	/** Makes what is needed, before the dialect is spoken. Returns what is done in it. */
	begin: (service: ServiceForTests, how: How) => Promise<() => Promise<Seen>>;
}

export interface How {
	dialect: Dialect;
	/** How long a wait may last: short where it is to end without a transcript. */
	waitOptions: INodeParameters;
}

export interface Seen {
	/** Everything that n8n would save or show. */
	all: unknown;
	/** WORKS, the message of the error, or what is wrong with a success. */
	result: string;
}

const SENTENCE = 'This transcript is simulated';

type Proof = (outcome: Outcome, service: ServiceForTests, id: string) => unknown;

const json = ({ json: items }: Outcome) => JSON.stringify(items);
const one =
	(check: (item: Outcome['json'][number]) => unknown) =>
	({ json: [item, ...more] }: Outcome) =>
		more.length === 0 && item !== undefined && check(item);
/** Whether the output names this task. */
const isOf = (item: Outcome['json'][number] | undefined, id: string) =>
	String(item?.['task_id'] ?? item?.['id'] ?? item?.['uuid']) === id;
const isSubmitted: Proof = ({ json: [item] }, service) => {
	const [task, ...others] = service.running().tasks();
	return others.length === 0 && task !== undefined && isOf(item, task.id);
};
const isSent: Proof = ({ json: [item, ...more], error }, service) => {
	const [bot, ...others] = service.running().bots();
	const isOne = more.length === 0 && others.length === 0 && bot !== undefined;
	return error === undefined && isOne && String(item?.['bot_id']) === bot.id;
};
const hasTerms =
	(...terms: string[]): Proof =>
	(_outcome, service) =>
		JSON.stringify(service.running().terms()) === JSON.stringify(terms);

const isFinished: Proof = (outcome) => json(outcome).includes(SENTENCE);

/** What the dictionary holds before. */
export const FORMER_TERM = 'Kubernetes';

/** What proves that an operation has done its work. */
const PROOFS: Record<string, Proof> = {
	'transcription.transcribeFile': isSubmitted,
	'transcription.transcribeUrl': isSubmitted,
	'task.get': (outcome, _service, id) =>
		one((item) => item['status'] !== undefined && isOf(item, id))(outcome),
	'task.getAll': (outcome, service) =>
		service
			.running()
			.tasks()
			.every(({ id }) => json(outcome).includes(id)),
	'task.getResult': (outcome) => json(outcome).includes(SENTENCE),
	'task.export': ({ items }) =>
		Buffer.from(items[0]?.binary?.['data']?.data ?? '', 'base64')
			.toString('utf8')
			.includes(SENTENCE),
	'task.cancel': (_outcome, service, id) =>
		/cancel|revoked/i.test(service.running().task(id).status),
	'task.regenerateSummary': (outcome) => json(outcome).includes('task_id'),
	'task.wait': (outcome) => json(outcome).includes(SENTENCE),
	'meeting.sendBot': isSent,
	'meeting.get': (outcome, _service, id) =>
		one((item) => item['status'] !== undefined && String(item['bot_id']) === id)(outcome),
	'meeting.cancel': (_outcome, service, id) =>
		/cancelled|processing/.test(service.running().bot(id).phase),
	'meeting.wait': (outcome) => json(outcome).includes(SENTENCE),
	'dictionary.get': one(({ terms }) => Array.isArray(terms)),
	'dictionary.clear': hasTerms(),
	'dictionary.replace': hasTerms('n8n'),
	'dictionary.add': hasTerms(FORMER_TERM, 'n8n'),
	'dictionary.preview': (outcome) => json(outcome).includes('changes'),
	'dictionary.sync': hasTerms('n8n'),
	'account.get': (outcome) => json(outcome).includes('balance'),
	'apiKey.rotate': (outcome, service) => json(outcome).includes(service.running().apiKey),
};

const KINDS: Record<string, Kind[]> = {
	'transcription.transcribeFile': ['upload', 'list'],
	'transcription.transcribeUrl': ['link', 'list'],
	'task.get': ['task'],
	'task.getAll': ['list'],
	'task.getResult': ['result'],
	'task.export': ['export'],
	'task.cancel': ['cancelTask'],
	'task.regenerateSummary': ['summary'],
	'task.wait': ['task', 'result'],
	'meeting.sendBot': ['sendBot', 'list'],
	'meeting.get': ['bot'],
	'meeting.cancel': ['cancelBot'],
	'meeting.wait': ['bot', 'task', 'result'],
	'dictionary.get': ['dictionary'],
	'dictionary.clear': ['writeDictionary'],
	'dictionary.replace': ['writeDictionary'],
	'dictionary.add': ['writeDictionary'],
	'dictionary.preview': ['preview'],
	'dictionary.sync': ['dictionary', 'writeDictionary'],
	'account.get': ['account'],
	'apiKey.rotate': ['rotate'],
};

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://files.example.com/talk.mp3',
};
const FILE = { resource: 'transcription', operation: 'transcribeFile' };
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: 'https://meet.example.com/abc',
	consentAcknowledged: true,
};

/** The result of a run: the message of its error without ids, or whether its output is right. */
function seen({ error, ...outcome }: Outcome, isRight: unknown): Seen {
	const all = { error, ...outcome };
	if (!error) {
		const text = JSON.stringify(outcome.json);
		const isPage = /<!DOCTYPE/.test(text);
		const wrong = isPage ? 'outputs the page' : `wrong output: ${text.slice(0, 200)}`;
		return { all, result: isRight ? WORKS : wrong };
	}
	const isQuoted = WORDS.test(error.description ?? '');
	return { all, result: `${plainly(error.message)}${isQuoted ? ', and why' : ''}` };
}

/** The service's own words for what is refused. */
const WORDS = /No such|must be|is pending, not completed/;

/** Without what differs from run to run. */
export function plainly(message: string): string {
	return message
		.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b\d{6,}\b/g, '…')
		.replace(/ \[item \d+\]/, '')
		.replace(/within [\d.]+ minutes/, 'within … minutes');
}

type Input = (service: ServiceForTests) => Promise<INodeExecutionData>;

/** One run of the node, proved by its output and by what the service has. */
function run(
	name: string,
	kinds: Kind[],
	parameters: INodeParameters,
	input: Input,
	proof: Proof = () => false,
	more: Partial<Situation> = {},
): Situation {
	return {
		name,
		kinds,
		...more,
		begin: async (service, { waitOptions }) => {
			const item = await input(service);
			return async () => {
				const waits = 'waitOptions' in parameters;
				const own = parameters['waitOptions'] as INodeParameters;
				const with_ = waits ? { waitOptions: { ...own, ...waitOptions } } : {};
				const outcome = await service.run({ ...parameters, ...with_ }, { items: [item] });
				return seen(outcome, proof(outcome, service, String(item.json['id'])));
			};
		},
	};
}

const nothing: Input = async () => ({ json: {} });
const file: Input = async () => itemWithFile();
const pending: Input = async (service) => ({ json: { id: await service.pendingTask() } });
/** More than one page in each dialect that has short ones. */
const fiveTasks = async (service: ServiceForTests): Promise<string[]> => {
	const ids: string[] = [];
	while (ids.length < 5) ids.push(await service.pendingTask());
	return ids;
};
const bot: Input = async (service) => ({ json: { id: await service.bot() } });
const INPUTS: Record<string, Input> = {
	'task.getAll': async (service) => ({ json: { ids: await fiveTasks(service) } }),
};
const task = byId('={{ $json.id }}');
const botId = '={{ $json.id }}';

/** A submit that is waited for: its task ends as soon as the service has it. */
function polled(
	name: string,
	parameters: INodeParameters,
	kinds: Kind[],
	input = nothing,
): Situation {
	const begin: Situation['begin'] = async (service, { waitOptions }) => {
		const item = await input(service);
		const wanted = { ...waitOptions, exportFormat: 'json', exportAs: 'text' };
		return async () => {
			const ending = setInterval(() => endAll(service), 5);
			const outcome = await service
				.run({ ...parameters, onCompletion: 'poll', waitOptions: wanted }, { items: [item] })
				.finally(() => clearInterval(ending));
			const isExported = String(outcome.json[0]?.['export']).includes(SENTENCE);
			return seen(outcome, isFinished(outcome, service, '') && isExported);
		};
	};
	return { name, kinds, begin };
}

/** Ends all meetings and all tasks. */
function endAll(service: ServiceForTests): void {
	const { bots, tasks, endMeeting, finish } = service.running();
	for (const { id, phase } of bots()) if (/joining|recording/.test(phase)) endMeeting(id);
	for (const { id, status } of tasks()) if (status === 'pending') finish(id);
}

/** An execution that is suspended until the service has delivered. */
function suspended(name: string, parameters: INodeParameters, kinds: Kind[]): Situation {
	const act = async (service: ServiceForTests, { waitOptions }: How): Promise<Seen> => {
		const awaiting = { ...parameters, onCompletion: 'awaitWebhook', waitOptions };
		const workflow = workflowWith(awaiting, service.credentials());
		const asleep = await workflow.start([{ json: {} }]);
		if (!asleep.isSuspended)
			return { all: asleep, result: plainly(asleep.error ?? 'wrong: awake') };
		endAll(service);
		const [sent] = service.running().deliveries;
		if (!sent) return { all: asleep, result: 'wrong: nothing is delivered' };
		const signature = sent.headers['X-Service-Signature'];
		const answer = await workflow.deliver(asleep, sent.raw, signature, sent.headers);
		if (answer.thrown !== undefined) return { all: answer, result: `wrong: ${answer.thrown}` };
		const { woken } = answer;
		if (!woken) return { all: asleep, result: `the delivery is answered ${answer.status}` };
		if (woken.error) return { all: woken, result: plainly(woken.error) };
		const isRight = JSON.stringify(woken.next).includes(SENTENCE);
		return { all: woken, result: isRight ? WORKS : 'wrong output' };
	};
	return {
		name,
		kinds,
		hasWebhook: true,
		begin: async (service, how) => async () => await act(service, how),
	};
}

/** A task that is handed to a Transcriber Trigger, which gets the real deliveries. */
function triggered(name: string, parameters: INodeParameters, kinds: Kind[]): Situation {
	const act = async (service: ServiceForTests): Promise<Seen> => {
		const events = ['transcriptionCompleted', 'meetingCompleted'];
		const settings = { parameters: { events }, credentials: service.credentials() };
		const host = await new TriggerHost(settings).open();
		try {
			const completion = { onCompletion: 'notifyTrigger', triggerUrl: host.url };
			const outcome = await service.run({ ...parameters, ...completion });
			if (outcome.error) return seen(outcome, false);
			endAll(service);
			const { deliveries } = service.running();
			const first = () => deliveries.filter(({ attempt }) => attempt === 1);
			await until(() => first().length > 0 && first().every(isOver));
			const all = { executions: host.executions, saved: host.saved };
			const [started, ...others] = host.executions;
			if (!started) return { all, result: `the delivery is answered ${deliveries[0]?.status}` };
			const isRight = JSON.stringify(started).includes(SENTENCE) && others.length === 0;
			return { all, result: isRight ? WORKS : `wrong: ${host.executions.length} executions` };
		} finally {
			await host.close();
		}
	};
	return {
		name,
		kinds,
		hasWebhook: true,
		begin: async (service) => async () => await act(service),
	};
}

const isOver = ({ status, error }: LoggedDelivery) => (status ?? error) !== undefined;

/** What the service has done, although its answer never came: the node asks again. */
function lost(
	name: string,
	kinds: Kind[],
	parameters: INodeParameters,
	input: Input,
	match: { method: string; path: string },
): Situation {
	const withFault: Input = async (service) => {
		const item = await input(service);
		service.running().fault({ match, action: { kind: 'cut', when: 'afterProcessing' } });
		return item;
	};
	return run(name, kinds, parameters, withFault, ({ error }) => error === undefined, REFUSED);
}

const REFUSED = { isRefused: true };
const WRONG = { options: { summaryTemplate: 'nobody-has-it' }, onCompletion: 'returnTask' };
const refusesTemplates =
	(input: Input): Input =>
	async (service) => {
		service.running().configure({ shapes: { unknownTemplates: 'refused' } });
		return await input(service);
	};
const EVERYTHING: Kind[] = ['list', 'task', 'result'];

/** n8n was killed after the submit. The Retry has the same key, and another address for the webhook. */
const AFTER_A_CRASH: Situation = {
	name: 'transcribeFile, a Retry after a crash',
	kinds: ['upload', ...EVERYTHING],
	begin: async (service, { waitOptions }) => {
		const more = { items: [itemWithFile()], resumeToken: `token ${Math.random()}` };
		const parameters = { ...FILE, onCompletion: 'awaitWebhook', waitOptions };
		return async () => {
			const crashed = await service.run(parameters, {
				...more,
				executionId: '41',
				mode: 'trigger',
			});
			if (crashed.error) return seen(crashed, false);
			endAll(service);
			const outcome = await service.run(parameters, { ...more, executionId: '42', mode: 'retry' });
			return seen(outcome, isFinished(outcome, service, ''));
		};
	},
};

const WAITING_FOR_CANCELLED: Situation = {
	name: 'waiting for a cancelled task',
	kinds: ['task'],
	begin: async (service, { dialect, waitOptions }) => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: dialect.shapes?.cancelledStatus ?? 'cancelled' });
		const parameters = { resource: 'task', operation: 'wait', taskId: byId(id), waitOptions };
		return async () => seen(await service.run(parameters), false);
	},
};

const ACCOUNT_TRIGGER: Situation = {
	name: 'account trigger',
	kinds: EVERYTHING,
	begin: async (service) => {
		const ids = await fiveTasks(service);
		return async () => {
			const host = new AccountHost(service.credentials());
			try {
				await host.activate();
				for (const id of ids) service.running().finish(id);
				await host.polls(3);
			} catch (error) {
				// A failed publication has its next step in the message.
				const { message, description } = error as NodeOperationError;
				return { all: error, result: plainly(message.replace(`. ${description}`, '')) };
			}
			const isRight = host.started.sort().join() === ids.sort().join();
			const texts = host.executions
				.flat()
				.every(({ json: item }) => JSON.stringify(item).includes(SENTENCE));
			const result =
				isRight && texts ? WORKS : `started ${host.started.length} of ${ids.length} times`;
			return { all: host.executions, result };
		};
	},
};

/** Page by page, as the editor shows it to who scrolls. */
async function wholeList(service: ServiceForTests): Promise<INodeListSearchResult['results']> {
	const results: INodeListSearchResult['results'] = [];
	let token: string | undefined;
	do {
		const page = await listTasks(service.credentials(), undefined, token);
		results.push(...page.results);
		token = page.paginationToken as string | undefined;
	} while (token !== undefined && results.length < 20);
	return results;
}

const EDITOR_LIST: Situation = {
	name: 'list of tasks in the editor',
	kinds: ['list'],
	begin: async (service) => {
		const ids = await fiveTasks(service);
		return async () => {
			try {
				const list = await wholeList(service);
				const isWhole = ids.every((id) => list.some(({ value }) => value === id));
				return { all: list, result: isWhole ? WORKS : `lists ${list.length} tasks` };
			} catch (error) {
				return { all: error, result: plainly((error as Error).message) };
			}
		};
	},
};

export const SITUATIONS: Situation[] = [
	...EVERY_OPERATION.map(({ name, parameters, input }) =>
		run(name, KINDS[name] ?? [], parameters, INPUTS[name] ?? input, PROOFS[name]),
	),
	run(
		'a link with an own key',
		['link', 'list'],
		{ ...LINK, onCompletion: 'returnTask', options: { idempotencyKey: 'own-key' } },
		nothing,
		isSubmitted,
	),
	run(
		'dictionary.sync, adding',
		['dictionary', 'writeDictionary'],
		{ resource: 'dictionary', operation: 'sync', mode: 'addMissing', terms: 'n8n' },
		nothing,
		hasTerms(FORMER_TERM, 'n8n'),
	),
	polled('transcribeFile and wait', FILE, ['upload', 'export', ...EVERYTHING], file),
	polled('transcribeUrl and wait', LINK, ['link', 'export', ...EVERYTHING]),
	polled('sendBot and wait', BOT, ['sendBot', 'bot', 'export', ...EVERYTHING]),
	suspended('transcribeUrl, woken by webhook', LINK, ['link', ...EVERYTHING]),
	suspended('sendBot, woken by webhook', BOT, ['sendBot', 'bot', ...EVERYTHING]),
	triggered('transcribeUrl, told to a trigger', LINK, ['link', ...EVERYTHING]),
	triggered('sendBot, told to a trigger', BOT, ['sendBot', 'bot', ...EVERYTHING]),
	AFTER_A_CRASH,
	ACCOUNT_TRIGGER,
	EDITOR_LIST,
	WAITING_FOR_CANCELLED,
	run(
		'waiting for a bot without a task',
		['bot'],
		{ resource: 'meeting', operation: 'wait', botId, waitOptions: {} },
		bot,
	),
	run(
		'waiting for balance',
		['task'],
		{
			resource: 'task',
			operation: 'wait',
			taskId: task,
			waitOptions: { onInsufficientBalance: 'fail' },
		},
		async (service) => {
			service.running().configure({ balance: 0 });
			return await pending(service);
		},
	),
	run(
		'result of an unfinished task',
		['result'],
		{ resource: 'task', operation: 'getResult', taskId: task },
		pending,
		undefined,
		REFUSED,
	),
	run(
		'export of an unfinished task',
		['export'],
		{ resource: 'task', operation: 'export', taskId: task },
		pending,
		undefined,
		REFUSED,
	),
	run(
		'preview with an unfinished task',
		['preview'],
		{ resource: 'dictionary', operation: 'preview', taskId: task, terms: 'n8n' },
		pending,
		undefined,
		REFUSED,
	),
	lost(
		'task.cancel, its answer lost',
		['cancelTask'],
		{ resource: 'task', operation: 'cancel', taskId: task },
		pending,
		{ method: 'POST', path: '/cancel$' },
	),
	lost(
		'meeting.cancel, its answer lost',
		['cancelBot'],
		{ resource: 'meeting', operation: 'cancel', botId },
		bot,
		{ method: 'DELETE', path: '/meeting/' },
	),
	run(
		'an unknown task',
		['task'],
		{ resource: 'task', operation: 'get', taskId: byId('nobody') },
		nothing,
		undefined,
		REFUSED,
	),
	run(
		'an unknown bot',
		['bot'],
		{ resource: 'meeting', operation: 'get', botId: 'nobody' },
		nothing,
		undefined,
		REFUSED,
	),
	run(
		'a link with a wrong parameter',
		['link'],
		{ ...LINK, ...WRONG },
		refusesTemplates(nothing),
		undefined,
		REFUSED,
	),
	run(
		'a file with a wrong parameter',
		['upload'],
		{ ...FILE, ...WRONG },
		refusesTemplates(file),
		undefined,
		REFUSED,
	),
];
