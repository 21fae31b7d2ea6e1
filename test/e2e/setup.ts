/** Starts the n8n that end-to-end tests share, one for each worker of jest, with the package as `npm pack` makes it. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { testedVersion } from '../n8n/versions';
import { shareWithTests } from './harness';

/** What teardown.ts, which runs in the same process, has to end. */
export interface Started {
	sharedHosts?: Array<{ host: N8nHost; files: string }>;
}

export default async function setup({ maxWorkers }: { maxWorkers: number }): Promise<void> {
	const log = (line: string) => console.log(line);
	const version = testedVersion();
	// 1.x keeps files in memory unless told otherwise, which it calls 'default'.
	const binaryMode = process.env.TEST_BINARY_MODE === 'default' ? 'default' : 'filesystem';
	const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
	const start = async () => {
		const files = await mkdtemp(path.join(tmpdir(), 'transcriber-files-'));
		const options = { version, packageTarball: tarball, files, binaryMode, log } as const;
		return { host: await startN8n(options), files };
	};
	const hosts = [];
	try {
		// In turn, because the first one may have to install n8n.
		while (hosts.length < maxWorkers) hosts.push(await start());
	} finally {
		await dispose();
	}
	for (const { host } of hosts) log(`n8n ${version} is ready at ${host.url}`);
	(globalThis as Started).sharedHosts = hosts;
	shareWithTests(
		hosts.map(({ host: { url, pid }, files }) => ({ url, pid, files, version, binaryMode })),
	);
}
