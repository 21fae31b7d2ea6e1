/** 'Wait for the Transcript (Webhook)': a suspended execution waits for the last of its bots. */
// Also covers suspendUntilDelivery.ts.

import { itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';

const service = serviceForTests();

const HOUR = 3_600_000;

it.each([
	['first', [5, 1]],
	['second', [1, 5]],
])('sleeps until the time of the latest bot is up: the %s of two', async (_which, hours) => {
	const starts = hours.map((hour) => new Date(Date.now() + hour * HOUR).toISOString());
	const parameters = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: 'https://meet.example.com/a',
		startAt: '={{ $json.at }}',
		consentAcknowledged: true,
		onCompletion: 'awaitWebhook',
		waitOptions: { timeout: 60 },
	};
	const workflow = workflowWith(parameters, service.credentials());
	const { isSuspended, data } = await workflow.start(itemsOf(...starts.map((at) => ({ at }))));
	expect(isSuspended).toBe(true);
	expect(Number(data.waitTill)).toBeGreaterThan(Date.now() + 5.9 * HOUR);
});
