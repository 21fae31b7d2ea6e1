/** The package takes from n8n-workflow at run time only what both lines of n8n have. */
import { filesIn, read } from './read';

/** Seen in n8n-workflow of n8n 1.123.81 and 2.41.1. What one of them lacks fails when a node runs. */
const IN_BOTH_LINES = [
	'NodeApiError',
	'NodeConnectionTypes',
	'NodeHelpers',
	'NodeOperationError',
	'deepCopy',
	'fileTypeFromMimeType',
	'sleep',
	'toCronExpression',
	'updateDisplayOptions',
];

const sources = [...filesIn('nodes'), ...filesIn('credentials')].filter((file) =>
	file.endsWith('.ts'),
);

it.each(sources)('%s imports nothing else from n8n-workflow', (file) => {
	const source = read(file);
	const imports = source.matchAll(/import \{([^}]*)\} from 'n8n-workflow'/g);
	const names = [...imports]
		.flatMap(([, list = '']) => list.split(','))
		.map((name) => name.trim())
		.filter((name) => name !== '' && !name.startsWith('type '));
	expect(names.filter((name) => !IN_BOTH_LINES.includes(name))).toEqual([]);
});
