/** How often a model is tried, and from which seeds: `npm run test:models -- --runs 5000 --seed 7`. */
import fc from 'fast-check';

const given = process.env['FUZZ_SEED'];

/** By command the seed that was given; else one that never changes, and another one each time. */
const SEEDS =
	given === undefined ? [20_261_122, Math.floor(Math.random() * 2 ** 31)] : [Number(given)];

/**
 * `atOnce` of them at a time, each from its own seed.
 *
 * `few` runs beside the other tests, half of them from a new seed each time; more by command. What
 * is found is printed with its seed and path, which repeat it; by command it is also shortened.
 */
export async function holdsAlways<T extends [unknown, ...unknown[]]>(
	property: fc.IAsyncProperty<T>,
	few: number,
	atOnce = 1,
): Promise<void> {
	const byCommand = given !== undefined;
	const runs = byCommand ? Number(process.env['FUZZ_RUNS']) : few / SEEDS.length;
	const path = process.env['FUZZ_PATH'];
	const lanes = path === undefined ? atOnce : 1;
	const numRuns = Math.ceil(runs / lanes);
	for (const seed of SEEDS) {
		const all = Array.from({ length: lanes }, async (_, lane) => {
			await fc.assert(property, { numRuns, seed: seed + lane, path, endOnFailure: !byCommand });
		});
		await Promise.all(all);
	}
}
