/** Whatever comes to the address of a trigger or of a suspended execution, and whoever sends it. */
import fc from 'fast-check';

import { RESUME } from '../../nodes/Transcriber/submit/suspension/knownEndings';
import { AFTER_WAKING } from '../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { FRESH_MS } from '../../nodes/shared/webhook/handOverEnvelope';
import { seal } from '../../nodes/shared/webhook/sealedSecret';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { captureLogs } from '../support/logs';
import { shortenRetries } from '../support/scale';
import { findIn, secretsInAddresses } from '../support/search';
import { serviceForTests } from '../support/service';
import { workflowWith } from '../support/suspended';
import { deliver, handOverTo, post, sign } from '../TranscriberTrigger/client';
import { TriggerHost, type HostSettings } from '../TranscriberTrigger/host';
import {
	API_KEY,
	BOT,
	SERVICE_FIELDS,
	TASK,
	TOLD_SECRET,
	WEBHOOK_MS,
	bodyOf,
	bodyText,
	holds,
	isPolluted,
	json,
	padded,
	padding,
	within,
	type Arbitrary,
} from './fuzz';

const service = serviceForTests({ webhookRetries: 0 });
const SECRET = 'whsec_of_the_task';
/** Of other submissions: nobody delivers for them. */
const HANDED_OVER = 'whsec_handed_over';
/** The Webhook Secret of the credential. */
const OF_THE_CREDENTIAL = 'whsec_of_the_credential';
const SECRETS = [API_KEY, SECRET, HANDED_OVER, TOLD_SECRET, OF_THE_CREDENTIAL];

jest.setTimeout(3_600_000);
let logs: ReturnType<typeof captureLogs>;
beforeEach(() => {
	shortenRetries(1000);
	jest.replaceProperty(RETRY, 'brief', 100);
	jest.replaceProperty(STORE, 'safeAfterMs', 10);
	jest.replaceProperty(RESUME, 'askAgain', 5);
	jest.replaceProperty(AFTER_WAKING, 'leastMs', 100);
	for (const name of Object.keys(PATIENCE) as Array<keyof typeof PATIENCE>) {
		jest.replaceProperty(PATIENCE, name, 0);
	}
	logs = captureLogs();
});
afterEach(() => logs.release());

/** Header values that HTTP can carry. */
const wrongSignature = fc.oneof(
	fc.constantFrom(
		undefined,
		'',
		'sha256=',
		'sha1=00',
		`sha256=${'0'.repeat(64)}`,
		`sha256=${'Z'.repeat(64)}`,
	),
	fc.string({ maxLength: 80 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
);

const type = fc.constantFrom(
	'application/json',
	'text/plain',
	'application/octet-stream',
	'multipart/form-data',
);

const body = fc.oneof(
	{ weight: 4, arbitrary: bodyOf({ ...SERVICE_FIELDS, task_id: [TASK, TASK, TASK, 'other'] }) },
	{ weight: 1, arbitrary: bodyText },
);

/** A delivery, signed with the secret of the submission or not. */
const delivery = fc.record({ isSigned: fc.boolean(), body, padding, wrongSignature, type });

function rawOf(given: Arbitrary<typeof delivery>, ids: Record<string, string>): string {
	let raw = given.body;
	for (const [name, id] of Object.entries(ids)) {
		raw = raw.replaceAll(JSON.stringify(name), JSON.stringify(id));
	}
	return padded(raw, given.padding);
}

/** What a call has in its header, for {@link sign}ed bodies and others. */
function signatureOf(
	{ isSigned, wrongSignature }: Arbitrary<typeof delivery>,
	raw: string,
	secret: string,
) {
	return isSigned ? sign(raw, secret) : wrongSignature;
}

/** Whether the body names one of the ids where a delivery does. */
function names(raw: string, ids: Record<string, string>): boolean {
	try {
		const read: unknown = JSON.parse(raw);
		const { task_id, bot_id } = (read ?? {}) as Record<string, unknown>;
		return task_id === ids[TASK] || bot_id === ids[BOT];
	} catch {
		return false;
	}
}

function expectNoHarm(value: unknown, secrets: string[]): void {
	const told = findIn([value, logs.lines], secrets);
	told.push(...secretsInAddresses(service.running().requests, secrets));
	logs.forget();
	expect({ isPolluted: isPolluted(), told }).toEqual({ isPolluted: false, told: [] });
}

const anything = fc.oneof(json, fc.string());

/** What a hand-over holds: hand-overs, or anything else. */
const handOvers = fc.array(
	fc.record({
		id: fc.oneof(fc.constantFrom('a', 'b', '..', 'x'.repeat(300)), anything),
		kind: fc.oneof(fc.constantFrom('task', 'bot', undefined), anything),
		secret: fc.oneof(fc.constantFrom(HANDED_OVER, undefined, ' '), json),
	}),
	{ maxLength: 3 },
);
const content = fc.record({
	handOvers: fc.oneof(
		// Nothing is handed over before a submit: a check that the trigger is there.
		{ weight: 2, arbitrary: fc.constant([]) },
		{
			weight: 3,
			arbitrary: fc.array(
				fc.record({
					id: fc.constantFrom('a', 'b'),
					kind: fc.constantFrom('task', 'bot'),
					secret: fc.constant(HANDED_OVER),
				}),
				{ maxLength: 3 },
			),
		},
		handOvers,
		json,
	),
	expires: fc.oneof(
		{ weight: 5, arbitrary: fc.constant('fresh') },
		fc.constantFrom(0, 1e308, 'soon', null),
	),
});

/** A hand-over as a Transcriber node makes it, and whatever looks like one. */
const handOver = fc.record({
	content: fc.oneof({ weight: 4, arbitrary: content }, { weight: 1, arbitrary: json }),
	/** In place of the sealed content. */
	sealed: fc.oneof(
		{ weight: 6, arbitrary: fc.constant(undefined) },
		anything,
		fc.base64String({ minLength: 60, maxLength: 90 }),
	),
	key: fc.constantFrom(API_KEY, API_KEY, API_KEY, 'another key'),
	checkFor: fc.oneof(fc.constantFrom(undefined, 'task', 'bot'), json),
	padding,
	type,
});

function rawHandOver(
	{ content, sealed, key, checkFor, padding }: Arbitrary<typeof handOver>,
	url: string,
) {
	const isFresh = (content as { expires?: unknown } | null)?.expires === 'fresh';
	const expires = Date.now() + FRESH_MS;
	const text = JSON.stringify(isFresh ? { ...(content as object), expires } : content);
	const trigger = new URL(url).pathname.split('/').slice(-2).join('/');
	const body = { sealed: sealed ?? seal(key, 'hand-over', trigger, text), checkFor };
	return padded(JSON.stringify(body), padding);
}

const call = fc.oneof(
	delivery.map((given) => ({ method: 'POST', given }) as const),
	delivery.map((given) => ({ method: 'POST', given: { ...given, isSigned: true } }) as const),
	handOver.map((given) => ({ method: 'PUT', given }) as const),
	delivery.map((given) => ({ method: 'PUT', given: given }) as const),
);

let runs = 0;

/** A trigger calls its own address as long as the process lives, so all triggers here have the same one. */
let port = 0;
async function openHost(settings: HostSettings): Promise<TriggerHost> {
	const host = await new TriggerHost(settings).open(port);
	({ port } = host);
	return host;
}

it('a trigger never throws, starts and stores nothing without a signature or a seal, and tells no secret', async () => {
	const claim = async (calls: Array<Arbitrary<typeof call>>) => {
		const met: string[] = [];
		const parameters = { options: { includeResult: false } };
		const credentials = service.credentials({ webhookSecret: OF_THE_CREDENTIAL });
		const host = await openHost({ parameters, credentials });
		runs += 1;
		const ids = { [TASK]: `task ${runs}`, [BOT]: `bot ${runs}` };
		for (const id of Object.values(ids)) await handOverTo(host.url, id, SECRET, API_KEY, 15);
		let mayStore = false;
		for (const { method, given } of calls) {
			const before = { started: host.executions.length, secrets: host.stored.secrets };
			const raw = 'body' in given ? rawOf(given, ids) : rawHandOver(given, host.url);
			const signature = 'body' in given ? signatureOf(given, raw, SECRET) : undefined;
			const headers = {
				'content-type': given.type,
				...(signature !== undefined && { 'x-service-signature': signature }),
			};
			const answer = await within(WEBHOOK_MS, post(host.url, raw, headers, method));
			const { status } = answer;
			expect([200, 202, 400, 401, 413, 422, 503]).toContain(status);
			expect(host.thrown).toEqual([]);
			expectNoHarm([answer, host.saved, host.executions], SECRETS);
			met.push(`${method} ${status}`);
			const isGenuine = method === 'POST' && given.isSigned && names(raw, ids);
			if (!isGenuine) expect(host.executions.length).toBe(before.started);
			const isSealed = 'content' in given && given.sealed === undefined && given.key === API_KEY;
			// n8n saves behind the answer, so what was sealed may also come a call later.
			mayStore ||= isGenuine || isSealed;
			if (!mayStore) expect(host.stored.secrets).toBe(before.secrets);
			if (host.executions.length > before.started) met.push('starts');
		}
		const { status } = await within(WEBHOOK_MS, deliver(host.url, { task_id: ids[TASK] }, SECRET));
		expect(status).toBe(200);
		expect(host.executions.length).toBeGreaterThan(0);
		await host.close();
		return met;
	};
	const calls = fc.array(call, { minLength: 1, maxLength: 4 });
	const posts = ['POST 200', 'POST 400', 'POST 401', 'POST 413', 'starts'];
	const puts = ['PUT 200', 'PUT 202', 'PUT 400', 'PUT 401'];
	await holds(calls, 150, claim, [...posts, ...puts], ['POST 503', 'PUT 413']);
});

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '=https://meet.example.com/{{ $itemIndex }}',
	onCompletion: 'awaitWebhook',
};
const MEETING = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: '=https://meet.example.com/{{ $itemIndex }}',
	consentAcknowledged: true,
	onCompletion: 'awaitWebhook',
};

it('a suspended execution never throws, wakes for no call without a signature, and for a genuine one whatever came before', async () => {
	const asleep = fc.record({
		parameters: fc.constantFrom(LINK, MEETING),
		/** With a second one, no delivery for the first wakes it. */
		isAlone: fc.boolean(),
		hasEnded: fc.boolean(),
		calls: fc.array(delivery, { minLength: 1, maxLength: 3 }),
	});
	const claim = async ({ parameters, isAlone, hasEnded, calls }: Arbitrary<typeof asleep>) => {
		service.running().reset();
		const met: string[] = [];
		const waitOptions = { pollInterval: 0.005, timeout: 0.01 };
		const credentials = service.credentials({ webhookSecret: OF_THE_CREDENTIAL });
		const workflow = workflowWith({ ...parameters, waitOptions }, credentials);
		const sleeps = await workflow.start(isAlone ? [{ json: {} }] : [{ json: {} }, { json: {} }]);
		expect(sleeps.isSuspended).toBe(true);
		for (const { id } of service.running().bots()) service.running().endMeeting(id);
		const submitted = service
			.running()
			.tasks()
			.map(({ id, botId, webhookSecret }) => {
				const bot = service
					.running()
					.bots()
					.find((one) => one.id === botId);
				return { id, botId, secret: bot?.webhookSecret ?? webhookSecret ?? '' };
			});
		const [first] = submitted;
		if (!first) throw new Error('Nothing was submitted');
		const secrets = [...SECRETS, ...submitted.map(({ secret }) => secret)];
		const ids = { [TASK]: first.id, [BOT]: first.botId ?? 'no bot' };
		if (hasEnded) service.running().finish(first.id);
		let woken;
		for (const given of calls) {
			const raw = rawOf(given, ids);
			const signature = signatureOf(given, raw, first.secret);
			const headers = { 'content-type': given.type, 'content-length': String(raw.length) };
			const answering = workflow.deliver(sleeps, raw, signature, headers);
			const answer = await within(WEBHOOK_MS, answering);
			expect(answer.thrown).toBeUndefined();
			expect([200, 400, 401, 413, 503]).toContain(answer.status);
			expectNoHarm([answer.status, answer.body, answer.woken?.saved, answer.woken?.items], secrets);
			met.push(String(answer.status));
			if (!given.isSigned || !names(raw, ids)) expect(answer.woken).toBeUndefined();
			woken = answer.woken;
			if (woken) break;
		}
		if (woken) met.push('wakes');
		for (const { id, botId, secret } of woken ? [] : submitted) {
			if (service.running().task(id).status !== 'completed') service.running().finish(id);
			const raw = JSON.stringify({
				task_id: id,
				...(botId && { bot_id: botId, event: 'meeting.transcript.completed', status: 'completed' }),
			});
			const answer = await within(WEBHOOK_MS, workflow.deliver(sleeps, raw, sign(raw, secret)));
			woken = answer.woken;
		}
		expect(woken?.isSuspended).toBe(false);
		if (woken?.error === undefined) expect(woken?.next).toHaveLength(submitted.length);
		return met;
	};
	await holds(asleep, 100, claim, ['200', '400', '401', '413', 'wakes']);
});

/** How the service sends a delivery. */
const DELIVERED = {
	isSigned: true,
	padding: { behind: 0, inside: 0 },
	wrongSignature: undefined,
	type: 'application/json' as const,
};

it('a trigger starts with whatever result and document the service gives, and tells no secret', async () => {
	const answers = fc.record({
		delivered: bodyOf({
			...SERVICE_FIELDS,
			task_id: [TASK],
			bot_id: [BOT],
			status: ['completed', 'completed', 'failed'],
		}),
		answer: fc.oneof(bodyOf(SERVICE_FIELDS), bodyText),
		status: fc.constantFrom(200, 200, 200, 200, 204, 400, 404, 500),
		padding,
		includeResult: fc.boolean(),
		exportFormat: fc.constantFrom('', 'srt', 'json'),
		/** How many requests the service answers as documented. */
		skip: fc.constantFrom(0, 0, 1, 2),
	});
	const claim = async ({
		delivered,
		answer,
		status,
		skip,
		...given
	}: Arbitrary<typeof answers>) => {
		service.running().reset();
		const task = await service.completedTask();
		const { includeResult, exportFormat } = given;
		const parameters = { options: { includeResult, exportFormat } };
		const credentials = service.credentials({ webhookSecret: OF_THE_CREDENTIAL });
		const host = await openHost({ parameters, credentials });
		const ids = { [TASK]: task, [BOT]: 'bot' };
		for (const id of Object.values(ids)) await handOverTo(host.url, id, SECRET, API_KEY, 15);
		const body = status === 204 ? '' : padded(answer, given.padding);
		const action = { kind: 'respond', status, body } as const;
		service.running().fault({ match: {}, skip, times: 1e6, action });
		const raw = rawOf({ ...DELIVERED, body: delivered }, ids);
		const signature = { 'x-service-signature': sign(raw, SECRET) };
		const said = await within(WEBHOOK_MS, post(host.url, raw, signature));
		expect(names(raw, ids) ? [200, 400, 503] : [401, 503]).toContain(said.status);
		expect(host.thrown).toEqual([]);
		expectNoHarm([said, host.saved, host.executions], SECRETS);
		const started = host.executions.flat();
		await host.close();
		return [
			String(said.status),
			...(started.length > 0 ? ['starts'] : []),
			...(started.some(({ binary }) => binary) ? ['document'] : []),
		];
	};
	await holds(answers, 60, claim, ['200', '400', 'starts', 'document']);
});
