/** The installer with an npm that only pretends: what counts is what is left behind, whatever goes wrong. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { cacheFolder, ensureN8n } from './install';
import { N8N_1, N8N_2, nodePackage, recipeFor } from './versions';
import { long } from '../support/long';

/** Writes what an install leaves, notes each call, and fails where it is told to. */
const FAKE_NPM = `
const fs = require('fs');
const [command] = process.argv.slice(2);
fs.appendFileSync(process.env.FAKE_NPM_CALLS, command + '\\n');
if (process.env.FAKE_NPM_FAILS === command) { console.log('npm error ENOSPC'); process.exit(1); }
if (command === 'install') {
	fs.mkdirSync('node_modules/n8n/bin', { recursive: true });
	fs.writeFileSync('node_modules/n8n/bin/n8n', '');
	const node = 'node_modules/${nodePackage()}/bin';
	fs.mkdirSync(node, { recursive: true });
	fs.writeFileSync(node + '/node', '');
}
setTimeout(() => {}, 300);
`;

describe('installing n8n', () => {
	const before = { ...process.env };
	const quiet = { onProgress: () => {} };
	let folder: string;

	const calls = async () =>
		(await readFile(path.join(folder, 'calls'), 'utf8').catch(() => '')).trim().split('\n');

	beforeEach(async () => {
		folder = await mkdtemp(path.join(tmpdir(), 'transcriber-install-'));
		await writeFile(path.join(folder, 'npm.js'), FAKE_NPM);
		process.env.TRANSCRIBER_CACHE = folder;
		process.env.npm_execpath = path.join(folder, 'npm.js');
		process.env.FAKE_NPM_CALLS = path.join(folder, 'calls');
	});

	afterEach(async () => {
		process.env = { ...before };
		await rm(folder, { recursive: true, force: true });
	});

	it('installs once, then finds it', async () => {
		const first = await ensureN8n(N8N_2, quiet);
		expect(await calls()).toEqual(['install', 'rebuild']);
		expect(await readFile(first.n8n, 'utf8')).toBe('');
		expect(await ensureN8n(N8N_2, quiet)).toEqual(first);
		expect(await calls()).toHaveLength(2);
	});

	long.it('keeps the versions apart', async () => {
		const [two, one] = [await ensureN8n(N8N_2, quiet), await ensureN8n(N8N_1, quiet)];
		expect(one.dir).not.toBe(two.dir);
		const manifest = await readFile(path.join(one.dir, 'package.json'), 'utf8');
		expect(JSON.parse(manifest)).toMatchObject({
			dependencies: { n8n: N8N_1 },
			overrides: recipeFor(N8N_1).overrides,
		});
	});

	long.it('two runs at once install once', async () => {
		const lines: string[] = [];
		const onProgress = (line: string) => lines.push(line);
		const [a, b] = await Promise.all([
			ensureN8n(N8N_2, { onProgress }),
			ensureN8n(N8N_2, { onProgress }),
		]);
		expect(a).toEqual(b);
		expect(await calls()).toEqual(['install', 'rebuild']);
		expect(lines).toContainEqual(expect.stringContaining('another run is installing it'));
	});

	long.it('a half-finished install is never taken for a whole one', async () => {
		process.env.FAKE_NPM_FAILS = 'rebuild';
		await expect(ensureN8n(N8N_2, quiet)).rejects.toThrow();
		delete process.env.FAKE_NPM_FAILS;
		// What a run leaves that was killed in the middle.
		const name = (await readdir(cacheFolder())).find((entry) => entry.includes('unfinished'));
		expect(name).toBeDefined();
		await mkdir(path.join(cacheFolder(), `${name}1`));

		await ensureN8n(N8N_2, quiet);
		expect(await calls()).toEqual(['install', 'rebuild', 'install', 'rebuild']);
		expect((await readdir(cacheFolder())).filter((entry) => /unfinished/.test(entry))).toEqual([]);
	});

	it('a failure says what to do and where the log lies', async () => {
		process.env.FAKE_NPM_FAILS = 'install';
		const error = await ensureN8n(N8N_2, quiet).catch((thrown: Error) => thrown);
		expect(String(error)).toMatch(/did not work\. The disk is full.*\nThe full log: .*\.log\n/);
		expect(String(error)).toContain('npm error ENOSPC');
	});

	it('what is no version is refused before anything is installed', async () => {
		await expect(ensureN8n('newest', quiet)).rejects.toThrow(
			`'newest' is no version of n8n, such as ${N8N_2}.`,
		);
	});

	long.it('a version without a recipe is installed as its own dependency ranges say', async () => {
		const { dir } = await ensureN8n('2.99.0', quiet);
		const manifest = await readFile(path.join(dir, 'package.json'), 'utf8');
		expect(JSON.parse(manifest)).toMatchObject({ dependencies: { n8n: '2.99.0' }, overrides: {} });
	});
});
