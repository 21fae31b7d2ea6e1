/** Contract, "The trigger's store": it loses no secret that was acknowledged. */
// Also covers repairLostUpdates.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import { Workflow, type IDataObject, type INodeParameters, type INodeTypes } from 'n8n-workflow';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { deliver, handOverTo, put } from './client';
import { TriggerHost, type HostSettings } from './host';

const service = serviceForTests();
const SECRET = 'whsec_of_the_task';
const KEY = 'test-api-key';
const NO_RESULT = { options: { includeResult: false } };

const hosts: TriggerHost[] = [];
beforeEach(() => {
	jest.replaceProperty(STORE, 'safeAfterMs', 100);
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
