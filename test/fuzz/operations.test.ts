/** Every operation, whatever its parameters are and whatever the service answers. */
import fc from 'fast-check';

import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';

import { HAND_OVER } from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { description, fieldsOf, operations, parametersOf } from '../structure/read';
import {
	EVERY_OPERATION,
	WITH_SUMMARY_REGENERATION,
	type Example,
} from '../support/everyOperation';
import { answeringTrigger } from '../support/answeringTrigger';
import { captureLogs } from '../support/logs';
import { findIn, secretsInAddresses } from '../support/search';
import type { LoggedRequest } from '../simulator';
import { serviceForTests } from '../support/service';
import type { Outcome } from '../support/engine';
import {
	API_KEY,
	OPERATION_MS,
	SERVICE_FIELDS,
	TOLD_SECRET,
	bodyOf,
	bodyText,
	holds,
	isPlain,
	isPolluted,
	padded,
	padding,
	parameterValue,
	within,
	type Arbitrary,
} from './fuzz';

const service = serviceForTests(WITH_SUMMARY_REGENERATION);
let logs: ReturnType<typeof captureLogs>;
beforeEach(() => void (logs = captureLogs()));
afterEach(() => logs.release());

jest.setTimeout(3_600_000);
beforeEach(() => {
	jest.replaceProperty(RETRY, 'base', 1);
	jest.replaceProperty(RETRY, 'cap', 2);
	jest.replaceProperty(RETRY, 'look', 1);
	for (const name of Object.keys(HAND_OVER) as Array<keyof typeof HAND_OVER>) {
		jest.replaceProperty(HAND_OVER, name, name === 'interval' ? 2 : 20);
	}
	jest.replaceProperty(RETRY, 'tryBase', 1);
	for (const name of ['patienceWhenFull', 'patienceWhenBusy', 'patienceWhenBroken'] as const) {
		jest.replaceProperty(RETRY, name, 5);
	}
});

const WAIT = { pollInterval: 0.005, timeout: 0.0005 };
const AT_ONCE = { queueSeconds: 0, processingSeconds: 0, joiningSeconds: 0, meetingSeconds: 0 };
const example = fc.constantFrom(...EVERY_OPERATION);
const SUBMITS = EVERY_OPERATION.filter(
	({ name }) => name.startsWith('transcription.') || name === 'meeting.sendBot',
);
const STATUSES = [
	200, 201, 202, 204, 206, 301, 400, 401, 402, 403, 404, 405, 409, 410, 413, 422, 429, 500, 502,
	503, 504, 520,
];
/** What may be sent again: the service has certainly done nothing. */
const REFUSALS = [307, 429, 503];

const withShortWait = ({ parameters }: Example) =>
	'waitOptions' in parameters ? { ...parameters, waitOptions: WAIT } : parameters;

/** What the node itself has made: in the rest of the execution is its input, which may be anything. */
function producedBy({ error, outputs, data }: Outcome): unknown[] {
	const { resultData, executionData } = data;
	const own = [resultData.error, resultData.runData['Transcriber']];
	return [error, outputs, own, executionData?.contextData, executionData?.metadata, logs.lines];
}

function expectNoHarm(outcome: Outcome, secrets = [API_KEY]): void {
	const told = findIn(producedBy(outcome), secrets);
	// Also of what may be told: it belongs to the output.
	told.push(...secretsInAddresses(service.running().requests, [API_KEY, TOLD_SECRET]));
	// Before anything can fail: the next run shows only its own lines.
	logs.forget();
	const { error } = outcome;
	if (error) {
		const { name, message, description } = error;
		const shown = { name, message, description };
		expect({ ...shown, isPlain: isPlain(error) }).toEqual({ ...shown, isPlain: true });
	}
	expect({ isPolluted: isPolluted(), told }).toEqual({ isPolluted: false, told: [] });
}

const COMPLETIONS = ['returnTask', 'poll', 'awaitWebhook', 'notifyTrigger', 'callUrl'] as const;

/** Nobody listens there: the simulator only notes that it could not deliver. */
const NOBODY = 'http://127.0.0.1:9/hook';

let trigger: Awaited<ReturnType<typeof answeringTrigger>>;
beforeAll(async () => void (trigger = await answeringTrigger(API_KEY)));
afterAll(() => trigger.close());

it('survives every answer, sends nothing twice that costs, and tells no secret', async () => {
	const answer = fc.record({
		operation: fc.oneof(
			{ weight: 1, arbitrary: example },
			{ weight: 2, arbitrary: fc.constantFrom(...SUBMITS) },
		),
		status: fc.oneof(fc.constant(200), fc.constantFrom(...STATUSES)),
		type: fc.constantFrom(
			...['application/json', 'application/json'],
			...['text/html', 'text/plain; charset=utf-16', ''],
		),
		body: fc.oneof(bodyText, bodyOf(SERVICE_FIELDS)),
		padding,
		skip: fc.constantFrom(0, 0, 1),
		onCompletion: fc.constantFrom(...COMPLETIONS),
	});
	const claim = async ({
		operation,
		status,
		type,
		body,
		skip,
		...given
	}: Arbitrary<typeof answer>) => {
		service.running().reset();
		for (const list of [trigger.calls, trigger.heard, trigger.checks]) list.length = 0;
		const item = await operation.input(service);
		service.running().requests.splice(0);
		const action = {
			kind: 'respond',
			status,
			body: status === 204 ? '' : padded(body, given.padding),
			headers: { 'Content-Type': type },
		} as const;
		service.running().fault({ match: {}, skip, times: 1e6, action });
		const before = structuredClone(item);
		const isSubmit = SUBMITS.includes(operation);
		const addresses = { triggerUrl: trigger.url, webhookUrl: NOBODY };
		const { onCompletion } = given;
		const completion = isSubmit ? { onCompletion, ...addresses, waitOptions: WAIT } : {};
		const outcome = await within(
			OPERATION_MS,
			service.run({ ...withShortWait(operation), ...completion }, { items: [item] }),
		);
		// Whoever receives the calls at the URL, or has rotated the key, needs the secret.
		const isTold = (isSubmit && onCompletion === 'callUrl') || operation.name === 'apiKey.rotate';
		expectNoHarm(outcome, isTold ? [API_KEY] : [API_KEY, TOLD_SECRET]);
		expect(item).toEqual(before);
		expect(findIn([trigger.heard], [API_KEY, TOLD_SECRET])).toEqual([]);
		const posts = service
			.running()
			.requests.filter(
				({ method, path }) =>
					method === 'POST' && /(transcribe|transcribe-url|meeting|generate|summary)$/.test(path),
			);
		if (operation.name === 'transcription.transcribeFile') {
			const keys = new Set(posts.map(({ headers }) => headers['idempotency-key']));
			expect([...keys]).toEqual(posts.length > 0 ? [expect.any(String)] : []);
		} else if (!REFUSALS.includes(status)) expect(posts.length).toBeLessThanOrEqual(1);
		const { error, data } = outcome;
		const end = error ? 'fails' : data.waitTill ? 'sleeps' : 'succeeds';
		return [end, ...(isSubmit ? [onCompletion] : [])];
	};
	await holds(answer, 120, claim, [...COMPLETIONS, 'fails', 'succeeds', 'sleeps']);
});

/** What another field has to be for this one to be shown: n8n gives a node none that is hidden. */
function shownBy({ displayOptions }: INodeProperties): INodeParameters {
	const conditions = Object.entries(displayOptions?.show ?? {})
		.filter(([name]) => !['resource', 'operation'].includes(name))
		.map(([name, values]) => [name, values?.[0]]);
	return Object.fromEntries(conditions) as INodeParameters;
}

const PARAMETERS = operations.flatMap((operation) =>
	parametersOf(operation)
		.filter(({ type }) => type !== 'notice')
		.flatMap((field) => {
			const inner = field.type === 'collection' ? fieldsOf(field).map(({ name }) => name) : [''];
			return inner.map((name) => ({ id: operation.id, outer: field.name, inner: name }));
		}),
);
type Parameter = (typeof PARAMETERS)[number];

function fieldOf({ id, outer }: Parameter): INodeProperties {
	const operation = operations.find((one) => one.id === id);
	const field = operation && parametersOf(operation).find(({ name }) => name === outer);
	if (!field) throw new Error(`${id} has no ${outer}`);
	return field;
}

function exampleOf({ id }: Parameter): Example {
	const operation = EVERY_OPERATION.find(({ name }) => name === id);
	if (!operation) throw new Error(`No example of ${id}`);
	return operation;
}

/** What the parameters are, but for the one that is tried. */
function baseOf(parameter: Parameter): INodeParameters {
	const operation = exampleOf(parameter);
	const addresses = { triggerUrl: trigger.url, webhookUrl: NOBODY, waitOptions: WAIT };
	const completion = SUBMITS.includes(operation) ? addresses : {};
	return { ...withShortWait(operation), ...completion, ...shownBy(fieldOf(parameter)) };
}

it('tries only parameters that are shown, and all of them: the node reads no other', () => {
	const isShown = (parameter: Parameter) => {
		const { outer, inner } = parameter;
		const field = fieldOf(parameter);
		const base = baseOf(parameter);
		const collection = (base[outer] ?? {}) as INodeParameters;
		const fields = inner
			? [field, ...fieldsOf(field).filter(({ name }) => name === inner)]
			: [field];
		return fields.every((one) =>
			NodeHelpers.displayParameter(one === field ? base : collection, one, null, description, base),
		);
	};
	expect(PARAMETERS.filter((one) => !isShown(one))).toEqual([]);
	expect(new Set(PARAMETERS.map(({ id }) => id)).size).toBeGreaterThan(15);
});

/** Runs the operation with this value of the parameter. Returns how it ended; its requests are in the log. */
async function runWith(parameter: Parameter, value: unknown): Promise<string> {
	service.running().reset();
	const operation = exampleOf(parameter);
	const input = await operation.input(service);
	service.running().requests.splice(0);
	// Whatever the wait is set to, it does not have to wait.
	if (SUBMITS.includes(operation)) service.running().configure(AT_ONCE);
	const item = { ...input, json: { ...input.json, fuzzed: value } } as typeof input;
	const before = structuredClone(item);
	const { outer, inner } = parameter;
	const expression = '={{ $json.fuzzed }}';
	const base = baseOf(parameter);
	const collection = { ...(base[outer] as object), [inner]: expression };
	const changed = { ...base, [outer]: inner ? collection : expression };
	const run = service.run(changed, { items: [item] }).catch((error: Error) => {
		// n8n itself does not run a node that lacks what its panel requires.
		if (error.name === 'WorkflowHasIssuesError') return undefined;
		throw error;
	});
	const outcome = await within(OPERATION_MS, run);
	if (!outcome) return 'refused by n8n';
	expectNoHarm(outcome);
	expect(item).toEqual(before);
	return outcome.error ? 'fails' : 'succeeds';
}

it('survives every value of every parameter, and sends none by accident', async () => {
	const change = fc.record({
		// A field of its own decides more than one of a collection.
		parameter: fc.oneof(
			fc.constantFrom(...PARAMETERS.filter(({ inner }) => inner === '')),
			fc.constantFrom(...PARAMETERS),
		),
		value: parameterValue,
	});
	const claim = async ({ parameter, value }: Arbitrary<typeof change>) => {
		const end = await runWith(parameter, value);
		expect(accidentsIn(service.running().requests, holdsNull(value))).toEqual([]);
		return [end];
	};
	await holds(change, 300, claim, ['fails', 'succeeds']);
});

describe('what goes into an address or a header', () => {
	const placed = PARAMETERS.filter(({ outer, inner }) =>
		['taskId', 'botId', 'idempotencyKey'].includes(inner || outer),
	);

	it.each(placed)('is never sent by accident: $id, $outer $inner', async (parameter) => {
		expect(placed.length).toBeGreaterThan(10);
		for (const value of [undefined, null, NaN, Infinity, {}, [], [undefined], { id: null }]) {
			await runWith(parameter, value);
			expect(accidentsIn(service.running().requests, false)).toEqual([]);
		}
	});

	it.each([
		['an id', { path: '/api/v1/tasks/undefined' }],
		['an id with escapes', { path: '/api/v1/meeting/%5Bobject%20Object%5D' }],
		['a query', { query: { status: 'NaN' } }],
		['a key', { headers: { 'idempotency-key': '[object Object]' } }],
		['a body', { body: { url: null } }],
	])('is seen if it is sent by accident: %s', (_, part) => {
		const sent = { method: 'POST', path: '/api/v1/tasks/7%', query: {}, headers: {}, ...part };
		const request = { ...sent, at: 0, rawHeaders: [], bodyBytes: 0 };
		expect(accidentsIn([request], false)).toHaveLength(1);
	});
});

/** The parts of requests that hold what JavaScript makes of a value that is missing or of another kind. */
function accidentsIn(requests: LoggedRequest[], isNullGiven: boolean): string[] {
	// JSON makes null of a number that it does not have.
	const accident = isNullGiven
		? /\bundefined\b|\[object|\bNaN\b/
		: /\bundefined\b|\[object|\bNaN\b|\bnull\b/;
	return requests
		.flatMap(({ path, query, headers, body }) => [decoded(path), query, headers, body])
		.map((part) => JSON.stringify(part) ?? '')
		.filter((part) => accident.test(part));
}

function decoded(path: string): string {
	return path.replace(/(%[0-9a-f]{2})+/gi, (coded) =>
		Buffer.from(coded.replaceAll('%', ''), 'hex').toString(),
	);
}

/** Whether a null was given. */
function holdsNull(value: unknown): boolean {
	if (typeof value !== 'object' || value === null) return /\bnull\b/.test(String(value));
	return Object.entries(value).some(([name, inner]) => /\bnull\b/.test(name) || holdsNull(inner));
}

it('takes every text of a dictionary apart as the service does', async () => {
	const text = fc
		.array(
			fc.oneof(
				fc.constantFrom(',', ';', '\n', '\r\n', ' ', '\t', '"', '__proto__'),
				fc.string({ unit: 'grapheme', maxLength: 12 }),
			),
			{ maxLength: 12 },
		)
		.map((parts) => parts.join(''));
	const claim = async (given: string) => {
		service.running().reset();
		const parameters = {
			resource: 'dictionary',
			operation: 'replace',
			specifyTerms: 'text',
			text: '={{ $json.text }}',
		};
		const { error } = await within(
			OPERATION_MS,
			service.run(parameters, { items: [{ json: { text: given } }] }),
		);
		logs.forget();
		const wanted = [...new Set(given.split(/[,;\r\n]/).map((term) => term.trim()))].filter(
			(term) => term !== '',
		);
		if (error) {
			expect(isPlain(error)).toBe(true);
			expect(service.lines()).toEqual([]);
			return ['refused'];
		}
		expect(service.running().terms()).toEqual(wanted);
		return ['replaced'];
	};
	await holds(text, 20, claim, ['replaced']);
});
