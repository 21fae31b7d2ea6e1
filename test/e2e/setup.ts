/** Starts the one n8n that all end-to-end tests share, with the package as `npm pack` makes it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { testedVersion } from '../n8n/versions';
import type { SharedN8n } from './harness';

/** What teardown.ts, which runs in the same process, has to end. */
export interface Started {
	sharedHost?: { host: N8nHost; files: string };
}

export default async function setup(): Promise<void> {
	const log = (line: string) => console.log(line);
	const version = testedVersion();
	// 1.x keeps files in memory unless told otherwise, which it calls 'default'.
	const binaryMode = process.env.TEST_BINARY_MODE === 'default' ? 'default' : 'filesystem';
	const files = await mkdtemp(path.join(tmpdir(), 'transcriber-files-'));
	const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
	const host = await startN8n({
		version,
		packageTarball: tarball,
		files,
		binaryMode,
		log,
	}).finally(dispose);
	log(`n8n ${version} is ready at ${host.url}`);
	(globalThis as Started).sharedHost = { host, files };
	const { url, pid } = host;
	const shared: SharedN8n = { url, pid, files, version, binaryMode };
	process.env.SHARED_N8N = JSON.stringify(shared);
}
