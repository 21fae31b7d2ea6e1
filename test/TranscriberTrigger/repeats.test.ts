/** What a later delivery for the same task finds. */
// Also covers receiveDelivery.ts, patienceForData.ts.
import { setTimeout as sleep } from 'node:timers/promises';

import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo } from './client';
import { NO_RESULT, hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open, endingsIn } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';

it.each([
	['the same in every byte', '', { task_id: '7f3c', status: 'failed' }],
	['signed with the secret of the task', '', { status: 'failed', task_id: '7f3c' }],
	['signed with the secret of the credential', SECRET, { status: 'failed', task_id: '7f3c' }],
])(
	'An ending that another process has overwritten is saved again by the next repeat, which is %s',
	async (_, webhookSecret, repeat) => {
		const credentials = { ...service.credentials(), webhookSecret };
		const host = await open(NO_RESULT, { credentials });
		if (!webhookSecret) await handOverTo(host.url, '7f3c', SECRET, credentials.apiKey);
		// This process does not call itself before the end of the test.
		jest.replaceProperty(STORE, 'safeAfterMs', 60_000);
		host.restart();
		const before = host.saved;
		expect((await deliver(host.url, { task_id: '7f3c', status: 'failed' }, SECRET)).status).toBe(
			200,
		);
		await until(() => endingsIn(host) === 1);
		host.saved = before;
		expect((await deliver(host.url, repeat, SECRET)).status).toBe(200);
		await until(() => endingsIn(host) === 1);
		expect(host.executions).toHaveLength(1);
	},
);

it('The patience begins anew once the service has given the result', async () => {
	jest.replaceProperty(PATIENCE, 'failedMs', 300);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	const host = await open({ options: { emitDuplicates: true } }, { mode: 'manual' });
	const id = await service.completedTask();
	await handOverTo(host.url, id, SECRET, service.credentials().apiKey);
	const delivery = async () =>
		(await deliver(host.url, { task_id: id, status: 'completed' }, SECRET)).status;
	const fail = () =>
		service.running().fault({
			match: { path: '/result$' },
			times: 1,
			action: { kind: 'respond', status: 500, body: {} },
		});
	fail();
	expect(await delivery()).toBe(503);
	expect(await delivery()).toBe(200);
	await sleep(PATIENCE.failedMs);
	fail();
	expect(await delivery()).toBe(503);
});
