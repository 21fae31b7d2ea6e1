/** The table of mutants in CONTRIBUTING.md says what docs/mutants.json says. A night of measuring is not needed for that. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { read, root } from './read';

interface Scored {
	seen: number;
	of: number;
	/** Why each of them is left; '' if nobody has looked at it. */
	missed: Array<{ fault: string; why: string }>;
	changed?: boolean;
}

const PAGE = read('CONTRIBUTING.md');
const SCORES = JSON.parse(read('docs/mutants.json')) as Record<string, Scored>;

function checkIn(folder: string): string {
	const script = path.join(root, 'scripts/mutants.mjs');
	const { status, stderr } = spawnSync(process.execPath, [script, '--check'], {
		cwd: folder,
		encoding: 'utf8',
	});
	return status === 0 ? '' : stderr;
}

/** What the check says of a repository with this page and these scores, and no code. */
function checkOf({ page = PAGE, scores = SCORES }): string {
	const folder = mkdtempSync(path.join(tmpdir(), 'mutants-'));
	try {
		for (const name of ['docs', 'test', 'nodes']) mkdirSync(path.join(folder, name));
		writeFileSync(path.join(folder, 'CONTRIBUTING.md'), page);
		writeFileSync(path.join(folder, 'docs/mutants.json'), JSON.stringify(scores));
		return checkIn(folder);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

const OTHER = 'has another table than docs/mutants.json';

it('CONTRIBUTING.md has the table of docs/mutants.json, with 85 % of the faults seen in each row', () => {
	expect(checkIn(root)).toBe('');
});

it('docs/mutants.json lists each fault that no test saw', () => {
	const scores = Object.entries(SCORES);
	expect(scores.map(([file, { missed }]) => [file, missed.length])).toEqual(
		scores.map(([file, { seen, of }]) => [file, of - seen]),
	);
	for (const { fault } of scores.flatMap(([, { missed }]) => missed))
		expect(fault).toMatch(/^\d+: .* → /);
});

describe('The check of that table', () => {
	it('does not depend on the code of today', () => expect(checkOf({})).toBe(''));

	it.each([
		[
			'hides what has changed',
			/\| \d+ of (\d+) \| (\d+ of \d+) \| (\d+ %) \|/g,
			'| 0 of $1 | $2 | $3 |',
		],
		['has seen more', /\| \d+ of (\d+) \| (\d+ %) \|/g, '| $1 of $1 | $2 |'],
		['has a higher score', /\| \d+ % \|/g, '| 100 % |'],
		['has looked at others', /\| \d+ of (\d+) \|$/gm, '| 7 of 1 |'],
		['says no date', /was counted on \S+\./, 'was counted.'],
	])('fails if the page %s', (_, part, other) => {
		expect(checkOf({ page: PAGE.replace(part, other) })).toContain(OTHER);
	});

	it('fails if a file has changed that the page does not count', () => {
		const [file = '', score] = Object.entries(SCORES).find(([, one]) => !one.changed) ?? [];
		const changed = { seen: 0, of: 0, missed: [], ...score, changed: true };
		expect(checkOf({ scores: { ...SCORES, [file]: changed } })).toContain(OTHER);
	});

	it('fails if the tests of a row see less than 85 %', () => {
		const isStore = (file: string) =>
			/(Store|Memory|Ledger|StaticData|BetweenPolls)\.ts$/.test(file);
		const scores = Object.entries(SCORES).map(([file, score]) => [
			file,
			isStore(file) ? { ...score, seen: Math.floor(score.of * 0.84) } : score,
		]);
		expect(checkOf({ scores: Object.fromEntries(scores) as typeof SCORES })).toContain(
			'The tests of "Stores" see only 83 % of the faults, and have to see 85 %',
		);
	});
});
