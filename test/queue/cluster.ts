/**
 * n8n in queue mode: a main process, two workers, two webhook processes, their PostgreSQL and Redis, and a load balancer
 * in front. A process that ends is started again, as Docker or systemd would.
 */
import { appendFileSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ANNOUNCEMENT, environment, freePorts, installPackage, isReady } from '../n8n/host';
import { ensureN8n, type InstalledN8n } from '../n8n/install';
import { Guard, OwnProcess } from '../n8n/process';
import { N8N_2 } from '../n8n/versions';
import { createBalancer } from './balancer';
import { startServers, type Servers } from './servers';

interface Role {
	name: string;
	command: string[];
	/** What it writes when it is ready. */
	announcement: string;
}

export const ROLES = [
	{ name: 'main', command: ['start'], announcement: ANNOUNCEMENT },
	{ name: 'worker-1', command: ['worker'], announcement: 'n8n worker is now ready' },
	{ name: 'worker-2', command: ['worker'], announcement: 'n8n worker is now ready' },
	{ name: 'webhook-1', command: ['webhook'], announcement: 'Webhook listener waiting' },
	{ name: 'webhook-2', command: ['webhook'], announcement: 'Webhook listener waiting' },
] as const satisfies Role[];

export type RoleName = (typeof ROLES)[number]['name'];

const READY_WITHIN_MS = 180_000;

export class Cluster {
	private readonly processes: N8nProcess[] = [];

	private servers: Servers | undefined;

	private balancer: Server | undefined;

	private readonly guard: Guard;

	url = '';

	private constructor(
		/** Holds the data of PostgreSQL, `files`, and for each process its log and its process id. */
		readonly folder: string,
	) {
		this.guard = new Guard(folder);
	}

	static async start(packageTarball: string, log: (line: string) => void): Promise<Cluster> {
		const folder = await mkdtemp(path.join(tmpdir(), 'transcriber-queue-'));
		const cluster = new Cluster(folder);
		try {
			await cluster.start(packageTarball, log);
		} catch (error) {
			await cluster.stop();
			throw error;
		}
		return cluster;
	}

	/** What the Read/Write Files node may use. */
	get files(): string {
		return path.join(this.folder, 'files');
	}

	/** That of the main process. */
	get pid(): number {
		return this.processes[0]?.pid ?? 0;
	}

	private async start(packageTarball: string, log: (line: string) => void): Promise<void> {
		// PostgreSQL runs as another user.
		await chmod(this.folder, 0o755);
		mkdirSync(this.files);
		this.servers = await startServers(this.folder, this.guard);
		const installed = await ensureN8n(N8N_2, { onProgress: log });
		const [balancerPort = 0, ...ports] = await freePorts(1 + 2 * ROLES.length);
		this.url = `http://127.0.0.1:${balancerPort}`;
		for (const [index, role] of ROLES.entries()) {
			const userFolder = path.join(this.folder, role.name);
			await installPackage({ packageTarball }, userFolder);
			const [port = 0, brokerPort = 0] = ports.slice(2 * index);
			const env = environment(
				{
					binaryMode: 'database',
					files: this.files,
					publicUrl: this.url,
					env: { ...QUEUE, QUEUE_HEALTH_CHECK_PORT: String(port), ...this.servers.env },
				},
				{ userFolder, port, brokerPort },
			);
			this.processes.push(new N8nProcess(role, port, installed, userFolder, env, this.guard));
		}
		const [main, ...others] = this.processes;
		// It alone brings the database up to date.
		await main?.start();
		await Promise.all(others.map(async (each) => await each.start()));
		await this.listen(balancerPort);
	}

	private async listen(port: number): Promise<void> {
		const [main, ...others] = this.processes;
		if (main === undefined) return;
		const webhooks = others.filter(({ name }) => name.startsWith('webhook'));
		const served = path.join(this.folder, 'served.log');
		writeFileSync(served, '');
		const balancer = createBalancer(main, webhooks, (line) => appendFileSync(served, `${line}\n`));
		this.balancer = balancer;
		await new Promise<void>((resolve) => balancer.listen(port, '127.0.0.1', resolve));
	}

	async stop(): Promise<void> {
		this.balancer?.close();
		this.balancer?.closeAllConnections();
		await Promise.all(this.processes.map(async (each) => await each.stop()));
		await this.servers?.stop();
		await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		this.guard.release();
	}
}

const QUEUE = {
	EXECUTIONS_MODE: 'queue',
	// What is run by hand in the tests runs where production executions do.
	OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
	N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
	N8N_ENCRYPTION_KEY: 'of-a-throw-away-cluster',
	QUEUE_HEALTH_CHECK_ACTIVE: 'true',
	// The death of a worker is noticed in seconds instead of a minute or two.
	QUEUE_WORKER_LOCK_DURATION: '10000',
	QUEUE_WORKER_LOCK_RENEW_TIME: '2000',
	QUEUE_WORKER_STALLED_INTERVAL: '5000',
};

class N8nProcess {
	isReady = false;

	private process: OwnProcess | undefined;

	private isStopping = false;

	constructor(
		private readonly role: Role,
		readonly port: number,
		private readonly installed: InstalledN8n,
		private readonly folder: string,
		private readonly env: NodeJS.ProcessEnv,
		private readonly guard: Guard,
	) {}

	get name(): string {
		return this.role.name;
	}

	get pid(): number | undefined {
		return this.process?.pid;
	}

	async start(): Promise<void> {
		const { role, installed, env, folder } = this;
		const log = openSync(path.join(folder, 'log'), 'a');
		// There as long as the process is ready: for the tests, which run in another process.
		const pidFile = path.join(folder, 'pid');
		const process = new OwnProcess(
			installed.node,
			[installed.n8n, ...role.command],
			{ cwd: folder, env, onOutput: (text) => writeSync(log, text) },
			this.guard,
		);
		this.process = process;
		await process.until(
			async () =>
				process.output.includes(role.announcement) &&
				(await isReady(`http://127.0.0.1:${this.port}`)),
			`n8n ${role.name}`,
			READY_WITHIN_MS,
		);
		this.isReady = true;
		writeFileSync(pidFile, String(process.pid));
		void process.whenEnded().then(async () => {
			this.isReady = false;
			rmSync(pidFile, { force: true });
			await process.end('SIGKILL');
			if (!this.isStopping) await this.start().catch(this.isMissed);
		});
	}

	/** A test that needs it waits in vain and says so; one that stops is missed by nobody. */
	private readonly isMissed = (error: unknown) => {
		if (!this.isStopping) console.error(error);
	};

	async stop(): Promise<void> {
		this.isStopping = true;
		await this.process?.end('SIGTERM');
	}
}
