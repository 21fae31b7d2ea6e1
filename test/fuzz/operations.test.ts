/** Every operation, whatever its parameters are and whatever the service answers. */
import fc from 'fast-check';

import type { INodeParameters } from 'n8n-workflow';

import { HAND_OVER } from '../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { fieldsOf, operations, parametersOf } from '../structure/read';
import {
	EVERY_OPERATION,
	WITH_SUMMARY_REGENERATION,
	type Example,
} from '../support/everyOperation';
import { answeringTrigger } from '../support/answeringTrigger';
import { captureLogs } from '../support/logs';
import { findIn, secretsInAddresses } from '../support/search';
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
			body: status === 204 ? '' : `${body}${given.padding}`,
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

const PARAMETERS = operations.flatMap((operation) =>
	parametersOf(operation).flatMap((field) =>
		field.type === 'collection'
			? fieldsOf(field).map(({ name }) => ({ id: operation.id, outer: field.name, inner: name }))
			: [{ id: operation.id, outer: field.name, inner: '' }],
	),
);

it('survives every value of every parameter, and sends none by accident', async () => {
	const change = fc.record({ parameter: fc.constantFrom(...PARAMETERS), value: parameterValue });
	const claim = async ({ parameter, value }: Arbitrary<typeof change>) => {
		service.running().reset();
		const operation = EVERY_OPERATION.find(({ name }) => name === parameter.id);
		if (!operation) throw new Error(`No example of ${parameter.id}`);
		const input = await operation.input(service);
		service.running().requests.splice(0);
		const item = { ...input, json: { ...input.json, fuzzed: value } } as typeof input;
		const before = structuredClone(item);
		const { outer, inner } = parameter;
		const expression = '={{ $json.fuzzed }}';
		const base: INodeParameters = withShortWait(operation);
		const collection = { ...(base[outer] as object), [inner]: expression };
		const changed = { ...base, [outer]: inner ? collection : expression };
		const run = service.run(changed, { items: [item] }).catch((error: Error) => {
			// n8n itself does not run a node that lacks what its panel requires.
			if (error.name === 'WorkflowHasIssuesError') return undefined;
			throw error;
		});
		const outcome = await within(OPERATION_MS, run);
		if (!outcome) return ['refused by n8n'];
		expectNoHarm(outcome);
		expect(item).toEqual(before);
		const wire = service
			.running()
			.requests.map(({ method, path, query, body }) =>
				decodeURIComponent(JSON.stringify({ method, path, query, body }).replaceAll('%', '%25')),
			);
		for (const line of wire) expect(line).not.toMatch(/\bundefined\b|\[object|\bNaN\b/);
		return [outcome.error ? 'fails' : 'succeeds'];
	};
	await holds(change, 50, claim, ['fails', 'succeeds']);
});

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
