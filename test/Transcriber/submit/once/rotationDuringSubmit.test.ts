/** The API key is rotated between two attempts of a submit: the secret in the answer can still be used. */
// Also covers submitOnce.ts.

import { RETRY } from '../../../../nodes/shared/api/delayBeforeRetry';
import { until } from '../../../simulator/testing-client';
import { LINK } from '../../../support/parameters';
import { forgetEverything } from '../../../support/ownMemory';
import { itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';
import { deliver, sign } from '../../../TranscriberTrigger/client';
import { TriggerHost } from '../../../TranscriberTrigger/host';

const service = serviceForTests();
beforeEach(forgetEverything);
/** Refuses the first attempt, and rotates the key in the pause after it. */
async function rotate(credentials: { apiKey: string }): Promise<void> {
	await until(() => service.lines().includes('POST /api/v1/transcribe-url'));
	const { body } = await service.ask('POST /api-key/generate');
	credentials.apiKey = String(body['api_key']);
}

function refuseFirst(): void {
	service.running().fault({
		match: { method: 'POST', path: '/transcribe-url$' },
		times: 1,
		action: { kind: 'respond', status: 503, headers: { 'retry-after': '1.5' } },
	});
}

it('of a suspended execution: its signature decides, and nothing is asked about a forged delivery', async () => {
	// The service has no result yet.
	jest.replaceProperty(RETRY, 'patienceWhenRefused', 0);
	const credentials = service.credentials();
	refuseFirst();
	const workflow = workflowWith({ ...LINK, onCompletion: 'awaitWebhook' }, credentials);
	const starting = workflow.start(itemsOf({}));
	await rotate(credentials);
	const asleep = await starting;
	const [task] = service.running().tasks();
	service.running().requests.splice(0);
	const raw = JSON.stringify({ task_id: task?.id, status: 'completed' });
	const forged = await workflow.deliver(asleep, raw, sign(raw, 'not the secret'));
	expect([forged.status, service.lines()]).toEqual([401, []]);
	const genuine = await workflow.deliver(asleep, raw, sign(raw, task?.webhookSecret ?? ''));
	expect([genuine.status, genuine.woken !== undefined]).toEqual([200, true]);
});

it('of an item that is handed to a trigger: the trigger knows the secret', async () => {
	const credentials = service.credentials();
	const parameters = { options: { includeResult: false } };
	const host = await new TriggerHost({ parameters, credentials }).open();
	try {
		refuseFirst();
		const submit = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const running = service.run(submit, { credentials });
		await rotate(credentials);
		const { json } = await running;
		const [task] = service.running().tasks();
		expect(json).toMatchObject([{ task_id: task?.id }]);
		const event = { task_id: task?.id, status: 'completed' };
		const answer = await deliver(host.url, event, task?.webhookSecret ?? '');
		expect(answer).toMatchObject({ status: 200 });
	} finally {
		await host.close();
	}
});
