/** Which run of an execution, and which item of it, a call is about. */
import type { IDataObject, ITaskData } from 'n8n-workflow';

import { placeOf, runOf } from '../../../../nodes/Transcriber/submit/once/placeInRun';
import { itemContext } from '../../../support/itemContext';
import { MADE_UP } from '../../../support/madeUpRuns';
import { LINK } from '../../../support/parameters';

describe('The run of an item', () => {
	const asleep = { asleep: true, run: 2, until: 0, items: {}, refused: {} };
	it.each<[string, number, IDataObject | undefined, { index: number; isLate: boolean }]>([
		['is the one that n8n counts', 3, undefined, { index: 3, isLate: false }],
		[
			'goes on after the timeout of its suspension, as another run',
			3,
			asleep,
			{ index: 2, isLate: true },
		],
		['goes on after a delivery, as the same run', 2, asleep, { index: 2, isLate: false }],
		['is a new one later in a loop', 4, asleep, { index: 4, isLate: false }],
		[
			'is a new one after a run that was woken',
			3,
			{ ...asleep, resumed: true },
			{ index: 3, isLate: false },
		],
		[
			'is a new one after a run that was not suspended',
			3,
			{ ...asleep, asleep: false },
			{ index: 3, isLate: false },
		],
	])('%s', (_what, runIndex, suspension, expected) => {
		const items = [{ json: {} }, { json: {} }];
		const context = itemContext(LINK, { saved: { suspension }, items, runIndex, itemIndex: 1 });
		expect(runOf(context)).toEqual(expected);
		expect(placeOf(context)).toBe(`${expected.index}:1`);
	});
});

describe('The run of an item in the Retry of an execution that crashed', () => {
	it.each<[string, ITaskData]>([
		['begun', MADE_UP.begun],
		['ended', MADE_UP.ended],
	])('is the same if n8n has made up a run that had %s before the crash', (_what, madeUp) => {
		const run = (runIndex: number, runs: ITaskData[]) =>
			runOf(itemContext(LINK, { runIndex, runs })).index;
		const real = { ...MADE_UP.begun, executionStatus: 'success' } as const;
		expect(run(1, [madeUp])).toBe(0);
		expect(run(2, [madeUp, real])).toBe(1);
		expect(run(1, [real])).toBe(1);
		// The run itself is no earlier one.
		expect(run(0, [madeUp])).toBe(0);
	});
});

it('The place of a tool call is what it asks for, because each call of an agent has another run', () => {
	const place = (runIndex: number, url = LINK.url) =>
		placeOf(itemContext({ ...LINK, url }, { call: {}, runIndex }));
	expect(place(1)).toBe(place(0));
	expect(place(0, 'https://files.example.com/other.mp3')).not.toBe(place(0));
});
