/** A suspended execution with two tasks that the service does not know: the one that is new decides, whatever its place. */
// Also covers askWhetherEnded.ts.
import type { WaitingItem } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import { haveAllEnded } from '../../../../nodes/Transcriber/submit/suspension/askWhetherEnded';
import { Undecided } from '../../../../nodes/shared/webhook/answerInTime';
import { asleep, callTo, knownOfItems } from '../../../support/asleep';
import { giveUpSoon } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

it.each([
	['first', { 0: { taskId: 'new' }, 1: { taskId: 'gone' } }],
	['last', { 0: { taskId: 'gone' }, 1: { taskId: 'new' } }],
])('the new one is the %s', async (_place, items: Record<string, WaitingItem>) => {
	giveUpSoon();
	service.running().fault({
		match: { path: '/tasks/' },
		times: 99,
		action: { kind: 'respond', status: 404, body: { detail: 'No such task' } },
	});
	const context = callTo({ credentials: service.credentials() });
	const state = knownOfItems(context, []);
	const began = Date.now();
	/** A delivery so many ms after the first. */
	const delivery = async (after: number, waiting: Record<string, WaitingItem>) => {
		const cameAt = began + after;
		const clock = jest.spyOn(Date, 'now').mockReturnValue(cameAt);
		const now = { context, cameAt, deadline: cameAt + 3_600_000 };
		return await haveAllEnded(now, state, asleep(waiting))
			.catch((error: Error) => error)
			.finally(() => clock.mockRestore());
	};
	await delivery(0, { 1: { taskId: 'gone' } });
	expect(await delivery(130_000, items)).toBeInstanceOf(Undecided);
});
