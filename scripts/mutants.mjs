// Puts small faults ("mutants") into the files of `nodes/` that matter most, one at a time, and runs the fast suites of
// that file against each: how many of the faults do the tests see? The scores go to docs/mutants.json and CONTRIBUTING.md.
//
//   npm run test:mutants                                            # all of them: hours
//   npm run test:mutants -- nodes/shared/webhook/hmacSignedBody.ts      # one file, or a folder
//   npm run test:mutants -- Stores                                  # a row of the table
//   npm run test:mutants -- changed                                 # what has changed since it was measured
//
// A score that is worse than before is an error, and not written: `--accept` writes it.
// `--table` only writes the table.
import { Stryker } from '@stryker-mutator/core';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const SCORES = 'docs/mutants.json';

// All of the suites of which `npm test` runs a part (test/support/long.ts).
process.env.TESTS = 'all';

/** What each file or folder does, by the start of its path. */
const ROOMS = {
	'Talks to the service': ['nodes/shared/api/'],
	Submits: ['nodes/Transcriber/submit/'],
	Waits: ['nodes/Transcriber/wait/'],
	Verifies: [
		'nodes/shared/webhook/',
		'nodes/TranscriberTrigger/verifyDelivery.ts',
		'nodes/TranscriberTrigger/deliveredEvent.ts',
	],
	Stores: [
		'nodes/TranscriberTrigger/secretStore.ts',
		'nodes/TranscriberTrigger/endingStore.ts',
		'nodes/TranscriberTrigger/botStore.ts',
		'nodes/TranscriberTrigger/triggerMemory.ts',
		'nodes/TranscriberTrigger/staticDataLedger.ts',
		'nodes/TranscriberAccountTrigger/pollStore.ts',
	],
};

/** Suites that prove rules of a file or folder beside those that name it. */
const MORE_SUITES = {
	'nodes/Transcriber/wait/waitErrors.ts': ['test/Transcriber/wait/badAnswers.test.ts'],
	'nodes/Transcriber/wait/finishedTask.ts': [
		'test/Transcriber/wait/badAnswers.test.ts',
		'test/Transcriber/resources/meeting/meeting.test.ts',
		'test/Transcriber/resources/transcription/transcription.test.ts',
		'test/Transcriber/submit/severalTasks.test.ts',
	],
	'nodes/Transcriber/wait/waitOptions.ts': [
		'test/Transcriber/submit/severalTasks.test.ts',
		'test/shared/parameters/checkedValues.test.ts',
		'test/shared/parameters/refuse.test.ts',
	],
	'nodes/Transcriber/submit/submit.ts': ['test/Transcriber/submit/severalTasks.test.ts'],
	'nodes/shared/webhook/hmacSignedBody.ts': ['test/TranscriberTrigger/receiveDelivery.test.ts'],
};

const SUSPENDED = 'test/Transcriber/submit/suspension/suspendUntilDelivery.test.ts';

/** Suites that are too slow to be run against each mutant of a file: its other suites show the same rules. */
const TOO_SLOW = {
	'nodes/shared/api/roomForTasks.ts': ['test/shared/api/roomForTasks.test.ts'],
	'nodes/shared/api/askForState.ts': [
		'test/shared/api/askForState.test.ts',
		'test/Transcriber/wait/badAnswers.test.ts',
	],
	'nodes/shared/api/sendWithRetries.ts': ['test/shared/api/sendWithRetries.test.ts'],
	'nodes/shared/api/waitForTurn.ts': [
		'test/shared/api/waitForTurn.test.ts',
		'test/shared/api/sendWithRetries.test.ts',
	],
	'nodes/shared/api/callService.ts': ['test/shared/api/sendWithRetries.test.ts'],
	'nodes/shared/api/types.ts': ['test/shared/api/sendWithRetries.test.ts'],
	'nodes/Transcriber/submit/submit.ts': [
		'test/Transcriber/submit/deliveryAddress.test.ts',
		'test/Transcriber/submit/lostAnswers.test.ts',
		'test/Transcriber/submit/neverTwice.test.ts',
		'test/Transcriber/submit/receivedFile.test.ts',
		'test/Transcriber/submit/takenUp.test.ts',
		'test/Transcriber/submit/webhookSecret.test.ts',
	],
	'nodes/Transcriber/submit/suspension/lookBeforeSuspending.ts': [SUSPENDED],
	'nodes/Transcriber/submit/suspension/resultsAfterWaking.ts': [
		SUSPENDED,
		'test/Transcriber/wait/manyItems.test.ts',
	],
	'nodes/Transcriber/submit/suspension/askWhetherEnded.ts': [SUSPENDED],
	'nodes/Transcriber/submit/suspension/suspendUntilDelivery.ts': [SUSPENDED],
	'nodes/Transcriber/wait/pollUntilEnded.ts': ['test/Transcriber/wait/manyItems.test.ts'],
};

const filesIn = (folder) =>
	readdirSync(folder, { recursive: true })
		.map((file) => path.posix.join(folder, file.replaceAll('\\', '/')))
		.filter((file) => file.endsWith('.ts'))
		.sort();

const roomOf = (file) =>
	Object.keys(ROOMS).find((room) => ROOMS[room].some((start) => file.startsWith(start)));

const suites = filesIn('test')
	.filter((file) => file.endsWith('.test.ts'))
	.map((suite) => {
		const room = path.posix.dirname(suite).replace('test/', 'nodes/');
		const [, list = ''] =
			/^\/\/ Also covers ((?:.*\n\/\/ )*.*)\.$/m.exec(readFileSync(suite, 'utf8')) ?? [];
		const named = list.match(/[\w./]+\.ts/g) ?? [];
		const own = suite.replace('test/', 'nodes/').replace('.test.ts', '.ts');
		return {
			suite,
			covers: [own, ...named.map((file) => (/^nodes\//.test(file) ? file : `${room}/${file}`))],
		};
	});

/** Stryker cannot follow a suite that has an environment of its own, and what random plans see differs each time. */
const canBeFollowed = (suite) =>
	!suite.endsWith('.model.test.ts') && !readFileSync(suite, 'utf8').includes('@jest-environment');

const suitesThat = (fit) => suites.filter(fit).map(({ suite }) => suite);

/** The own suite first: `test/support/ownSuiteFirst.cjs` runs them in this order. */
function suitesOf(file) {
	const more = Object.keys(MORE_SUITES).filter((start) => file.startsWith(start));
	const all = [
		...suitesThat(({ covers: [own] }) => own === file),
		...suitesThat(({ covers }) => covers.includes(file)),
		...more.flatMap((start) => MORE_SUITES[start]),
	];
	const tooSlow = TOO_SLOW[file] ?? [];
	return [...new Set(all)].filter((suite) => canBeFollowed(suite) && !tooSlow.includes(suite));
}

/**
 * Stryker tries again what has survived if another test covers it, but it does not know which tests cover what runs when a
 * file is loaded. Such a survivor would survive for ever.
 */
function forgetStaticSurvivors(incrementalFile) {
	if (!existsSync(incrementalFile)) return;
	const report = JSON.parse(readFileSync(incrementalFile, 'utf8'));
	for (const file of Object.values(report.files)) {
		file.mutants = file.mutants.filter((one) => !(one.static && one.status === 'Survived'));
	}
	writeFileSync(incrementalFile, JSON.stringify(report));
}

/** Mutates one file, and returns how many of its mutants the suites have seen, and which they have not. */
async function measure(file) {
	if (suitesOf(file).length === 0) throw new Error(`No suite of ${file} can be followed`);
	const cache = path.join(homedir(), '.cache', 'n8n-nodes-transcriber', 'mutants');
	mkdirSync(cache, { recursive: true });
	const incrementalFile = path.join(cache, `${file.replaceAll('/', '_')}.json`);
	forgetStaticSurvivors(incrementalFile);
	const mutants = await new Stryker({
		mutate: [file],
		jest: { config: { testMatch: suitesOf(file).map((suite) => `<rootDir>/${suite}`) } },
		incrementalFile,
	}).runMutationTest();
	const lines = readFileSync(file, 'utf8').split('\n');
	const having = (...statuses) => mutants.filter(({ status }) => statuses.includes(status));
	const missed = having('Survived', 'NoCoverage');
	const seen = having('Killed', 'Timeout').length;
	return {
		hash: hashOf(file),
		seen,
		of: seen + missed.length,
		missed: missed.map(({ location: { start, end }, replacement }) => {
			const last = start.line === end.line ? end.column - 1 : undefined;
			const code = lines[start.line - 1].slice(start.column - 1, last);
			return `${start.line}: ${code} → ${replacement}`;
		}),
	};
}

/** Of the code that was measured. */
const hashOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);

const share = ({ seen, of }) => (of === 0 ? 1 : seen / of);
// Never rounded up to 100.
const score = (counts) => (counts.of === 0 ? '–' : `${Math.floor(100 * share(counts))} %`);

/** What was measured of files that still exist. */
const scoresSoFar = () =>
	Object.fromEntries(
		Object.entries(JSON.parse(readFileSync(SCORES, 'utf8'))).filter(([file]) => existsSync(file)),
	);

function filesNamed(name) {
	const all = filesIn('nodes').filter(roomOf);
	if (name === 'changed') return all.filter((file) => scoresSoFar()[file]?.hash !== hashOf(file));
	if (name in ROOMS) return all.filter((file) => roomOf(file) === name);
	return statSync(name).isDirectory() ? filesIn(name) : [name];
}

if (process.argv.includes('--table')) {
	writeTable(scoresSoFar());
	process.exit();
}
const mayBeWorse = process.argv.includes('--accept');
const names = process.argv.slice(2).filter((name) => name !== '--accept');
const worse = [];
const notMeasured = [];
for (const file of (names.length > 0 ? names : Object.keys(ROOMS)).flatMap(filesNamed)) {
	// A suite may fail without a mutant too, on a machine that is busy with other work.
	const measured = await measure(file).catch(({ message }) => console.error(message));
	if (!measured) {
		notMeasured.push(file);
		continue;
	}
	console.log(`\n${file}: ${measured.seen} of ${measured.of}, ${score(measured)}`);
	for (const one of measured.missed) console.log(`  ${one}`);
	const scores = scoresSoFar();
	if (scores[file]?.of > 0 && measured.of === 0) {
		notMeasured.push(file);
		continue;
	}
	if (!mayBeWorse && scores[file] && share(measured) < share(scores[file])) {
		worse.push(file);
		continue;
	}
	const all = Object.entries({ ...scores, [file]: measured }).sort(([one], [other]) =>
		one < other ? -1 : 1,
	);
	writeFileSync(SCORES, `${JSON.stringify(Object.fromEntries(all), null, '\t')}\n`);
	writeTable(Object.fromEntries(all));
}
if (worse.length > 0) console.error(`\nFewer faults seen than before in: ${worse.join(', ')}`);
if (notMeasured.length > 0) console.error(`\nNot measured: ${notMeasured.join(', ')}`);
process.exitCode = worse.length + notMeasured.length > 0 ? 1 : 0;

/** Writes the table of CONTRIBUTING.md. */
function writeTable(scores) {
	const rows = Object.keys(ROOMS).map((room) => {
		const own = filesIn('nodes').filter((file) => roomOf(file) === room);
		const measured = own.filter((file) => scores[file]);
		const sum = (name) => measured.reduce((total, file) => total + scores[file][name], 0);
		return { room, own, measured, seen: sum('seen'), of: sum('of') };
	});
	const table = rows.map(
		({ room, own, measured, seen, of }) =>
			`| ${room} | ${measured.length} of ${own.length} | ${seen} of ${of} | ${score({ seen, of })} |`,
	);
	const ignore = (what) => `<!-- prettier-ignore-${what} -->`;
	const head = '| Code that … | Files measured | Faults seen | Score |\n|---|---|---|---|';
	const page = readFileSync('CONTRIBUTING.md', 'utf8');
	const [start, end] = ['<!-- mutants -->\n', '<!-- end of mutants -->'];
	const [before, after] = [page.split(start)[0], page.split(end)[1]];
	writeFileSync(
		'CONTRIBUTING.md',
		`${before}${start}${ignore('start')}\n\n${head}\n${table.join('\n')}\n\n${ignore('end')}\n${end}${after}`,
	);
}
