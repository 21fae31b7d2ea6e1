/** Starts the one cluster that all tests of the queue suite share, with the package as `npm pack` makes it. */
import { packPackage } from '../n8n/npm';
import { N8N_2 } from '../n8n/versions';
import { root, shareWithTests } from '../e2e/harness';
import { Cluster } from './cluster';
import type { SharedCluster } from './harness';

/** What teardown.ts, which runs in the same process, has to end. */
export interface Started {
	sharedCluster?: Cluster;
}

export default async function setup(): Promise<void> {
	const log = (line: string) => console.log(line);
	const { tarball, dispose } = await packPackage(root);
	const cluster = await Cluster.start(tarball, log).finally(dispose);
	const { url, folder, files, pid } = cluster;
	log(`n8n ${N8N_2} in queue mode is ready at ${url}`);
	(globalThis as Started).sharedCluster = cluster;
	const shared: SharedCluster = { url, folder, files, pid, version: N8N_2, binaryMode: 'database' };
	shareWithTests([shared]);
}
