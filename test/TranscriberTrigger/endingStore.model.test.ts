/**
 * Contract, "The trigger's store": nothing that was acknowledged is lost, and each delivery that is
 * answered 200 has started one execution, whatever is called when. row.ts says what has to hold.
 */
// Also covers repairStaticData.ts.

import { Row, SITUATIONS, newPlace, type Place } from './row';

import fc from 'fast-check';

import { atLength } from '../support/long';
import { holdsAlways } from '../support/modelRuns';
import { serviceForTests } from '../support/service';

const service = serviceForTests();

/** So many models at a time: most of their time is waiting. */
const AT_ONCE = 3;
const lanes: Place[][] = [];

jest.setTimeout(36_000_000);
beforeAll(() => {
	for (let lane = 0; lane < AT_ONCE; lane++) lanes.push([newPlace(), newPlace(), newPlace()]);
});

/** The model's state is in {@link Row}, so commands need no model of their own. */
type Command = fc.AsyncCommand<object, Row>;

function command(name: string, run: (row: Row) => Promise<void> | void): Command {
	return { check: () => true, run: async (_, row) => await run(row), toString: () => name };
}

const number = fc.nat({ max: 4 });
const place = fc.nat({ max: 2 });
const commands = [
	fc
		.tuple(fc.array(number, { minLength: 1, maxLength: 3 }), place)
		.map(([numbers, at]) =>
			command(
				`hand over ${String(numbers)} to ${at}`,
				async (row) => await row.handOver(numbers, at),
			),
		),
	fc
		.record({
			number,
			places: fc.oneof(
				place.map((at) => [at]),
				place.map((at) => [at, at]),
				fc.array(place, { minLength: 2, maxLength: 3 }),
			),
			kind: fc.constantFrom('genuine', 'genuine', 'genuine', 'forged', 'unsigned'),
			isSlow: fc.boolean(),
			isFull: fc.constantFrom(false, false, true),
			isRepeat: fc.boolean(),
		})
		.map(({ number: no, places, ...how }) =>
			command(`deliver ${no} to ${String(places)} ${JSON.stringify(how)}`, async (row) => {
				await row.deliver(no, places, how);
			}),
		),
	fc
		.tuple(number, place)
		.map(([no, at]) =>
			command(`deliver ${no} to ${at}`, async (row) => await row.deliver(no, [at])),
		),
	place.map((at) => command(`kill ${at}`, (row) => row.kill(at))),
	fc.constant(command('another writer loads', (row) => row.takeCopy())),
	fc.constant(command('another writer saves', (row) => row.saveCopy())),
	fc
		.boolean()
		.map((isOn) =>
			command(`switch ${isOn ? 'on' : 'off'}`, async (row) => await row.switchTo(isOn)),
		),
	fc.constant(command('wait', async (row) => await row.untilQuiet())),
];

it('nothing that was acknowledged is lost, and each delivery starts one execution', async () => {
	const free = [...lanes];
	const met = new Set<string>();
	const property = fc.asyncProperty(
		fc.commands(commands, { maxCommands: 12 }),
		fc.integer({ min: 1, max: 3 }),
		fc.constantFrom(10_000, 10_000, 10_000, 2),
		async (plan, processes, limit) => {
			const lane = free.pop() ?? [];
			const row = await new Row(service, lane.slice(0, processes), limit).open();
			try {
				await fc.asyncModelRun(() => ({ model: {}, real: row }), plan);
				// What the check does itself does not count.
				for (const one of row.met) met.add(one);
				await row.check();
			} finally {
				await row.close();
				free.push(lane);
			}
		},
	);
	await holdsAlways(property, atLength(6, 2), AT_ONCE, { met, mustMeet: [...SITUATIONS] });
});
