// Makes a fresh clone ready: installs what package-lock.json says and builds `dist`, each only when it is needed.
// It runs before anything is installed, so it uses nothing but Node itself.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 20;
const STILL_WORKING_EVERY_MS = 15_000;
const LOCK_BEAT_MS = 3_000;
const LOCK_STALE_MS = 30_000;

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const lockFile = path.join(root, 'package-lock.json');
// Beside what they vouch for: who deletes node_modules deletes these too.
const stamps = path.join(root, 'node_modules', '.cache', 'transcriber');
const installStamp = path.join(stamps, 'installed');
const buildStamp = path.join(stamps, 'built');

try {
	checkNode();
	if (!isInstalled() || !isBuilt()) await alone(makeReady);
} catch (error) {
	console.error(`\n${error.message}`);
	process.exitCode = 1;
}

function checkNode() {
	if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return;
	throw new Error(
		`This needs Node ${OLDEST_NODE} or later; you are running ${process.version}. Install a newer one from https://nodejs.org and try again.`,
	);
}

async function makeReady() {
	// Asked again: another run may have done it while this one waited for its turn.
	if (!isInstalled()) {
		await step('Installing the development packages (npm ci, about a minute and a half)', [
			'ci',
			'--no-audit',
			'--no-fund',
		]);
		writeStamp(installStamp, lockHash());
	}
	if (!isBuilt()) {
		const sources = listSources();
		const started = new Date();
		await step('Building the package (npm run build)', ['run', 'build']);
		writeStamp(buildStamp, sources.join('\n'));
		// A source changed while the build was running is newer than the stamp.
		utimesSync(buildStamp, started, started);
	}
}

function isInstalled() {
	if (existsSync(installStamp)) return readFileSync(installStamp, 'utf8') === lockHash();
	// An install made by hand counts: npm writes its own note when it is through.
	const note = path.join(root, 'node_modules', '.package-lock.json');
	if (!existsSync(note) || statSync(note).mtimeMs < statSync(lockFile).mtimeMs) return false;
	writeStamp(installStamp, lockHash());
	return true;
}

function lockHash() {
	return createHash('sha256').update(readFileSync(lockFile)).digest('hex');
}

function isBuilt() {
	if (!existsSync(path.join(root, 'dist')) || !existsSync(buildStamp)) return false;
	const sources = listSources();
	const { mtimeMs } = statSync(buildStamp);
	return (
		readFileSync(buildStamp, 'utf8') === sources.join('\n') &&
		sources.every((file) => statSync(path.join(root, file)).mtimeMs < mtimeMs)
	);
}

function listSources() {
	const inFolders = ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name))),
	);
	return [...inFolders, 'gulpfile.js', 'package.json', 'tsconfig.json'].sort();
}

function writeStamp(file, content) {
	mkdirSync(stamps, { recursive: true });
	writeFileSync(file, content);
}

/** One npm command. Its output is kept back, and shown only when it does not work. */
async function step(title, args) {
	console.log(`${title} …`);
	const started = Date.now();
	const beat = setInterval(
		() => console.log(`  still working, ${seconds(started)} s`),
		STILL_WORKING_EVERY_MS,
	);
	// npm says where it is when it runs us; that way is the same on every platform.
	const script = process.env.npm_execpath;
	const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
	const child = spawn(command, [...first, ...args], {
		cwd: root,
		stdio: ['ignore', 'pipe', 'pipe'],
		shell: command === 'npm' && process.platform === 'win32',
	});
	let output = '';
	child.stdout.on('data', (chunk) => (output += chunk));
	child.stderr.on('data', (chunk) => (output += chunk));
	const code = await new Promise((resolve, reject) => {
		child.on('error', reject);
		child.on('close', resolve);
	}).finally(() => clearInterval(beat));
	if (code !== 0) {
		const log = path.join(tmpdir(), `transcriber-setup-${process.pid}.log`);
		writeFileSync(log, output);
		// npm and tsc say first what is wrong, and go on at length.
		const said = output.split('\n').filter((line) => line.trim() && !line.startsWith('npm warn'));
		throw new Error(
			`${said.slice(0, 20).join('\n')}\n\n"npm ${args.join(' ')}" did not work: ${advice(output)}\nThe full log: ${log}`,
		);
	}
	console.log(`  done in ${seconds(started)} s`);
}

function advice(output) {
	if (/ENOSPC/.test(output)) return 'the disk is full; about 1 GB is needed.';
	if (/ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ECONNRESET/.test(output)) {
		return 'the npm registry could not be reached. Check the network, then run the same command again.';
	}
	if (/EUSAGE/.test(output)) {
		return 'package.json and package-lock.json do not fit together. Run "npm install", then the same command again.';
	}
	return 'see the lines above. When it is mended, run the same command again.';
}

/** Two runs in one checkout take turns. The lock of a run that was killed stops beating and is taken over. */
async function alone(work) {
	const id = createHash('sha256').update(root).digest('hex').slice(0, 12);
	// One for each user: in a temporary folder that all share, nobody can take over the lock of another user.
	const user = process.getuid?.() ?? '';
	const lock = path.join(tmpdir(), `transcriber-setup-${user}-${id}.lock`);
	let announced = false;
	while (!take(lock)) {
		if (!announced) console.log('Another run is setting this checkout up, waiting for it …');
		announced = true;
		await sleep(500);
	}
	const beat = setInterval(() => utimesSync(lock, new Date(), new Date()), LOCK_BEAT_MS);
	const release = () => {
		clearInterval(beat);
		rmSync(lock, { recursive: true, force: true });
	};
	for (const signal of ['SIGINT', 'SIGTERM']) {
		process.once(signal, () => {
			release();
			process.exit(1);
		});
	}
	try {
		await work();
	} finally {
		release();
	}
}

function take(lock) {
	try {
		mkdirSync(lock);
		return true;
	} catch (error) {
		if (error.code !== 'EEXIST') throw error;
	}
	try {
		if (Date.now() - statSync(lock).mtimeMs > LOCK_STALE_MS) {
			// Moved away before it is removed: of several runs that find it stale, one only can do that.
			const stale = `${lock}-${process.pid}`;
			renameSync(lock, stale);
			rmSync(stale, { recursive: true });
		}
	} catch (error) {
		if (error.code !== 'ENOENT') throw error;
	}
	return false;
}

function seconds(since) {
	return Math.round((Date.now() - since) / 1000);
}
