/**
 * Contract, "Every request" and "When things are not as expected": what holds of submissions,
 * whatever happens, and in whatever order. Plans are random; test/support/modelRuns.ts says how
 * many there are.
 */
// Also covers nodes/Transcriber/submit/once/submissionMemory.ts.

import {
	Life,
	SITUATIONS,
	nameOf,
	triggerOfLives,
	type Fault,
	type HandOverFault,
	type Plan,
	type Step,
} from './life';

import fc from 'fast-check';

import type { IDataObject } from 'n8n-workflow';

import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { REPLY } from '../../../nodes/Transcriber/submit/trigger/triggerReply';
import { RESUME } from '../../../nodes/Transcriber/submit/suspension/knownEndings';
import { AFTER_WAKING } from '../../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { POLL } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { RETRY, TIMEOUTS } from '../../../nodes/shared/api/delayBeforeRetry';
import { holdsAlways } from '../../support/modelRuns';
import { shortenRetries } from '../../support/scale';
import { MAY_BE_ACCEPTED } from '../../faults/invariants';
import { findIn, secretsInAddresses } from '../../support/search';
import { serviceForTests } from '../../support/service';
import type { Ended } from '../../support/suspended';
import { atLength } from '../../support/long';

const service = serviceForTests({ webhookRetries: 0 });

/** Of the garbage below: the simulator itself answers 200. */
const GARBAGE_STATUS = 201;
/** Long enough that only a request that is meant to be slow takes longer. */
const TIMEOUT_MS = 2_000;

jest.setTimeout(36_000_000);
beforeEach(() => {
	shortenRetries(2000);
	jest.replaceProperty(RETRY, 'brief', 2_000);
	jest.replaceProperty(TIMEOUTS, 'request', TIMEOUT_MS);
	jest.replaceProperty(TIMEOUTS, 'uploadIdle', TIMEOUT_MS);
	jest.replaceProperty(POLL, 'perTask', 5);
	jest.replaceProperty(POLL, 'refused', 100);
	jest.replaceProperty(POLL, 'lastLook', 20);
	jest.replaceProperty(RESUME, 'askAgain', 20);
	jest.replaceProperty(AFTER_WAKING, 'leastMs', 500);
	jest.replaceProperty(REPLY, 'maxMs', TIMEOUT_MS);
	for (const name of Object.keys(HAND_OVER) as Array<keyof typeof HAND_OVER>) {
		jest.replaceProperty(HAND_OVER, name, name === 'interval' ? 5 : 50);
	}
});

let trigger: Awaited<ReturnType<typeof triggerOfLives>>;
beforeAll(async () => void (trigger = await triggerOfLives()));
afterAll(() => trigger.close());

const respond = (...statuses: number[]) =>
	fc.constantFrom(...statuses).map((status) => ({ kind: 'respond', status }) as const);
const garbage = fc
	.constantFrom('', 'OK', '<html>', '[]', '{}', 'null', '{"status":"pending"}', '{"task_id":null}')
	.map((body) => ({ kind: 'respond', status: GARBAGE_STATUS, body }) as const);
const page = fc
	.constantFrom(500, 502, 504, 520)
	.map((status) => ({ kind: 'respond', status, body: '<html>Bad gateway</html>' }) as const);
const cut = fc
	.constantFrom('beforeBody', 'afterBody', 'afterProcessing')
	.map((when) => ({ kind: 'cut', when }) as const);
const slow = fc
	.constantFrom(5, 5, 10, 20, 1.2 * TIMEOUT_MS)
	.map((ms) => ({ kind: 'delay', ms }) as const);
const refusal = respond(400, 401, 402, 404, 409, 413, 422, 429, 429, 503, 503);

const fault: fc.Arbitrary<Fault> = fc.record({
	at: fc.constantFrom('submit', 'submit', 'submit', 'look', 'result', 'list'),
	action: fc.oneof(
		{ weight: 4, arbitrary: refusal },
		{ weight: 3, arbitrary: cut },
		{ weight: 1, arbitrary: garbage },
		{ weight: 1, arbitrary: page },
		{ weight: 1, arbitrary: slow },
	),
	times: fc.constantFrom(1, 1, 2, 5),
	skip: fc.constantFrom(0, 0, 1, 2),
});

/** What comes in place of the answer of a trigger that has stored a hand-over. */
const handOverFault: fc.Arbitrary<HandOverFault> = fc.record({
	answer: fc.oneof(
		fc.constantFrom(401, 404, 422, 500, 503).map((status) => ({ status, body: '{}' })),
		fc.constant({ status: 202, body: '{"stored":false}' }),
		fc.constant({ status: 200, body: 'n8n is starting up' }),
		fc.constant({ status: 0, body: '', isCut: true }),
	),
	times: fc.constantFrom(1, 1, 3, 20),
	skip: fc.constantFrom(0, 1, 1, 2),
});

const item = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
	{ weight: 6, arbitrary: fc.record({ do: fc.constant('wait'), requests: fc.nat({ max: 4 }) }) },
	{ weight: 2, arbitrary: fc.record({ do: fc.constant('fault'), fault }) },
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant('end'),
			item,
			status: fc.constantFrom('completed', 'completed', 'completed', 'failed', 'cancelled'),
		}),
	},
	{
		weight: 5,
		arbitrary: fc.record({
			do: fc.constant('deliver'),
			item,
			as: fc.constantFrom('genuine', 'genuine', 'forged', 'unsigned', 'early'),
			times: fc.constantFrom(1, 1, 2, 3),
		}),
	},
	{
		weight: 6,
		arbitrary: fc.record({
			do: fc.constantFrom(
				...(['retry', 'retry', 'retryFirst', 'timeIsUp', 'cancel'] as const),
				...(['crash', 'rotate', 'tellNewKey'] as const),
			),
		}),
	},
);

const plan: fc.Arbitrary<Plan> = fc.record({
	operation: fc.constantFrom('transcribeFile', 'transcribeUrl', 'sendBot'),
	onCompletion: fc.constantFrom(
		...(['poll', 'awaitWebhook', 'awaitWebhook', 'returnTask'] as const),
		...(['notifyTrigger', 'notifyTrigger', 'callUrl', 'callUrl'] as const),
	),
	items: fc.integer({ min: 1, max: 3 }),
	goesOnAfterErrors: fc.boolean(),
	retriesOnFail: fc.boolean(),
	timeout: fc.constantFrom(0.002, 0.05, 0.05),
	faults: fc.array(fault, { maxLength: 3 }),
	handOverFaults: fc.array(handOverFault, { maxLength: 1 }),
	steps: fc.array(step, { maxLength: 12 }),
});

/** Of the service, besides what can happen in a life. */
const OF_THE_SERVICE = [
	'a submit whose answer is lost',
	'a submit that is refused',
	'an end without a transcript',
	'an error in the end',
	'every transcript in the end',
];

function metIn(given: Plan, life: Life): string[] {
	const items = Array.from({ length: given.items }, (_, index) => index);
	const statuses = items.flatMap((index) => life.submitsOf(index)).map(({ status }) => status);
	const ends = items.flatMap((index) => life.books(index)).map((booked) => life.statusOf(booked));
	const { error } = life.now;
	const situations = [
		statuses.includes(undefined),
		statuses.some((status = 0) => status >= 400),
		ends.some((end) => end === 'failed' || end === 'cancelled'),
		error !== undefined,
		error === undefined && ends.every((end) => end === 'completed'),
	];
	return [...life.met, ...OF_THE_SERVICE.filter((_, index) => situations[index])];
}

it('whatever happens, nothing is paid twice, and nothing that was accepted is lost', async () => {
	const met = new Set<string>();
	const property = fc.asyncProperty(plan, async (given) => {
		service.running().reset();
		const life = new Life(service, given, (ended) => expectSound(ended, given, life), trigger.url);
		trigger.serve(life);
		await life.live();
		for (const one of metIn(given, life)) met.add(one);
		expect(life.wrong).toEqual([]);
		const { error, isSuspended } = life.now;
		expect({ isSuspended }).toEqual({ isSuspended: false });
		const items = Array.from({ length: given.items }, (_, index) => index);
		// Good weather, time and n8n's Retry have brought everything that can still come.
		if (items.every((index) => !isExcused(index, given, life))) expect(error).toBeUndefined();
	});
	const mustMeet = [...SITUATIONS, ...OF_THE_SERVICE];
	await holdsAlways(property, atLength(24, 16), 1, { met, mustMeet });
});

/** Of any execution that has ended or sleeps. */
function expectSound(ended: Ended, given: Plan, life: Life): void {
	const { error, description, items, isSuspended, saved } = ended;
	const text = `${error ?? ''} ${description ?? ''}`;
	const secrets = [...life.keys];
	const inNoAddress = [...life.keys];
	for (let index = 0; index < given.items; index++) {
		const all = life.books(index);
		const [booked] = all;
		expect({ item: index, recordings: all.length <= 1 }).toEqual({ item: index, recordings: true });
		const outputs = items.filter(({ pairedItem }) => isOf(pairedItem, index));
		if (!booked) {
			// It was not submitted, and says so.
			if (isSuspended || error !== undefined) continue;
			expect(outputs.map(({ json }) => json)).toEqual([
				expect.objectContaining({ error: expect.stringContaining(`[item ${index}]`) }),
			]);
			continue;
		}
		const { id, botId, secret } = booked;
		if (secret !== undefined) inNoAddress.push(secret);
		// Whoever receives the calls at a URL needs the secret.
		if (secret !== undefined && given.onCompletion !== 'callUrl') secrets.push(secret);
		if (!life.isKnown(index)) {
			if (!life.wasForgotten(index) && !isSuspended)
				expect(`${text} ${JSON.stringify(outputs)}`).toMatch(MAY_BE_ACCEPTED);
			continue;
		}
		const known = botId ?? id;
		expect({ saves: saved.includes(known) }).toEqual({ saves: true });
		if (error !== undefined && !life.hasEnded(booked)) {
			// n8n's own error for the stop button names no task. With On Error = Continue, the output does.
			expect(`${text} (${nameOf(index)}) ${JSON.stringify(outputs)}`).toContain(known);
		}
		if (isSuspended || error !== undefined) continue;
		expect(outputs).toHaveLength(1);
		const json: IDataObject = outputs[0]?.json ?? {};
		if (typeof json['error'] === 'string') {
			expect(json['error']).toContain(`[item ${index}]`);
			expect(json['error']).toContain(known);
		} else if (['returnTask', 'notifyTrigger', 'callUrl'].includes(given.onCompletion)) {
			expect([json['bot_id'], json['task_id']]).toContain(known);
			if (given.onCompletion === 'callUrl') expect(json['webhook_secret']).toBe(secret);
			if (given.onCompletion === 'notifyTrigger') {
				const handedOver = {
					isStored: life.handedOver.has(known),
					secret: life.handedOver.get(known),
				};
				// What another API key has sealed is handed over without its secret.
				const isReadable = handedOver.secret !== undefined || !life.wasRotated;
				expect(handedOver).toEqual({ isStored: true, secret: isReadable ? secret : undefined });
			}
		} else {
			expect(json).toMatchObject({ task_id: id, text: expect.stringMatching(/\w/) });
		}
	}
	expect(findIn([saved, error, description, items], secrets)).toEqual([]);
	expect(secretsInAddresses(service.running().requests, inNoAddress)).toEqual([]);
}

function isOf(pairedItem: unknown, index: number): boolean {
	return typeof pairedItem === 'object' && (pairedItem as { item: number }).item === index;
}

/** What stays an error: it ended without a transcript, or nobody can know whether it was accepted. */
function isExcused(index: number, { operation, onCompletion }: Plan, life: Life): boolean {
	const submits = life.submitsOf(index);
	const isUnclear = (status = 500) => status >= 500 && status !== 503;
	const isLost =
		submits.some(({ status }) => isUnclear(status)) || (life.wasStopped && !life.isKnown(index));
	const isGarbled = submits.some(({ status }) => status === GARBAGE_STATUS);
	const [booked] = life.books(index);
	const hasFailed = booked?.id !== undefined && life.statusOf(booked) !== 'completed';
	// The trigger may have missed its end, and the error says so in each Retry.
	const isUnheard =
		onCompletion === 'notifyTrigger' && (life.wasHandOverRefused || life.mayBeUnheard(index));
	return isUnheard || isGarbled || hasFailed || (isLost && operation !== 'transcribeFile');
}
