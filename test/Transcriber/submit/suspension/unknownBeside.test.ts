/** A delivery, while the service does not know two other tasks of the execution: one for long, one since just now. */
// Also covers askWhetherEnded.ts.

import { haveAllEnded } from '../../../../nodes/Transcriber/submit/suspension/askWhetherEnded';
import { POLL } from '../../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { Undecided } from '../../../../nodes/shared/webhook/answerInTime';
import { asleep, callTo, knownOfItems } from '../../../support/asleep';

const now = Date.now();

it.each([
	['first', ['new', 'old', 'old']],
	['in the middle', ['old', 'new', 'old']],
	['last', ['old', 'old', 'new']],
])('wakes nothing yet, if the latter stands %s', async (_place, ages) => {
	const items = ages.map((_, index) => ({ taskId: String(index) }));
	const context = callTo();
	const state = knownOfItems(context, items);
	for (const [index, age] of ages.entries()) {
		const key = `task ${index}`;
		const since = age === 'old' ? now - POLL.refused : now;
		const hasEnded = Promise.resolve(false);
		state.asked.set(key, { at: now, hasEnded, hasFailed: true });
		state.unknownLooks.set(key, { since, last: now });
	}
	const call = { context, cameAt: now, deadline: now + 60_000 };
	await expect(
		haveAllEnded(call, state, asleep(Object.fromEntries(items.entries()))),
	).rejects.toThrow(Undecided);
});
