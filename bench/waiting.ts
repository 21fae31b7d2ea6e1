/** Thousands of executions that sleep until their transcript is ready: what they cost, and how fast they wake up. */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { N8nHost } from '../test/n8n/host';
import type { StoredWorkflow } from '../test/n8n/rest';
import { startSimulator, type Simulator } from '../test/simulator/index';
import {
	inMegabytes,
	inSeconds,
	line,
	median,
	transcriber,
	undoOnce,
	withN8n,
	type Report,
	type Run,
} from './parts';

/** Submits a minute that the service accepts for one API key; so each ten executions have a key of their own. */
const PER_KEY = 10;
const KEYS = [10, 1_000] as const;
const QUICK_KEYS = [2, 4] as const;
/** Accounts whose transcripts become ready in the same moment, once all are woken. */
const WAVE = 10;
/** Executions woken one after the other, to see how long one takes. */
const WOKEN = 50;
const QUICK_WOKEN = 5;
const AT_ONCE = 20;
const SETTLE_MS = 10_000;
const STUCK_AFTER_MS = 120_000;

/** An account at the service, and the executions that wait for it. */
interface Account {
	simulator: Simulator;
	workflow: StoredWorkflow;
}

export async function waiting(run: Run): Promise<Report> {
	const [few, many] = run.isQuick ? QUICK_KEYS : KEYS;
	const woken = run.isQuick ? QUICK_WOKEN : WOKEN;
	return await withN8n(run, {}, async (n8n) => {
		const rows: string[][] = [];
		const accounts: Account[] = [];
		const settle = async () => await sleep(run.isQuick ? 0 : SETTLE_MS);
		await settle();
		const fresh = { memory: n8n.memory(), disk: diskOf(n8n) };
		for (const keys of [few, many]) {
			const added: Account[] = [];
			while (accounts.length + added.length < keys) added.push(await open(n8n));
			const started = Date.now();
			await suspend(n8n, added);
			run.log(`${added.length * PER_KEY} suspended in ${inSeconds(Date.now() - started)}`);
			accounts.push(...added);
			const latency = await wake(n8n, accounts, woken);
			await settle();
			rows.push([
				String(keys * PER_KEY),
				inMegabytes(n8n.memory()),
				inMegabytes(diskOf(n8n) - fresh.disk),
				inSeconds(median(latency)),
				inSeconds(Math.max(...latency)),
			]);
			run.log(rows.at(-1)?.join(', ') ?? '');
		}
		await n8n.restart();
		await settle();
		const afterRestart = n8n.memory();
		const started = Date.now();
		const left = many * PER_KEY - 2 * woken;
		for (let first = 0; first < accounts.length; first += WAVE) {
			const open = accounts
				.slice(first, first + WAVE)
				.flatMap(({ simulator }) => simulator.tasks().map((task) => ({ simulator, task })))
				.filter(({ task }) => isOpen(task.status));
			const before = await countOf(n8n, 'success');
			for (const { simulator, task } of open) simulator.finish(task.id);
			await counted(n8n, 'success', before + open.length);
		}
		const rate = Math.round((1000 * left) / (Date.now() - started));
		run.log(`${left} woken: ${rate} a second`);
		return {
			table: [
				['Suspended', 'Memory of n8n', 'Database', 'Awake and done, median', 'Slowest'],
				...rows,
			],
			goals: [],
			remarks: [
				`'Awake and done': from the moment the service has the transcript until the execution has ended with the result in it, ${woken} executions one after the other while the others sleep. A fresh n8n takes ${inMegabytes(fresh.memory)} of memory; restarted with ${left} executions asleep it takes ${inMegabytes(afterRestart)}. Then their transcripts became ready, ${WAVE * PER_KEY} in the same moment: every execution ended with its result, ${rate} a second.`,
			],
		};
	});
}

const isOpen = (status: string) => status === 'pending' || status === 'processing';

async function open(n8n: N8nHost): Promise<Account> {
	const simulator = await startSimulator({
		apiKey: `bench-${Math.random().toString(36).slice(2)}`,
		processingSeconds: 1_000_000,
		webhookRetries: 200,
		balance: 1e6,
	});
	undoOnce(async () => await simulator.close());
	const { url: baseUrl, apiKey } = simulator;
	const transcriberApi = await n8n.rest.createCredential('transcriberApi', { baseUrl, apiKey });
	const node = transcriber({
		resource: 'transcription',
		operation: 'transcribeUrl',
		url: 'https://example.com/interview.mp3',
		onCompletion: 'awaitWebhook',
	});
	return { simulator, workflow: await n8n.rest.createWorkflow(line([node]), { transcriberApi }) };
}

/** Starts the executions of these accounts, and waits until all of them sleep. */
async function suspend(n8n: N8nHost, accounts: Account[]): Promise<void> {
	const before = await countOf(n8n, 'waiting');
	const queue = accounts.flatMap((account) => Array.from({ length: PER_KEY }, () => account));
	const worker = async () => {
		for (let next = queue.pop(); next; next = queue.pop()) {
			const submitted = next.simulator.tasks().length;
			await n8n.rest.run(next.workflow);
			while (next.simulator.tasks().length === submitted) await sleep(5);
		}
	};
	await Promise.all(Array.from({ length: AT_ONCE }, worker));
	await counted(n8n, 'waiting', before + accounts.length * PER_KEY);
}

/** How long each of `count` executions takes from the end of its task to its own end, in ms. */
async function wake(n8n: N8nHost, accounts: Account[], count: number): Promise<number[]> {
	const times: number[] = [];
	const step = Math.floor(accounts.length / count) || 1;
	for (let turn = 0; times.length < count; turn += step) {
		const { simulator } = accounts[turn % accounts.length] as Account;
		const task = simulator.tasks().find(({ status }) => isOpen(status));
		if (!task) throw new Error('Nothing sleeps here any longer');
		const executionId = /webhook-waiting\/(\d+)/.exec(task.parameters.webhookUrl ?? '')?.[1] ?? '';
		const started = Date.now();
		simulator.finish(task.id);
		const { status, stoppedAt = '' } = await n8n.rest.waitForEnd(executionId, STUCK_AFTER_MS);
		if (status !== 'success') throw new Error(`Execution ${executionId}: ${status}`);
		times.push(Date.parse(stoppedAt) - started);
	}
	return times;
}

async function countOf({ rest }: N8nHost, status: string): Promise<number> {
	const filter = encodeURIComponent(JSON.stringify({ status: [status] }));
	return (await rest.get<{ count: number }>(`/executions?filter=${filter}&limit=1`)).count;
}

/** Until so many executions have this status. Fails when their number has not changed for long. */
async function counted(n8n: N8nHost, status: string, wanted: number): Promise<void> {
	let last = -1;
	let changedAt = Date.now();
	for (;;) {
		const count = await countOf(n8n, status);
		if (count >= wanted) return;
		if (count !== last) [last, changedAt] = [count, Date.now()];
		if (Date.now() - changedAt > STUCK_AFTER_MS) {
			throw new Error(`Only ${count} of ${wanted} executions are '${status}'`);
		}
		await sleep(100);
	}
}

/** The database with what is not yet written back to it, in bytes. */
function diskOf({ userFolder }: N8nHost): number {
	return ['', '-wal']
		.map((end) => path.join(userFolder, '.n8n', `database.sqlite${end}`))
		.filter((file) => existsSync(file))
		.reduce((total, file) => total + statSync(file).size, 0);
}
