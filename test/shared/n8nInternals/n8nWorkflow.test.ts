/** The package takes from n8n-workflow at run time only what both lines of n8n have. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Seen in n8n-workflow of n8n 1.123.81 and 2.41.1. What one of them lacks fails when a node runs. */
const IN_BOTH_LINES = [
	'NodeApiError',
	'NodeConnectionTypes',
	'NodeHelpers',
	'NodeOperationError',
	'sleep',
	'toCronExpression',
	'updateDisplayOptions',
];

const root = join(__dirname, '..', '..', '..');
const sources = ['nodes', 'credentials'].flatMap((folder) =>
	readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => name.endsWith('.ts'))
		.map((name) => join(folder, name)),
);

it.each(sources)('%s', (path) => {
	const source = readFileSync(join(root, path), 'utf8');
	const imports = source.matchAll(/import \{([^}]*)\} from 'n8n-workflow'/g);
	const names = [...imports]
		.flatMap(([, list = '']) => list.split(','))
		.map((name) => name.trim())
		.filter((name) => name !== '' && !name.startsWith('type '));
	expect(names.filter((name) => !IN_BOTH_LINES.includes(name))).toEqual([]);
});
