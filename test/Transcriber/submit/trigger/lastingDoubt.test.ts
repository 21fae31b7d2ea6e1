/** A task of which nobody knows whether the trigger heard of its end: no Retry can find that out. */
// Also covers handSecretOver.ts.

import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { handSecretOver } from '../../../../nodes/Transcriber/submit/trigger/handSecretOver';
import { isLasting } from '../../../../nodes/shared/parameters/refuse';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

it.each([true, 'perhaps'] as const)('is an error that lasts: %s', async (endedUnheard) => {
	const context = itemContext({ ...LINK, onCompletion: 'notifyTrigger' });
	const submissions = [{ answer: { task_id: 'a' }, handedOver: true, endedUnheard }];
	remember(context, { state: 'accepted', submissions, at: 0 });
	const failure = await handSecretOver(context, 0, 'earlier').catch((error: unknown) => error);
	expect(failure).toBeInstanceOf(Error);
	expect(isLasting(failure as Error)).toBe(true);
});
