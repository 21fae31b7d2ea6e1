import { execFileSync } from 'node:child_process';
import path from 'node:path';

import { importsWrittenIn, moduleStateIn } from './moduleState';
import {
	credentialTypes,
	exists,
	filesIn,
	instanceFrom,
	manifest,
	nodeTypes,
	read,
	root,
	sourceOf,
} from './read';

describe('package.json', () => {
	it('is named n8n-nodes-transcriber, MIT, and carries the keyword that n8n searches for', () => {
		expect(manifest).toMatchObject({ name: 'n8n-nodes-transcriber', license: 'MIT' });
		expect(manifest.keywords).toContain('n8n-community-node-package');
	});

	it('has no runtime dependencies, and n8n-workflow as its one peer', () => {
		expect(manifest.dependencies ?? {}).toEqual({});
		expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
	});

	it('is strict and of n8n nodes API version 1', () => {
		expect(manifest.n8n).toMatchObject({ n8nNodesApiVersion: 1, strict: true });
	});

	it('lists every node and every credential there is, and no other', () => {
		const nodes = filesIn('nodes').filter((file) => file.endsWith('.node.ts'));
		const credentials = filesIn('credentials').filter((file) => file.endsWith('.credentials.ts'));
		expect(manifest.n8n.nodes.map(sourceOf).sort()).toEqual(nodes);
		expect(manifest.n8n.credentials.map(sourceOf).sort()).toEqual(credentials);
	});

	it('lists files that the build makes, each with a class that has the name of its file', () => {
		for (const file of [...manifest.n8n.nodes, ...manifest.n8n.credentials]) {
			expect([file, exists(file)]).toEqual([file, true]);
			expect(instanceFrom(file)).toBeInstanceOf(Object);
		}
	});

	it('pins every development dependency', () => {
		const { devDependencies } = manifest as { devDependencies?: Record<string, string> };
		for (const version of Object.values(devDependencies ?? {})) {
			expect(version).toMatch(/^\d+\.\d+\.\d+$/);
		}
	});
});

describe('the codex file of each node', () => {
	it.each(manifest.n8n.nodes)('%s is called <package>.<node> there', (built) => {
		const source = sourceOf(built);
		const codex = JSON.parse(read(source.replace(/\.ts$/, '.json'))) as { node: string };
		const { description } = instanceFrom<{ description: { name: string } }>(built);
		expect(codex.node).toBe(`${manifest.name}.${description.name}`);
		expect(path.basename(source, '.node.ts').toLowerCase()).toBe(description.name.toLowerCase());
	});

	it.each(manifest.n8n.nodes)('lets the search of the editor find %s', (built) => {
		const codex = JSON.parse(read(sourceOf(built).replace(/\.ts$/, '.json'))) as {
			categories: string[];
		};
		// n8n lists a node of this category only among the AI nodes.
		expect(codex.categories).not.toContain('AI');
	});
});

describe('icons', () => {
	const owners = [
		...nodeTypes.map(({ description }, index) => ({
			name: description.name,
			icon: description.icon,
			folder: path.posix.dirname(sourceOf(manifest.n8n.nodes[index] ?? '')),
		})),
		...credentialTypes.map(({ name, icon }) => ({ name, icon, folder: 'credentials' })),
	];

	it.each(owners)('$name has one for the light and one for the dark theme', ({ icon, folder }) => {
		const { light, dark } = icon as { light: string; dark: string };
		expect(light).not.toBe(dark);
		for (const file of [light, dark]) {
			const svg = path.posix.join(folder, file.replace(/^file:/, ''));
			expect(read(svg)).toMatch(/^<svg [^>]*viewBox="0 0 60 60"/);
		}
	});
});

describe('npm pack', () => {
	interface Packed {
		size: number;
		files: Array<{ path: string; size: number }>;
	}
	const [packed] = JSON.parse(
		execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
			cwd: root,
			encoding: 'utf8',
			stdio: ['ignore', 'pipe', 'ignore'],
			shell: process.platform === 'win32',
		}),
	) as [Packed];
	const files = packed.files.map((file) => file.path.replaceAll('\\', '/'));

	it('holds dist and the files npm and n8n need, and nothing else', () => {
		expect(files.filter((file) => !file.startsWith('dist/')).sort()).toEqual([
			'CHANGELOG.md',
			'LICENSE',
			'README.md',
			'index.js',
			'package.json',
		]);
	});

	it('holds every node, credential, codex file and icon', () => {
		const assets = [...filesIn('nodes'), ...filesIn('credentials')].filter((file) =>
			/\.(svg|json)$/.test(file),
		);
		expect(files).toEqual(
			expect.arrayContaining([
				...manifest.n8n.nodes,
				...manifest.n8n.credentials,
				...assets.map((file) => `dist/${file}`),
			]),
		);
	});

	it('holds nothing that has no source any more', () => {
		const left = files
			.filter((file) => file.startsWith('dist/'))
			.filter((file) => !exists(file.endsWith('.js') ? sourceOf(file) : file.slice(5)));
		expect(left).toEqual([]);
	});

	it('holds only code, descriptions and icons, none of them large: no recording, picture or test', () => {
		const built = packed.files.filter(({ path: file }) => file.startsWith('dist/'));
		const others = built.filter(({ path: file }) => !/\.(js|json|svg)$/.test(file));
		expect(others).toEqual([]);
		expect(built.filter(({ size }) => size > 20_000)).toEqual([]);
	});

	it('is under 190 kB', () => {
		expect(packed.size).toBeLessThan(190_000);
	});
});

describe('the repository', () => {
	const texts = filesIn('.', ['node_modules', 'dist', 'output', 'coverage', '.git']).filter(
		(file) => /\.(ts|mjs|js|json|md|svg|ya?ml|npmrc)$|^[^.]+$/.test(file),
	);

	it('names no path of the machine it was written on', () => {
		const home = /(^|[\s"'`=(:])(\/(root|home\/\w+|Users\/\w+|work)\/\w|[A-Z]:\\\w)/m;
		expect(texts.filter((file) => home.test(read(file)))).toEqual([]);
	});

	it('installs from whichever registry npm is set to: no address in lock file or .npmrc', () => {
		const lock = JSON.parse(read('package-lock.json')) as {
			packages: Record<string, { resolved?: string }>;
		};
		const fixed = Object.entries(lock.packages).filter(([, { resolved }]) => resolved);
		expect(fixed.map(([name]) => name)).toEqual([]);
		expect(read('.npmrc')).not.toMatch(/registry|https?:/);
	});

	it('keeps tests out of what ships', () => {
		const shipped = [...filesIn('nodes'), ...filesIn('credentials')];
		expect(shipped.filter((file) => /test|spec|mock|fixture/i.test(file))).toEqual([]);
	});

	it('has an entry for its version in the changelog', () => {
		expect(read('CHANGELOG.md')).toMatch(new RegExp(`^## ${manifest.version}\\b`, 'm'));
	});
});

describe('What a process remembers', () => {
	const own = filesIn('nodes').filter(
		(file) => file.endsWith('.ts') && !file.endsWith('/processMemory.ts'),
	);

	it('is in the list of nodes/shared/processMemory.ts: no module has a map, a set, a variable, or a list or table that is written to', () => {
		const modules = [...own, ...filesIn('credentials').filter((file) => file.endsWith('.ts'))];
		const elsewhere = modules.flatMap((file) => importsWrittenIn(read(file)));
		const found = modules.flatMap((file) =>
			moduleStateIn(read(file), elsewhere).map((name) => `${file} ${name}`),
		);
		expect(found).toEqual([]);
	});

	const list = read('nodes/shared/processMemory.ts');

	/** The owner of a row, as the list has it. */
	const ownerIn = (file: string) => file.replace(/^nodes\/(shared\/)?/, '');

	it('has one owner for each row of the list, with the same name, in the file that the row names', () => {
		const rows: string[] = [];
		let owner = '';
		for (const line of list.split('\n')) {
			owner = /^\t\/\/ (\S+\.ts)\. /.exec(line)?.[1] ?? owner;
			const [, row] = /^\t(\w+): [\d_]+,$/.exec(line) ?? [];
			if (row) rows.push(`${owner} ${row}`);
		}
		const used = own.flatMap((file) =>
			[...read(file).matchAll(/const (\w+) = remembered<[^]*?>\('(\w+)'\)/g)].map(
				([, name = '', row = '']) =>
					`${ownerIn(file)} ${name === row ? row : `${name} for ${row}`}`,
			),
		);
		expect(rows.length).toBeGreaterThan(10);
		expect(used.sort()).toEqual(rows.sort());
	});

	it('and what it keeps as long as an object lives is in the other list there, by file and name', () => {
		const rows = [...list.matchAll(/^ \* {5}(\S+\.ts \w+) {2,}\S/gm)].map(([, row]) => row);
		const kept = own.flatMap((file) =>
			[
				...read(file).matchAll(
					/^(?:(?:export )?const (\w+).* = (?:new Weak(?:Map|Set)\b|random)|\t(?:\w+ )*?static (?:readonly )?(\w+)\b[^(\n]* = )/gm,
				),
			].map(([, name, member]) => `${ownerIn(file)} ${name ?? member}`),
		);
		expect(rows.length).toBeGreaterThan(10);
		expect(kept.sort()).toEqual(rows.sort());
	});
});

describe('What a module remembers', () => {
	it.each([
		['let latest = 0;', ['latest']],
		['export var latest;', ['latest']],
		['const latest = new Map<string, number>();', ['latest']],
		['export const latest: Set<string> = new Set();', ['latest']],
		['const latest = [];', ['latest']],
		['export const latest: IDataObject[] = [];', ['latest']],
		['const latest = [] as IDataObject[];', ['latest']],
		['const latest: Record<string, string> = {};', ['latest']],
		['const latest = new Array<string>();', ['latest']],
		['const latest = Object.create(null) as Table;', ['latest']],
		['const latest = Array.from([1]);', ['latest']],
		['const latest = (() => { const all = []; return (one) => all.push(one); })();', ['latest']],
		["const LIST = ['a']; function keep(one) { LIST.push(one); }", ['LIST']],
		["const LIST = ['a']; function keep(one) { LIST[0] = one; }", ['LIST']],
		['const TABLE = { a: [] }; function keep(one) { TABLE.a.push(one); }', ['TABLE']],
		['const TABLE = { a: 1 }; function keep() { TABLE.a++; }', ['TABLE']],
		['const TABLE = { a: 1 }; function keep() { TABLE.a += 1; }', ['TABLE']],
		['const TABLE = { a: 1 }; function keep() { delete TABLE.a; }', ['TABLE']],
		['const TABLE = { a: 1 }; function keep(one) { Object.assign(TABLE, one); }', ['TABLE']],
		["const LIST = ['a', 'b'] as const;", []],
		['const TABLE = { a: [] }; function read() { return TABLE.a.slice(); }', []],
		['const sorted = [...LIST].sort();', []],
		['function own() { const list = []; list.push(1); return list; }', []],
		["const map = remembered<number>('map'); map.set('a', 1);", []],
	])('of %j', (source, names) => {
		expect(moduleStateIn(source)).toEqual(names);
	});

	it('is also a table that another module writes to', () => {
		const other = "import { TABLE as table } from './table'; table.a = 2;";
		const source = 'export const TABLE = { a: 1 };';
		expect(moduleStateIn(source, importsWrittenIn(other))).toEqual(['TABLE']);
		expect(moduleStateIn(source, importsWrittenIn("import { TABLE } from './table';"))).toEqual([]);
	});
});

describe('What a test changes', () => {
	const files = filesIn('test').filter(
		(file) => /\.ts$/.test(file) && !/\/(e2e|queue)\//.test(file),
	);

	it('does not reach the next test: no file writes to a table that it imports, for Jest restores only what jest.replaceProperty has replaced', () => {
		const tables = (file: string) =>
			importsWrittenIn(read(file)).filter((name) => /^[A-Z_]+$/.test(name));
		expect(files.flatMap((file) => tables(file).map((name) => `${file} ${name}`))).toEqual([]);
	});
});

describe('What a file in nodes/ exports', () => {
	const users = ['nodes', 'credentials', 'test', 'bench', 'scripts'].flatMap((folder) =>
		filesIn(folder).filter((file) => /\.(ts|mjs)$/.test(file)),
	);
	const imported = new Set(
		users.flatMap((file) => {
			const text = read(file);
			const names = [...text.matchAll(/import (?:type )?\{([^}]*)\}/g)]
				.flatMap(([, list = '']) => list.split(','))
				.map((name) => name.trim().replace(/^type | as .*$/g, ''));
			// `import * as results`, then `results.RESULT_NAMES`.
			const members = [...text.matchAll(/import \* as (\w+) /g)]
				.flatMap(([, whole = '']) => [...text.matchAll(new RegExp(`\\b${whole}\\.(\\w+)`, 'g'))])
				.map(([, name = '']) => name);
			return [...names, ...members];
		}),
	);

	it('is imported by another file', () => {
		const unused = filesIn('nodes')
			.filter((file) => file.endsWith('.ts') && !file.endsWith('.node.ts'))
			.flatMap((file) =>
				[...read(file).matchAll(/^export (?:async )?(?:abstract )?\w+ (\w+)/gm)]
					.filter(([, name = '']) => !imported.has(name))
					.map(([, name]) => `${file} ${name}`),
			);
		expect(unused).toEqual([]);
	});
});

describe('The suite of a file in nodes/', () => {
	const files = filesIn('nodes').filter((file) => file.endsWith('.ts'));
	const suites = filesIn('test').filter((file) => file.endsWith('.test.ts'));

	/** What a suite says in its first lines: `// Also covers a.ts, nodes/shared/b.ts.` */
	const namedIn = (suite: string) => {
		const room = path.posix.dirname(suite).replace(/^test/, 'nodes');
		const [, list = ''] = /^\/\/ Also covers ((?:.*\n\/\/ )*.*)\.$/m.exec(read(suite)) ?? [];
		return list
			.split(/[\s,/]*\/\/\s|,\s|\s/)
			.filter(Boolean)
			.map((file) => (file.startsWith('nodes/') ? file : `${room}/${file}`));
	};
	const covered = suites.flatMap(namedIn);

	const ofFiles = suites.filter((suite) => /^test\/(Transcriber|shared)/.test(suite));

	it.each(ofFiles)('%s has the path of a file, or names one in its first lines', (suite) => {
		const own = suite.replace(/^test/, 'nodes').replace(/\.test\.ts$/, '.ts');
		expect([own, ...namedIn(suite)].filter((file) => files.includes(file))).not.toEqual([]);
	});

	it.each(files)('%s has its path, or names it in its first lines', (file) => {
		const own = file.replace(/^nodes/, 'test').replace(/\.ts$/, '.test.ts');
		expect([...suites.filter((suite) => suite === own), ...covered]).toContain(
			suites.includes(own) ? own : file,
		);
	});

	it('covers only files that are there', () => {
		expect(covered.filter((file) => !files.includes(file))).toEqual([]);
	});
});
