/** A delivery that came long before 'Timeout' was over, of a task whose status shows no end for a while. */
// Also covers resultsAfterWaking.ts.

import { NodeRun } from '../../../../nodes/Transcriber/item/nodeRun';
import {
	AFTER_WAKING,
	resultsAfterWaking,
} from '../../../../nodes/Transcriber/submit/suspension/resultsAfterWaking';
import { until } from '../../../simulator/testing-client';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

it('is waited for until that time, and not only for the least time after waking', async () => {
	jest.replaceProperty(AFTER_WAKING, 'leastMs', 200);
	const taskId = await service.pendingTask();
	const parameters = { ...LINK, onCompletion: 'awaitWebhook' };
	const context = itemContext(parameters, { credentials: service.credentials() });
	const run = NodeRun.of(context);
	run.register(0);
	const tasks = [{ index: 0, answer: {}, ids: { taskId }, state: {} }];
	const times = { until: Date.now() + 600_000, asleep: true, resumed: true };
	const suspension = { run: 0, items: { 0: { taskId } }, refused: {}, ...times };
	const results = resultsAfterWaking(context, tasks, suspension, run);
	const ended = until(() => service.lines().length > 10).then(
		() => service.running().finish(taskId),
		() => {},
	);
	expect((await results)[0]?.json).toMatchObject({ task_id: taskId, status: 'completed' });
	await ended;
});
