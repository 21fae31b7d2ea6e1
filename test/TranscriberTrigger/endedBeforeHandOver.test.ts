/**
 * Contract: "each (task, final status) is emitted once". Here the delivery, signed with the Webhook Secret of the credential,
 * comes before the hand-over of the same secret. The secret then stays in the store as that of a second submission.
 */
// Also covers verifyDelivery.ts.
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { serviceForTests } from '../support/service';
import { deliver, post, putAll } from './client';
import { TriggerHost } from './host';

const service = serviceForTests();
const SECRET = 'whsec_of_the_account';
let host: TriggerHost;
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 50);
	jest.replaceProperty(LIMITS, 'other', 10_000);
});
afterEach(async () => {
	jest.restoreAllMocks();
	await host.close();
});

async function endedBeforeHandOver() {
	const id = await service.completedTask();
	const credentials = { ...service.credentials(), webhookSecret: SECRET };
	host = await new TriggerHost({
		parameters: { options: { includeResult: true } },
		credentials,
	}).open();
	expect((await deliver(host.url, { task_id: id }, SECRET)).status).toBe(200);
	await new Promise((resolve) => setTimeout(resolve, 200));
	const handOvers = [{ id, kind: 'task' as const, secret: SECRET }];
	for (let tries = 0; tries < 20; tries++) {
		const { body } = await putAll(host.url, handOvers, credentials.apiKey);
		if (body['stored'] === true) break;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	expect(host.executions).toHaveLength(1);
	return { id, credentials };
}
it('after a rotation of the API key, a call with a wrong signature does not start the workflow again', async () => {
	const { id, credentials } = await endedBeforeHandOver();
	const { body } = await service.ask('POST /api-key/generate');
	credentials.apiKey = String(body['api_key']);
	host.restart();
	const forged = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
	const { status } = await post(host.url, JSON.stringify({ task_id: id }), forged);
	expect({ status, executions: host.executions.length }).toEqual({ status: 401, executions: 1 });
});

it('a repeat with another body after the Webhook Secret was cleared does not start the workflow again', async () => {
	const { id, credentials } = await endedBeforeHandOver();
	credentials.webhookSecret = '';
	host.restart();
	await deliver(host.url, { task_id: id, attempt: 2 }, SECRET);
	expect(host.executions).toHaveLength(1);
});
