/**
 * The end-to-end suite on the 1.x line of n8n, without what cannot differ there. With files on the disk; with files in
 * memory, where that line keeps them unless it is told otherwise, only what reads or writes files.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { N8N_1 } from '../test/n8n/versions';

const WITH_FILES = '/test/e2e/(operations|upload|example)\\.test';

/**
 * What runs on 2.x only, and why it does not depend on the line. The nodes and the operations of each left-out example run
 * on 1.x in other suites, and test/e2e/examples/import.test.ts imports every example.
 */
const SAME_ON_BOTH: Record<string, string> = {
	'test/e2e/host': 'How the tests start and stop n8n: no part of n8n or of the package.',
	'test/e2e/attack':
		"The package's own code refuses each of them; what n8n refuses itself is in test/e2e/trigger, with both lines.",
	'test/e2e/examples/folder':
		'Transcribe File and Wait over many files, in real minutes: test/e2e/upload and operations do it with one.',
	'test/e2e/examples/form':
		"n8n's form and its ending page: examples/mail starts with the same form.",
	'test/e2e/examples/crm':
		'The nodes of examples/crmWithTrigger, with polling in place of the trigger, as in test/e2e/agent and operations.',
};
for (const suite of Object.keys(SAME_ON_BOTH)) {
	if (!existsSync(`${suite}.test.ts`)) throw new Error(`There is no suite ${suite}`);
}

const inMemory = run({ TEST_BINARY_MODE: 'default' }, WITH_FILES);
const onDisk = run(
	{ TEST_BINARY_MODE: 'filesystem' },
	'/test/e2e/',
	...Object.keys(SAME_ON_BOTH).map((suite) => `--testPathIgnorePatterns=/${suite}\\.test`),
);
process.exitCode = inMemory || onDisk;

function run(env: Record<string, string>, ...suites: string[]): number {
	const root = path.dirname(__dirname);
	const { status } = spawnSync(
		process.execPath,
		[path.join(root, 'node_modules/jest/bin/jest.js'), '--config', 'jest.e2e.config.js', ...suites],
		{ cwd: root, stdio: 'inherit', env: { ...process.env, ...env, N8N_VERSION: N8N_1 } },
	);
	return status ?? 1;
}
