/** 'Wait for the Transcript (Webhook)': the id of a bot that the service sends as a number. */
// Also covers wakeOnDelivery.ts.

import { serviceForTests, itemsOf } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';
import { sign } from '../../../TranscriberTrigger/client';

const service = serviceForTests();

it('takes a bot id that is a number, in the answer to the submit and in the delivery', async () => {
	const secret = 'a secret of the service';
	const answer = (method: string, path: string, body: object) =>
		service
			.running()
			.fault({ match: { method, path }, times: 9, action: { kind: 'respond', status: 200, body } });
	answer('POST', '/meeting$', { bot_id: 4711, status: 'joining', webhook_secret: secret });
	answer('GET', '/meeting/4711$', { bot_id: 4711, status: 'completed', task_id: 17 });
	answer('GET', '/tasks/17$', { task_id: 17, status: 'completed' });
	answer('GET', '/tasks/17/result$', { text: 'Hello' });
	const parameters = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: 'https://meet.example.com/a',
		consentAcknowledged: true,
		onCompletion: 'awaitWebhook',
	};
	const workflow = workflowWith(parameters, service.credentials());
	const asleep = await workflow.start(itemsOf({}));
	expect(asleep.isSuspended).toBe(true);
	const raw = JSON.stringify({
		event: 'meeting.transcript.completed',
		bot_id: 4711,
		task_id: 17,
		status: 'completed',
	});
	const { woken } = await workflow.deliver(asleep, raw, sign(raw, secret));
	expect(woken?.next).toEqual([expect.objectContaining({ bot_id: '4711', text: 'Hello' })]);
});
