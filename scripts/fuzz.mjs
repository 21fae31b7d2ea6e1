// Runs tests with random values: `npm run test:fuzz -- --runs 1000 --seed 7 --path 21:0`.
// The first word says which: what jest takes for the names of files.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
	allowPositionals: true,
	options: {
		runs: { type: 'string', default: '1000' },
		seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
		path: { type: 'string' },
	},
});
if (!/^[1-9]\d*$/.test(values.runs)) throw new Error(`--runs is a number, not ${values.runs}`);
console.log(`Seed ${values.seed}, ${values.runs} runs of each`);
// MEASURED_RUNS in test/fuzz/fuzz.ts.
if (Number(values.runs) < 150) console.log('Memory is measured with 150 runs or more');
const env = { ...process.env, TESTS: 'all', FUZZ_RUNS: values.runs, FUZZ_SEED: values.seed };
if (values.path !== undefined) env.FUZZ_PATH = values.path;
// With the flag, the runs can check that memory does not grow (test/fuzz/fuzz.ts).
const jest = path.join(import.meta.dirname, '..', 'node_modules/jest/bin/jest.js');
const { status } = spawnSync(process.execPath, ['--expose-gc', jest, ...positionals], {
	stdio: 'inherit',
	env,
});
process.exitCode = status ?? 1;
