/** What n8n has stored, read beside it: its REST interface shows neither all executions nor all static data. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';

import type { N8nHost } from '../n8n/host';
import { ensureN8n } from '../n8n/install';

/** The rows of one SELECT. */
export async function query<Row>(n8n: N8nHost, sql: string): Promise<Row[]> {
	// The Node that n8n runs on has SQLite in it; the one that runs this may have none.
	const { node } = await ensureN8n(n8n.version);
	const file = path.join(n8n.userFolder, '.n8n', 'database.sqlite');
	const script = `
		const { DatabaseSync } = require('node:sqlite');
		const database = new DatabaseSync(process.argv[1], { readOnly: true, timeout: 10000 });
		console.log(JSON.stringify(database.prepare(process.argv[2]).all()));`;
	const output = execFileSync(node, ['--no-warnings', '-e', script, file, sql], {
		encoding: 'utf8',
		maxBuffer: 1e8,
	});
	return JSON.parse(output) as Row[];
}
