/** Whatever comes to the address of a trigger or of a suspended execution, and whoever sends it. */
import fc from 'fast-check';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { serviceForTests } from '../support/service';
import { captureLogs } from '../support/logs';
import { findIn } from '../support/search';
import { workflowWith } from '../support/suspended';
import { handOverTo, post, sign } from '../TranscriberTrigger/client';
import { TriggerHost } from '../TranscriberTrigger/host';
import { API_KEY, bodyText, holds, isPolluted } from './fuzz';

const service = serviceForTests();
const SECRET = 'whsec_of_the_task';

jest.setTimeout(3_600_000);
let logs: ReturnType<typeof captureLogs>;
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 10);
	logs = captureLogs();
});
afterEach(() => logs.release());

/** Header values that HTTP can carry. */
const signature = fc.oneof(
	fc.constantFrom(
		undefined,
		'',
		'sha256=',
		'sha1=00',
		`sha256=${'0'.repeat(64)}`,
		`sha256=${'Z'.repeat(64)}`,
	),
	fc.string({ maxLength: 80 }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
);
const call = fc.record({
	method: fc.constantFrom('POST', 'PUT'),
	raw: fc.oneof(
		bodyText,
		bodyText.map((text) => `{"task_id":"known","x":${JSON.stringify(text)}}`),
	),
	signature,
	isSigned: fc.boolean(),
	type: fc.constantFrom(
		'application/json',
		'text/plain',
		'application/octet-stream',
		'multipart/form-data',
	),
});

it('a trigger never throws, starts and stores nothing without a signature, and stores no secret unsealed', async () => {
	const parameters = { options: { includeResult: false } };
	const host = await new TriggerHost({ parameters, credentials: service.credentials() }).open();
	await handOverTo(host.url, 'known', SECRET, service.running().apiKey, 20);
	await holds(call, 80, async ({ method, raw, isSigned, type, ...given }) => {
		const before = host.executions.length;
		const { secrets } = host.stored;
		const header = isSigned ? sign(raw, SECRET) : given.signature;
		const headers = {
			'content-type': type,
			...(header !== undefined && { 'x-service-signature': header }),
		};
		const { status } = await post(host.url, raw, headers, method);
		expect([200, 400, 401, 413, 422, 503]).toContain(status);
		expect(host.thrown).toEqual([]);
		expect(isPolluted()).toBe(false);
		expect(findIn([host.saved, logs.lines], [SECRET, API_KEY])).toEqual([]);
		logs.lines.length = 0;
		if (isSigned && method === 'POST') return;
		expect(host.executions.length).toBe(before);
		expect(host.stored.secrets).toBe(secrets);
	});
	await host.close();
});

it('a suspended execution never throws, and wakes for no call without a signature', async () => {
	const link = {
		resource: 'transcription',
		operation: 'transcribeUrl',
		url: 'https://files.example.com/talk.mp3',
	};
	const workflow = workflowWith({ ...link, onCompletion: 'awaitWebhook' }, service.credentials());
	const asleep = await workflow.start([{ json: {} }]);
	expect(asleep.isSuspended).toBe(true);
	const id = service.running().tasks()[0]?.id ?? '';
	await holds(call, 40, async ({ raw, type, ...given }) => {
		const named = raw.replace('"known"', JSON.stringify(id));
		const headers = { 'content-type': type };
		const { thrown, woken, status } = await workflow.deliver(
			asleep,
			named,
			given.signature,
			headers,
		);
		expect([thrown, woken, status]).toEqual([undefined, undefined, expect.any(Number)]);
		expect(findIn(logs.lines, [service.running().task(id).webhookSecret ?? '', API_KEY])).toEqual(
			[],
		);
		logs.lines.length = 0;
		expect(isPolluted()).toBe(false);
	});
	const raw = JSON.stringify({ task_id: id });
	service.running().finish(id);
	const secret = service.running().task(id).webhookSecret ?? '';
	expect((await workflow.deliver(asleep, raw, sign(raw, secret))).woken?.next).toHaveLength(1);
});
