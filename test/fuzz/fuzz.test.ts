/** What the random runs by command demand of memory, and that they would notice. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';

import { holds } from './fuzz';

const before = {
	gc: globalThis.gc,
	runs: process.env['FUZZ_RUNS'],
	path: process.env['FUZZ_PATH'],
};

beforeEach(() => {
	setFlagsFromString('--expose-gc');
	globalThis.gc = runInNewContext('gc') as NodeJS.GCFunction;
	process.env['FUZZ_RUNS'] = '150';
	delete process.env['FUZZ_PATH'];
});

afterEach(() => {
	globalThis.gc = before.gc;
	for (const [name, value] of [
		['FUZZ_RUNS', before.runs],
		['FUZZ_PATH', before.path],
	] as const) {
		if (value === undefined) delete process.env[name];
		else process.env[name] = value;
	}
});

const nothing = async () => await Promise.resolve();

it('what keeps nothing is within its bound', async () => {
	await expect(holds(fc.nat(), 1, nothing)).resolves.toBeUndefined();
});

it('what keeps something of each run is reported', async () => {
	const kept: Buffer[] = [];
	const claim = async () => {
		kept.push(Buffer.alloc(300_000, 1));
		await nothing();
	};
	await expect(holds(fc.nat(), 1, claim)).rejects.toThrow('toBeLessThan');
	expect(kept).toHaveLength(150);
});

it('memory that cannot be measured is reported', async () => {
	globalThis.gc = undefined;
	await expect(holds(fc.nat(), 1, nothing)).rejects.toThrow('--expose-gc');
});
