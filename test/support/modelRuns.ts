/** How often a model is tried, and from which seed: `npm run test:models -- --runs 5000 --seed 7`. */
import fc from 'fast-check';

import { expectMet } from './mustMeet';

const given = process.env['FUZZ_SEED'];

/**
 * The same in every run of `npm test`, so that a red test is about the change. New plans are tried by
 * command, and each week by newest-n8n.yml.
 */
const SEED = Number(given ?? 20_261_122);

/** What few plans meet of what they are meant to: a busy machine carries some steps out too late. */
const SHARE = 0.25;

/**
 * `atOnce` of them at a time, each from its own seed.
 *
 * `few` runs beside the other tests; more by command. What is found is printed with its seed and path,
 * which repeat it; by command it is also shortened. `situations`: what the plans have met, and what some plan has to meet.
 */
export async function holdsAlways<T extends [unknown, ...unknown[]]>(
	property: fc.IAsyncProperty<T>,
	few: number,
	atOnce = 1,
	situations?: { met: Set<string>; mustMeet: string[] },
): Promise<void> {
	const byCommand = given !== undefined;
	const runs = byCommand ? Number(process.env['FUZZ_RUNS']) : few;
	const path = process.env['FUZZ_PATH'];
	const lanes = path === undefined ? atOnce : 1;
	const numRuns = Math.ceil(runs / lanes);
	const all = Array.from({ length: lanes }, async (_, lane) => {
		await fc.assert(property, { numRuns, seed: SEED + lane, path, endOnFailure: !byCommand });
	});
	await Promise.all(all);
	if (situations && path === undefined) expectMet(situations.met, situations.mustMeet, runs, SHARE);
}
