/** Random values, the same in every run: `npm run test:fuzz -- --runs 1000 --seed 7` tries more. */
import fc from 'fast-check';

import { atLength } from '../support/long';

/** Of fast-check, which prints seed and path of what it finds: both can be given again. */
export const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_122);

/** `few` runs beside the other tests, a sixth of them with `npm test`, more by command. */
export async function holds<T>(
	arbitrary: fc.Arbitrary<T>,
	few: number,
	claim: (value: T) => Promise<void> | void,
): Promise<void> {
	const numRuns = Number(process.env['FUZZ_RUNS'] ?? Math.ceil(few / atLength(1, 6)));
	const path = process.env['FUZZ_PATH'];
	const memory = new Memory();
	const property = fc.asyncProperty(arbitrary, async (value) => {
		memory.beforeRun();
		await claim(value);
	});
	await fc.assert(property, { numRuns, seed: SEED, path, endOnFailure: !process.env['FUZZ_RUNS'] });
	memory.expectBounded();
}

/** Until then, everything is loaded, compiled and cached. */
const WARM_AFTER = 200;
/** Caches of n8n's engine still grow, by less and less. */
const LOOSE_BYTES = 4_000_000;
const BYTES_A_RUN = 2_000;

/**
 * That what the node keeps does not grow with what it has seen. Only with many runs, and with the flag that
 * scripts/fuzz.mjs gives to Node: without a collection of garbage, the size of the heap says nothing.
 */
class Memory {
	private runs = 0;

	private warm = 0;

	beforeRun(): void {
		if (this.runs === WARM_AFTER) this.warm = this.heap();
		this.runs += 1;
	}

	expectBounded(): void {
		if (!globalThis.gc || this.runs < 2 * WARM_AFTER) return;
		const growth = this.heap() - this.warm;
		const runs = this.runs - WARM_AFTER;
		expect(growth).toBeLessThan(LOOSE_BYTES + BYTES_A_RUN * runs);
	}

	private heap(): number {
		globalThis.gc?.();
		globalThis.gc?.();
		return process.memoryUsage().heapUsed;
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

/** JSON that looks like an answer of some service. */
export const json: fc.Arbitrary<unknown> = fc.letrec<{
	value: unknown;
	object: unknown;
	list: unknown;
}>((tie) => ({
	value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, tie('object'), tie('list')),
	object: fc.dictionary(
		fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 8 })),
		tie('value'),
		{ maxKeys: 6 },
	),
	list: fc.array(tie('value'), { maxLength: 4 }),
})).value;

/** Names that change what all objects inherit, if they are copied carelessly. */
const POLLUTING = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';

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

/** Whatever an expression can give. */
export const parameterValue = fc.oneof(
	leaf,
	json,
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
	fc.constantFrom(Infinity, -Infinity, NaN, undefined, -0),
	fc.constantFrom(new Date(0), new Map(), [undefined]),
	fc.constantFrom(`{${POLLUTING}}`, JSON.parse(`{${POLLUTING}}`) as unknown, '__proto__'),
);

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

/** What every object inherits. */
const INHERITED = [Object.prototype, Array.prototype, Function.prototype];
const namesOf = () => INHERITED.map((prototype) => Reflect.ownKeys(prototype).length).join();
const UNPOLLUTED = namesOf();

export function isPolluted(): boolean {
	return 'polluted' in {} || namesOf() !== UNPOLLUTED;
}
