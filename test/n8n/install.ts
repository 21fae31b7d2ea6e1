/**
 * Finds or installs a real n8n, and a Node new enough to run it, in a cache folder outside the checkout.
 * An install is made in a folder beside its final place and renamed there when it is whole, so what has the final
 * name is always complete; a lock keeps two runs from doing the same 2 GB of work at once.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

import { lock } from 'proper-lockfile';

import { spawnNpm } from './npm';
import { NODE_MAJOR, NODE_VERSION, nodePackage, recipeFor, type N8nRecipe } from './versions';

export interface InstalledN8n {
	version: string;
	/** Path of the Node binary to run n8n with. */
	node: string;
	/** Path of n8n's own command, a script for that Node. */
	n8n: string;
	/** The folder that holds both. */
	dir: string;
}

export interface InstallOptions {
	onProgress?: (line: string) => void;
}

const PROGRESS_EVERY_MS = 12_000;

export function cacheFolder(): string {
	const root =
		process.env.TRANSCRIBER_CACHE ?? process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
	return path.resolve(root, 'n8n-nodes-transcriber');
}

export async function ensureN8n(
	version: string,
	{ onProgress = (line) => console.log(line) }: InstallOptions = {},
): Promise<InstalledN8n> {
	const recipe = recipeFor(version);
	const ownNode = Number(process.versions.node.split('.')[0]) < NODE_MAJOR;
	const manifest = packageManifest(recipe, ownNode);
	const dir = path.join(cacheFolder(), `n8n-${version}-${installKey(manifest, ownNode)}`);
	const installed = describeInstall(version, dir, ownNode);
	if (existsSync(dir)) return installed;

	await mkdir(cacheFolder(), { recursive: true }).catch((error: Error) => {
		throw new Error(
			`n8n is kept in ${cacheFolder()}, which cannot be made: ${error.message}. Set TRANSCRIBER_CACHE to a folder that can be written.`,
		);
	});
	const release = await takeTurn(dir, () =>
		onProgress(`n8n ${version}: another run is installing it, waiting for that one`),
	);
	try {
		if (!existsSync(dir)) await install({ version, dir, manifest, ownNode, onProgress });
	} finally {
		await release();
	}
	return installed;
}

function packageManifest(recipe: N8nRecipe, ownNode: boolean): string {
	const dependencies: Record<string, string> = { n8n: recipe.version };
	if (ownNode) dependencies[nodePackage()] = NODE_VERSION;
	return JSON.stringify(
		{ name: 'n8n-host', private: true, dependencies, overrides: recipe.overrides },
		null,
		'\t',
	);
}

/** A changed recipe is another install: the old one is left alone, whoever uses it may go on. */
function installKey(manifest: string, ownNode: boolean): string {
	const node = ownNode ? NODE_VERSION : process.versions.node.split('.')[0];
	return createHash('sha256')
		.update(`${manifest} ${process.platform} ${process.arch} ${node}`)
		.digest('hex')
		.slice(0, 12);
}

function describeInstall(version: string, dir: string, ownNode: boolean): InstalledN8n {
	const modules = path.join(dir, 'node_modules');
	const binary = process.platform === 'win32' ? 'node.exe' : 'node';
	return {
		version,
		dir,
		node: ownNode ? path.join(modules, nodePackage(), 'bin', binary) : process.execPath,
		n8n: path.join(modules, 'n8n', 'bin', 'n8n'),
	};
}

/** Waits for the lock as long as its holder lives: a dead holder's lock goes stale by itself. */
async function takeTurn(dir: string, onWait: () => void): Promise<() => Promise<void>> {
	const options = { realpath: false, stale: 60_000, update: 10_000 };
	try {
		return await lock(dir, options);
	} catch (error) {
		if (!(error instanceof Error && 'code' in error && error.code === 'ELOCKED')) throw error;
		onWait();
		return await lock(dir, {
			...options,
			retries: { forever: true, factor: 1, minTimeout: 2_000, maxTimeout: 2_000 },
		});
	}
}

interface Job {
	version: string;
	dir: string;
	manifest: string;
	ownNode: boolean;
	onProgress: (line: string) => void;
}

async function install({ version, dir, manifest, ownNode, onProgress }: Job): Promise<void> {
	const started = Date.now();
	// Leftovers of installs that were interrupted: the lock says that nobody needs them any more. The name is new
	// each time, because the npm of a killed run may still be writing into its own.
	const leftover = `${path.basename(dir)}.unfinished-`;
	for (const name of await readdir(cacheFolder())) {
		if (!name.startsWith(leftover)) continue;
		await rm(path.join(cacheFolder(), name), { recursive: true, force: true });
	}
	const unfinished = path.join(cacheFolder(), `${leftover}${process.pid}`);
	await mkdir(unfinished, { recursive: true });
	await writeFile(path.join(unfinished, 'package.json'), manifest);
	const logFile = `${dir}.log`;
	await rm(logFile, { force: true });

	onProgress(`n8n ${version}: installing into ${dir} (once; about 2.4 GB, 3 to 8 minutes)`);
	const modules = path.join(unfinished, 'node_modules');
	const run = async (title: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
		await npm({ version, title, args, cwd: unfinished, env, logFile, modules, onProgress });

	await run('downloading and unpacking', [
		'install',
		'--legacy-peer-deps',
		'--ignore-scripts',
		'--no-audit',
		'--no-fund',
		'--no-package-lock',
		'--no-update-notifier',
		'--loglevel=http',
	]);
	// The only part of n8n that has to be built; every other native module ships ready-made.
	await run(
		'building the SQLite driver',
		['rebuild', 'sqlite3', '--ignore-scripts=false', '--foreground-scripts'],
		await headersOf(unfinished, ownNode),
	);

	const installed = describeInstall(version, unfinished, ownNode);
	await access(installed.n8n);
	await access(installed.node);
	await rename(unfinished, dir);
	onProgress(`n8n ${version}: installed in ${elapsed(started)}`);
}

/** Points node-gyp at headers that are here already; where there are none it fetches them itself. */
async function headersOf(dir: string, ownNode: boolean): Promise<NodeJS.ProcessEnv> {
	const root = ownNode
		? path.join(dir, 'node_modules', nodePackage())
		: path.dirname(path.dirname(process.execPath));
	const hasHeaders = existsSync(path.join(root, 'include', 'node', 'node.h'));
	return hasHeaders ? { npm_config_nodedir: root } : {};
}

interface NpmRun {
	version: string;
	title: string;
	args: string[];
	cwd: string;
	env: NodeJS.ProcessEnv;
	logFile: string;
	modules: string;
	onProgress: (line: string) => void;
}

async function npm(run: NpmRun): Promise<void> {
	const { args, logFile, onProgress } = run;
	const started = Date.now();
	const label = `n8n ${run.version}: ${run.title}`;
	onProgress(label);
	const timer = setInterval(() => {
		void progress(run).then((done) => onProgress(`${label}, ${elapsed(started)}${done}`));
	}, PROGRESS_EVERY_MS);

	const output = openSync(logFile, 'a');
	try {
		const code = await new Promise<number | null>((resolve, reject) => {
			const child = spawnNpm(args, {
				cwd: run.cwd,
				env: run.env,
				stdio: ['ignore', output, output],
			});
			child.on('error', reject);
			child.on('exit', resolve);
		});
		if (code !== 0) throw new Error(await explain(run));
	} finally {
		clearInterval(timer);
		closeSync(output);
	}
}

async function explain({ title, logFile, version }: NpmRun): Promise<string> {
	const log = await readFile(logFile, 'utf8').catch(() => '');
	const hint = /ENOSPC/.test(log)
		? 'The disk is full: n8n needs about 3 GB.'
		: title.startsWith('building')
			? 'It is compiled where no ready-made build can be downloaded: install Python 3, make and a C++ compiler (on Debian: apt install python3 make g++), then run this again.'
			: /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET/.test(log)
				? 'The npm registry could not be reached: check the network and run this again.'
				: /ETARGET|E404/.test(log)
					? `The npm registry does not have one of the packages; where it is the Node binary, run this with Node ${NODE_MAJOR} or later instead.`
					: 'Run this again; it starts over with a clean folder.';
	const tail = log.trimEnd().split('\n').slice(-15).join('\n');
	return `n8n ${version}: ${title} did not work. ${hint}\nThe full log: ${logFile}\nIts end:\n${tail}`;
}

/** npm shows nothing itself while it works: how far it is can be seen in its log and in the folder it fills. */
async function progress({ args, logFile, modules }: NpmRun): Promise<string> {
	if (args[0] !== 'install') return '';
	const log = await readFile(logFile, 'utf8').catch(() => '');
	const downloads = log.split('npm http fetch GET 200').length - 1;
	return `, ${downloads} downloads, ${await countPackages(modules)} packages unpacked`;
}

async function countPackages(modules: string): Promise<number> {
	const names = await readdir(modules).catch(() => []);
	const found = await Promise.all(
		names.map(
			async (name) =>
				await access(path.join(modules, name, 'package.json')).then(
					() => 1,
					async () => (name.startsWith('@') ? await countPackages(path.join(modules, name)) : 0),
				),
		),
	);
	return found.reduce((sum: number, one) => sum + one, 0);
}

function elapsed(since: number): string {
	const seconds = Math.round((Date.now() - since) / 1000);
	return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}
