/** Runs a real, unmodified n8n in a fresh user folder on free ports, with a packed community package in it. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { ensureN8n, type InstalledN8n } from './install';
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
const STOP_WITHIN_MS = 12_000;
const LOG_LIMIT = 4_000_000;

export async function startN8n(options: HostOptions = {}): Promise<N8nHost> {
	const installed = await ensureN8n(options.version ?? N8N_2, { onProgress: options.log });
	const temporary = options.userFolder === undefined;
	const userFolder = options.userFolder ?? (await mkdtemp(path.join(tmpdir(), 'transcriber-n8n-')));
	const [port, brokerPort] = await twoFreePorts();
	const url = `http://127.0.0.1:${port}`;
	const host = new RunningN8n(
		installed,
		url,
		userFolder,
		temporary,
		environment(options, userFolder, port, brokerPort),
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

	private child: ChildProcess | undefined;

	private readonly guard: ChildProcess;

	private output = '';

	private announced = false;

	constructor(
		private readonly installed: InstalledN8n,
		readonly url: string,
		readonly userFolder: string,
		private readonly temporary: boolean,
		private readonly env: NodeJS.ProcessEnv,
	) {
		this.version = installed.version;
		this.rest = new N8nRest(url);
		this.guard = startGuard(temporary ? userFolder : '');
	}

	get pid(): number {
		const pid = this.child?.pid;
		if (pid === undefined) throw new Error('n8n is not running');
		return pid;
	}

	log(): string {
		return this.output;
	}

	memory(): number {
		return memoryOf(this.pid);
	}

	async start(): Promise<void> {
		// A group of its own, so that its task runners end with it.
		const child = spawn(this.installed.node, [this.installed.n8n, 'start'], {
			cwd: this.userFolder,
			env: this.env,
			detached: true,
			stdio: ['ignore', 'pipe', 'pipe'],
		});
		this.child = child;
		this.announced = false;
		let boot = '';
		const collect = (chunk: Buffer) => {
			const text = chunk.toString();
			this.output = (this.output + text).slice(-LOG_LIMIT);
			if (this.announced) return;
			boot += text;
			this.announced = boot.includes('Editor is now accessible');
		};
		child.stdout.on('data', collect);
		child.stderr.on('data', collect);
		child.on('error', (error) => collect(Buffer.from(`${error.message}\n`)));
		this.guard.stdin?.write(`${child.pid ?? 0}\n`);
		await this.untilReady(child);
		await this.rest.signIn();
	}

	private async untilReady(child: ChildProcess): Promise<void> {
		const deadline = Date.now() + READY_WITHIN_MS;
		while (!(await this.isReady())) {
			const ended = child.exitCode !== null || child.signalCode !== null || !child.pid;
			if (ended || Date.now() > deadline) {
				const what = ended ? 'ended while starting' : 'was not ready after 3 minutes';
				throw new Error(
					`n8n ${this.version} ${what}. The end of its log:\n${lastLines(this.output)}`,
				);
			}
			await sleep(200);
		}
	}

	/** The readiness address answers a little before the editor and its REST interface do. */
	private async isReady(): Promise<boolean> {
		if (!this.announced) return false;
		const answer = await fetch(`${this.url}/healthz/readiness`).catch(() => undefined);
		return answer?.ok ?? false;
	}

	async stop(): Promise<void> {
		await this.end('SIGTERM');
		if (this.temporary) {
			await rm(this.userFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
		}
		this.guard.kill('SIGKILL');
	}

	async kill(): Promise<void> {
		await this.end('SIGKILL');
	}

	async restart(): Promise<void> {
		await this.end('SIGTERM');
		await this.start();
	}

	private async end(signal: NodeJS.Signals): Promise<void> {
		const { child } = this;
		this.child = undefined;
		if (child?.pid === undefined) return;
		const closed = new Promise<void>((resolve) => {
			if (child.exitCode !== null || child.signalCode !== null) resolve();
			else child.once('exit', () => resolve());
		});
		killGroup(child.pid, signal);
		await Promise.race([closed, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
		// Also for the runners that outlived an orderly end.
		killGroup(child.pid, 'SIGKILL');
		await closed;
		this.guard.stdin?.write('0\n');
	}
}

/** Resident memory of a process, in bytes. */
export function memoryOf(pid: number): number {
	if (process.platform === 'linux') {
		const status = readFileSync(`/proc/${pid}/status`, 'utf8');
		return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
	}
	return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024;
}

/** Ctrl-C, a crash or `kill -9` of this process must leave nothing behind: see guard.mjs. */
function startGuard(folder: string): ChildProcess {
	const guard = spawn(process.execPath, [path.join(__dirname, 'guard.mjs'), folder], {
		detached: true,
		stdio: ['pipe', 'ignore', 'ignore'],
	});
	guard.unref();
	// It ends with its run at the latest: a line that comes too late is no reason to fail.
	guard.stdin.on('error', () => {});
	return guard;
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
	try {
		process.kill(-pid, signal);
	} catch {
		// The group is gone already.
	}
}

/** The community package where n8n itself would put it: unpacked, not linked, so what is tested is what ships. */
async function installPackage(options: HostOptions, userFolder: string): Promise<void> {
	const { packageTarball, packageDir, packageName = 'n8n-nodes-transcriber' } = options;
	if (packageTarball === undefined && packageDir === undefined) return;
	const target = path.join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
	await rm(target, { recursive: true, force: true });
	await mkdir(target, { recursive: true });
	if (packageDir !== undefined) await cp(packageDir, target, { recursive: true });
	else execFileSync('tar', ['-xzf', packageTarball ?? '', '-C', target, '--strip-components=1']);
}

function environment(
	options: HostOptions,
	userFolder: string,
	port: number,
	brokerPort: number,
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

/** Both held open until the second is found, so that they are not the same. */
async function twoFreePorts(): Promise<[number, number]> {
	const servers: [Server, Server] = [createServer(), createServer()];
	const listen = async (server: Server) => {
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		return (server.address() as AddressInfo).port;
	};
	const ports: [number, number] = [await listen(servers[0]), await listen(servers[1])];
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
	return ports;
}

function lastLines(text: string): string {
	return text.trimEnd().split('\n').slice(-25).join('\n');
}
