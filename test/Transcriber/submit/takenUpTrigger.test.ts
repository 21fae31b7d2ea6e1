/** A Retry of an item whose hand-over has failed: a 'Trigger URL' that was changed since is checked first. */
// Also covers prepareCompletion.ts.
import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { again } from '../../support/again';
import { STORED, answeringTrigger } from '../../support/answeringTrigger';
import { FILE, LINK } from '../../support/parameters';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

beforeEach(() => {
	jest.replaceProperty(HAND_OVER, 'patience', 0);
	jest.replaceProperty(HAND_OVER, 'patienceWhenNotActive', 0);
});

// With an own key, it is not known to what address the service delivers: the task may be older.
it.each([
	['a link', LINK, () => itemsOf({})],
	['a file', FILE, () => [itemWithFile('talk')]],
])('of %s with an Idempotency Key', async (_what, submit, items) => {
	const { apiKey } = service.running();
	const trigger = await answeringTrigger(apiKey, (_call, handedOver) =>
		handedOver.length === 0 ? STORED : { status: 404, body: '{}' },
	);
	const options = { idempotencyKey: 'talk-17' };
	const notify = { ...submit, options, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
	const first = await service.run(notify, { items: items(), executionId: '41' });
	expect(first.error?.message).toContain('did not accept the hand-over');
	const calls = trigger.calls.length;
	const wrong = { ...notify, triggerUrl: `${trigger.url}?token=hush` };
	const data = again(first, wrong, items(), { asFirstRun: true });
	const { error } = await service.run(wrong, { data, executionId: '42' });
	trigger.close();
	expect(error?.message).toMatch(/^'Trigger URL' holds more than an address/);
	expect(trigger.calls).toHaveLength(calls);
});
