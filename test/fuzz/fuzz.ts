/** Random values, the same in every run: `npm run test:fuzz -- --runs 1000 --seed 7` tries more. */
import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';

import { atLength } from '../support/long';
import { ENOUGH_RUNS, expectMet } from '../support/mustMeet';
import { findIn } from '../support/search';

/** Of fast-check, which prints seed and path of what it finds: both can be given again. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

/** The values of a description. */
export type Arbitrary<T> = T extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * `few` runs beside the other tests, a sixth of them with `npm test`, more by command. The claim says what it has met,
 * such as the kind of answer: `mustMeet` is what some run has to meet, so that a claim about nothing is no success. The runs
 * beside the other tests are the same each time, so they have to meet all of it; `rare` is what only a hundred runs have to meet.
 */
export async function holds<T>(
	arbitrary: fc.Arbitrary<T>,
	few: number,
	claim: (value: T) => Promise<string[] | void>,
	mustMeet: string[] = [],
	rare: string[] = [],
): Promise<void> {
	const given = process.env['FUZZ_RUNS'];
	const numRuns = Number(given ?? Math.ceil(few / atLength(1, 6)));
	const path = process.env['FUZZ_PATH'];
	const isMeasured = given !== undefined && path === undefined && numRuns >= MEASURED_RUNS.least;
	const memory = isMeasured ? new Memory(numRuns) : undefined;
	const met = new Set<string>();
	let hangs = false;
	const property = fc.asyncProperty(arbitrary, async (value) => {
		// What hangs is reported as it is: to shorten it, each try would take the whole time.
		if (hangs) return;
		memory?.beforeRun();
		const kinds = await claim(value).catch((error: unknown) => {
			hangs = error instanceof Hangs;
			throw error;
		});
		for (const one of kinds ?? []) met.add(one);
	});
	await fc.assert(property, { numRuns, seed: SEED, path, endOnFailure: given === undefined });
	if (!hangs) memory?.expectBounded();
	if (path !== undefined || hangs) return;
	expectMet(met, mustMeet, numRuns, given === undefined ? 1 : undefined);
	if (numRuns >= ENOUGH_RUNS) expectMet(met, rare, numRuns);
}

/** What one answer of a webhook may take (contract, "Webhook calls"), in ms. */
export const WEBHOOK_MS = 10_000;

/** What an operation, a poll or a list may take whose own times the tests have shortened to some ms. */
export const OPERATION_MS = 15_000;

class Hangs extends Error {}

/** What the work gives; an error if it takes longer. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
	const stop = new AbortController();
	const late = sleep(ms, undefined, { signal: stop.signal }).then(() => {
		throw new Hangs(`It takes more than ${ms} ms`);
	});
	return await Promise.race([work, late]).finally(() => stop.abort());
}

/** More than n8n's engine still caches in a third of the runs, less than a handful of large bodies. */
const MOST_GROWTH = 5_000_000;

/** With fewer runs, the first third does not load everything; with more, the bounded memory of the nodes fills up. */
const MEASURED_RUNS = { least: 150, most: 900 };

/**
 * That what the node keeps does not grow with what it has seen. In the first third of the runs, everything is loaded,
 * compiled and cached; a leak then grows as much in the second third as in the last. Only with many runs, by command: it
 * gives Node the flag without which there is no collection of garbage, and the size of the heap says nothing.
 */
class Memory {
	private runs = 0;

	/** What is kept after each third, in bytes. */
	private readonly kept: number[] = [];

	private readonly third: number;

	private readonly collectGarbage: () => void;

	constructor(numRuns: number) {
		const { gc } = globalThis;
		if (!gc) {
			throw new Error(
				'Memory cannot be measured: start Node with --expose-gc, as npm run test:fuzz does',
			);
		}
		this.collectGarbage = () => void gc();
		this.third = Math.floor(Math.min(numRuns, MEASURED_RUNS.most) / 3);
	}

	beforeRun(): void {
		this.measure();
		this.runs += 1;
	}

	expectBounded(): void {
		this.measure();
		const [first = NaN, second = NaN, last = NaN] = this.kept;
		expect(Math.min(second - first, last - second)).toBeLessThan(MOST_GROWTH);
	}

	private measure(): void {
		const isDue = this.runs === this.third * (this.kept.length + 1) && this.kept.length < 3;
		if (!isDue) return;
		this.collectGarbage();
		this.collectGarbage();
		// Buffers are outside of the heap.
		const { heapUsed, arrayBuffers } = process.memoryUsage();
		this.kept.push(heapUsed + arrayBuffers);
	}
}

/** The names that answers and deliveries have, documented or not. */
const NAMES = [
	...['task_id', 'bot_id', 'id', 'uuid', 'status', 'progress', 'queue_state', 'awaiting_balance'],
	...[
		'error',
		'detail',
		'message',
		'error_code',
		'errors',
		'webhook_secret',
		'event',
		'result_url',
	],
	...['tasks', 'items', 'data', 'results', 'result', 'text', 'segments', 'summary', 'speakers'],
	...['content', 'format', 'terms', 'limit_chars', 'count', 'chars', 'created_at', 'title', 'task'],
	...['toString', 'constructor', 'prototype', 'hasOwnProperty', 'length', 'then', 'toJSON'],
];

/** The API key of the simulator: an answer may repeat it. */
export const API_KEY = 'test-api-key';

const word = fc.constantFrom(
	API_KEY,
	`the key ${API_KEY} is used`,
	'completed',
	'failed',
	'pending',
	'canceled',
	'awaiting_balance',
	'',
	' ',
	'.',
	'..',
	'a/b?c#d',
	'7f3c',
	'1e9',
);

const leaf = fc.oneof(
	word,
	fc.string({ unit: 'binary', maxLength: 20 }),
	fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, 9_007_199_254_740_993),
	fc.integer(),
);

/** Objects and lists of these, of any depth. */
const nested = (leaves: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
	fc.letrec<{ value: unknown; object: unknown; list: unknown }>((tie) => ({
		value: fc.oneof(
			{ depthSize: 'small', withCrossShrink: true },
			leaves,
			tie('object'),
			tie('list'),
		),
		object: fc.dictionary(
			fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 8 })),
			tie('value'),
			{ maxKeys: 6 },
		),
		list: fc.array(tie('value'), { maxLength: 4 }),
	})).value;

/** JSON that looks like an answer of some service. */
export const json = nested(leaf);

/** What an expression can give and JSON does not have. */
const noJson = fc.constantFrom(Infinity, -Infinity, NaN, undefined, -0);

/** Names that change what all objects inherit, if they are copied carelessly. */
const POLLUTING = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';

/** JSON that pollutes, if it is copied carelessly, and otherwise says what the text says. */
const polluting = (text: string) =>
	text.startsWith('{') && text !== '{}' ? `{${POLLUTING},${text.slice(1)}` : text;

/**
 * JSON with fields as the service document has them, or as other services might: each is left out, as documented, or anything
 * else. `documented` has the values of each field.
 */
export function bodyOf(documented: Record<string, unknown[]>): fc.Arbitrary<string> {
	const fields = Object.entries(documented).map(([name, values]) => [
		name,
		fc.option(
			fc.oneof(
				{ weight: 4, arbitrary: fc.constantFrom(...values) },
				{ weight: 1, arbitrary: fc.oneof(leaf, json) },
			),
			{ nil: undefined, freq: 3 },
		),
	]);
	const text = fc
		.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>)
		.map((body) => JSON.stringify(body));
	return fc.oneof({ weight: 5, arbitrary: text }, text.map(polluting));
}

/** Stands for the ids that a claim knows only when it runs. */
export const TASK = '<task>';
export const BOT = '<bot>';

/** The secret that an answer or a delivery of the service tells. */
export const TOLD_SECRET = 'whsec_that_the_service_tells';

/** The fields of tasks, bots, results, documents and deliveries. */
export const SERVICE_FIELDS: Record<string, unknown[]> = {
	task_id: [TASK],
	bot_id: [BOT],
	status: [
		'completed',
		'failed',
		'pending',
		'processing',
		'awaiting_balance',
		'canceled',
		'joining',
	],
	event: ['meeting.transcript.completed'],
	result_url: ['/api/v1/tasks/a/result'],
	progress: [100, 7],
	queue_state: ['working', 'done'],
	awaiting_balance: [true, false],
	error: ['No speech was found'],
	webhook_secret: [TOLD_SECRET],
	text: ['Good morning.'],
	segments: [[{ start: 0, end: 1.5, text: 'Good morning.' }]],
	content: ['1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n'],
	format: ['srt'],
	created_at: ['2026-11-22T10:00:00Z', 1_795_000_000],
	title: ['Weekly meeting'],
	detail: [{ error_code: 'service_unavailable', message: 'Later' }],
};

interface Padding {
	/** So many spaces, which JSON allows: nothing of them is in what is read from the text. */
	behind: number;
	/** The length of a field, which stays in what is read, and in whatever keeps that. */
	inside: number;
}

/** What makes a body large: near the limit of a delivery (1 MB), or above. */
export const padding: fc.Arbitrary<Padding> = fc.oneof(
	{ weight: 3, arbitrary: fc.constant({ behind: 0, inside: 0 }) },
	fc.constantFrom(985_000, 1_000_001).map((behind) => ({ behind, inside: 0 })),
	fc.constant({ behind: 0, inside: 985_000 }),
);

/** The field goes into the first object: the answer, or the first entry of a list. */
export function padded(body: string, { behind, inside }: Padding): string {
	const field = `"padding":"${'x'.repeat(inside)}"`;
	const text = body.replace(/^((?:\{"\w+":)?\[)?\{(?=(\})?)/, (start, _, isEmpty) =>
		inside > 0 ? `${start}${field}${isEmpty ? '' : ','}` : start,
	);
	return `${text}${' '.repeat(behind)}`;
}

/** Bodies as they come over the wire: JSON of any kind, JSON that is cut, pages, bytes. */
export const bodyText = fc.oneof(
	{ weight: 6, arbitrary: json.map((value) => JSON.stringify(value)) },
	json.map((value) => JSON.stringify(value).slice(0, -1)),
	json.map((value) => `{${POLLUTING},"a":${JSON.stringify(value)}}`),
	fc.constantFrom(
		'',
		' ',
		'null',
		'OK',
		'<html><body>No</body></html>',
		'[]',
		'{}',
		'\ufeff{}',
		'NaN',
		`${'['.repeat(2_000)}`,
	),
	fc.string({ unit: 'binary', maxLength: 60 }),
);

/**
 * Whatever an expression can give, but for the API key: a user who types it into a parameter has stored it in the
 * workflow, and a refusal that quotes the value shows nothing more.
 */
export const parameterValue = fc
	.oneof(
		leaf,
		json,
		nested(fc.oneof(leaf, noJson)),
		noJson,
		fc.constantFrom(
			'{"a":1}',
			'[]',
			'srt',
			'list',
			'text',
			'true',
			'2027-01-01T10:00:00Z',
			'https://a.example/x',
		),
		fc.constantFrom(new Date(0), new Map(), [undefined]),
		fc.constantFrom({ a: { b: Infinity } }, { a: { b: NaN } }),
		fc.constantFrom(`{${POLLUTING}}`, JSON.parse(`{${POLLUTING}}`) as unknown, '__proto__'),
	)
	.filter((value) => findIn([value], [API_KEY]).length === 0);

/** Only what n8n can show. Anything else is a crash. */
export function isPlain(error: {
	name: string;
	message: string;
	description?: string | null;
}): boolean {
	const words = `${error.message} ${error.description ?? ''}`;
	const isCrash =
		/Cannot (read|convert|set)|is not (a function|iterable|defined|an object)|\[object |\bundefined\b|Invalid (time|array)|Maximum call|circular/i;
	return (
		/^Node(Api|Operation)Error$/.test(error.name) &&
		error.message.trim() !== '' &&
		!isCrash.test(words)
	);
}

/** What every object inherits, and the names that it has. */
const INHERITED = [Object.prototype, Array.prototype, Function.prototype].map((prototype) => ({
	prototype,
	names: new Set(Reflect.ownKeys(prototype)),
}));

/** Whether the node has given all objects something. Takes it away again, so that the next run shows only its own. */
export function isPolluted(): boolean {
	const added = INHERITED.flatMap(({ prototype, names }) =>
		Reflect.ownKeys(prototype)
			.filter((name) => !names.has(name))
			.map((name) => Reflect.deleteProperty(prototype, name)),
	);
	return added.length > 0;
}
