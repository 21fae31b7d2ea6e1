/** Runs a real, unmodified n8n in a fresh user folder on free ports, with a packed community package in it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ensureN8n, type InstalledN8n } from './install';
import { Guard, OwnProcess } from './process';
import { N8nRest } from './rest';
import { N8N_2 } from './versions';

export interface HostOptions {
	/** One of versions.ts; the pinned 2.x unless told otherwise. */
	version?: string;
	/** What `npm pack` gave; or an unpacked package folder. Neither: n8n as it is. */
	packageTarball?: string;
	packageDir?: string;
	packageName?: string;
	env?: Record<string, string>;
	/** Where n8n keeps its data. Unless told otherwise a temporary folder that is removed on stop. */
	userFolder?: string;
	binaryMode?: 'default' | 'filesystem' | 'database';
	/** The folder that the Read/Write Files node may use. */
	files?: string;
	/** The address n8n tells others to call it at. */
	publicUrl?: string;
	/** Gets a line about each step that takes long. */
	log?: (line: string) => void;
}

export interface N8nHost {
	url: string;
	version: string;
	userFolder: string;
	readonly pid: number;
	/** When `kill` has ended a process of n8n, by what the system says of its end, in ms since 1970. */
	readonly killedAt: number[];
	/** Signed in as the owner. */
	rest: N8nRest;
	/** Everything n8n wrote so far. */
	log(): string;
	/** Resident memory of the n8n process, in bytes. */
	memory(): number;
	/** Ends n8n and removes its temporary folder. */
	stop(): Promise<void>;
	/** Ends n8n at once, as a power cut would; `restart` takes up its data again. */
	kill(): Promise<void>;
	/** Starts n8n again on the same data and ports, ending it in an orderly way first if it runs. */
	restart(): Promise<void>;
}

const READY_WITHIN_MS = 180_000;

export async function startN8n(options: HostOptions = {}): Promise<N8nHost> {
	const installed = await ensureN8n(options.version ?? N8N_2, { onProgress: options.log });
	const temporary = options.userFolder === undefined;
	const userFolder = options.userFolder ?? (await mkdtemp(path.join(tmpdir(), 'transcriber-n8n-')));
	const [port = 0, brokerPort = 0] = await freePorts(2);
	const url = `http://127.0.0.1:${port}`;
	const host = new RunningN8n(
		installed,
		url,
		userFolder,
		temporary,
		environment(options, { userFolder, port, brokerPort }),
	);
	try {
		await installPackage(options, userFolder);
		await host.start();
	} catch (error) {
		await host.stop();
		throw error;
	}
	return host;
}

class RunningN8n implements N8nHost {
	readonly rest: N8nRest;

	readonly version: string;

	readonly killedAt: number[] = [];

	private process: OwnProcess | undefined;

	private readonly guard: Guard;

	/** Of the processes before this one. */
	private earlier = '';

	constructor(
		private readonly installed: InstalledN8n,
		readonly url: string,
		readonly userFolder: string,
		private readonly temporary: boolean,
		private readonly env: NodeJS.ProcessEnv,
	) {
		this.version = installed.version;
		this.rest = new N8nRest(url);
		this.guard = new Guard(temporary ? userFolder : '');
	}

	get pid(): number {
		const pid = this.process?.pid;
		if (pid === undefined) throw new Error('n8n is not running');
		return pid;
	}

	log(): string {
		return this.earlier + (this.process?.output ?? '');
	}

	memory(): number {
		return memoryOf(this.pid);
	}

	async start(): Promise<void> {
		const { installed, env, userFolder: cwd } = this;
		const n8n = new OwnProcess(installed.node, [installed.n8n, 'start'], { cwd, env }, this.guard);
		this.process = n8n;
		await n8n.until(
			async () => n8n.output.includes(ANNOUNCEMENT) && (await isReady(this.url)),
			`n8n ${this.version}`,
			READY_WITHIN_MS,
		);
		await this.rest.signIn();
	}

	async stop(): Promise<void> {
		await this.end('SIGTERM');
		if (this.temporary) {
			await rm(this.userFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		}
		this.guard.release();
	}

	async kill(): Promise<void> {
		await this.end('SIGKILL');
	}

	async restart(): Promise<void> {
		await this.end('SIGTERM');
		await this.start();
	}

	private async end(signal: NodeJS.Signals): Promise<void> {
		const { process } = this;
		this.process = undefined;
		const at = Date.now();
		await process?.end(signal);
		if (signal === 'SIGKILL' && process?.signal === signal) this.killedAt.push(at);
		this.earlier += process?.output ?? '';
	}
}

/** The readiness address answers a little before the editor and its REST interface do: n8n writes that line then. */
export const ANNOUNCEMENT = 'Editor is now accessible';

export async function isReady(url: string): Promise<boolean> {
	const answer = await fetch(`${url}/healthz/readiness`).catch(() => undefined);
	return answer?.ok ?? false;
}

/** Resident memory of a process, in bytes. */
export function memoryOf(pid: number): number {
	if (process.platform === 'linux') {
		const status = readFileSync(`/proc/${pid}/status`, 'utf8');
		return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
	}
	return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024;
}

/** The community package where n8n itself would put it: unpacked, not linked, so what is tested is what ships. */
export async function installPackage(options: HostOptions, userFolder: string): Promise<void> {
	const { packageTarball, packageDir, packageName = 'n8n-nodes-transcriber' } = options;
	if (packageTarball === undefined && packageDir === undefined) return;
	const target = path.join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	if (packageDir !== undefined) await cp(packageDir, target, { recursive: true });
	else execFileSync('tar', ['-xzf', packageTarball ?? '', '-C', target, '--strip-components=1']);
}

/** What every process of n8n is started with. */
export function environment(
	options: HostOptions,
	{ userFolder, port, brokerPort }: { userFolder: string; port: number; brokerPort: number },
): NodeJS.ProcessEnv {
	const { binaryMode, files, publicUrl } = options;
	// n8n reads hundreds of variables, and Node a few: only what the machine itself needs is passed on.
	const inherited = Object.fromEntries(
		Object.entries(process.env).filter(([name]) =>
			/^(PATH|HOME|USER|TMPDIR|TEMP|TMP|TZ|LANG|LC_\w+|SYSTEMROOT|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|https?_proxy)$/i.test(
				name,
			),
		),
	);
	const noProxy = ['127.0.0.1', 'localhost', process.env.NO_PROXY ?? process.env.no_proxy];
	return {
		...inherited,
		NO_PROXY: noProxy.filter(Boolean).join(','),
		N8N_USER_FOLDER: userFolder,
		N8N_HOST: '127.0.0.1',
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_SECURE_COOKIE: 'false',
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: '5',
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_HIRING_BANNER_ENABLED: 'false',
		...(binaryMode === undefined ? {} : { N8N_DEFAULT_BINARY_DATA_MODE: binaryMode }),
		...(files === undefined ? {} : { N8N_RESTRICT_FILE_ACCESS_TO: files }),
		// 2.x reads the first, 1.x the second.
		...(publicUrl === undefined ? {} : { N8N_WEBHOOK_URL: publicUrl, WEBHOOK_URL: publicUrl }),
		...options.env,
	};
}

/**
 * Below the ports that systems give to outgoing connections, one of which could take a port before it is used. All are
 * held open until the last is found, so that no two are the same.
 */
export async function freePorts(count: number): Promise<number[]> {
	const servers = new Map<number, Server>();
	while (servers.size < count) {
		const port = 16_000 + Math.floor(Math.random() * 16_000);
		const server = createServer();
		const isFree = await new Promise<boolean>((resolve) => {
			server.once('error', () => resolve(false));
			server.listen(port, '127.0.0.1', () => resolve(true));
		});
		if (isFree) servers.set(port, server);
	}
	const closed = [...servers.values()].map((server) => new Promise((done) => server.close(done)));
	await Promise.all(closed);
	return [...servers.keys()];
}
