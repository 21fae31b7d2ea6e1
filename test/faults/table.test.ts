/** The fault matrix has a row for everything, and docs/faults.md says what it compares with. */
import { read } from '../structure/read';
import { EVERY_OPERATION } from '../support/everyOperation';
import { EXCEPTIONS, GAPS } from './exceptions';
import { NOT_TRIED, expectedOf } from './expected';
import { faultsPage } from './page';
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

it('docs/faults.md is the table (npm run test:faults -- --write)', () => {
	expect(read('docs/faults.md')).toBe(faultsPage());
});
