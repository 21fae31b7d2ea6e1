/** docs/undocumented.md and the table of dialects say the same. */
import { DIALECT_NAMES } from '../simulator/dialects';
import { read } from '../structure/read';
import { testTitlesIn } from '../structure/titles';
import { EXPECTED } from './expected';
import { SITUATIONS } from './situations';
import { ROWS, TRIED_ELSEWHERE, dialectsFor, triedTable } from './table';

const page = read('docs/undocumented.md');
const [assumed = ''] = page.split('## What was tried');
const rows = assumed
	.split('\n')
	.filter((line) => /^\| (?!Not shown|---)/.test(line))
	.map((line) => line.split(' | ')[0]?.slice(2) ?? '');

it('every row of docs/undocumented.md is tried with at least three answers', () => {
	expect(rows.length).toBeGreaterThan(30);
	for (const row of rows.filter((name) => TRIED_ELSEWHERE[name] === undefined)) {
		const tried = ROWS.filter((name) => row.startsWith(name)).flatMap(dialectsFor);
		expect([row, tried.length >= 3]).toEqual([row, true]);
	}
});

it('what is tried elsewhere is a row, and has its test', () => {
	for (const [row, { file, title }] of Object.entries(TRIED_ELSEWHERE)) {
		const isTried = testTitlesIn(read(file)).includes(title);
		expect([row, rows.includes(row), isTried]).toEqual([row, true, true]);
	}
});

it('every row that a dialect names is one of docs/undocumented.md', () => {
	for (const name of ROWS) {
		expect([name, rows.filter((row) => row.startsWith(name)).length]).toEqual([name, 1]);
	}
});

it('docs/undocumented.md has the table of what was tried', () => {
	expect(page).toContain(triedTable());
});

it('the table of outcomes names only what is tried', () => {
	const names = ['*', ...SITUATIONS.map(({ name }) => name)];
	const unknown = DIALECT_NAMES.flatMap((dialect) =>
		Object.keys(EXPECTED[dialect] ?? {}).filter((name) => !names.includes(name)),
	);
	expect(unknown).toEqual([]);
});
