/**
 * The soak: some accounts, each busy with one thing after the other, in one n8n, which is restarted and killed in
 * between. `npm run soak -- --minutes 30 --seed 7`. Fails if anything grows without bound (bounds.ts), if the books of
 * the service do not agree, or if a trigger has missed or repeated a transcript.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { WORKS, endNow } from '../faults/acts';
import { NOTHING_SHOWN, secretsOf, wrongInFiles } from '../faults/invariants';
import { listening } from '../support/listening';
import { freePorts, startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { testedVersion } from '../n8n/versions';
import { Account } from './account';
import { compared, tooLittle } from './bounds';
import { Chooser } from './choice';
import { PARTS, booksCompared, conclude, measuredIn, type Part } from './course';
import { measured, secretsInTriggers } from './measure';
import { compareStarts } from './starts';

const { values: asked } = parseArgs({
	options: {
		minutes: { type: 'string', default: '10' },
		accounts: { type: 'string', default: '4' },
		/** Puts the report into docs/soak.md. */
		write: { type: 'boolean', default: false },
		seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
	},
});

/** Between two outages, in seconds. */
const PAUSES = [30, 45, 60];
/** From the start of the acts to the outage, in ms. */
const MOMENTS = [0, 1_000, 2_500, 5_000, 8_000];

/** When everything is ready for the load, in ms since 1970. */
let began = Date.now();
const seed = Number(asked.seed);
const minutes = Number(asked.minutes);
const whenEnds = (part: Part) => began + PARTS[part] * minutes * 60_000;

async function main(): Promise<void> {
	// Until it is known that nothing is wrong.
	process.exitCode = 1;
	const trapped: string[] = [];
	const trap = await listening((url) => trapped.push(url));
	const receiver = await listening(() => undefined);
	const [port = 0] = await freePorts(1);
	const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
	const probe = pathToFileURL(path.join(__dirname, 'probe.mjs')).href;
	const n8n = await startN8n({
		version: testedVersion(),
		packageTarball: tarball,
		binaryMode: 'filesystem',
		env: { NODE_OPTIONS: `--import ${probe}`, SOAK_PROBE_PORT: String(port) },
	}).finally(dispose);
	console.log(`Seed ${seed}, ${asked.minutes} minutes, n8n ${n8n.version}, ${cpus().length} cores`);
	try {
		const accounts: Account[] = [];
		while (accounts.length < Number(asked.accounts)) {
			const own = seed + 1 + accounts.length;
			accounts.push(await Account.open(n8n, receiver.url, trap.url, own));
		}
		began = Date.now();
		conclude(await soaked(n8n, accounts, `http://127.0.0.1:${port}`), trapped);
	} finally {
		await n8n.stop();
	}
}

/** What is wrong. */
async function soaked(n8n: N8nHost, accounts: Account[], probe: string): Promise<string[]> {
	const chooser = new Chooser(seed, '', () => undefined);
	let outages = 0;
	const measure = async (point: string) => {
		const acts = accounts.reduce((sum, { done }) => sum + done.length, 0);
		const found = await measured(n8n, probe, acts);
		console.log(`${seconds()} s, ${point}: ${JSON.stringify(found)}`);
		return found;
	};
	const secrets = await secretsInProgress(n8n, accounts);
	const all = await measuredIn({
		load: async (part) => await load(accounts, whenEnds(part)),
		async outages() {
			while (Date.now() < whenEnds('outages')) {
				await load(accounts, Date.now() + chooser.oneOf(PAUSES) * 1000);
				outages += 1;
				await outage(n8n, accounts, chooser);
			}
		},
		measure,
	});
	const kills = n8n.killedAt;
	const { table, wrong } = compared(all);
	const done = accounts.flatMap((account) => account.done);
	const books = await booksCompared(
		accounts,
		async (account) => await compareStarts(n8n, account, kills),
	);
	const { started, notified } = books;
	wrong.push(...books.wrong);
	const acts = done.length;
	const worked = done.filter(({ result }) => result === WORKS).length;
	const accepted = done.reduce((sum, one) => sum + one.accepted, 0);
	const troubled = done.filter(({ troubles }) => troubles > 0).length;
	const disturbed = done.filter((one) => one.disturbed > 0).length;
	const tried = { troubled, disturbed, secrets, outages };
	const counts = { acts, worked, accepted, started, notified, ...tried };
	wrong.push(...tooLittle({ minutes, ...counts }));
	const hidden = accounts.flatMap(({ cell }) => secretsOf(cell).hidden);
	const shown = accounts.flatMap((account) => account.shown);
	const cells = accounts.length;
	wrong.push(...(await wrongInFiles(n8n.userFolder, { hidden, shown, cells })));
	if (shown.length === 0) wrong.push(NOTHING_SHOWN);
	const report = [
		`\`npm run soak -- --minutes ${minutes} --seed ${seed}\`, n8n ${n8n.version}, ${cpus().length} cores: ${acts} acts, of which`,
		`${worked} worked and ${acts - worked} ended as the fault matrix says for their fault, ${accepted} tasks and bots accepted,`,
		`${started} executions of the triggers, ${troubled} acts in trouble, ${disturbed} with a disturbed delivery, ${notified} submissions compared with the Transcriber Triggers, n8n killed ${kills.length} times and restarted ${outages - kills.length} times.`,
		`${wrong.length === 0 ? 'Everything was within its bounds, and the books agreed.' : `Wrong: ${wrong.length}.`}`,
		`\n<!-- prettier-ignore-start -->\n\n${table}\n\n<!-- prettier-ignore-end -->`,
	].join('\n');
	console.log(`\n${report}\n\n${seconds()} s`);
	if (asked.write) writeReport(report);
	return wrong;
}

/** What is counted as secrets when each standing trigger has one. */
async function secretsInProgress(n8n: N8nHost, accounts: Account[]): Promise<number> {
	const ids = await Promise.all(accounts.map(async (account) => await account.beginNotified()));
	const secrets = await secretsInTriggers(n8n);
	accounts.forEach(({ cell }, index) => endNow(cell.simulator, ids[index] ?? ''));
	return secrets;
}

/** Puts the report of this run in the place of the last one. */
function writeReport(report: string): void {
	const file = path.join(__dirname, '..', '..', 'docs', 'soak.md');
	const [start, end] = ['<!-- run -->\n', '<!-- end of run -->'];
	const page = readFileSync(file, 'utf8');
	const [before, after] = [page.split(start)[0], page.split(end)[1]];
	writeFileSync(file, `${before}${start}\n${report}\n\n${end}${after}`);
}

async function load(accounts: Account[], until: number): Promise<void> {
	await Promise.all(
		accounts.map(async (account) => {
			while (Date.now() < until) await account.doOne();
		}),
	);
}

/** Stops or kills n8n in the middle of an act of each account. */
async function outage(n8n: N8nHost, accounts: Account[], chooser: Chooser): Promise<void> {
	const doing = await Promise.all(
		accounts.map(async (account) => ({ account, act: await account.begin(true) })),
	);
	await sleep(chooser.oneOf(MOMENTS));
	const isKill = chooser.oneOf([true, true, false]);
	if (isKill) await n8n.kill();
	await n8n.restart();
	console.log(`${seconds()} s: ${isKill ? 'kill -9' : 'restart'}`);
	await Promise.all(doing.map(async ({ account, act }) => act && (await account.end(act, true))));
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
