/**
 * PostgreSQL and Redis for the cluster: real ones, started here as private instances on free ports with a throw-away
 * data folder, or those at TEST_POSTGRES_URL and TEST_REDIS_URL, which have to be empty and for these tests alone.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { freePorts } from '../n8n/host';
import { OwnProcess, type Guard } from '../n8n/process';

export interface Servers {
	/** Where they are, as n8n wants to be told. */
	env: Record<string, string>;
	/** Of those that were started here. */
	pids: number[];
	stop(): Promise<void>;
}

const READY_WITHIN_MS = 60_000;

export async function startServers(folder: string, guard: Guard): Promise<Servers> {
	const { TEST_POSTGRES_URL: postgresUrl, TEST_REDIS_URL: redisUrl } = process.env;
	const initdb = postgresUrl ? '' : find('initdb', postgresFolders());
	const redis = redisUrl ? '' : find('redis-server', []);
	if (initdb === undefined || redis === undefined) {
		throw new Error(
			'The queue suite needs PostgreSQL and Redis: apt-get install postgresql redis-server, or set TEST_POSTGRES_URL and TEST_REDIS_URL',
		);
	}
	const [postgresPort = 0, redisPort = 0] = await freePorts(2);
	const started: OwnProcess[] = [];
	if (initdb)
		started.push(await startPostgres(initdb, path.join(folder, 'postgres'), postgresPort, guard));
	if (redis) started.push(await startRedis(redis, redisPort, guard));
	return {
		env: {
			...postgresEnv(postgresUrl ?? `postgres://n8n@127.0.0.1:${postgresPort}/postgres`),
			...redisEnv(redisUrl ?? `redis://127.0.0.1:${redisPort}`),
		},
		pids: started.flatMap(({ pid }) => pid ?? []),
		stop: async () => {
			// The orderly way for PostgreSQL with clients that are gone; Redis knows it as the same.
			await Promise.all(started.map(async (server) => await server.end('SIGINT')));
		},
	};
}

async function startPostgres(
	initdb: string,
	folder: string,
	port: number,
	guard: Guard,
): Promise<OwnProcess> {
	const as = unprivileged();
	mkdirSync(folder);
	if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid);
	const options = { ...as, cwd: folder };
	execFileSync(
		initdb,
		['-D', folder, '-U', 'n8n', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
		{ ...options, stdio: ['ignore', 'ignore', 'pipe'] },
	);
	const settings = {
		port,
		listen_addresses: '127.0.0.1',
		unix_socket_directories: '',
		max_connections: 200,
		// It outlives `kill -9` of n8n, but need not outlive that of the machine.
		fsync: 'off',
	};
	const server = new OwnProcess(
		path.join(path.dirname(initdb), 'postgres'),
		[
			'-D',
			folder,
			...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
		],
		options,
		guard,
	);
	await server.until(
		() => server.output.includes('ready to accept connections'),
		'PostgreSQL',
		READY_WITHIN_MS,
	);
	return server;
}

async function startRedis(command: string, port: number, guard: Guard): Promise<OwnProcess> {
	const inMemory = ['--save', '', '--appendonly', 'no'];
	const server = new OwnProcess(
		command,
		['--port', String(port), '--bind', '127.0.0.1', ...inMemory],
		{},
		guard,
	);
	await server.until(
		() => server.output.includes('Ready to accept connections'),
		'Redis',
		READY_WITHIN_MS,
	);
	return server;
}

/** PostgreSQL refuses to run as root; its package brings a user of its own. */
function unprivileged(): { uid?: number; gid?: number } {
	if (process.getuid?.() !== 0) return {};
	const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
	return { uid: id('-u'), gid: id('-g') };
}

/** Debian keeps the server's commands out of the PATH, one folder for each version. */
function postgresFolders(): string[] {
	const root = '/usr/lib/postgresql';
	const versions = existsSync(root) ? readdirSync(root) : [];
	return versions
		.sort((a, b) => Number(b) - Number(a))
		.map((version) => path.join(root, version, 'bin'));
}

function find(command: string, places: string[]): string | undefined {
	const inPath = (process.env.PATH ?? '').split(path.delimiter);
	return [...places, ...inPath].map((place) => path.join(place, command)).find(existsSync);
}

function postgresEnv(url: string): Record<string, string> {
	const { hostname, port, username, password, pathname } = new URL(url);
	return {
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: hostname,
		DB_POSTGRESDB_PORT: port || '5432',
		DB_POSTGRESDB_USER: decodeURIComponent(username),
		DB_POSTGRESDB_PASSWORD: decodeURIComponent(password),
		DB_POSTGRESDB_DATABASE: pathname.slice(1),
	};
}

function redisEnv(url: string): Record<string, string> {
	const { hostname, port, username, password, pathname } = new URL(url);
	return {
		QUEUE_BULL_REDIS_HOST: hostname,
		QUEUE_BULL_REDIS_PORT: port || '6379',
		QUEUE_BULL_REDIS_USERNAME: decodeURIComponent(username),
		QUEUE_BULL_REDIS_PASSWORD: decodeURIComponent(password),
		QUEUE_BULL_REDIS_DB: pathname.slice(1) || '0',
	};
}
