import type { Started } from './setup';

export default async function teardown(): Promise<void> {
	await (globalThis as Started).sharedCluster?.stop();
}
