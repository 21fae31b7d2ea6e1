/** What the tests of the queue suite need of the cluster, which runs in another process: see cluster.ts. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import type { SharedN8n } from '../e2e/harness';
import { eventually } from '../e2e/triggers';
import type { RoleName } from './cluster';

export interface SharedCluster extends SharedN8n {
	folder: string;
}

const WORKERS = ['worker-1', 'worker-2'] as const;

function place(...names: string[]): string {
	const { folder } = JSON.parse(process.env.SHARED_N8N ?? '{}') as SharedCluster;
	return path.join(folder, ...names);
}

/** `kill -9`. The cluster starts it again: see {@link isBack}. */
export function kill(name: RoleName): void {
	const file = place(name, 'pid');
	const pid = Number(readFileSync(file, 'utf8'));
	rmSync(file);
	process.kill(-pid, 'SIGKILL');
}

export async function isBack(name: RoleName): Promise<void> {
	await eventually(() => existsSync(place(name, 'pid')));
}

/** The worker that an execution began on. */
export function workerOf(executionId: string): (typeof WORKERS)[number] | undefined {
	return WORKERS.find((name) => hasStarted(name, executionId));
}

export function hasStarted(worker: RoleName, executionId: string): boolean {
	return logOf(worker).includes(`Worker started execution ${executionId} `);
}

export function hasFinished(worker: RoleName, executionId: string): boolean {
	return logOf(worker).includes(`Worker finished execution ${executionId} `);
}

export function logOf(name: RoleName): string {
	return readFileSync(place(name, 'log'), 'utf8');
}

/** Who has answered the requests to the public address, e.g. `webhook-1 POST /webhook/… 200`. */
export function served(): string[] {
	return readFileSync(place('served.log'), 'utf8').split('\n').filter(Boolean);
}
