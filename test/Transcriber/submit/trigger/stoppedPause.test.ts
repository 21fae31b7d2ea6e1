/** The stop button, while a Transcriber Trigger is away. */
// Also covers confirmedByTrigger.ts.

import {
	HAND_OVER,
	handOver,
} from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { until } from '../../../simulator/testing-client';
import { answeringTrigger } from '../../../support/answeringTrigger';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

it('ends the pause between two tries of a hand-over', async () => {
	jest.replaceProperty(HAND_OVER, 'interval', 60_000);
	jest.replaceProperty(HAND_OVER, 'patience', 600_000);
	const trigger = await answeringTrigger('test-api-key', () => ({ status: 502, body: '' }));
	const stop = new AbortController();
	const parameters = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
	const context = itemContext(parameters, { cancel: stop.signal });
	const outcome = handOver(context, trigger.url, { taskId: '7f3c' }, 'secret').catch(
		(error: unknown) => error,
	);
	await until(() => trigger.calls.length > 0);
	// By then, the answer is there, and the pause has begun.
	await new Promise((resolve) => setTimeout(resolve, 500));
	stop.abort();
	expect(await outcome).toBe(stop.signal.reason);
	expect(trigger.calls).toHaveLength(1);
	trigger.close();
});
