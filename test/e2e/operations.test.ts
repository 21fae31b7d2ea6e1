/** Every operation once, in a real n8n: what the service was asked and what the node put out. */
import { Bench } from './harness';
import { OPERATIONS } from './operationCases';

describe('every operation in a real n8n', () => {
	let bench: Bench;

	beforeAll(async () => {
		// A test of each operation, not of the pace: see the other layers for that.
		bench = await Bench.open({ rateLimits: false });
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	it.each(OPERATIONS)('$title', async ({ given, parameters, options, asks, gives, from, also }) => {
		const id = (await given?.(bench)) ?? '';
		const before = bench.simulator.requests.length;
		const outcome = await bench.runNode(parameters(id), options);
		expect(outcome.error).toBeUndefined();
		expect(bench.asked(before)).toEqual(asks(id));
		expect(outcome.items[0]).toMatchObject({ json: gives(id), pairedItem: from ?? { item: 0 } });
		await also?.(outcome, bench, id);
	});
});
