/**
 * The fault matrix: every operation and way of completion in every kind of trouble, in a real n8n. `npm run
 * test:faults`, or a part of it: `npm run test:faults -- --only task.wait --fault 503`. Compares with expected.ts, and
 * with the books of the service. `--write` writes docs/faults.md instead.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { testedVersion } from '../n8n/versions';
import { endNow } from './acts';
import { Cell } from './cell';
import { NOT_TRIED, expectedOf } from './expected';
import { NOTHING_SHOWN, booksOf, secretsOf, secretsShown, wrongInFiles } from './invariants';
import { judged, type Begun } from './judge';
import { listening } from '../support/listening';
import { faultsPage } from './page';
import { leftOut, summary, type Result } from './report';
import type { Row } from './row';
import { ROWS } from './rows';
import { UNANSWERED, WEATHER, type Weather } from './weather';

const { values: asked } = parseArgs({
	options: {
		only: { type: 'string', default: '' },
		fault: { type: 'string', default: '' },
		'at-once': { type: 'string', default: '40' },
		write: { type: 'boolean', default: false },
	},
});

let n8n: N8nHost;
const began = Date.now();
/** What n8n must have stored nowhere in plain text, and what it must have stored. */
const secrets = { hidden: [] as string[], shown: [] as string[] };
/** Hears what no cell must send: a redirect is not followed. */
const trapped: string[] = [];

async function main(): Promise<void> {
	if (asked.write) {
		writeFileSync(path.join(__dirname, '..', '..', 'docs', 'faults.md'), faultsPage());
		return;
	}
	const trap = await listening((url, headers) => trapped.push(`${url} ${headers}`));
	const receiver = await listening(() => undefined);
	const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
	const version = testedVersion();
	n8n = await startN8n({ version, packageTarball: tarball, binaryMode: 'filesystem' }).finally(
		dispose,
	);
	const results: Result[] = [];
	/** What is wrong with the run as a whole. */
	const wrong: string[] = [];
	try {
		const cells = WEATHER.flatMap((weather) => ROWS.map((row) => ({ row, weather }))).filter(
			({ row, weather }) =>
				isAsked(row.name, asked.only) &&
				isAsked(weather.name, asked.fault) &&
				expectedOf(row, weather.name) !== NOT_TRIED,
		);
		const isKill = ({ weather }: { weather: Weather }) => weather.name === 'kill -9';
		console.log(`n8n ${version}: ${cells.length} cells`);
		if (cells.length === 0) throw new Error('No cell has these names');
		const begin = async ({ row, weather }: { row: Row; weather: Weather }) =>
			await begun(row, weather, trap.url, receiver.url);
		const note = (result: Result) => {
			results.push(result);
			if (result.wrong.length > 0)
				console.log(`✗ ${result.row} × ${result.fault}: ${result.wrong.join('; ').slice(0, 600)}`);
		};
		// What takes long begins first, so that nothing is left alone at the end.
		const byLength = cells
			.filter((one) => !isKill(one))
			.sort((one, other) => Number(other.weather.isLong) - Number(one.weather.isLong));
		const progress = setInterval(
			() => console.log(`${seconds()} s: ${results.length} of ${cells.length} cells`),
			60_000,
		);
		await atOnce(byLength, Number(asked['at-once']), async (one) => {
			const begun = await begin(one).catch((error: unknown) => void note(failed(one, error)));
			if (begun) note(await tried(begun));
		});
		clearInterval(progress);
		console.log(`Until the kill: ${seconds()} s`);
		await kill(cells.filter(isKill), begin, note);
		wrong.push(...leftOut(cells, results));
		wrong.push(...(await wrongInFiles(n8n.userFolder, { ...secrets, cells: cells.length })));
		// A part of the matrix may have no output with a secret.
		if (secrets.shown.length === 0) {
			console.log(NOTHING_SHOWN);
			if (asked.only === '' && asked.fault === '') wrong.push(NOTHING_SHOWN);
		}
	} finally {
		await n8n.stop();
		trap.server.close();
		receiver.server.close();
	}
	console.log(summary(results, version, seconds()));
	if (trapped.length > 0) console.log(`A redirect was followed: ${trapped.join(', ')}`);
	for (const one of wrong) console.log(`✗ ${one}`);
	const isWrong =
		trapped.length > 0 || wrong.length > 0 || results.some((one) => one.wrong.length > 0);
	process.exitCode = isWrong ? 1 : 0;
}

async function begun(row: Row, weather: Weather, trap: string, receiver: string): Promise<Begun> {
	const cell = await Cell.open(n8n, receiver);
	cell.isInProduction = weather.name === 'kill -9';
	const act = await row.begin(cell);
	const before = booksOf(cell.simulator);
	// What sleeps has been answered in good weather.
	const armedAt = Date.now();
	if (row.kind !== 'asleep') weather.begin(cell.simulator, row.target, trap);
	cell.isAnswerLost = UNANSWERED.includes(weather.name);
	return { row, weather, cell, act, before, armedAt };
}

async function tried(one: Begun): Promise<Result> {
	try {
		await one.act.start();
		one.opensAt = one.weather.started?.(one.cell.simulator, one.row);
		return await judged(one, await one.act.end());
	} catch (error) {
		return failed(one, error);
	} finally {
		await close(one.cell);
	}
}

async function close(cell: Cell): Promise<void> {
	secrets.hidden.push(...secretsOf(cell).hidden);
	secrets.shown.push(...secretsShown(cell));
	await cell.close();
}

function failed({ row, weather }: Pick<Begun, 'row' | 'weather'>, error: unknown): Result {
	const result = error instanceof Error ? error.message : String(error);
	return {
		row: row.name,
		kind: row.kind,
		fault: weather.name,
		result,
		places: [],
		wrong: [result],
	};
}

/** All cells are started, then n8n is killed once, and started again. */
async function kill(
	cells: Array<{ row: Row; weather: Weather }>,
	begin: (one: { row: Row; weather: Weather }) => Promise<Begun>,
	note: (result: Result) => void,
): Promise<void> {
	if (cells.length === 0) return;
	const all: Begun[] = [];
	await atOnce(cells, Math.min(16, Number(asked['at-once'])), async (one) => {
		const begun = await begin(one).catch((error: unknown) => void note(failed(one, error)));
		if (!begun) return;
		all.push(begun);
		if (begun.row.kind === 'asleep') begun.cell.simulator.configure({ processingSeconds: 1e9 });
		await begun.act.start();
	});
	const late: Begun[] = [];
	for (const one of all) {
		for (let tries = 0; tries < 120 && !(await one.act.isUnderWay()); tries++) await sleep(500);
	}
	await sleep(1_000);
	for (const one of all) if (!(await one.act.isUnderWay())) late.push(one);
	await n8n.kill();
	await n8n.restart();
	await atOnce(all, Infinity, async (one) => {
		const { simulator } = one.cell;
		const ends = one.row.kind === 'asleep' ? [...simulator.bots(), ...simulator.tasks()] : [];
		for (const { id } of ends) endNow(simulator, id);
		const result = await one.act
			.end()
			.then(async (outcome) => await judged(one, outcome))
			.catch((error: unknown) => failed(one, error));
		if (late.includes(one)) result.wrong.push('n8n was killed at another moment');
		await close(one.cell);
		note(result);
	});
}

async function atOnce<T>(list: T[], most: number, work: (one: T) => Promise<void>): Promise<void> {
	const left = [...list];
	const worker = async () => {
		for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
	};
	await Promise.all(Array.from({ length: Math.min(most, list.length) }, worker));
}

/** A part of the name, or several parts of names with commas between them. */
function isAsked(name: string, parts: string): boolean {
	return parts.split(',').some((part) => name.includes(part));
}

function seconds(): number {
	return Math.round((Date.now() - began) / 1000);
}

void main().then(
	() => process.exit(),
	(error: unknown) => {
		console.error(error);
		process.exit(1);
	},
);
