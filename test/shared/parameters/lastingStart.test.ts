/** A 'Start At' that is refused: whether a Retry of the execution could mend that. */
// Also covers startAt.ts.

import { isLasting } from '../../../nodes/shared/parameters/refuse';
import { checkStart } from '../../../nodes/shared/parameters/startAt';
import { itemContext } from '../../support/itemContext';
import { BOT } from '../../support/parameters';

const HOUR = 3_600_000;

it.each([
	['in the past, never', -1, true],
	['too far ahead, later', 31 * 24, false],
])('%s', (_what, hours, lasts) => {
	const startAt = new Date(Date.now() + hours * HOUR).toISOString();
	let failure: unknown;
	try {
		checkStart(itemContext(BOT), startAt);
	} catch (error) {
		failure = error;
	}
	expect(failure).toBeInstanceOf(Error);
	expect(isLasting(failure as Error)).toBe(lasts);
});
