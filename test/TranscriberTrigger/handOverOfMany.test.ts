/** A Transcriber node hands over the secrets of many items in one call: each counts for itself. */
// Also covers receiveHandOver.ts.
import { setTimeout as sleep } from 'node:timers/promises';

import { serviceForTests } from '../support/service';
import { deliver, handOverTo, putAll } from './client';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';

it('One that has ended already keeps no other one of the same call from being stored', async () => {
	const host = await open();
	const { apiKey } = service.credentials();
	await handOverTo(host.url, 'ended', SECRET, apiKey);
	expect((await deliver(host.url, { task_id: 'ended' }, SECRET)).status).toBe(200);
	const both = ['ended', 'open'].map((id) => ({ id, secret: SECRET }));
	for (let tries = 0; tries < 50; tries++) {
		const { status } = await putAll(host.url, both, apiKey);
		if (status === 200) break;
		await sleep(50);
	}
	host.restart();
	expect((await deliver(host.url, { task_id: 'open' }, SECRET)).status).toBe(200);
	expect(host.executions).toHaveLength(2);
});

it('One whose id no delivery may have is refused, wherever it stands, and nothing is acknowledged', async () => {
	const host = await open();
	const { apiKey } = service.credentials();
	const ids = ['7f3c', 'x'.repeat(257)];
	const answer = await putAll(
		host.url,
		ids.map((id) => ({ id, kind: 'task', secret: SECRET })),
		apiKey,
	);
	expect(answer.status).toBe(400);
	expect(host.saved).toBe('{}');
});
