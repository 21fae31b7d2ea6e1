/** A hand-over that the trigger has stored late, in an execution that is stopped a moment after that. */
// Also covers handSecretOver.ts.

import { remember } from '../../../../nodes/Transcriber/submit/once/submissionMemory';
import { handSecretOver } from '../../../../nodes/Transcriber/submit/trigger/handSecretOver';
import { HAND_OVER } from '../../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { seal } from '../../../../nodes/shared/webhook/sealedSecret';
import { until } from '../../../simulator/testing-client';
import { answeringTrigger, STORED } from '../../../support/answeringTrigger';
import { itemContext } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';
import { serviceForTests } from '../../../support/service';

const service = serviceForTests();

it('a Retry does not say that the trigger got it only after the end of the task', async () => {
	jest.replaceProperty(HAND_OVER, 'interval', 10);
	const { apiKey } = service.running();
	const trigger = await answeringTrigger(apiKey, (call) =>
		call === 1 ? { status: 502, body: '{}' } : STORED,
	);
	const id = await service.pendingTask();
	const saved = {};
	const parameters = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
	const context = (cancel?: AbortSignal) =>
		itemContext(parameters, { saved, credentials: service.credentials(), cancel });
	const sealedSecret = seal(apiKey, 'submission secret', `task ${id}`, 'secret');
	const submissions = [{ answer: { task_id: id }, sealedSecret }];
	remember(context(), { state: 'accepted', submissions, at: 0 });

	service.running().fault({ match: { method: 'GET' }, action: { kind: 'stall' } });
	const stop = new AbortController();
	const first = handSecretOver(context(stop.signal), 0, 'new').catch((error: unknown) => error);
	await until(() => service.lines().length > 0);
	stop.abort();
	await first;

	service.running().finish(id);
	const inRetry = handSecretOver(context(), 0, 'earlier');
	await expect(inRetry).rejects.toThrow(`It is not known whether task ${id} had ended before`);
	trigger.close();
});
