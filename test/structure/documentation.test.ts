import { execSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

import type { INode } from 'n8n-workflow';

import { CALLED_OFF } from '../../nodes/shared/api/calledOffBot';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { DICTIONARY_LIMIT_CHARS, MAX_FILE_BYTES } from '../../nodes/shared/api/sizeLimits';
import * as ids from '../../nodes/shared/api/undocumented/idNames';
import * as results from '../../nodes/shared/api/undocumented/results';
import * as submissions from '../../nodes/shared/api/undocumented/submissions';
import * as taskLists from '../../nodes/shared/api/undocumented/taskLists';
import { FRESH_MS } from '../../nodes/shared/webhook/handOverEnvelope';
import { REPEATS } from '../../nodes/Transcriber/submit/once/shareWithRepeats';
import { RESUME } from '../../nodes/Transcriber/submit/suspension/knownEndings';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { N8N_1, N8N_2, TESTED_VERSIONS } from '../n8n/versions';
import { Billing } from '../simulator/billing';
import { settingsFrom } from '../simulator/options';
import { USUAL_TIMES } from '../simulator/tasks';
import {
	allParameters,
	credentialTypes,
	description,
	exists,
	filesIn,
	manifest,
	nodeTypes,
	operations,
	optionsOf,
	read,
	root,
	tableBelow,
} from './read';
import { NO_CLAIM, ROWS } from './securityPage';
import { testTitlesIn } from './titles';
import { few } from '../support/long';

const pages = [
	'README.md',
	'AGENTS.md',
	'CHANGELOG.md',
	'CONTRIBUTING.md',
	...filesIn('docs').filter((file) => file.endsWith('.md')),
];

/** The README in each language, and the headings above the tables that both have. */
const ENGLISH = {
	page: 'README.md',
	operations: 'Operations',
	choices: 'When to choose what',
	limits: 'Limits',
	examples: 'Examples',
	costs: 'What it costs',
	noSpeech: /simulator recognises no\s+speech/i,
	tested: /^n8n 2\.x \(tested on .*/m,
};
const RUSSIAN: typeof ENGLISH = {
	page: 'docs/README.ru.md',
	operations: 'Операции',
	choices: 'Что выбрать',
	limits: 'Ограничения',
	examples: 'Примеры',
	costs: 'Сколько это стоит',
	noSpeech: /симулятор не\s+распознаёт\s+речь/i,
	tested: /^n8n 2\.x \(проверено на .*/m,
};

const examples = filesIn('examples').filter((file) => file.endsWith('.json'));

/** Titles of this package, of the nodes in its examples, and those of n8n's own that the pages mention. */
const onTheScreen = [
	...examples.flatMap((file) =>
		(JSON.parse(read(file)) as { nodes: INode[] }).nodes.map(({ name }) => name),
	),
	...[...nodeTypes.map((type) => type.description), ...credentialTypes].flatMap((type) => [
		type.displayName,
		...allParameters(type.properties).flatMap((field) => [
			field.displayName,
			...optionsOf(field).map(({ name }) => name),
		]),
	]),
	...['Settings', 'Community nodes', 'Install', 'Predefined Credential Type', 'Import', 'From URL'],
	...['Execute workflow', 'Binary', 'Read/Write Files from Disk', 'Retry On Fail'],
	...['Execute Sub-workflow', 'Retry', 'Fetch Test Event', 'Split Out'],
	...['Save execution progress', 'On Error', 'Continue', 'Allowed HTTP Request Domains'],
];

describe.each([ENGLISH, RUSSIAN])('$page', (readme) => {
	const text = read(readme.page);

	it('lists every operation as the editor shows it, and no other', () => {
		const rows = tableBelow(text, readme.operations).map(([resource, operation]) => ({
			resource,
			operation,
		}));
		// An empty cell stands for the resource above it.
		rows.forEach((row, index) => (row.resource ||= rows[index - 1]?.resource ?? ''));
		const offered = operations.map(({ resourceName, option }) => ({
			resource: `**${resourceName}**`,
			operation: option.name,
		}));
		expect(rows).toEqual(offered);
	});

	it('helps to choose between all values of "Get the Transcript", and no others', () => {
		const field = description.properties.find(({ name }) => name === 'onCompletion');
		const rows = tableBelow(text, readme.choices).map(([name]) => name);
		expect(rows.sort()).toEqual(
			optionsOf(field)
				.map(({ name }) => `**${name}**`)
				.sort(),
		);
	});

	it('has the limits that the node keeps', () => {
		const limits = tableBelow(text, readme.limits).map(([, limit = '']) => numberIn(limit));
		expect(limits).toEqual([
			MAX_FILE_BYTES / 1024 ** 3,
			settingsFrom({}).maxRecordingSeconds / 3600,
			LIMITS.submit,
			LIMITS.meeting,
			LIMITS.summary,
			LIMITS.other,
			LIMITS.tasksInProgress,
			DICTIONARY_LIMIT_CHARS,
			DAYS_AHEAD,
		]);
	});

	it('says how long the node waits for a task to end', () => {
		const waits = tableBelow(text, readme.limits).map(([, , does = '']) => numberIn(does));
		expect(waits.filter((count) => count)).toEqual([RETRY.patienceWhenFull / 60_000]);
	});

	it('names the price of the first minute of a month, and the lowest one', () => {
		const billing = new Billing(0, () => 0);
		const first = billing.cost(60);
		billing.charge(SECONDS_OF_THE_LOWEST_PRICE);
		const lowest = billing.cost(60);
		const [, after = ''] = text.split(`### ${readme.costs}\n`);
		const [section = ''] = after.split('\n#');
		const prices = [...section.matchAll(/\b0[.,]\d\d\b/g)].map(([price]) =>
			price.replace(',', '.'),
		);
		expect(prices).toEqual([first.toFixed(2), lowest.toFixed(2)]);
	});

	it('tells of every example what it does', () => {
		const linked = tableBelow(text, readme.examples).flatMap(([names = '']) => linksIn(names));
		expect(linked.map((link) => fromRoot(link, readme.page)).sort()).toEqual(examples);
	});

	it('says plainly that the simulator recognises no speech', () => {
		expect(text).toMatch(readme.noSpeech);
	});
});

describe('README.md', () => {
	it('has the sections of an n8n node, in their order', () => {
		const headings = [...read('README.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
		expect(headings).toEqual([
			'Installation',
			'Operations',
			'Credentials',
			'Compatibility',
			'Usage',
			'Limits',
			'Development',
		]);
	});
});

describe('docs/README.ru.md says in Russian what README.md says', () => {
	const english = read(ENGLISH.page);
	const russian = read(RUSSIAN.page);

	it('each links to the other at the top', () => {
		expect(english.slice(0, 200)).toContain(`(${RUSSIAN.page})`);
		expect(russian.slice(0, 200)).toContain(`(../${ENGLISH.page})`);
	});

	it('under as many headings of each kind, in the same order', () => {
		const levels = (text: string) => [...text.matchAll(/^#+ /gm)].map(([level]) => level);
		expect(levels(russian)).toEqual(levels(english));
	});

	it('in tables with as many rows', () => {
		const rows = (text: string) => text.match(/^\|/gm)?.length;
		expect(rows(russian)).toBe(rows(english));
	});

	it('with the same links', () => {
		const links = (text: string, page: string) =>
			new Set(
				linksIn(text)
					.filter((link) => !link.startsWith('#'))
					.map((link) => fromRoot(link, page))
					.filter((link) => link !== ENGLISH.page && link !== RUSSIAN.page),
			);
		expect(links(russian, RUSSIAN.page)).toEqual(links(english, ENGLISH.page));
	});

	it('with the same commands, fields and file names', () => {
		const codes = (text: string) => new Set(text.match(/`[^`\n]+`/g));
		expect(codes(russian)).toEqual(codes(english));
	});

	it('with the same words of the screen, in bold', () => {
		const words = (text: string) => new Set(text.match(/\*\*.+?\*\*/g));
		expect(words(russian)).toEqual(words(english));
	});
});

describe('the documentation', () => {
	it.each(pages)('%s names only npm scripts that exist', (page) => {
		const named = [...read(page).matchAll(/npm run ([\w:]+)/g)].map(([, script]) => script ?? '');
		expect(named.filter((script) => !(script in manifest.scripts))).toEqual([]);
	});

	it.each([...pages, 'SECURITY.md'])('%s links only to files and headings that exist', (page) => {
		for (const link of linksIn(read(page)).filter((to) => !to.startsWith('https:'))) {
			const [file, heading] = link.split('#');
			const target = file ? fromRoot(file, page) : page;
			expect([link, exists(target)]).toEqual([link, true]);
			if (heading)
				expect([link, anchorsOf(read(target))]).toEqual([link, expect.arrayContaining([heading])]);
		}
	});

	it.each(pages)('%s sets in bold only what is on the screen', (page) => {
		// `npm run bench` writes its tables with headings and rows of its own in bold.
		const text = read(page).replace(/<!-- bench -->[^]*<!-- \/bench -->/, '');
		const named = [...text.matchAll(/\*\*(.+?)\*\*/g)].flatMap(([, title]) =>
			(title ?? '').split(' → '),
		);
		expect(named.filter((title) => !onTheScreen.includes(title))).toEqual([]);
	});
});

describe('docs/examples.md', () => {
	const text = read('docs/examples.md');

	it.each(examples)('links to %s and shows it in the editor', (example) => {
		expect(linksIn(text)).toContain(`../${example}`);
		expect(linksIn(text)).toContain(`images/example-${path.basename(example, '.json')}.png`);
	});

	it('says of each what to set before it runs, and what comes out', () => {
		const sections = text.split(/^## /m).slice(1);
		expect(sections.length).toBeGreaterThan(0);
		for (const section of sections) {
			expect(section).toMatch(/^- Before (it runs|they run): \S/m);
			expect(section).toMatch(/^- What comes out: \S/m);
		}
	});
});

describe('the pictures', () => {
	const pictures = filesIn('docs/images');

	it('are all shown on a page', () => {
		const shown = pages.flatMap((page) => linksIn(read(page)).map((link) => fromRoot(link, page)));
		expect(pictures.filter((picture) => !shown.includes(picture))).toEqual([]);
	});

	it.each(pictures)('%s is small enough for a page that loads fast', (picture) => {
		expect(statSync(path.join(root, picture)).size).toBeLessThanOrEqual(150_000);
	});
});

describe('docs/scaling.md', () => {
	it('says how many recordings a day the submits a minute and the tasks at once allow', () => {
		const [, ...usual] = USUAL_TIMES;
		const perDay = usual.map(({ seconds }) =>
			Math.floor(Math.min(LIMITS.submit * 1440, (LIMITS.tasksInProgress * 86_400) / seconds)),
		);
		const rows = tableBelow(read('docs/scaling.md'), 'The service, per account');
		expect(rows.map(([, processing = '']) => numberIn(processing))).toEqual(
			usual.map(({ seconds }) => seconds),
		);
		expect(rows.map(([, , recordings = '']) => numberIn(recordings))).toEqual(perDay);
	});
});

/** As the pages write numbers: `10 000`, and small ones as words. */
const WORDS: Record<number, string> = { 2: 'two', 3: 'three', 5: 'five', 10: 'ten' };
const digits = (count: number) => String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
const inWords = (count: number) => WORDS[count] ?? digits(count);
const minutes = (ms: number) => inWords(ms / 60_000);
const seconds = (ms: number) => inWords(ms / 1000);

describe('The numbers of the code', () => {
	const { done, census, failed } = ACCOUNT_MEMORY;
	const poll = ACCOUNT_POLL;

	it.each([
		['docs/triggers.md', `at most ${poll.inAll} requests: up to ${poll.requests} for lists`],
		[
			'docs/triggers.md',
			`a pause of ${minutes(poll.pauseMs)} minutes or more it makes up to ${poll.inAllAfterPause}. The first`,
		],
		['docs/triggers.md', `The first poll makes up to ${poll.firstRequests} requests for lists`],
		['docs/triggers.md', `the ${LIMITS.other} requests a minute of the API key`],
		['docs/triggers.md', `remembers up to ${digits(done)} finished tasks`],
		['docs/triggers.md', `an account of more than ${digits(census)} tasks`],
		['docs/triggers.md', `remembers the last ${digits(failed)} failures`],
		[
			'docs/triggers.md',
			`within ${seconds(poll.firstMaxMs)} seconds, or ${seconds(poll.maxMs)} for a long list`,
		],
		['docs/triggers.md', `After ${inWords(poll.refusals)} refusals, or ${poll.failures} other`],
		['docs/triggers.md', `starts without it after ${poll.failures} such polls`],
		['docs/triggers.md', `cancels the bot after ${seconds(GRACE.ms)} seconds`],
		['docs/triggers.md', `within ${minutes(CANCEL_BOT.patienceMs)} minutes of unpublishing`],
		[
			'docs/triggers.md',
			`after ${minutes(PATIENCE.refusedMs)} minutes of refusals (a 4xx status) or of answers without a result, after ${minutes(PATIENCE.failedMs)} minutes of other failures`,
		],
		['docs/triggers.md', `more than ${digits(STORE.endings)} tasks old`],
		['docs/scaling.md', `for up to ${RETRY.patienceWhenFull / 60_000} minutes in which no task`],
		[
			'docs/scaling.md',
			`${LIMITS.submit} submits a minute, ${LIMITS.other} other requests a minute, and ${LIMITS.tasksInProgress} tasks in progress`,
		],
		[
			'docs/scaling.md',
			`${inWords(LIMITS.keptForUrgent)[0]?.toUpperCase()}${inWords(LIMITS.keptForUrgent).slice(1)} of the ${LIMITS.other} requests`,
		],
		[
			'docs/scaling.md',
			`one sealed secret for each recording on its way, ${digits(STORE.secrets)}`,
		],
		['docs/scaling.md', `remembers the last ${digits(STORE.endings)} that have ended`],
		['docs/scaling.md', `the last ${digits(STORE.spent)} of these it keeps the sealed secret`],
		['docs/scaling.md', `up to ${inWords(LIMITS.uploadsAtOnce)} times at once`],
		['docs/undocumented.md', `(in polling, also after ${CALLED_OFF.looks} looks)`],
		[
			'docs/undocumented.md',
			`for ${minutes(RETRY.patienceWhenBroken)} minutes after 401, 404, 408, 409 or 425, for ${minutes(RETRY.patienceWhenBusy)} minutes after 429, for ${seconds(RETRY.patienceWhenRefused)} seconds after any other refusal`,
		],
		['docs/undocumented.md', `ended only after ${CALLED_OFF.mayGetTaskMs / 60_000} minutes`],
		['README.md', `for ${minutes(REPEATS.withinMs)} minutes after one that failed`],
		['SECURITY.md', `Cannot do anything after ${FRESH_MS / 60_000} minutes`],
		['SECURITY.md', `at most once in ${seconds(RESUME.askAgain)} seconds`],
	])('%s: %s', (page, words) => {
		expect(read(page).replace(/\s+/g, ' ')).toContain(words);
	});
});

describe('Plain English', () => {
	/** Words with two meanings, or that hide who acts. */
	const BANNED = /\b(of its own|speaks? for|(is|are) told|is said to|all the same|in vain)\b/i;

	it('is what code and pages are written in', () => {
		const texts = [...filesIn('nodes'), ...filesIn('credentials'), ...filesIn('docs'), 'README.md'];
		const found = texts
			.filter((file) => /\.(ts|md)$/.test(file))
			.flatMap((file) =>
				read(file)
					.split('\n')
					.filter((line) => BANNED.test(line))
					.map((line) => `${file}: ${line.trim()}`),
			);
		expect(found).toEqual([]);
	});

	it('is what the names of tests are written in', () => {
		const found = filesIn('test')
			.filter((file) => file.endsWith('.test.ts'))
			.flatMap((file) =>
				[
					...read(file).matchAll(
						/(?:\b(?:it|describe)|\]\)|[A-Z]\)|,\n\t*\)?)\(\s*(['"`])(.*)\1,/g,
					),
				].map(([, , title = '']) => `${file}: ${title}`),
			);
		expect(found.length).toBeGreaterThan(1000);
		expect(found.filter((title) => BANNED.test(title))).toEqual([]);
	});
});

describe('docs/undocumented.md', () => {
	const rows = tableBelow(read('docs/undocumented.md'), 'What the service document does not show');

	it('has every assumption of nodes/shared/api/undocumented/, and about statuses', () => {
		const files = [
			...filesIn('nodes/shared/api/undocumented'),
			'nodes/shared/api/statusMeaning.ts',
		];
		const shapes = files.map(read).join('\n');
		const exported = [...shapes.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(
			([, name]) => name,
		);
		const listed = rows.flatMap(([, , where]) =>
			[...(where ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
		);
		expect(exported.length).toBeGreaterThan(0);
		expect(exported.filter((name) => !listed.includes(name))).toEqual([]);
	});

	it.each([
		['ID_NAMES', ids.ID_NAMES],
		['SUBMISSION_NAMES', submissions.SUBMISSION_NAMES],
		['SUBMISSION_LIST_NAMES', submissions.SUBMISSION_LIST_NAMES],
		['LIST_NAMES', taskLists.LIST_NAMES],
		['DATE_NAMES', taskLists.DATE_NAMES],
		['CREATED_NAMES', taskLists.CREATED_NAMES],
		['TITLE_NAMES', taskLists.TITLE_NAMES],
		['RESULT_NAMES', results.RESULT_NAMES],
	])('names everything of %s', (constant, names: readonly string[]) => {
		const [, assumed = ''] = rows.find(([, , where]) => where?.includes(`\`${constant}\``)) ?? [];
		expect(names.filter((name) => !assumed.includes(`\`${name}\``))).toEqual([]);
	});

	it('points to code that exists', () => {
		for (const [, , where = ''] of rows) {
			const [, file = ''] = /\(\.\.\/(.+?)\)/.exec(where) ?? [];
			const [, symbol = ''] = /`(\w+)`/.exec(where) ?? [];
			expect([file, exists(file)]).toEqual([file, true]);
			expect(read(file)).toMatch(new RegExp(`\\b${symbol}\\b`));
		}
	});

	it('says for every assumption what to do where it does not hold', () => {
		for (const row of rows) {
			expect(row).toHaveLength(4);
			for (const cell of row) expect(cell).toMatch(/\w/);
		}
	});
});

describe('the tests of the operations', () => {
	const tests = filesIn('test/Transcriber')
		.filter((file) => file.endsWith('.test.ts'))
		.map(read)
		.join('\n');

	it.each(operations)('name $id', ({ id }) => {
		expect(tests).toMatch(
			new RegExp(`(describe|it)(\\.each)?\\([^)]*['"\`]${id.replace('.', '\\.')}\\b`),
		);
	});
});

describe('SECURITY.md', () => {
	const page = read('SECURITY.md');
	const claims = [...page.matchAll(/`(test\/[^`]+)`:((?: "[^"]+",?)+)/g)].flatMap(
		([, file = '', titles = '']) =>
			[...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => [file, title] as const),
	);

	it('names a test for what it claims', () => expect(claims.length).toBeGreaterThan(15));

	const [, model = ''] = page.split(/^(?=## Who can send what)/m);

	it('names a test in each sentence that claims something', () => {
		expect(model).toContain('## What an attacker can and cannot do');
		expect(sentencesIn(model).filter((one) => !one.includes('`test/'))).toEqual(NO_CLAIM);
	});

	it('has these tables, and no other', () => {
		expect(model.match(/^\|-/gm)).toHaveLength(Object.keys(ROWS).length);
	});

	it.each(Object.entries(ROWS))(
		'has under "%s" only rows that are known, each with a test',
		(heading, known) => {
			const rows = tableBelow(page, heading);
			expect(rows.map((row) => row.slice(0, -1))).toEqual(known);
			const withoutTest = rows.filter((row) => !row.at(-1)?.includes('`test/'));
			expect(withoutTest.map(([what]) => what)).toEqual([]);
		},
	);

	it('has in the table of what is stored the limits of the nodes, and no other number', () => {
		const rows = tableBelow(page, 'What is stored, and for how long');
		const numbers = rows
			.map(([what, where, until]) => [
				what,
				(`${where} ${until}`.match(/\b\d[\d ]*\b/g) ?? []).map(numberIn),
			])
			.filter(([, found]) => found?.length);
		expect(numbers).toEqual([
			['Sealed secrets of tasks and bots in progress', [STORE.secrets]],
			['Sealed secrets of finished tasks, to recognise a genuine repeat', [STORE.spent]],
			[
				'Ids of finished tasks, and fingerprints of their secrets, as hashes; their final statuses',
				[STORE.endings],
			],
		]);
	});

	it.each(claims)('%s runs the test "%s"', (file, title) => {
		expect(testTitlesIn(read(file))).toContain(title);
		expect(read(file)).not.toMatch(/\.(skip|todo|only)\b|\bx(it|describe)\(/);
	});
});

describe('The titles of tests that a page may name', () => {
	it.each([
		["it('a', () => {});", ['a']],
		["long.it('a', async () => {});", ['a']],
		["few.it.each([1, 2])('a %d', () => {});", ['a %d']],
		["it.each<[string]>([['b']])(\n'a',\n() => {});", ['a']],
		["describe('a', () => { it('b', () => {}); });", ['a', 'b']],
		["// it('a', () => {});", []],
		["/* it('a', () => {}); */", []],
		["const text = `it('a', () => {});`;", []],
		["describe('a', () => {\n// it('b', () => {});\n});", []],
		["it.skip('a', () => {}); xit('b', () => {}); it.todo('c');", []],
		["expect('a', 'b');", []],
	])('of %j', (source, titles) => {
		expect(testTitlesIn(source)).toEqual(titles);
	});
});

describe.each(['AGENTS.md', 'CONTRIBUTING.md'])('%s', (page) => {
	it('names only files and folders that exist', () => {
		const places = [
			...read(page)
				.replace(/```[^]*?```/g, '')
				.matchAll(/`([^`\n ]+)`/g),
		]
			.map(([, code]) => code ?? '')
			.filter((code) => /\/|\.(ts|mjs|md|json|yml)$/.test(code));
		expect(places.length).toBeGreaterThan(0);
		expect(places.filter((place) => !isPlace(place))).toEqual([]);
	});
});

describe('CONTRIBUTING.md', () => {
	it('describes every suite that makes random plans', () => {
		const [, after = ''] = read('CONTRIBUTING.md').split('\n### Models\n');
		const [section = ''] = after.split('\n#');
		const described = [...section.matchAll(/^- `(\S+)`: /gm)].map(([, suite]) => suite);
		const suites = filesIn('test').filter((file) => file.endsWith('.model.test.ts'));
		expect(described.sort()).toEqual(suites.sort());
	});
});

describe('the versions of n8n that a README calls tested', () => {
	const noted = JSON.parse(read('docs/versions.json')) as string[];

	it('are noted by npm run test:versions, which tries the ones that can be installed', () => {
		expect(noted.length).toBeGreaterThan(0);
		expect(noted.filter((version) => !TESTED_VERSIONS.includes(version))).toEqual([]);
	});

	it.each([ENGLISH, RUSSIAN])(
		'are, in $page, those and the two that every change is tested on',
		({ page, tested }) => {
			const [line = ''] = tested.exec(read(page)) ?? [];
			const named = line.match(/\d+\.\d+\.\d+/g) ?? [];
			expect(named.sort()).toEqual([...new Set([N8N_1, N8N_2, ...noted])].sort());
		},
	);
});

describe('every command of the documentation', () => {
	const commands = [
		...new Set([...pages, 'test/simulator/README.md'].flatMap((page) => commandsIn(read(page)))),
	];

	/** Fast enough to be run here. All others are run by `.ci/run`, or are too slow for that too. */
	const CHEAP = [
		`node scripts/check-release.mjs "v$(node -p "require('./package.json').version")"`,
		'npm run simulator -- --help',
	];

	it('starts with a program that is there', () => {
		expect(commands.length).toBeGreaterThan(10);
		for (const command of commands) {
			const [program = '', ...words] = wordsOf(command);
			expect([command, isProgram(program, words)]).toEqual([command, true]);
		}
	});

	it('names files that are there, and versions of n8n that can be installed', () => {
		for (const command of commands) {
			for (const word of wordsOf(command)) {
				const isFile = /^[\w.-]+\//.test(word) && !word.includes('://');
				if (isFile) expect([command, exists(word)]).toEqual([command, true]);
			}
			const [, version] = /(?:N8N_VERSION=|--n8n )(\S+)/.exec(command) ?? [];
			if (version) expect(TESTED_VERSIONS).toContain(version);
		}
	});

	few.it.each(CHEAP)('works: %s', (command) => {
		expect(commands).toContain(command);
		expect(execSync(command, { cwd: root, encoding: 'utf8' })).toMatch(/\w/);
	});
});

/** Rules of the service without a constant in the code that could be read here. */
const DAYS_AHEAD = 30;
const SECONDS_OF_THE_LOWEST_PRICE = 200_000 * 60;

/** `20 000 characters` is 20000. */
function numberIn(text: string): number {
	return Number(/\d[\d ]*/.exec(text)?.[0].replaceAll(' ', ''));
}

function linksIn(markdown: string): string[] {
	return [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to ?? '');
}

/** A link of a page, as a path from the root. */
function fromRoot(link: string, page: string): string {
	if (link.startsWith('https:')) return link;
	return path.posix.join(path.posix.dirname(page), link);
}

/** A path, perhaps with a `<name>` in it that stands for any, or the name of one of our workflows. */
function isPlace(place: string): boolean {
	if (!/[<…]/.test(place)) return exists(place) || exists(`.github/workflows/${place}`);
	const pattern = new RegExp(`^${place.replaceAll('.', '\\.').replace(/<\w+>/g, '[^/]+')}`);
	return [...filesIn('nodes'), ...filesIn('test')].some((file) => pattern.test(file));
}

/** Of paragraphs and lists, each with the tests that it names; tables and headings are left out. */
function sentencesIn(markdown: string): string[] {
	// The full stops of titles and file names end no sentence.
	const named: string[] = [];
	const text = markdown
		.replace(/^(\||#|<!--).*$/gm, '')
		.replace(/`[^`]+`(:( "[^"]+",?)+)?/g, (code) => `\u0000${named.push(code) - 1}\u0000`);
	return text
		.split(/\n\n+|^- /m)
		.flatMap((block) => block.replaceAll('\n', ' ').split(/(?<=\.) /))
		.map((one) =>
			one.replace(/\u0000(\d+)\u0000/g, (_, index) => named[Number(index)] ?? '').trim(),
		)
		.filter((one) => one !== '');
}

/** Lines of shell blocks, without their comments, and code in the text that starts like a command. */
function commandsIn(markdown: string): string[] {
	const blocks = [...markdown.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block]) =>
		(block ?? '').split('\n'),
	);
	const inText = [...markdown.replace(/```[^]*?```/g, '').matchAll(/`([^`\n]+)`/g)]
		.map(([, code]) => code ?? '')
		.filter((code) => /^(npm|npx|node|bash) /.test(code));
	return [...blocks, ...inText].map((line) => line.replace(/(^|\s+)# .*$/, '')).filter(Boolean);
}

/** The words of a command, without the variables set before it. */
function wordsOf(command: string): string[] {
	return command
		.split(' ')
		.filter((_, index, words) => !words.slice(0, index + 1).every((one) => /^\w+=/.test(one)));
}

function isProgram(program: string, [first = '', second = '']: string[]): boolean {
	switch (program) {
		case 'npm':
			if (first === 'run') return second in manifest.scripts;
			return first in manifest.scripts || ['ci', 'install', 'version', 'publish'].includes(first);
		case 'npx':
			return exists(`node_modules/.bin/${first}`);
		case 'node':
		case 'bash':
			return exists(first);
		case 'curl':
			return true;
		default:
			return false;
	}
}

/** As the usual Markdown viewers make them of headings. */
function anchorsOf(markdown: string): string[] {
	return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
		(heading ?? '')
			.toLowerCase()
			.replace(/[^\p{L}\p{N}_\s-]/gu, '')
			.trim()
			.replace(/\s/g, '-'),
	);
}
