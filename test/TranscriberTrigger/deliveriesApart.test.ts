/** What one delivery, and the state of one workflow, has no effect on. */
// Also covers receiveDelivery.ts, patienceForData.ts.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ANSWER } from '../../nodes/shared/webhook/answerInTime';
import { PATIENCE } from '../../nodes/TranscriberTrigger/patienceForData';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo, putAll, sign } from './client';
import type { TriggerHost } from './host';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open, endingsIn } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';
const key = () => service.credentials().apiKey;

it('A result that was fetched before the parameters of the trigger were changed is not the output', async () => {
	const host = await open({}, { mode: 'manual' });
	const id = await service.completedTask();
	await handOverTo(host.url, id, SECRET, key());
	jest.replaceProperty(ANSWER, 'withinMs', 100);
	const match = { path: '/result$' };
	service.running().fault({ match, times: 1, action: { kind: 'delay', ms: 300 } });
	expect((await deliver(host.url, { task_id: id, status: 'completed' }, SECRET)).status).toBe(503);
	await sleep(500);
	jest.restoreAllMocks();
	host.node.parameters = { options: { includeResult: false } };
	expect((await deliver(host.url, { task_id: id, status: 'completed' }, SECRET)).status).toBe(200);
	expect(host.executions.flat().map(({ json }) => json)).toEqual([
		{ task_id: id, status: 'completed' },
	]);
});

it('A sender that hangs up before a slow result is there: the ending is saved nevertheless', async () => {
	jest.replaceProperty(STORE, 'mayWaitMs', 50);
	const host = await open({});
	const id = await service.completedTask();
	await handOverTo(host.url, id, SECRET, key());
	// The hand-over has made its process call itself. The next one does so only for the delivery.
	host.restart();
	const match = { path: '/result$' };
	service.running().fault({ match, times: 1, action: { kind: 'delay', ms: 400 } });
	const raw = JSON.stringify({ task_id: id, status: 'completed' });
	const headers = { 'x-service-signature': sign(raw, SECRET) };
	const call = request(host.url, { method: 'POST', agent: false, headers });
	call.on('error', () => {}).end(raw);
	await until(() => service.lines().some((line) => line.endsWith('/result')));
	call.destroy();
	await until(() => host.executions.length === 1);
	await until(() => endingsIn(host) === 1);
});

describe('The patience with the service for one delivery is not spent by', () => {
	beforeEach(() => {
		jest.replaceProperty(PATIENCE, 'refusedMs', 300);
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	});

	async function outlast(host: TriggerHost, body: object) {
		expect((await deliver(host.url, body, SECRET)).status).toBe(503);
		await sleep(PATIENCE.refusedMs);
		expect((await deliver(host.url, body, SECRET)).status).toBe(200);
	}

	it('that of another meeting of the same trigger', async () => {
		const host = await open({}, { mode: 'manual' });
		const bots = ['bot-1', 'bot-2'].map((id) => ({ id, kind: 'bot' as const, secret: SECRET }));
		await putAll(host.url, bots, key());
		const body = { event: 'meeting.transcript.completed', task_id: '', status: 'completed' };
		host.node.parameters = { events: ['meetingCompleted'] };
		service.running().fault({
			match: { path: '/meeting/' },
			times: 99,
			action: { kind: 'respond', status: 200, body: { status: 'completed' } },
		});
		await outlast(host, { ...body, bot_id: 'bot-1' });
		expect((await deliver(host.url, { ...body, bot_id: 'bot-2' }, SECRET)).status).toBe(503);
	});

	it('that of a copy of the workflow, in which the nodes have the same ids', async () => {
		const [host, copy] = [
			await open({}, { mode: 'manual' }),
			await open({}, { mode: 'manual', workflowId: 'a copy' }),
		];
		Object.assign(copy.node, { id: host.node.id });
		for (const one of [host, copy]) await handOverTo(one.url, '7f3c', SECRET, key());
		const body = { task_id: '7f3c', status: 'completed' };
		await outlast(host, body);
		expect((await deliver(copy.url, body, SECRET)).status).toBe(503);
	});
});
