import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';

import { cacheFolder } from '../n8n/install';
import { N8N_1, N8N_2, NODE_VERSION, TESTED_VERSIONS } from '../n8n/versions';
import { exists, filesIn, manifest, read, root } from './read';
import { few } from '../support/long';

interface Step {
	uses?: string;
	run?: string;
	if?: string;
	with?: Record<string, unknown>;
}

interface Job {
	needs?: string[];
	uses?: string;
	permissions?: Record<string, string>;
	env?: Record<string, string>;
	environment?: string;
	'timeout-minutes'?: number;
	strategy?: { matrix: Record<string, string[]> };
	steps?: Step[];
}

interface WorkflowFile {
	on: Record<string, unknown>;
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

// There with eslint, which reads its own configuration with it.
const yaml = createRequire(__filename)('js-yaml') as { load(text: string): unknown };

const files = filesIn('.github/workflows');
const workflows = files.map((file) => [file, yaml.load(read(file)) as WorkflowFile] as const);

function workflow(name: string): WorkflowFile {
	const found = workflows.find(([file]) => file === `.github/workflows/${name}.yml`);
	if (found === undefined) throw new Error(`There is no workflow ${name}`);
	return found[1];
}

function job(of: string, name: string): Job & { steps: Step[]; commands: string[] } {
	const { steps = [], ...rest } = workflow(of).jobs[name] ?? {};
	return { ...rest, steps, commands: steps.flatMap(({ run }) => run ?? []) };
}

/** What runs of a job whose matrix has this n8n. A condition that compares it with nothing known is refused. */
function commandsOn(version: string, steps: Step[]): string[] {
	const runs = steps.filter(({ if: when }) => {
		if (when === undefined) return true;
		const [, sign, other] = /^matrix\.n8n (==|!=) '([^']+)'$/.exec(when) ?? [];
		if (other === undefined) throw new Error(`What is ${when}?`);
		return (sign === '==') === (other === version);
	});
	return runs.flatMap(({ run }) => run ?? []);
}

function stepsOf({ jobs }: WorkflowFile): Step[] {
	return Object.values(jobs).flatMap(({ steps = [] }) => steps);
}

describe.each(workflows)('%s', (file, parsed) => {
	it('pins every action by the full SHA of a commit, with its version beside it', () => {
		const uses = read(file).match(/^\s*(- )?uses: .+$/gm) ?? [];
		expect(uses.length).toBeGreaterThan(0);
		for (const line of uses) {
			expect(line).toMatch(
				/uses: (\.\/\.github\/workflows\/\S+|[\w-]+(\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
			);
		}
	});

	it('grants nothing by default but to read the repository', () => {
		expect([{}, { contents: 'read' }]).toContainEqual(parsed.permissions);
	});

	it('takes the token of the checkout away from what runs afterwards', () => {
		for (const step of stepsOf(parsed).filter(({ uses }) =>
			uses?.startsWith('actions/checkout@'),
		)) {
			expect(step.with).toMatchObject({ 'persist-credentials': false });
		}
	});

	it('needs no secret, and puts nothing from outside into a script', () => {
		expect(read(file)).not.toMatch(/\bsecrets\b/);
		for (const { run = '' } of stepsOf(parsed)) expect(run).not.toContain('${{');
	});

	it('ends every job that hangs', () => {
		for (const { uses, 'timeout-minutes': timeout } of Object.values(parsed.jobs)) {
			if (!uses) expect(timeout).toBeGreaterThan(0);
		}
	});

	it('names no version but those of test/n8n/versions.ts', () => {
		const scripts = stepsOf(parsed).flatMap(({ run = '', if: when = '', with: given = {} }) => [
			...[run, when],
			...Object.values(given).map(String),
		]);
		const matrices = Object.values(parsed.jobs).map(({ strategy }) => strategy?.matrix.n8n ?? []);
		const named = [...scripts, ...matrices.flat()].flatMap(
			(text) => text.match(/\b\d+\.\d+\.\d+\b/g) ?? [],
		);
		for (const version of named) expect([...TESTED_VERSIONS, NODE_VERSION]).toContain(version);
	});

	it('runs only scripts that exist', () => {
		for (const { run = '' } of stepsOf(parsed)) {
			const [, script] = /npm run ([\w:]+)/.exec(run) ?? [];
			if (script) expect(Object.keys(manifest.scripts)).toContain(script);
			const [, program] = /^node (\S+)/.exec(run) ?? [];
			if (program) expect([program, exists(program)]).toEqual([program, true]);
		}
	});
});

it('all workflows use the same commit of an action', () => {
	const uses = workflows.flatMap(([, parsed]) =>
		stepsOf(parsed).flatMap((step) => step.uses ?? []),
	);
	const actions = uses.map((use) => use.split('@')[0]);
	expect(new Set(uses).size).toBe(new Set(actions).size);
});

describe('CI', () => {
	it('runs lint, types, scan and tests for every change', () => {
		expect(Object.keys(workflow('ci').on)).toEqual(
			expect.arrayContaining(['push', 'pull_request']),
		);
		expect(job('ci', 'check').commands).toEqual(
			expect.arrayContaining([
				...['npm run lint', 'npm run typecheck', 'npm run scan'],
				...['npm test', 'npm run test:long'],
			]),
		);
		for (const step of job('ci', 'check').steps) expect(step).not.toHaveProperty('if');
	});

	it('runs whatever .ci/run does', () => {
		const commands = stepsOf(workflow('ci')).flatMap(({ run = '' }) => run);
		const steps = read('.ci/run').match(/(?<=^\s*step .*['"] )npm .+$/gm) ?? [];
		expect(steps.length).toBeGreaterThan(8);
		for (const step of steps)
			expect([step, commands.some((command) => command.startsWith(step))]).toEqual([step, true]);
	});

	it('runs on the oldest Node that package.json allows, and on the one of n8n', () => {
		const { engines } = manifest as { engines?: { node: string } };
		const [oldest] = /\d+/.exec(engines?.node ?? '') ?? [];
		expect(job('ci', 'check').strategy?.matrix.node).toEqual([oldest, NODE_VERSION]);
	});

	it('runs end to end on both lines of n8n, in the versions that have a recipe', () => {
		const { strategy, env, commands } = job('ci', 'end-to-end');
		expect(strategy?.matrix.n8n).toEqual([N8N_2, N8N_1]);
		expect(env).toEqual({ N8N_VERSION: '${{ matrix.n8n }}' });
		expect(commands).toEqual(expect.arrayContaining(['npm run test:e2e', 'npm run test:lts']));
	});

	it('runs end to end whole on n8n 2, and on n8n 1 what can differ', () => {
		const { steps } = job('ci', 'end-to-end');
		expect([N8N_2, N8N_1].map((version) => commandsOn(version, steps).slice(1))).toEqual([
			['npm run test:e2e'],
			['npm run test:lts'],
		]);
	});

	it('runs in queue mode, on the n8n that the end-to-end job has installed', () => {
		const { steps, commands } = job('ci', 'queue');
		expect(commands).toContain('npm run test:queue');
		const keys = [steps, job('ci', 'end-to-end').steps].map(
			(all) => all.find(({ uses }) => uses?.startsWith('actions/cache@'))?.with?.key,
		);
		expect(keys[0]).toBe(String(keys[1]).replace('${{ matrix.n8n }}', N8N_2));
	});

	it('keeps the installed n8n by its version and recipe, where the tests look for it', () => {
		const { steps } = job('ci', 'end-to-end');
		const cache = steps.find(({ uses }) => uses?.startsWith('actions/cache@'))?.with;
		const before = { ...process.env };
		delete process.env.TRANSCRIBER_CACHE;
		delete process.env.XDG_CACHE_HOME;
		expect(String(cache?.path).replace('~', homedir())).toBe(cacheFolder());
		process.env = before;
		expect(cache?.key).toMatch(/matrix\.n8n .*hashFiles\('test\/n8n\/versions\.ts'/);
		expect(cache).not.toHaveProperty('restore-keys');
	});
});

describe('Once a week', () => {
	const commandsOf = (name: string) => job('newest-n8n', name).commands;

	it('and by hand, all of it is tried that takes too long for every change', () => {
		const { on, jobs } = workflow('newest-n8n');
		const cron = expect.stringMatching(/^\d+ \d+ \* \* \d$/);
		expect(on).toEqual({ schedule: [{ cron }], workflow_dispatch: null });
		expect(Object.keys(jobs)).toEqual(['newest', 'faults', 'soak', 'random', 'mutants']);
		const conditions = stepsOf(workflow('newest-n8n')).flatMap((step) => step.if ?? []);
		expect(conditions).toEqual(['always()']);
	});

	it('the newest n8n is tried, and the tested versions that CI does not run', () => {
		const inCi = job('ci', 'end-to-end').strategy?.matrix.n8n ?? [];
		const others = TESTED_VERSIONS.filter((version) => !inCi.includes(version));
		const command = `npm run test:versions -- latest ${others.join(' ')}`;
		expect(commandsOf('newest')).toEqual([command]);
	});

	it('the fault matrix runs whole on both lines of n8n', () => {
		const { strategy, env, commands } = job('newest-n8n', 'faults');
		expect(strategy?.matrix.n8n).toEqual([N8N_2, N8N_1]);
		expect(env).toEqual({ N8N_VERSION: '${{ matrix.n8n }}' });
		expect(commands).toEqual([expect.stringMatching(/^npm run test:faults -- --at-once \d+$/)]);
	});

	it('the soak runs for an hour, which a leak of 50 kB an act needs to show', () => {
		expect(commandsOf('soak')).toEqual(['npm run soak -- --minutes 60']);
	});

	it('all dialects, and random tests with runs enough to measure memory', () => {
		expect(commandsOf('random')).toEqual([
			'npm run test:dialects',
			'npm run test:fuzz -- --runs 2000',
			'npm run test:models -- --runs 500',
		]);
	});

	it('the mutants of each row of the table', () => {
		const { strategy, env, commands } = job('newest-n8n', 'mutants');
		const [, table = ''] = read('CONTRIBUTING.md').split('<!-- mutants -->');
		const rows = [...table.matchAll(/^\| ([A-Z][a-z ]+) \| \d+ of/gm)].map(([, row]) => row);
		expect(rows).toHaveLength(5);
		expect(strategy?.matrix.room).toEqual(rows);
		expect(env).toMatchObject({ ROOM: '${{ matrix.room }}' });
		expect(commands).toEqual(['npm run test:mutants -- changed "$ROOM"']);
	});
});

describe('Publishing', () => {
	const { steps, commands, ...publish } = job('publish', 'publish');

	it('happens for a version tag, and for nothing else', () => {
		expect(workflow('publish').on).toEqual({ push: { tags: ['v*'] } });
	});

	it('waits for all of CI, and for the check that tag, version and changelog agree', () => {
		expect(publish.needs).toEqual(['test', 'pack']);
		expect(job('publish', 'test').uses).toBe('./.github/workflows/ci.yml');
		expect(Object.keys(workflow('ci').on)).toContain('workflow_call');
		expect(job('publish', 'pack').commands[0]).toBe(
			'node scripts/check-release.mjs "$GITHUB_REF_NAME"',
		);
	});

	it('only its last job can show npm who it is', () => {
		const identities = workflows.flatMap(([file, { permissions, jobs }]) => [
			[file, permissions] as const,
			...Object.entries(jobs).map(([name, one]) => [`${file} ${name}`, one.permissions] as const),
		]);
		const writers = identities.filter(([, granted]) =>
			Object.values(granted ?? {}).some((access) => access !== 'read'),
		);
		expect(writers).toEqual([['.github/workflows/publish.yml publish', { 'id-token': 'write' }]]);
	});

	it('that job runs nothing of the repository or of its dependencies', () => {
		expect(steps.flatMap(({ uses }) => uses?.split('@')[0] ?? [])).toEqual([
			'actions/download-artifact',
			'actions/setup-node',
		]);
		expect(commands).toHaveLength(1);
		expect(commands[0]).toContain('--ignore-scripts');
	});

	it('is public, with provenance, and through trusted publishing: with an npm that knows it, and no token', () => {
		expect(commands[0]).toMatch(/^npm publish --provenance --access public /);
		const node = steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))?.with;
		expect(node).toEqual({ 'node-version': NODE_VERSION });
		expect(read('.github/workflows/publish.yml')).not.toMatch(/NODE_AUTH_TOKEN|_authToken/);
	});

	it('takes nothing from a cache', () => {
		expect(read('.github/workflows/publish.yml')).not.toMatch(/actions\/cache|cache:/);
	});

	it('README.md is the only readme at the top: npm would ship any other, and might show it on the page of the package', () => {
		const readmes = filesIn('.', ['node_modules', 'dist', 'output', 'coverage', '.git']).filter(
			(file) => /^readme(\.|$)/i.test(file),
		);
		expect(readmes).toEqual(['README.md']);
	});
});

describe('scripts/check-release.mjs', () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(path.join(tmpdir(), 'transcriber-release-'));
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	const RELEASE = {
		tag: 'v1.2.3',
		version: '1.2.3',
		lock: '1.2.3',
		changelog:
			'# Changelog\n\n## 1.2.3 - 2030-01-31\n\n### Added\n\n- Text.\n\n## 1.2.2 - 2030-01-01\n\n- Text.\n',
	};

	function check(release: Partial<typeof RELEASE>, where = folder) {
		const { tag, version, lock, changelog } = { ...RELEASE, ...release };
		if (where === folder) {
			const write = (file: string, content: unknown) =>
				writeFileSync(
					path.join(folder, file),
					typeof content === 'string' ? content : JSON.stringify(content),
				);
			write('package.json', { version });
			write('package-lock.json', { version: lock, packages: { '': { version: lock } } });
			write('CHANGELOG.md', changelog);
		}
		const script = path.join(root, 'scripts', 'check-release.mjs');
		const { status, stdout, stderr } = spawnSync(
			process.execPath,
			[script, ...tag.split(' ').filter(Boolean)],
			{ cwd: where, encoding: 'utf8' },
		);
		return { status, said: stdout + stderr };
	}

	it('lets this version through', () => {
		expect(check({ tag: `v${manifest.version}` }, root)).toMatchObject({ status: 0 });
	});

	it('lets a release through whose tag, version, lock file and changelog agree', () => {
		expect(check({})).toMatchObject({ status: 0 });
		const changelog = RELEASE.changelog.replace('## 1.2.3', '## Unreleased\n\n## 1.2.3');
		expect(check({ changelog })).toMatchObject({ status: 0 });
	});

	few.it.each<[string, Partial<typeof RELEASE>, string]>([
		['another tag', { tag: 'v1.2.4' }, 'the tag has to be v1.2.3'],
		['a tag without v', { tag: '1.2.3' }, 'the tag has to be v1.2.3'],
		['a lock file that was left behind', { lock: '1.2.2' }, 'package-lock.json'],
		[
			'a changelog without an entry',
			{ changelog: RELEASE.changelog.replace('## 1.2.3', '## 1.2.30') },
			'one for 1.2.3 is missing',
		],
		[
			'an entry that is not the newest',
			{ version: '1.2.2', lock: '1.2.2', tag: 'v1.2.2' },
			'one for 1.2.2 is missing',
		],
		[
			'an entry without a date',
			{ changelog: RELEASE.changelog.replace(' - 2030-01-31', '') },
			'has no date',
		],
		[
			'an entry with a date that is none',
			{ changelog: RELEASE.changelog.replace('2030-01-31', '2030-13-01') },
			'has no date',
		],
		[
			'an entry that says nothing',
			{ changelog: '## 1.2.3 - 2030-01-31\n\n### Added\n' },
			'says nothing',
		],
		[
			'changes that are still unreleased',
			{ changelog: `## Unreleased\n\n- Text.\n\n${RELEASE.changelog}` },
			'move them to 1.2.3',
		],
	])('stops %s', (_, release, reason) => {
		const { status, said } = check(release);
		expect({ status, said }).toEqual({ status: 1, said: expect.stringContaining(reason) });
	});

	it.each(['', 'v1.2.3 v1.2.4'])('asks for one tag (%j)', (tag) => {
		expect(check({ tag })).toMatchObject({ status: 2, said: expect.stringMatching(/^Usage/) });
	});
});
