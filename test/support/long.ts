/**
 * What `npm test` leaves out and `npm run test:long` runs: what shows a rule again (from another angle, with larger numbers,
 * in more rows of a table, in more random plans). `npm test` shows each rule once. `.ci/run` runs both.
 */
const RUNS_ALL = process.env['TESTS'] === 'all';

/** A number of runs, or the smaller one of `npm test`. */
export function atLength(runs: number, few: number): number {
	return RUNS_ALL ? runs : few;
}

/** One row of ten from a table, at least the first: `few.it.each([…])`. */
export const few = RUNS_ALL
	? { it, describe }
	: { it: { each: sampled(it.each) }, describe: { each: sampled(describe.each) } };

function sampled(each: jest.Each): jest.Each {
	return ((rows: unknown[]) => each(rows.filter((_, index) => index % 10 === 0))) as jest.Each;
}

interface Registers<Body> {
	(name: string, body: Body, timeout?: number): void;
	each: jest.Each;
}

/** Registers no test, so that the report has none that was skipped. */
const nothing = Object.assign(() => {}, { each: (() => () => {}) as jest.Each });

/** A test, a table or a group that `npm test` leaves out: `long.it('…', …)`, `long.it.each([…])`, `long.describe('…', …)`. */
export const long: {
	it: Registers<jest.ProvidesCallback>;
	describe: Registers<jest.EmptyFunction>;
} = RUNS_ALL ? { it, describe } : { it: nothing, describe: nothing };
