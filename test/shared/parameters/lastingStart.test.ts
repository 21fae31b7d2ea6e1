/** A 'Start At' that is refused: whether a Retry of the execution could mend that. */
// Also covers startAt.ts.

import { isLasting } from '../../../nodes/shared/parameters/refuse';
import { checkStart, sendNow } from '../../../nodes/shared/parameters/startAt';
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

it.each([
	[
		'an expression of a node with items',
		{ ...BOT, startAt: '={{ $json.start }}' },
		/give the node this item alone/,
	],
	['a fixed time', { ...BOT, startAt: '2020-01-01T10:00:00Z' }, /Leave the field empty/],
])('%s: the advice to send the bot now sends no other bot', (_what, parameters, advice) => {
	const check = () => checkStart(itemContext(parameters), '2020-01-01T10:00:00Z');
	expect(check).toThrow(expect.objectContaining({ description: expect.stringMatching(advice) }));
});

it('A trigger has no other items', () => {
	const item = itemContext({ ...BOT, startAt: '={{ $now }}' });
	const trigger = Object.assign(item, { getItemIndex: undefined });
	expect(sendNow(trigger)).toMatch(/Leave the field empty/);
});
