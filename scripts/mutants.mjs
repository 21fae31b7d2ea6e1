// Puts small faults ("mutants") into the files of `nodes/` that matter most, one at a time, and runs the fast suites of
// that file against each: how many of the faults do the tests see? The scores go to docs/mutants.json and CONTRIBUTING.md.
//
//   npm run test:mutants                                            # all of them: hours
//   npm run test:mutants -- nodes/shared/webhook/hmacSignedBody.ts      # one file, or a folder
//   npm run test:mutants -- Stores                                  # a row of the table
//   npm run test:mutants -- changed                                 # what has changed since it was measured
//   npm run test:mutants -- changed Stores                          # of a row
//
// A score that is worse than before is an error, and not written: `--accept` writes it.
// `--table` only counts what has changed since it was measured, and writes the table. `--check` writes nothing: it says
// whether the table is that of docs/mutants.json. It does not hash the code, so a commit that changes code need not measure.
//
// docs/mutants.json says why each fault that no test saw is left, once somebody has looked at it: write it there by hand.
//
// A file has changed if it or one of its suites has. What the suites import does not count, nor do the suites of a file
// that was measured before docs/mutants.json had their hash.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const SCORES = 'docs/mutants.json';
const PAGE = 'CONTRIBUTING.md';
const [START, END] = ['<!-- mutants -->\n', '<!-- end of mutants -->'];

/** The share of the faults that the tests of each row of the table have to see. */
const LEAST_SHARE = 0.85;

// All of the suites of which `npm test` runs a part (test/support/long.ts).
process.env.TESTS = 'all';

/** What each file or folder does, by the start of its path. */
const ROOMS = {
	'Talks to the service': [
		'nodes/shared/api/',
		'nodes/Transcriber/item/itemFailure.ts',
		'nodes/Transcriber/item/nodeRun.ts',
		'nodes/Transcriber/item/performOperation.ts',
		'nodes/Transcriber/item/sendCancelOrClear.ts',
		'nodes/Transcriber/item/sendOperation.ts',
		'nodes/Transcriber/resources/apiKey/rotate.ts',
	],
	Submits: [
		'nodes/Transcriber/submit/',
		'nodes/TranscriberTrigger/cancelBotWhenUnpublished.ts',
		'nodes/TranscriberTrigger/isBotThere.ts',
		'nodes/TranscriberTrigger/launchBot.ts',
		'nodes/TranscriberTrigger/sendBotWhenPublished.ts',
	],
	Waits: ['nodes/Transcriber/wait/'],
	Verifies: [
		'nodes/shared/webhook/',
		'nodes/TranscriberTrigger/askServiceWithoutSecret.ts',
		'nodes/TranscriberTrigger/deliveredEvent.ts',
		'nodes/TranscriberTrigger/receiveDelivery.ts',
		'nodes/TranscriberTrigger/receiveHandOver.ts',
		'nodes/TranscriberTrigger/verifyDelivery.ts',
	],
	Stores: [
		'nodes/TranscriberTrigger/secretStore.ts',
		'nodes/TranscriberTrigger/endingStore.ts',
		'nodes/TranscriberTrigger/botStore.ts',
		'nodes/TranscriberTrigger/repairStaticData.ts',
		'nodes/TranscriberTrigger/triggerMemory.ts',
		'nodes/TranscriberTrigger/staticDataLedger.ts',
		'nodes/TranscriberAccountTrigger/pollStore.ts',
		'nodes/TranscriberAccountTrigger/rememberedBetweenPolls.ts',
	],
};

/** Suites that prove rules of a file or folder beside those that name it. */
const MORE_SUITES = {
	'nodes/Transcriber/item/sendOperation.ts': [
		'test/shared/api/baseUrl.test.ts',
		'test/shared/api/credential.test.ts',
		'test/shared/api/secretsInAnswers.test.ts',
		'test/Transcriber/item/sendCancelOrClear.test.ts',
		'test/Transcriber/resources/apiKey/apiKey.test.ts',
		'test/Transcriber/resources/dictionary/dictionary.test.ts',
		'test/Transcriber/resources/meeting/meeting.test.ts',
		'test/Transcriber/resources/transcription/transcription.test.ts',
		'test/shared/api/uploadStream.test.ts',
	],
	'nodes/Transcriber/item/itemFailure.ts': ['test/Transcriber/submit/severalTasks.test.ts'],
	'nodes/Transcriber/item/performOperation.ts': [
		'test/shared/api/baseUrl.test.ts',
		'test/Transcriber/item/itemFailure.test.ts',
		'test/Transcriber/submit/once/shareWithRepeats.test.ts',
		'test/Transcriber/submit/suspension/resultsAfterWaking.test.ts',
		'test/Transcriber/item/nodeRun.test.ts',
		'test/Transcriber/submit/severalTasks.test.ts',
		'test/Transcriber/submit/submit.test.ts',
	],
	'nodes/Transcriber/submit/once/toolCall.ts': [
		'test/Transcriber/submit/once/shareWithRepeats.test.ts',
	],
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
	'nodes/TranscriberTrigger/isBotThere.ts': [
		'test/TranscriberTrigger/sendBotWhenPublished.test.ts',
		'test/TranscriberTrigger/otherAccount.test.ts',
	],
	'nodes/TranscriberTrigger/sendBotWhenPublished.ts': [
		'test/TranscriberTrigger/isBotThere.test.ts',
		'test/TranscriberTrigger/otherAccount.test.ts',
		'test/TranscriberTrigger/publishing.test.ts',
		'test/TranscriberTrigger/movedAfterDelivery.test.ts',
	],
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

/** Stryker cannot follow a suite that has an environment of its own, and random plans take too long. */
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
	// Takes a second to load, which `--table` and `--check` do not need.
	const { Stryker } = await import('@stryker-mutator/core');
	// What a run takes hours to measure may be edited meanwhile.
	const hashes = { hash: hashOf([file]), suites: hashOf(suitesOf(file)) };
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
		...hashes,
		seen,
		of: seen + missed.length,
		missed: withReasons(
			missed.map(({ location: { start, end }, replacement }) => {
				const last = start.line === end.line ? end.column - 1 : undefined;
				const code = lines[start.line - 1].slice(start.column - 1, last);
				return `${start.line}: ${code} → ${replacement}`;
			}),
			scoresSoFar()[file],
		),
	};
}

/** Why each fault is left: what was noted of the same fault before, on whatever line, and otherwise nothing. */
function withReasons(faults, { missed: before = [] } = {}) {
	const withoutLine = (fault) => fault.replace(/^\d+: /, '');
	const reasons = new Map(before.map(({ fault, why }) => [withoutLine(fault), why]));
	return faults.map((fault) => ({ fault, why: reasons.get(withoutLine(fault)) ?? '' }));
}

/** Of the code that was measured, or of the suites that have measured it. */
const hashOf = (files) => {
	const hash = createHash('sha256');
	for (const file of files) hash.update(readFileSync(file));
	return hash.digest('hex').slice(0, 12);
};

function hasChanged(file, { hash, suites: measuredWith } = {}) {
	if (hash !== hashOf([file])) return true;
	return measuredWith !== undefined && measuredWith !== hashOf(suitesOf(file));
}

const share = ({ seen, of }) => (of === 0 ? 1 : seen / of);
// Never rounded up to 100.
const score = (counts) => (counts.of === 0 ? '–' : `${Math.floor(100 * share(counts))} %`);

const noted = () => JSON.parse(readFileSync(SCORES, 'utf8'));

/** What was measured of files that still exist. */
const scoresSoFar = () =>
	Object.fromEntries(Object.entries(noted()).filter(([file]) => existsSync(file)));

function filesNamed(name) {
	const all = filesIn('nodes').filter(roomOf);
	if (name in ROOMS) return all.filter((file) => roomOf(file) === name);
	return statSync(name).isDirectory() ? filesIn(name) : [name];
}

if (process.argv.includes('--check')) {
	const wrong = wrongInTable();
	for (const one of wrong) console.error(one);
	process.exit(wrong.length > 0 ? 1 : 0);
}
if (process.argv.includes('--table')) {
	write(scoresSoFar());
	process.exit();
}
const mayBeWorse = process.argv.includes('--accept');
const words = process.argv.slice(2).filter((word) => word !== '--accept');
const names = words.filter((word) => word !== 'changed');
const isAsked = (file) => !words.includes('changed') || hasChanged(file, scoresSoFar()[file]);
const files = (names.length > 0 ? names : Object.keys(ROOMS)).flatMap(filesNamed).filter(isAsked);
console.log(`${files.length} files to measure`);
const worse = [];
const notMeasured = [];
for (const file of files) {
	// A suite may fail without a mutant too, on a machine that is busy with other work.
	const measured = await measure(file).catch(({ message }) => console.error(message));
	if (!measured) {
		notMeasured.push(file);
		continue;
	}
	console.log(`\n${file}: ${measured.seen} of ${measured.of}, ${score(measured)}`);
	for (const { fault, why } of measured.missed) console.log(`  ${fault} (${why})`);
	const scores = scoresSoFar();
	if (scores[file]?.of > 0 && measured.of === 0) {
		notMeasured.push(file);
		continue;
	}
	if (!mayBeWorse && scores[file] && share(measured) < share(scores[file])) {
		worse.push(file);
		continue;
	}
	write({ ...scores, [file]: measured });
}
if (worse.length > 0) console.error(`\nFewer faults seen than before in: ${worse.join(', ')}`);
if (notMeasured.length > 0) console.error(`\nNot measured: ${notMeasured.join(', ')}`);
process.exitCode = worse.length + notMeasured.length > 0 ? 1 : 0;

/** Writes the scores and the table, both with what has changed by now. */
function write(scores) {
	const all = Object.entries(scores)
		.sort(([one], [other]) => (one < other ? -1 : 1))
		.map(([file, { changed: _, ...score }]) => [
			file,
			hasChanged(file, score) ? { ...score, changed: true } : score,
		]);
	writeFileSync(SCORES, `${JSON.stringify(Object.fromEntries(all), null, '\t')}\n`);
	const totals = Object.keys(ROOMS).map(
		(room) => filesIn('nodes').filter((file) => roomOf(file) === room).length,
	);
	const table = tableOf(rowsOf(all), totals, new Date().toISOString().slice(0, 10));
	const page = readFileSync(PAGE, 'utf8');
	writeFileSync(PAGE, `${page.split(START)[0]}${START}${table}${END}${page.split(END)[1]}`);
}

function rowsOf(scores) {
	return Object.keys(ROOMS).map((room) => {
		const own = scores.filter(([file]) => roomOf(file) === room).map(([, score]) => score);
		const sum = (name) => own.reduce((total, score) => total + Number(score[name] ?? 0), 0);
		const [changed, seen, of] = ['changed', 'seen', 'of'].map(sum);
		const unread = own.flatMap(({ missed }) => missed).filter(({ why }) => why === '');
		return { room, measured: own.length, changed, seen, of, unread: unread.length };
	});
}

function tableOf(rows, totals, date) {
	const ignore = (what) => `<!-- prettier-ignore-${what} -->`;
	const lines = rows.map(
		({ room, measured, changed, seen, of, unread }, index) =>
			`| ${room} | ${measured} of ${totals[index]} | ${changed} of ${measured} | ${seen} of ${of} | ${score({ seen, of })} | ${of - seen - unread} of ${of - seen} |`,
	);
	return [
		ignore('start'),
		'',
		'| Code that … | Files measured | Changed since | Faults seen | Score | Others looked at |',
		'|---|---|---|---|---|---|',
		...lines,
		'',
		`“Changed since” was counted on ${date}. Since their faults were counted, these files or their suites have changed.`,
		'',
		ignore('end'),
		'',
	].join('\n');
}

/** What the table says of files that nobody has measured, and its date, is taken as it is. */
function wrongInTable() {
	const [, rest = ''] = readFileSync(PAGE, 'utf8').split(START);
	const [table] = rest.split(END);
	const totals = [...table.matchAll(/^\| .+? \| \d+ of (\d+) \|/gm)].map(([, total]) => total);
	const [, date] = /was counted on (\d{4}-\d\d-\d\d)\./.exec(table) ?? [];
	const rows = rowsOf(Object.entries(noted()));
	return [
		table !== tableOf(rows, totals, date) &&
			`${PAGE} has another table than ${SCORES}: npm run test:mutants -- --table`,
		...rows.map(
			(row) =>
				share(row) < LEAST_SHARE &&
				`The tests of "${row.room}" see only ${score(row)} of the faults, and have to see ${100 * LEAST_SHARE} %`,
		),
	].filter(Boolean);
}
