/** A delivery that comes while the service is still being asked for the one before. */
// Also covers askWhetherEnded.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import {
	hasEndedAtService,
	haveAllEnded,
} from '../../../../nodes/Transcriber/submit/suspension/askWhetherEnded';
import { Undecided } from '../../../../nodes/shared/webhook/answerInTime';
import { until } from '../../../simulator/testing-client';
import { asleep, callTo, knownOfItems } from '../../../support/asleep';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

/** The service has been asked, and its answer, "not yet", is on its way when the second call comes. */
async function twoCalls() {
	const taskId = await service.pendingTask();
	const context = callTo({ credentials: service.credentials() });
	const state = knownOfItems(context, [{ taskId }]);
	service.running().fault({ match: { path: '/tasks/' }, action: { kind: 'delay', ms: 2_000 } });
	const call = () => ({ context, cameAt: Date.now(), deadline: Date.now() + 60_000 });
	const first = hasEndedAtService(call(), state, { taskId });
	await until(() => service.lines().length > 0);
	await sleep(20);
	return { taskId, state, first, second: call() };
}

it('a "not yet" that was asked for before it came decides nothing for it', async () => {
	const { taskId, state, first, second } = await twoCalls();
	await expect(hasEndedAtService(second, state, { taskId })).rejects.toThrow(Undecided);
	expect(await first).toBe(false);
});

it('the service is asked again before a genuine one is noted without waking the execution', async () => {
	const { taskId, state, first, second } = await twoCalls();
	expect(await first).toBe(false);
	service.running().finish(taskId);
	expect(await haveAllEnded(second, state, asleep({ 0: { taskId } }))).toBe(true);
});
