/** scripts/setup.mjs in a checkout of its own, with an npm that only pretends. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { long } from '../support/long';

const FAKE_NPM = `
const fs = require('fs');
const call = process.argv.slice(2).filter((word) => !word.startsWith('--')).join(' ');
fs.appendFileSync('calls', call + '\\n');
if (process.env.FAKE_NPM_FAILS === call) { console.log('npm error getaddrinfo ENOTFOUND'); process.exit(1); }
fs.mkdirSync(call === 'ci' ? 'node_modules' : 'dist', { recursive: true });
setTimeout(() => {}, 300);
`;

describe('scripts/setup.mjs', () => {
	let checkout: string;

	beforeEach(async () => {
		checkout = await mkdtemp(path.join(tmpdir(), 'transcriber-setup-test-'));
		const script = path.join(__dirname, '..', '..', 'scripts', 'setup.mjs');
		await cp(script, path.join(checkout, 'scripts', 'setup.mjs'));
		await mkdir(path.join(checkout, 'nodes'));
		await mkdir(path.join(checkout, 'credentials'));
		for (const file of [
			'package.json',
			'package-lock.json',
			'gulpfile.js',
			'tsconfig.json',
			'nodes/a.ts',
		]) {
			await writeFile(path.join(checkout, file), '{}');
			await touch(file, -60);
		}
		await writeFile(path.join(checkout, 'npm.js'), FAKE_NPM);
	});

	afterEach(async () => await rm(checkout, { recursive: true, force: true }));

	const touch = async (file: string, seconds: number) => {
		const time = new Date(Date.now() + seconds * 1000);
		await utimes(path.join(checkout, file), time, time);
	};

	const setup = async (env: Record<string, string> = {}) =>
		await new Promise<{ code: number; out: string }>((resolve) => {
			const child = execFile(
				process.execPath,
				[path.join(checkout, 'scripts', 'setup.mjs')],
				{
					env: {
						...process.env,
						npm_execpath: path.join(checkout, 'npm.js'),
						TMPDIR: checkout,
						...env,
					},
				},
				(_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, out: stdout + stderr }),
			);
		});

	const calls = async () => {
		const noted = await readFile(path.join(checkout, 'calls'), 'utf8').catch(() => '');
		await rm(path.join(checkout, 'calls'), { force: true });
		return noted.split('\n').filter(Boolean);
	};

	it('installs and builds a fresh clone, and says nothing more once that is done', async () => {
		expect((await setup()).out).toMatch(/Installing[^]*done[^]*Building[^]*done/);
		expect(await calls()).toEqual(['ci', 'run build']);
		expect(await setup()).toEqual({ code: 0, out: '' });
		expect(await calls()).toEqual([]);
	});

	long.it('installs again when package-lock.json is another one', async () => {
		await setup();
		await calls();
		await writeFile(path.join(checkout, 'package-lock.json'), '{"other":1}');
		await setup();
		expect(await calls()).toEqual(['ci']);
	});

	long.it('builds again when a source is changed, added or gone', async () => {
		await setup();
		await calls();
		await touch('nodes/a.ts', 1);
		await setup();
		await touch('nodes/a.ts', -60);
		await writeFile(path.join(checkout, 'nodes/b.ts'), '');
		await touch('nodes/b.ts', -60);
		await setup();
		await rm(path.join(checkout, 'nodes/b.ts'));
		await setup();
		expect(await calls()).toEqual(['run build', 'run build', 'run build']);
	});

	long.it('two at once do the work once', async () => {
		const both = await Promise.all([setup(), setup()]);
		expect(both.map(({ code }) => code)).toEqual([0, 0]);
		expect(await calls()).toEqual(['ci', 'run build']);
	});

	long.it(
		'the lock that a killed run of another user has left does not hold up this one',
		async () => {
			const asOther = path.join(checkout, 'asOther.cjs');
			await writeFile(asOther, 'process.getuid = () => 4711;');
			const killed = execFile(process.execPath, [path.join(checkout, 'scripts', 'setup.mjs')], {
				env: {
					...process.env,
					npm_execpath: path.join(checkout, 'npm.js'),
					TMPDIR: checkout,
					NODE_OPTIONS: `--require ${asOther}`,
				},
			});
			const locks = async () => (await readdir(checkout)).filter((name) => name.endsWith('.lock'));
			while ((await locks()).length === 0) await sleep(20);
			killed.kill('SIGKILL');
			await once(killed, 'exit');
			const left = await locks();
			const { code, out } = await setup();
			expect(code).toBe(0);
			expect(out).not.toContain('Another run');
			expect(await locks()).toEqual(left);
		},
	);

	long.it('a step that does not work says what to do', async () => {
		const { code, out } = await setup({ FAKE_NPM_FAILS: 'ci' });
		expect(code).toBe(1);
		expect(out).toMatch(/"npm ci .*" did not work: the npm registry could not be reached/);
		expect(await calls()).toEqual(['ci']);
	});
});
