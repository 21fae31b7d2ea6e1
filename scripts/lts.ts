/**
 * The end-to-end suite on the 1.x line of n8n. All of it with files on the disk; with files in memory, where that line
 * keeps them unless it is told otherwise, only what reads or writes files.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { N8N_1 } from '../test/n8n/versions';

const WITH_FILES = 'test/e2e/(operations|upload|examples?).test';

const inMemory = run({ TEST_BINARY_MODE: 'default' }, WITH_FILES);
const onDisk = run({ TEST_BINARY_MODE: 'filesystem' });
process.exitCode = inMemory || onDisk;

function run(env: Record<string, string>, ...files: string[]): number {
	const root = path.dirname(__dirname);
	const { status } = spawnSync(
		process.execPath,
		[path.join(root, 'node_modules/jest/bin/jest.js'), '--config', 'jest.e2e.config.js', ...files],
		{ cwd: root, stdio: 'inherit', env: { ...process.env, ...env, N8N_VERSION: N8N_1 } },
	);
	return status ?? 1;
}
