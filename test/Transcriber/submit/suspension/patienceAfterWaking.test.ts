/** After an execution was woken or its time was up: from when the least time for the results counts. */
// Also covers resultsAfterWaking.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import type { Suspension } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import {
	AFTER_WAKING,
	resultsAfterWaking,
} from '../../../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { WAIT_DEFAULTS } from '../../../../nodes/Transcriber/wait/waitOptions';
import type { FaultRule } from '../../../simulator/index';
import { until } from '../../../simulator/testing-client';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';
import { giveUpSoon } from '../../../support/scale';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

const { leastMs } = AFTER_WAKING;
beforeEach(() => {
	giveUpSoon();
	jest.replaceProperty(AFTER_WAKING, 'leastMs', leastMs);
});

const LOOK = '/tasks/[^/]+$';
const fault = (action: FaultRule['action'], times = 1) =>
	service.running().fault({ match: { method: 'GET', path: LOOK }, times, action });

async function woken(taskId: string, suspension: Partial<Suspension>, cancel?: AbortSignal) {
	const context = itemContext(
		{ ...LINK, onCompletion: 'awaitWebhook' },
		{ credentials: service.credentials(), cancel },
	);
	const run = NodeRun.of(context);
	run.register(0);
	const asleep = { run: 0, until: Date.now(), items: { 0: { taskId } }, refused: {}, asleep: true };
	const tasks = [{ index: 0, answer: {}, ids: { taskId }, state: {} }];
	const output = await resultsAfterWaking(context, tasks, { ...asleep, ...suspension }, run);
	return output.map(({ json }) => json);
}

it('n8n that was off for an hour has its whole patience with a network that is not back yet', async () => {
	const taskId = await service.completedTask();
	fault({ kind: 'cut', when: 'beforeBody' }, 3);
	const json = await woken(taskId, { until: Date.now() - 3_600_000 });
	expect(json).toMatchObject([{ task_id: taskId, status: 'completed', text: expect.any(String) }]);
});

it('a slow first look takes nothing of the time in which the status may still show the end', async () => {
	jest.replaceProperty(AFTER_WAKING, 'leastMs', 1_000);
	const taskId = await service.pendingTask();
	fault({ kind: 'delay', ms: 1_500 });
	const results = woken(taskId, { resumed: true });
	const ended = until(() => service.lines().length > 1).then(
		() => service.running().finish(taskId),
		() => {},
	);
	expect(await results).toMatchObject([{ task_id: taskId, status: 'completed' }]);
	await ended;
});

it('the stop button ends the pause between two looks at a service that is at fault', async () => {
	jest.replaceProperty(WAIT_DEFAULTS, 'pollInterval', 60);
	const taskId = await service.completedTask();
	fault({ kind: 'respond', status: 500 }, 99);
	const stop = new AbortController();
	const results = woken(taskId, {}, stop.signal).catch((error: unknown) => error);
	await until(() => service.lines().length > 0);
	// By then, the look has failed, and the pause has begun.
	await sleep(1_000);
	stop.abort();
	expect(await results).toBe(stop.signal.reason);
});
