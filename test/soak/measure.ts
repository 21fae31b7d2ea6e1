/** What n8n holds, when nothing runs in it: in its process, in its files, in its database. */
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { N8nHost } from '../n8n/host';
import { query } from './database';

export interface Measured {
	/** How many acts were done before it, in the whole run. */
	acts: number;
	/** Bytes and counts, by what it is. */
	values: Record<string, number>;
}

interface Probed {
	rss: number;
	heapUsed: number;
	external: number;
	timers: number;
	resources: Record<string, number>;
	maps: Record<string, number>;
}

/** A request of the last act counts for its rate limit for a minute; what else is kept for a moment, for less. */
const SETTLE_MS = 65_000;
const ENDS_WITHIN_MS = 360_000;

export const HEAP = 'V8 heap after garbage collection, MB';
export const RESIDENT = 'Resident memory, MB';
export const BUFFERS = 'Memory outside of the V8 heap, MB';
export const OPEN_FILES = 'Open files and sockets';
export const TIMERS = 'Timers';
export const OWN_TIMERS = 'Timers of the nodes, also those that keep no process alive';
export const OPEN = 'Executions running or suspended';
export const DATA = 'Static data of the largest workflow, bytes';
export const SECRETS = 'Secrets of submissions in the trigger that has most';
export const TRIGGERS = 'Workflows with static data';
export const MAP = 'processMemory: ';

export async function measured(n8n: N8nHost, probe: string, acts: number): Promise<Measured> {
	const open = await settled(n8n);
	const answer = await fetch(probe);
	const { rss, heapUsed, external, timers, resources, maps } = (await answer.json()) as Probed;
	const data = await staticData(n8n);
	const rows = Object.entries(maps).map(([row, entries]) => [MAP + row, entries] as const);
	const values = {
		[HEAP]: megabytes(heapUsed),
		[RESIDENT]: megabytes(rss),
		[BUFFERS]: megabytes(external),
		[OPEN_FILES]: readdirSync(`/proc/${n8n.pid}/fd`).length,
		[TIMERS]: resources['Timeout'] ?? 0,
		[OWN_TIMERS]: timers,
		[OPEN]: open,
		[TRIGGERS]: data.length,
		[DATA]: Math.max(0, ...data.map(({ length }) => length)),
		[SECRETS]: Math.max(0, ...data.map(secretsIn)),
		...Object.fromEntries(rows.sort()),
	};
	return { acts, values };
}

/** Of each workflow that has some. */
async function staticData(n8n: N8nHost): Promise<string[]> {
	const rows = await query<{ staticData: string }>(
		n8n,
		`SELECT staticData FROM workflow_entity
		 WHERE staticData IS NOT NULL AND length(staticData) > 2`,
	);
	return rows.map((row) => row.staticData);
}

/** Of the workflow that has most. */
export async function secretsInTriggers(n8n: N8nHost): Promise<number> {
	return Math.max(0, ...(await staticData(n8n)).map(secretsIn));
}

/** How many secrets of submissions in progress the triggers of a workflow have stored: each ends with ";". */
export function secretsIn(staticData: string): number {
	const { global = {} } = JSON.parse(staticData) as {
		global?: Record<string, { secrets?: string } | undefined>;
	};
	const ledgers = Object.values(global).map((stored) => String(stored?.secrets ?? ''));
	return ledgers.join('').split(';').length - 1;
}

/** How many executions are still open when everything has had its time. */
async function settled(n8n: N8nHost): Promise<number> {
	const count = async () => {
		const sql = `SELECT count(*) AS open FROM execution_entity
			WHERE status IN ('new', 'running', 'waiting', 'unknown') AND deletedAt IS NULL`;
		return (await query<{ open: number }>(n8n, sql))[0]?.open ?? 0;
	};
	const deadline = Date.now() + ENDS_WITHIN_MS;
	for (let isQuiet = false; !isQuiet && Date.now() < deadline;) {
		while ((await count()) > 0 && Date.now() < deadline) await sleep(1_000);
		await sleep(SETTLE_MS);
		// The Account Trigger may have started one meanwhile.
		isQuiet = (await count()) === 0;
	}
	return await count();
}

function megabytes(bytes: number): number {
	return Math.round(bytes / 1e5) / 10;
}
