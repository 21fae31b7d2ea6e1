/** Contract, "The trigger's store": it loses nothing that was acknowledged. */
// Also covers repairLostUpdates.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import {
	Workflow,
	type IDataObject,
	type INodeParameters,
	type INodeTypes,
	type IWebhookFunctions,
} from 'n8n-workflow';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { addressOfThisProcess } from '../../nodes/TranscriberTrigger/repairLostUpdates';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo, put } from './client';
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

/** A Workflow of an activation or an execution, with the static data of this moment. */
function workflowNow(host: TriggerHost): Workflow {
	const nodeTypes = {
		getByNameAndVersion: () => new TranscriberTrigger(),
		getByName: () => new TranscriberTrigger(),
	} as unknown as INodeTypes;
	const staticData = JSON.parse(host.saved) as IDataObject;
	return new Workflow({ nodes: [host.node], connections: {}, active: true, nodeTypes, staticData });
}

/** What n8n does at the end of such an execution, or of a poll that has found something. */
function saveAll(host: TriggerHost, workflow: Workflow) {
	workflow.getStaticData('global').lastItem = 'recording-1.mp3';
	host.saved = JSON.stringify(workflow.staticData);
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

describe('What another writer of the static data has written over is healed while the process lives', () => {
	it('a secret, after a poll that has saved the static data of the activation', async () => {
		const host = await open();
		const activated = workflowNow(host);
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		saveAll(host, activated);
		expect(secretsIn(host)).toBe(0);
		await until(() => secretsIn(host) === 1);
		expect(JSON.parse(host.saved)).toMatchObject({ global: { lastItem: 'recording-1.mp3' } });
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
	});

	it('an ending, with whose secret an old copy came back', async () => {
		const host = await open();
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		const execution = workflowNow(host);
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		saveAll(host, execution);
		await until(() => endingsIn(host) === 1 && secretsIn(host) === 0);
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('long after the last change, too', async () => {
		jest.replaceProperty(STORE, 'recheckMs', 200);
		const host = await open();
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		await sleep(1_500);
		saveAll(host, workflowNow(await open()));
		await until(() => secretsIn(host) === 1);
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

describe('A hand-over is acknowledged only if the stored secret opens to it with the API key of now', () => {
	it('a second secret for the same task replaces the first before it is acknowledged', async () => {
		const host = await open();
		await handOverTo(host.url, '7f3c', 'first', KEY);
		expect(await put(host.url, '7f3c', 'second', KEY)).toMatchObject({ status: 202 });
		await handOverTo(host.url, '7f3c', 'second', KEY);
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, 'first')).status).toBe(401);
		expect((await deliver(host.url, { task_id: '7f3c' }, 'second')).status).toBe(200);
	});

	it.each([true, false])('the same secret with a new API key (restart: %s)', async (restarts) => {
		const credentials = service.credentials();
		const host = await open(NO_RESULT, { credentials });
		await handOverTo(host.url, '7f3c', SECRET, KEY);
		credentials.apiKey = 'new-api-key';
		if (restarts) host.restart();
		// The trigger knows of the new key within a second.
		while ((await put(host.url, '7f3c', SECRET, 'new-api-key')).status === 401) await sleep(100);
		await handOverTo(host.url, '7f3c', SECRET, 'new-api-key');
		host.restart();
		expect((await deliver(host.url, { task_id: '7f3c' }, SECRET)).status).toBe(200);
		expect(service.lines()).toEqual([]);
	});
});

it('The process does not call itself at an address that no URL can hold: IPv6 with a zone', () => {
	const calledAt = (localAddress: string) =>
		addressOfThisProcess({
			getRequestObject: () => ({
				socket: { localAddress, localPort: 5678 },
				originalUrl: '/webhook/x/transcriber?a=b',
			}),
		} as unknown as IWebhookFunctions);
	expect(calledAt('fe80::1%eth0')).toBeUndefined();
	expect(calledAt('::1')).toBe('http://[::1]:5678/webhook/x/transcriber');
});
