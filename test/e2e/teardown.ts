import { rm } from 'node:fs/promises';

import type { Started } from './setup';

export default async function teardown(): Promise<void> {
	for (const { host, files } of (globalThis as Started).sharedHosts ?? []) {
		await host.stop();
		await rm(files, { recursive: true, force: true });
	}
}
