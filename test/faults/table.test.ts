/** The fault matrix has a row for everything, and docs/faults.md says what it compares with. */
import { read } from '../structure/read';
import { EVERY_OPERATION } from '../support/everyOperation';
import { EXCEPTIONS, GAPS, RETRIES } from './exceptions';
import { NOT_TRIED, expectedOf, mustBeRetried, retryOf } from './expected';
import { faultsPage } from './page';
import { KEY } from './messages';
import { hasRetry } from './row';
import { ROWS } from './rows';
import { WEATHER } from './weather';

const COMPLETIONS = ['poll', 'returnTask', 'awaitWebhook', 'notifyTrigger', 'callUrl'];

it('every operation is a row', () => {
	const rows = new Set(ROWS.map(({ name }) => name.replace(/[,:].*/, '')));
	for (const { name } of EVERY_OPERATION) expect([name, rows.has(name)]).toEqual([name, true]);
});

it.each(['transcription.transcribeFile', 'transcription.transcribeUrl', 'meeting.sendBot'])(
	'%s is a row with every way to get the transcript',
	(operation) => {
		for (const completion of COMPLETIONS) {
			const name = `${operation}, ${completion}: submit`;
			expect(ROWS.filter((row) => row.name === name)).toHaveLength(1);
		}
	},
);

it('names are unique, and every exception is about something', () => {
	expect(new Set(ROWS.map(({ name }) => name)).size).toBe(ROWS.length);
	for (const { row, fault, outcome } of EXCEPTIONS) {
		const rows = ROWS.filter(({ name }) => row.test(name));
		expect([String(row), fault, rows.length > 0]).toEqual([String(row), fault, true]);
		for (const one of rows) expect(expectedOf(one, fault)).toBe(outcome);
	}
});

it('every exception of a Retry is about an execution that has to fail, and is the first that is about it', () => {
	for (const { row, fault, outcome } of RETRIES) {
		const rows = ROWS.filter(({ name }) => row.test(name));
		expect([String(row), fault, rows.length > 0]).toEqual([String(row), fault, true]);
		for (const one of rows) {
			const retry = [mustBeRetried(one, fault), retryOf(one, fault)];
			expect([one.name, fault, ...retry]).toEqual([one.name, fault, true, outcome]);
		}
	}
});

it("n8n's Retry is judged of whatever costs or must not be done twice", () => {
	const costly = EVERY_OPERATION.map(({ name }) => name).filter((name) =>
		/^transcription\.|^meeting\.sendBot$|^apiKey\.rotate$|^task\.regenerateSummary$/.test(name),
	);
	expect(costly).toHaveLength(5);
	for (const operation of costly) {
		const rows = ROWS.filter(({ name }) => name.replace(/[,:].*/, '') === operation);
		for (const row of rows.filter(({ kind }) => kind !== 'asleep')) {
			const faults = WEATHER.filter(({ name }) => mustBeRetried(row, name));
			expect([row.name, hasRetry(row), faults.length > 0]).toEqual([row.name, true, true]);
		}
	}
});

it('every gap is about something, and no cell is in two of them', () => {
	const cells = GAPS.flatMap(({ row, fault, line }) =>
		ROWS.filter(({ name }) => row.test(name)).flatMap(({ name }) =>
			(line ? [line] : [1, 2]).map((one) => `${name} × ${fault}, n8n ${one}`),
		),
	);
	for (const { row } of GAPS) expect(ROWS.some(({ name }) => row.test(name))).toBe(true);
	expect(new Set(cells).size).toBe(cells.length);
});

it('every row is tried in every kind of trouble but the ones that cannot happen to it', () => {
	const cells = ROWS.flatMap((row) => WEATHER.map(({ name }) => expectedOf(row, name)));
	expect(cells.filter((outcome) => outcome !== NOT_TRIED).length).toBeGreaterThan(1000);
});

it('docs/faults.md says “the same” only where one 401 ends it, and “not tried” of all else', () => {
	const cells = (title: string) => {
		const line = read('docs/faults.md')
			.split('\n')
			.find((one) => one.startsWith(`| ${title} |`));
		return (
			line
				?.split('|')
				.slice(2, -1)
				.map((cell) => cell.trim()) ?? []
		);
	};
	const once = cells('401 once');
	const others = WEATHER.filter(({ name }) => name !== '401 for good');
	expect(once).toHaveLength(9);
	expect(cells('401 from now on').filter((cell) => cell === 'not tried')).toHaveLength(2);
	for (const [column, cell] of cells('401 from now on').entries())
		expect([column, cell === '–']).toEqual([column, once[column] === `“${KEY}”`]);
	for (const { title } of others) expect([title, ...cells(title)]).not.toContain('–');
	expect(cells('Connection refused for 5 s').filter((cell) => cell === 'not tried')).toHaveLength(
		2,
	);
});

it('docs/faults.md is the table (npm run test:faults -- --write)', () => {
	expect(read('docs/faults.md')).toBe(faultsPage());
});
