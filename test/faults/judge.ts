/** Compares a cell with the table and with the books of the service. */
import type { Execution } from '../n8n/rest';
import { CRASHED, WORKS, endNow, type Act, type Outcome } from './acts';
import type { Cell } from './cell';
import type { Gap } from './exceptions';
import { expectedOf, gapOf, placeOf, retryOf, type WordsIn } from './expected';
import {
	acceptedSince,
	isAskedAgain,
	isOnceMore,
	mayHaveLostId,
	placesOf,
	secretsOutside,
	tooEarly,
	wrongInBooks,
	wrongInKill,
	type Books,
} from './invariants';
import type { Result } from './report';
import { hasRetry, type Row } from './row';
import { UNANSWERED, goodWeather, type Weather } from './weather';

/** A cell with its fault armed. */
export interface Begun {
	row: Row;
	weather: Weather;
	cell: Cell;
	act: Act;
	before: Books;
	/** When the fault was armed, in ms since 1970. */
	armedAt: number;
	/** Until when the service refuses connections, in ms since 1970, if it has done so from the start. */
	opensAt?: number;
}

/** Of a node that has slept, n8n keeps only the run that woke: then the end of the step before counts. */
function hasBegunBy({ Subject: runs = [], ...others }: RunData, row: Row, time: number): boolean {
	if (!row.name.includes('awaitWebhook')) return runs.some(({ startTime }) => startTime < time);
	const before = Object.values(others).flat();
	return before.some(({ startTime, executionTime }) => startTime + executionTime < time);
}

type RunData = Execution['runData'];

/** Compares what came out with the table, and checks the books. */
export async function judged(
	{ row, weather, cell, act, before, armedAt, opensAt }: Begun,
	outcome: Outcome,
): Promise<Result> {
	const { simulator } = cell;
	const expected = ofVersion(expectedOf(row, weather.name), cell.n8n.version);
	const wrong: string[] = [];
	if (!isAsExpected(outcome, expected, placeOf(row, weather.name)))
		wrong.push(`expected “${expected}”, got ${shown(outcome)}`);
	if (simulator.faultsHappened === 0 && row.kind !== 'asleep')
		wrong.push('the fault has not happened');
	if (
		opensAt !== undefined &&
		!cell.executions.some(({ runData }) => hasBegunBy(runData, row, opensAt))
	)
		wrong.push('the node began only after the outage');
	const { retryAfter } = weather;
	if (retryAfter)
		wrong.push(...tooEarly(before, simulator, (refused) => retryAfter(refused, armedAt)));
	if (
		row.kind === 'switch off' &&
		UNANSWERED.includes(weather.name) &&
		!isAskedAgain(row, before, simulator)
	)
		wrong.push('nobody asked again whether the bot is gone');
	const gap = gapOf(row, weather.name, cell.n8n.version);
	const isKilled = weather.name === 'kill -9';
	if (isKilled) wrong.push(...wrongInKill(row, before, cell));
	const books = await compareBooks({ row, cell, before, isKilled }, outcome, gap);
	wrong.push(...books.wrong);
	const retry = books.retried && (await act.outcomeOf?.(books.retried));
	const expectedOfRetry = ofVersion(retryOf(row, weather.name), cell.n8n.version);
	if (!retry && (books.retried || mustHaveRetry(row, cell, outcome)))
		wrong.push("n8n's Retry was not judged");
	if (retry && !isAsExpected(retry, expectedOfRetry, 'error'))
		wrong.push(`expected of a Retry “${expectedOfRetry}”, got ${shown(retry)}`);
	if (gap && !gap.isUnheard && !isOnceMore(row, before, simulator))
		wrong.push('NO GAP: nothing was paid once more');
	return {
		row: row.name,
		kind: row.kind,
		fault: weather.name,
		result: outcome.result,
		retry: retry?.result,
		places: books.places,
		wrong,
	};
}

/** By what n8n says of the execution: the act may have forgotten that it has failed. */
function mustHaveRetry(row: Row, { executions }: Cell, { result }: Outcome): boolean {
	const hasFailed = executions.some(({ status }) => status !== 'success');
	return hasRetry(row) && result !== WORKS && hasFailed;
}

/** Of an outcome that differs between n8n 2 and n8n 1: see `shown` in page.ts. */
export function ofVersion(outcome: string, version: string): string {
	const [inN8n2 = '', inN8n1 = inN8n2] = outcome.split(' / ');
	return version.startsWith('1.') ? inN8n1 : inN8n2;
}

/**
 * An error contains the words of the table. A success is no part of a longer text, and an output that quotes an error is
 * none. `words`: where they have to stand.
 */
export function isAsExpected(
	{ result, failed }: Outcome,
	expected: string,
	words: WordsIn,
): boolean {
	if (expected === WORKS) return result === WORKS && !failed;
	if (words !== 'log' && (failed !== undefined) !== (words === 'error')) return false;
	return expected === CRASHED ? result === CRASHED : result.includes(expected);
}

function shown({ result, failed }: Outcome): string {
	return `“${result}”${failed || result === WORKS ? '' : ', and no execution has failed'}`;
}

/** What holds whatever comes out: by the books of the service. `gap`: what the node cannot prevent there. */
export async function compareBooks(
	{ row, cell, before, isKilled }: Pick<Begun, 'row' | 'cell' | 'before'> & { isKilled: boolean },
	outcome: Outcome,
	gap?: Partial<Gap>,
): Promise<Pick<Result, 'places' | 'wrong'> & { retried?: Execution }> {
	const { simulator } = cell;
	const retried =
		hasRetry(row) && outcome.failed ? await retry(cell, before, outcome.failed) : undefined;
	const wrong = wrongInBooks(row, before, simulator, {
		hasWorked: outcome.result === WORKS,
		hasGap: gap !== undefined && !gap.isUnheard,
	});
	const accepted = acceptedSince(before, simulator);
	const executions = cell.executions.filter((one) => one !== retried);
	const mayWarn = isKilled || mayHaveLostId(row);
	const found = placesOf(accepted, outcome.result, executions, retried, { simulator, mayWarn });
	const places = found.filter((place) => place !== undefined);
	const unreported = found.length - places.length;
	// Of the one that was paid once more, the crash is all that n8n reports.
	if (gap && unreported > 0 && outcome.result === CRASHED) places.push('crash');
	if (unreported > (gap ? 1 : 0))
		wrong.push('UNREPORTED: an accepted id is in no output and no error');
	wrong.push(...secretsOutside(cell, cell.executions, cell.n8n.log()));
	return { places, wrong, retried };
}

/**
 * n8n's Retry of the execution that has failed or crashed, in good weather, and as late as a person comes: what the
 * service has accepted has ended.
 */
async function retry(cell: Cell, before: Books, { id }: Execution): Promise<Execution> {
	const { simulator } = cell;
	await goodWeather(simulator);
	for (const accepted of acceptedSince(before, simulator)) endNow(simulator, accepted);
	const { id: retried } = await cell.n8n.rest.post<{ id: string }>(`/executions/${id}/retry`, {
		loadWorkflow: false,
	});
	return await cell.ended(retried);
}
