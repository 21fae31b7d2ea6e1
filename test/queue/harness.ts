/** What the tests of the queue suite need of the cluster, which runs in another process: see cluster.ts. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

import { sharedN8n, type SharedN8n } from '../e2e/harness';
import { eventually } from '../e2e/triggers';
import type { RoleName } from './cluster';

export interface SharedCluster extends SharedN8n {
	folder: string;
}

const WORKERS = ['worker-1', 'worker-2'] as const;

export type Worker = (typeof WORKERS)[number];

function place(...names: string[]): string {
	const { folder } = sharedN8n() as SharedCluster;
	return path.join(folder, ...names);
}

/**
 * `kill -9`, and what it takes until the process is gone. Until then, Redis may hand a job to it, and n8n 2 ends an
 * execution whose worker dies with the job: "failed to be processed too many times". The cluster starts the process
 * again: see {@link isBack}.
 */
export async function kill(name: RoleName): Promise<void> {
	const file = place(name, 'pid');
	const pid = Number(readFileSync(file, 'utf8'));
	rmSync(file);
	process.kill(-pid, 'SIGKILL');
	await eventually(() => !isRunning(pid));
}

function isRunning(pid: number): boolean {
	try {
		return process.kill(pid, 0);
	} catch {
		return false;
	}
}

export async function isBack(name: RoleName): Promise<void> {
	await eventually(() => existsSync(place(name, 'pid')));
}

/** The worker that an execution began on. */
export function workerOf(executionId: string): Worker | undefined {
	return WORKERS.find((name) => count(name, 'started', executionId) > 0);
}

/** The worker that is at work on an execution right now. */
export function workerAt(executionId: string): Worker | undefined {
	return WORKERS.find(
		(name) => count(name, 'started', executionId) > count(name, 'finished', executionId),
	);
}

/** How often a worker has started or finished an execution; one that was suspended counts more than once. */
export function count(worker: Worker, what: 'started' | 'finished', executionId: string): number {
	const log = readFileSync(place(worker, 'log'), 'utf8');
	return log.split(`Worker ${what} execution ${executionId} `).length - 1;
}

/** Who has answered the requests to the public address, e.g. `webhook-1 POST /webhook/… 200`. */
export function served(): string[] {
	return readFileSync(place('served.log'), 'utf8').split('\n').filter(Boolean);
}
