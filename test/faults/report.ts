/** What a run says at its end. */
import { WORKS } from './acts';
import type { Place } from './invariants';
import { mustBeRetried } from './expected';
import type { Kind, Row } from './row';
import { WEATHER, type FaultName } from './weather';

export interface Result {
	row: string;
	kind: Kind;
	fault: FaultName;
	result: string;
	/** What n8n's Retry of the execution came to, in good weather; undefined if there was none. */
	retry?: string;
	/** Where each accepted id was reported. */
	places: Place[];
	/** What was not as expected. */
	wrong: string[];
}

/** What a run has not done although it was asked to: cells without a result, and Retries that nobody has judged. */
export function leftOut(
	cells: Array<{ row: Row; weather: { name: FaultName } }>,
	results: Result[],
): string[] {
	return cells.flatMap(({ row, weather: { name } }) => {
		const found = results.find((one) => one.row === row.name && one.fault === name);
		if (!found) return [`${row.name} × ${name}: NOT TRIED`];
		const isRetryMissing = mustBeRetried(row, name) && found.retry === undefined;
		return isRetryMissing ? [`${row.name} × ${name}: NO RETRY`] : [];
	});
}

export function summary(results: Result[], version: string, seconds: number): string {
	const faults = WEATHER.map(({ name }) => name).filter((name) =>
		results.some(({ fault }) => fault === name),
	);
	const messages = [
		...new Set(
			results
				.map(({ result }) => result)
				.filter((one) => one !== WORKS)
				.map(shape),
		),
	];
	const cell = (row: string, fault: FaultName) => {
		const found = results.find((one) => one.row === row && one.fault === fault);
		if (!found) return '–';
		const sign = found.result === WORKS ? '✓' : String(messages.indexOf(shape(found.result)) + 1);
		return found.wrong.length > 0 ? `**${sign} ✗**` : sign;
	};
	const rows = [...new Set(results.map(({ row }) => row))].sort();
	const lines = rows.map(
		(row) => `| ${row} | ${faults.map((one) => cell(row, one)).join(' | ')} |`,
	);
	const places = results.flatMap(({ places: all }) => all);
	const counts = [...new Set(places)]
		.map((place) => `${place} ${places.filter((one) => one === place).length}`)
		.join(', ');
	const wrong = results.filter((one) => one.wrong.length > 0);
	return [
		`| | ${faults.join(' | ')} |`,
		`|---|${faults.map(() => '---').join('|')}|`,
		...lines,
		'',
		...messages.map((message, index) => `${index + 1}: ${message}`),
		'',
		`n8n's Retries that were judged: ${results.filter(({ retry }) => retry !== undefined).length}`,
		`What the service accepted was reported in: ${counts || 'nothing was accepted'}`,
		...wrong.map(({ row, fault, wrong: all }) => `✗ ${row} × ${fault}: ${all.join('; ')}`),
		`${results.length} cells in n8n ${version}, ${results.length - wrong.length} as expected, ${seconds} s`,
	].join('\n');
}

/** The message, without what differs from cell to cell. */
function shape(result: string): string {
	return result
		.replace(/\[item \d+\].*/s, '')
		.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
		.replace(/\s+/g, ' ')
		.trim()
		.slice(0, 200);
}
