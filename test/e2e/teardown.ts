import { rm } from 'node:fs/promises';

import type { Started } from './setup';

export default async function teardown(): Promise<void> {
	const { sharedHost } = globalThis as Started;
	if (sharedHost === undefined) return;
	await sharedHost.host.stop();
	await rm(sharedHost.files, { recursive: true, force: true });
}
