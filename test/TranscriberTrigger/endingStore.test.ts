/** Contract, "The trigger's store": each ending starts one execution, and overwrites nothing of others. */

import type { INodeParameters } from 'n8n-workflow';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo } from './client';
import { TriggerHost, newProcess, type HostSettings } from './host';

const service = serviceForTests();
const SECRET = 'whsec_of_the_task';
const KEY = 'test-api-key';
const RESULT = { options: { includeResult: true } };
const NO_RESULT = { options: { includeResult: false } };

const hosts: TriggerHost[] = [];
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 100);
	jest.replaceProperty(STORE, 'mayWaitMs', 500);
});
afterEach(async () => {
	jest.restoreAllMocks();
	for (const host of hosts.splice(0)) await host.close();
});

async function open(
	parameters: INodeParameters = NO_RESULT,
	settings: Partial<HostSettings> = {},
): Promise<TriggerHost> {
	const credentials = service.credentials();
	const host = await new TriggerHost({ parameters, credentials, ...settings }).open();
	hosts.push(host);
	return host;
}

const secretsIn = (host: TriggerHost) => host.stored.secrets.split(';').length - 1;
const endingsIn = (host: TriggerHost) => host.stored.endings.split(';').length - 1;
const at = (host: TriggerHost, place: number) =>
	host.url.replace('/webhook', `/process-${place}/webhook`);

/** Two triggers in one workflow. */
function share(one: TriggerHost, other: TriggerHost) {
	Object.defineProperty(other, 'saved', {
		get: () => one.saved,
		set: (saved: string) => (one.saved = saved),
	});
}

describe('A call that waits long for the service', () => {
	it('does not write over a secret that another trigger of the workflow has acknowledged', async () => {
		const slow = await open(RESULT);
		const other = await open();
		share(slow, other);
		const id = await service.completedTask();
		await handOverTo(slow.url, id, SECRET, KEY);
		service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 1_500 } });
		const delivering = deliver(slow.url, { task_id: id }, SECRET);
		await handOverTo(other.url, 'other', SECRET, KEY);
		expect((await delivering).status).toBe(200);
		await until(() => endingsIn(slow) === 1);
		slow.restart();
		other.restart();
		expect((await deliver(other.url, { task_id: 'other' }, SECRET)).status).toBe(200);
		expect((await deliver(slow.url, { task_id: id }, SECRET)).status).toBe(200);
		expect([slow.executions.length, other.executions.length]).toEqual([1, 1]);
	});

	it('does not write over what another process has acknowledged', async () => {
		const host = await open(RESULT);
		host.processes = [newProcess(), newProcess()];
		const id = await service.completedTask();
		await handOverTo(at(host, 0), id, SECRET, KEY);
		service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 1_500 } });
		const delivering = deliver(at(host, 0), { task_id: id }, SECRET);
		await handOverTo(at(host, 1), 'other', SECRET, KEY);
		expect((await delivering).status).toBe(200);
		expect(secretsIn(host)).toBeGreaterThan(0);
		await until(() => endingsIn(host) === 1 && secretsIn(host) === 1);
	});

	it('20 slow deliveries amid 20 hand-overs at two processes: 20 executions and 20 secrets', async () => {
		const host = await open(RESULT, { saveMs: 20 });
		host.processes = [newProcess(), newProcess()];
		const done: string[] = [];
		for (let count = 0; count < 20; count++) done.push(await service.completedTask());
		await Promise.all(done.map((id) => handOverTo(host.url, id, SECRET, KEY, 137)));
		service.running().fault({
			match: { path: '/result$' },
			times: 20,
			action: { kind: 'delay', ms: 700 },
		});
		const news = done.map((_, index) => `new-${index}`);
		const [answers] = await Promise.all([
			Promise.all(done.map((id) => deliver(host.url, { task_id: id }, SECRET))),
			Promise.all(news.map((id) => handOverTo(host.url, id, SECRET, KEY, 137))),
		]);
		expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
		await until(() => endingsIn(host) === 20 && secretsIn(host) === 20);
		host.restart();
		for (const id of done) await deliver(host.url, { task_id: id }, SECRET);
		expect(host.executions).toHaveLength(20);
	});
});

describe('n8n 1 answers a delivery before it has saved the execution', () => {
	it('killed in between, it starts the execution at the repeat, whatever other calls have saved', async () => {
		const host = await open();
		host.isAnsweredFirst = true;
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		host.executionMs = 1_000;
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		await handOverTo(host.url, '8a4d', SECRET, KEY);
		host.restart();
		host.executionMs = 0;
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		await until(() => host.executions.length === 1);
	});

	it('a repeat starts nothing, in the same process at once, and in the next one as well', async () => {
		jest.replaceProperty(STORE, 'savedAfterMs', 300);
		const host = await open();
		host.isAnsweredFirst = true;
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		for (const repeat of [1, 2]) {
			expect((await deliver(host.url, { task_id: '7f3c', repeat }, SECRET)).status).toBe(200);
		}
		await until(() => endingsIn(host) === 1 && secretsIn(host) === 0);
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});
});
