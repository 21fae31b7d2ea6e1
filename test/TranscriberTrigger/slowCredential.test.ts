/** A caller waits for 10 seconds: each of the readings of the credential in a call has to end in time. */
// Also covers receiveDelivery.ts, receiveHandOver.ts.
import { setTimeout as sleep } from 'node:timers/promises';

import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo, put } from './client';
import type { TriggerHost } from './host';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';
const OTHER_KEY = 'the-key-after-the-rotation';
const key = () => service.credentials().apiKey;

it.each<[string, (host: TriggerHost) => Promise<{ status: number }>]>([
	[
		'delivery whose secret was sealed with the key before',
		async ({ url }) => await deliver(url, { task_id: '7f3c' }, SECRET),
	],
	[
		'hand-over that was sealed with another key',
		async ({ url }) => await put(url, 'new', SECRET, key()),
	],
	[
		'hand-over that was sealed with the key of now',
		async ({ url }) => await put(url, 'new', SECRET, OTHER_KEY),
	],
])('A %s is answered in time although n8n reads the credential anew for long', async (_, call) => {
	const host = await open();
	await handOverTo(host.url, '7f3c', SECRET, key());
	// The new process has the same limit.
	jest.replaceProperty(ANSWER, 'withinMs', 500);
	host.restart();
	host.settings.credentials = { ...service.credentials(), apiKey: OTHER_KEY };
	// The first reading, which counts as new for a second.
	expect((await deliver(host.url, { task_id: 'unknown' }, SECRET)).status).toBe(503);
	await sleep(1_050);
	host.credentialMs = 5_000;
	const reading = sleep(host.credentialMs, { status: 'not answered before n8n has read it' });
	expect(await Promise.race([call(host), reading])).toMatchObject({ status: 503 });
});
