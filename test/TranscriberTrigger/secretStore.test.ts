/** Contract, "The trigger's store": it loses no secret that was acknowledged. */
// Also covers repairStaticData.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import { Workflow, type IDataObject, type INodeTypes } from 'n8n-workflow';

import { EndingStore } from '../../nodes/TranscriberTrigger/endingStore';
import { ledgerKey } from '../../nodes/TranscriberTrigger/staticDataLedger';
import { STORE, type Saved } from '../../nodes/TranscriberTrigger/triggerMemory';
import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { few, long } from '../support/long';
import { deliver, handOverTo, put } from './client';
import type { TriggerHost } from './host';
import { NO_RESULT, hostsForTests } from './hostsForTests';
import { StoredWorkflow } from './storedWorkflow';

const service = serviceForTests();
const { open, secretsIn, endingsIn } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';
const KEY = 'test-api-key';

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

const NOW = Date.UTC(2026, 10, 22);
const ENDING = { by: 'own', statuses: 'c', proof: 'proof' } as const;
const [A, B] = [ledgerKey('task a'), ledgerKey('task b')];

describe('Without a server, each call with what n8n has loaded for it:', () => {
	let count = 0;
	let workflow: StoredWorkflow;
	beforeEach(() => {
		jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
		workflow = new StoredWorkflow(`secrets ${count++}`);
	});
	afterEach(() => jest.useRealTimers());

	const begin = (nodeId?: string) => new EndingStore(workflow.call(nodeId));
	/** What another process saves meanwhile. */
	const others = (saved: Partial<Saved>) => (workflow.saved = { ...workflow.saved, 1: saved });
	const stored = (nodeId = '1') => workflow.saved[nodeId]?.secrets;

	/** A hand-over of the sealed secret for `task a`, until n8n has saved it. */
	function handOver(sealed: string): void {
		const store = begin();
		store.keepSecret('task a', sealed);
		store.save();
		workflow.end();
	}

	describe('a secret', () => {
		it('is that of its workflow, and of no copy of it in which the nodes have the same ids', () => {
			handOver('sealed');
			expect(begin().secretOf('task a')).toBe('sealed');
			const copy = new StoredWorkflow('a copy');
			expect(new EndingStore(copy.call()).secretOf('task a')).toBeUndefined();
		});

		it('that was handed over before the clock was set back is stored as soon as another one', () => {
			handOver('sealed');
			jest.setSystemTime(NOW - 3_600_000);
			expect(begin().isStored('task a')).toBe(false);
			jest.advanceTimersByTime(STORE.safeAfterMs);
			expect(begin().isStored('task a')).toBe(true);
		});

		it('that comes during a test in the editor is for the test, and stored at once', () => {
			const test = new EndingStore(workflow.call('1', true));
			test.keepSecret('task a', 'sealed');
			expect([test.isStored('task a'), test.isStored('task b')]).toEqual([true, false]);
			test.save();
			expect(workflow.end()).toBe(false);
			expect(begin().secretOf('task a')).toBeUndefined();
			expect(new EndingStore(workflow.call('1', true)).secretOf('task a')).toBe('sealed');
		});

		it('that nobody has handed over is neither stored nor loaded', () => {
			const store = begin();
			expect([store.isStored('task a'), store.isLoaded('task a')]).toEqual([false, false]);
		});

		it('counts as stored once it has been saved for so long that no call can write over it', () => {
			handOver('sealed');
			expect(begin().isStored('task a')).toBe(false);
			jest.advanceTimersByTime(STORE.safeAfterMs - 1);
			expect(begin().isStored('task a')).toBe(false);
			jest.advanceTimersByTime(1);
			expect(begin().isStored('task a')).toBe(true);
			workflow.saved = {};
			expect(begin().isStored('task a')).toBe(false);
		});

		it('does not replace what another process has stored for the same submission meanwhile', () => {
			const store = begin();
			store.keepSecret('task a', 'mine');
			others({ secrets: `${A} theirs;` });
			const next = begin();
			expect(next.secretOf('task a')).toBe('theirs');
			next.save();
			workflow.end();
			expect(stored()).toBe(`${A} theirs;`);
		});

		it('that replaces another one counts until it is safe, and then what other processes store', () => {
			handOver('first');
			handOver('second');
			expect(stored()).toBe(`${A} second;`);
			const withFirst = { secrets: `${A} first;` };
			const saved = { secrets: `${A} second;` };
			for (const ms of [0, STORE.safeAfterMs - 1]) {
				jest.advanceTimersByTime(ms);
				others(saved);
				expect(begin().saveMissing()).toBe(true);
				others(withFirst);
				expect(begin().secretOf('task a')).toBe('second');
			}
			jest.advanceTimersByTime(1);
			others(saved);
			expect(begin().saveMissing()).toBe(true);
			others({ secrets: `${A} third;` });
			expect(begin().secretOf('task a')).toBe('third');
		});
	});

	it('an ending is saved with its own trigger, and not with another that has the same task', async () => {
		for (const nodeId of ['2', '1']) {
			const store = begin(nodeId);
			store.end('task a', ENDING);
			await jest.advanceTimersByTimeAsync(0);
		}
		expect(workflow.end()).toBe(true);
		expect(workflow.saved['1']?.endings).toBe(`${A} own c proof;`);
		expect(workflow.saved['2']?.endings).toBe('');
	});

	describe('a call of the process to itself', () => {
		it('says that nothing is missing, and saves nothing', () => {
			expect(begin().saveMissing()).toBe(true);
			handOver('sealed');
			expect(begin().saveMissing()).toBe(true);
			expect(workflow.end()).toBe(false);
		});

		it('saves again what another writer has written over, of every trigger of the workflow', () => {
			handOver('sealed');
			workflow.saved = {};
			expect(begin('2').saveMissing()).toBe(false);
			expect(workflow.end()).toBe(true);
			expect(stored()).toBe(`${A} sealed;`);
			expect(begin('2').saveMissing()).toBe(true);
		});

		it('starts the waiting time again of the secret that was missing, and of no other', () => {
			const store = begin();
			store.keepSecret('task b', 'other');
			handOver('sealed');
			jest.advanceTimersByTime(STORE.safeAfterMs);
			others({ secrets: `${B} other;` });
			begin().saveMissing();
			workflow.end();
			const next = begin();
			expect(stored()).toBe(`${B} other;${A} sealed;`);
			expect([next.isStored('task a'), next.isStored('task b')]).toEqual([false, true]);
		});

		it('saves a secret that is ten minutes old as the oldest, and it stays the oldest', () => {
			handOver('sealed');
			jest.advanceTimersByTime(STORE.newMs + 1);
			for (const turn of [1, 2]) {
				others({ secrets: `${B} other;` });
				begin().saveMissing();
				workflow.end();
				expect([turn, stored()]).toEqual([turn, `${A} sealed;${B} other;`]);
			}
		});

		it('forgets the secret of a submission that another process has ended', () => {
			handOver('sealed');
			others({ endings: `${A} own c proof;` });
			expect(begin().saveMissing()).toBe(true);
			// An old copy of the data, from before the hand-over.
			workflow.saved = {};
			expect(begin().saveMissing()).toBe(true);
			expect(begin().secretOf('task a')).toBeUndefined();
		});

		it('says that something is missing while n8n is saving the execution of an ending', async () => {
			handOver('sealed');
			const store = begin();
			store.open('task a');
			store.end('task a', ENDING);
			expect(begin().saveMissing()).toBe(false);
			expect(workflow.end()).toBe(false);
			await store.close('task a', true);
			expect(begin().saveMissing()).toBe(false);
			expect(workflow.end()).toBe(true);
			expect(begin().saveMissing()).toBe(true);
		});

		it('keeps the secret that a delivery here is using, though another process has ended it', () => {
			handOver('sealed');
			begin().open('task a');
			others({ endings: `${A} own f proof;` });
			begin().saveMissing();
			workflow.end();
			expect(begin().secretOf('task a')).toBe('sealed');
		});
	});
});

it('A secret that was acknowledged is there when the workflow is switched off, and on again by another process', async () => {
	const host = await open();
	const id = await service.completedTask();
	await handOverTo(host.url, id, SECRET, KEY);
	await host.deactivate();
	host.isActive = false;
	host.restart();
	await host.activate();
	host.isActive = true;
	const { status } = await deliver(host.url, { task_id: id }, SECRET);
	expect([status, host.executions.length]).toEqual([200, 1]);
});

describe('What another writer of the static data has written over is healed while the process lives', () => {
	long.it('a secret, after a poll that has saved the static data of the activation', async () => {
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

	long.it('long after the last change, too', async () => {
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

	few.it.each([true, false])(
		'the same secret with a new API key (restart: %s)',
		async (restarts) => {
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
		},
	);
});
