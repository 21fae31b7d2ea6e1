/** Compares a cell with the table and with the books of the service. */
import type { Execution } from '../n8n/rest';
import { CRASHED, WORKS, type Act, type Outcome } from './acts';
import type { Cell } from './cell';
import { expectedOf, isGap } from './expected';
import { acceptedSince, placesOf, secretsOutside, wrongInBooks, type Books } from './invariants';
import type { Result } from './report';
import type { Row } from './row';
import type { Weather } from './weather';

/** A cell with its fault armed. */
export interface Begun {
	row: Row;
	weather: Weather;
	cell: Cell;
	act: Act;
	before: Books;
}

/** Compares what came out with the table, and checks the books. */
export async function judged(
	{ row, weather, cell, before }: Begun,
	outcome: Outcome,
): Promise<Result> {
	const { simulator } = cell;
	const expected = expectedOf(row, weather.name);
	const wrong: string[] = [];
	if (!expected.split(' / ').some((one) => isAsExpected(outcome.result, one)))
		wrong.push(`expected “${expected}”, got “${outcome.result}”`);
	if (simulator.faultsHappened === 0 && row.kind !== 'asleep')
		wrong.push('the fault has not happened');
	const books = await compareBooks({ row, cell, before }, outcome, isGap(row, weather.name));
	wrong.push(...books.wrong);
	return {
		row: row.name,
		kind: row.kind,
		fault: weather.name,
		result: outcome.result,
		places: books.places,
		wrong,
	};
}

/** An error contains the words of the table. A success is no part of a longer text. */
export function isAsExpected(result: string, expected: string): boolean {
	return [WORKS, CRASHED].includes(expected) ? result === expected : result.includes(expected);
}

/** What holds whatever comes out: by the books of the service. `hasGap`: see {@link wrongInBooks}. */
export async function compareBooks(
	{ row, cell, before }: Pick<Begun, 'row' | 'cell' | 'before'>,
	outcome: Outcome,
	hasGap = false,
): Promise<Pick<Result, 'places' | 'wrong'>> {
	const { simulator } = cell;
	const retried = row.submits > 0 && outcome.failed ? await retry(cell, outcome.failed) : undefined;
	const wrong = wrongInBooks(row, before, simulator, {
		hasWorked: outcome.result === WORKS,
		hasGap,
	});
	const accepted = acceptedSince(before, simulator);
	const executions = cell.executions.filter((one) => one !== retried);
	const places = placesOf(accepted, outcome.result, executions, retried, simulator);
	if (places.filter((place) => place === undefined).length > (hasGap ? 1 : 0))
		wrong.push('UNREPORTED: an accepted id is in no output and no error');
	wrong.push(...secretsOutside(cell, cell.executions, cell.n8n.log()));
	return { places: places.filter((place) => place !== undefined), wrong };
}

/** n8n's Retry of the failed execution, in good weather. */
async function retry(cell: Cell, { id }: Execution): Promise<Execution> {
	const { id: retried } = await cell.n8n.rest.post<{ id: string }>(`/executions/${id}/retry`, {
		loadWorkflow: false,
	});
	return await cell.ended(retried);
}
