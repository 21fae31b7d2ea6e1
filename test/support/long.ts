/**
 * What `npm test` leaves out and `npm run test:long` runs: more rows of a table of which others show the rule, and more
 * random plans. `.ci/run` runs both.
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
