/**
 * `npm run bench`: our nodes beside what a user would use instead, in one run on a real n8n, against
 * the simulator. See USAGE.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { root } from '../test/e2e/harness';
import { packPackage } from '../test/n8n/npm';
import { N8N_2 } from '../test/n8n/versions';
import { capacity } from './capacity';
import { overhead } from './overhead';
import { pacing } from './pacing';
import { cleanUp, undoOnce, type Report, type Run } from './parts';
import { upload } from './upload';
import { waiting } from './waiting';
import { webhook } from './webhook';

const BENCHMARKS = {
	upload: { title: 'Uploading a large recording', measure: upload },
	overhead: { title: 'A small request', measure: overhead },
	pacing: { title: 'A hundred recordings at once', measure: pacing },
	capacity: { title: 'More recordings than the account takes at once', measure: capacity },
	webhook: { title: 'Deliveries to the trigger', measure: webhook },
	waiting: { title: 'Executions that wait', measure: waiting, page: 'docs/scaling.md' },
} satisfies Record<string, Benchmark>;

interface Benchmark {
	title: string;
	measure: (run: Run) => Promise<Report>;
	/** Where its table belongs, if not into docs/benchmarks.md. */
	page?: string;
}

type Name = keyof typeof BENCHMARKS;
const NAMES = Object.keys(BENCHMARKS) as Name[];

const USAGE = `npm run bench [-- ${NAMES.map((name) => `[${name}]`).join(' ')} [--write] [--quick]]
  without names: all of them (about an hour; upload needs 20 GB in the temporary folder)
  --write   puts the tables into docs/benchmarks.md and docs/scaling.md
  --quick   small sizes and few rounds: shows that everything works, measures nothing`;

async function main(): Promise<void> {
	const { names, isQuick, write } = readArguments();
	const started = Date.now();
	const log = (text: string) =>
		console.log(`  ${Math.round((Date.now() - started) / 1000)} s  ${text}`);
	const { tarball, dispose } = await packPackage(root);
	undoOnce(dispose);
	const missed: string[] = [];
	for (const name of names) {
		const { title, measure } = BENCHMARKS[name];
		console.log(`\n${title}`);
		const report = await measure({ tarball, isQuick, log });
		console.log(`\n${markdown(report)}\n`);
		for (const { text, isReached } of report.goals) {
			console.log(`${isReached ? '✓' : '✗'} ${text}`);
			if (!isReached) missed.push(`${name}: ${text}`);
		}
		if (write) await writeIntoPage(name, section(name, report));
	}
	if (missed.length > 0 && !isQuick) throw new Error(`Not reached:\n${missed.join('\n')}`);
}

function readArguments(): { names: Name[]; isQuick: boolean; write: boolean } {
	try {
		const { values, positionals } = parseArgs({
			allowPositionals: true,
			options: { write: { type: 'boolean' }, quick: { type: 'boolean' } },
		});
		const unknown = positionals.find((name) => !(name in BENCHMARKS));
		if (unknown !== undefined) throw new Error(`There is no benchmark '${unknown}'`);
		const isQuick = values.quick ?? false;
		const write = values.write ?? false;
		if (isQuick && write) throw new Error('A quick run measures nothing that could be written');
		const names = positionals.length > 0 ? (positionals as Name[]) : NAMES;
		return { names, isQuick, write };
	} catch (error) {
		throw new Error(`${messageOf(error)}\n${USAGE}`);
	}
}

function markdown({ table, remarks }: Report): string {
	const [heading = [], ...rows] = table;
	const lines = [heading, heading.map(() => '---'), ...rows];
	return [lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n'), ...remarks].join('\n\n');
}

const READY = '<!-- bench -->';
const OVER = '<!-- /bench -->';

function section(name: Name, report: Report): string {
	const memory = Math.round(totalmem() / 1024 ** 3);
	const machine = `${availableParallelism()} cores, ${memory} GB of memory, n8n ${N8N_2}`;
	return `**${BENCHMARKS[name].title}** (\`npm run bench -- ${name}\`; ${machine})\n\n${markdown(report)}`;
}

/** Each benchmark has a place of its own between the markers, so that one can be run alone. */
async function writeIntoPage(name: Name, text: string): Promise<void> {
	const { page = 'docs/benchmarks.md' }: Benchmark = BENCHMARKS[name];
	const file = path.join(root, page);
	const [before, rest] = (await readFile(file, 'utf8')).split(READY);
	if (before === undefined || rest === undefined) throw new Error(`${page} has no ${READY}`);
	const [inside, after] = rest.includes(OVER) ? rest.split(OVER) : ['', rest];
	const sections = new Map<string, string>([...partsIn(inside ?? ''), [name, text]]);
	const body = NAMES.flatMap((each) => {
		const content = sections.get(each);
		return content === undefined ? [] : [`<!-- ${each} -->\n\n${content}`];
	});
	const ignored = ['<!-- prettier-ignore-start -->', ...body, '<!-- prettier-ignore-end -->'];
	await writeFile(file, `${before}${READY}\n\n${ignored.join('\n\n')}\n\n${OVER}${after}`);
}

function partsIn(inside: string): Array<[string, string]> {
	const places = NAMES.map((name) => `<!-- ${name} -->`).join('|');
	const pieces = inside
		.replace(/<!-- prettier-ignore-\w+ -->/g, '')
		.split(new RegExp(`(${places})`));
	return NAMES.flatMap((name): Array<[string, string]> => {
		const at = pieces.indexOf(`<!-- ${name} -->`);
		return at < 0 ? [] : [[name, (pieces[at + 1] ?? '').trim()]];
	});
}

function stopOnSignals(): void {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.once(signal, () => {
			console.log('\nStopping …');
			void cleanUp().then(() => process.exit(130));
		});
	}
}

function messageOf(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

stopOnSignals();
main()
	.catch((error: unknown) => {
		process.exitCode = 1;
		console.error(`\n${messageOf(error)}`);
	})
	.then(cleanUp)
	.then(() => process.exit());
