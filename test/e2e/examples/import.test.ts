/** Every shipped example can be imported, also on a line of n8n where its own suite does not run (scripts/lts.ts). */
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { Bench, readExample, root } from '../harness';

describe('every example', () => {
	let bench: Bench;
	/** `name version` of all nodes that this n8n has. */
	let known: Set<string>;

	beforeAll(async () => {
		bench = await Bench.open();
		const types = await bench.rest.nodeTypes();
		known = new Set(
			types.flatMap(({ name, version }) => [version].flat().map((one) => `${name} ${String(one)}`)),
		);
	});

	afterAll(async () => await bench.close());

	const examples = readdirSync(path.join(root, 'examples')).filter((file) =>
		file.endsWith('.json'),
	);

	it.each(examples)('%s is imported with all its nodes, which this n8n knows', async (file) => {
		const example = await readExample(file);
		const stored = await bench.rest.createWorkflow(example, { transcriberApi: bench.credential });
		expect(stored.nodes.map(({ name }) => name)).toEqual(example.nodes.map(({ name }) => name));
		const unknown = example.nodes
			.map(({ type, typeVersion }) => `${type} ${typeVersion}`)
			.filter((type) => !known.has(type));
		expect(unknown).toEqual([]);
	});
});
