/** An Idempotency Key that three items gave, of which only one was sent, in each place. */
// Also covers givenIdempotencyKeyUses.ts.

import { isKeyOf } from '../../../../nodes/Transcriber/submit/once/givenIdempotencyKeyUses';
import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

it.each([0, 1, 2])('another recording is refused later if item %i was sent', async (itemIndex) => {
	const items = [{ json: {} }, { json: {} }, { json: {} }];
	const saved = {};
	const at = (place: ItemPlace) => itemContext(LINK, { saved, items, ...place });
	const give = async (place: ItemPlace, name: string) =>
		await isKeyOf(at(place), 'file-17', { name, isSame: async () => await Promise.resolve(false) });
	for (const index of items.keys()) await give({ itemIndex: index }, 'one');
	remember(at({ itemIndex }), { state: 'sent' });
	expect(await give({ runIndex: 1 }, 'two')).toBe(false);
});
