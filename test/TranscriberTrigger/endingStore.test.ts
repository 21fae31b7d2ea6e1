/** Contract, "The trigger's store": each ending starts one execution, and overwrites nothing of others. */

import { EndingStore } from '../../nodes/TranscriberTrigger/endingStore';
import { ledgerKey } from '../../nodes/TranscriberTrigger/staticDataLedger';
import { STORE, type Ending } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { long } from '../support/long';
import { deliver, handOverTo } from './client';
import { newProcess, type TriggerHost } from './host';
import { hostsForTests } from './hostsForTests';
import { StoredWorkflow } from './storedWorkflow';

const service = serviceForTests();
const { open, secretsIn, endingsIn } = hostsForTests(service);
const SECRET = 'whsec_of_the_task';
const KEY = 'test-api-key';
const RESULT = { options: { includeResult: true } };

beforeEach(() => {
	jest.replaceProperty(STORE, 'mayWaitMs', 500);
});

const at = (host: TriggerHost, place: number) =>
	host.url.replace('/webhook', `/process-${place}/webhook`);

/** Two triggers in one workflow. */
function share(one: TriggerHost, other: TriggerHost) {
	Object.defineProperty(other, 'saved', {
		get: () => one.saved,
		set: (saved: string) => (one.saved = saved),
	});
}

const NOW = Date.UTC(2026, 10, 22);
const ENDING = { by: 'own', statuses: 'c', proof: 'proof' } as const;
const [A, B] = [ledgerKey('task a'), ledgerKey('task b')];

describe('Without a server, each call with what n8n has loaded for it:', () => {
	let count = 0;
	let workflow: StoredWorkflow;
	beforeEach(() => {
		jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
		workflow = new StoredWorkflow(`endings ${count++}`);
	});
	afterEach(() => jest.useRealTimers());

	const begin = (nodeId?: string) => new EndingStore(workflow.call(nodeId));
	const saved = () => workflow.saved['1'];
	/** As n8n 2, which saves the execution first, in a later turn of the event loop. */
	const executionSaved = async (ms = 0) => await jest.advanceTimersByTimeAsync(ms);

	/** A delivery for `task a` whose execution n8n has saved. */
	async function deliver(ending: Ending = ENDING): Promise<EndingStore> {
		const store = begin();
		store.open('task a');
		store.end('task a', ending);
		await executionSaved();
		workflow.end();
		await store.close('task a', true);
		return store;
	}

	describe('an ending', () => {
		it('is known with how it was verified, its statuses and its proof, and so is its spent secret', async () => {
			expect(begin().endingOf('task a')).toBeUndefined();
			await deliver({ ...ENDING, spent: 'sealed' });
			expect(saved()).toEqual({
				secrets: '',
				endings: `${A} own c proof;`,
				spent: `${A} sealed;`,
			});
			expect(begin().endingOf('task a')).toEqual({ ...ENDING, spent: 'sealed' });
			const restarted = new StoredWorkflow('after a restart');
			restarted.saved = workflow.saved;
			expect(new EndingStore(restarted.call()).endingOf('task a')).toEqual({
				...ENDING,
				spent: 'sealed',
			});
		});

		it('keeps the mark of its secret, by which another submission with the same id is recognised', async () => {
			await deliver({ ...ENDING, mark: 'mark' });
			expect(saved()?.endings).toBe(`${A} own c proof mark;`);
			expect(begin().endingOf('task a')).toEqual({ ...ENDING, mark: 'mark' });
		});

		it('that was stored without how it was verified is none: the first versions did so', () => {
			workflow.saved = { 1: { endings: `${A} c proof;` } };
			expect(begin().endingOf('task a')).toBeUndefined();
		});

		it('that brings no secret leaves none to be saved, not even an empty one', async () => {
			const store = begin();
			store.end('task a', { ...ENDING, by: 'shared' });
			begin().save();
			expect(workflow.end()).toBe(true);
			expect(saved()).toEqual({ secrets: '', endings: '', spent: '' });
			await store.close('task a', true);
			begin().save();
			workflow.end();
			expect(saved()).toEqual({ secrets: '', endings: `${A} shared c proof;`, spent: '' });
		});

		it('does not replace what another process has noted of the same submission meanwhile', async () => {
			const store = begin();
			store.end('task a', ENDING);
			workflow.saved = { 1: { endings: `${A} own f theirs;` } };
			await store.close('task a', true);
			begin().save();
			workflow.end();
			expect(saved()?.endings).toBe(`${A} own f theirs;`);
		});

		it('replaces the one before of the same submission: it failed, and completed after all', async () => {
			await deliver({ ...ENDING, statuses: 'f', proof: 'of the failure' });
			await deliver({ ...ENDING, statuses: 'fc' });
			expect(saved()?.endings).toBe(`${A} own fc proof;`);
		});

		it('to which another process has added a status is the one that is saved', async () => {
			await deliver({ ...ENDING, statuses: 'f', proof: 'of the failure' });
			workflow.saved = { 1: { endings: `${A} own fc theirs mark;` } };
			expect(begin().endingOf('task a')).toEqual({
				by: 'own',
				statuses: 'fc',
				proof: 'theirs',
				mark: 'mark',
			});
		});

		it.each([
			['an older one', 'own f older'],
			['one with other statuses', 'own xfc other'],
			['one from another delivery', 'own fc theirs'],
			['what is none', 'own fcx'],
		])('stays as this process knows it if %s is saved', async (_, value) => {
			await deliver({ ...ENDING, statuses: 'fc' });
			workflow.saved = { 1: { endings: `${A} ${value};` } };
			expect(begin().endingOf('task a')).toEqual({ ...ENDING, statuses: 'fc' });
		});

		it('whose execution n8n has not saved is none, and its secret is there for the repeat', async () => {
			workflow.saved = { 1: { secrets: `${A} sealed;` } };
			const store = begin();
			store.open('task a');
			store.end('task a', { ...ENDING, spent: 'sealed' });
			expect(store.isInFlight('task a')).toBe(true);
			// An old copy of the data, from before the hand-over.
			workflow.saved = {};
			await store.close('task a', false);
			const next = begin();
			expect([next.isInFlight('task a'), next.endingOf('task a')]).toEqual([false, undefined]);
			expect(next.secretOf('task a')).toBe('sealed');
			next.saveMissing();
			workflow.end();
			expect(saved()).toEqual({ secrets: `${A} sealed;`, endings: '', spent: '' });
		});

		it('that newer ones have pushed out of the memory is closed, too', async () => {
			jest.replaceProperty(STORE, 'endings', 1);
			const store = begin();
			store.end('task a', ENDING);
			begin().end('task b', ENDING);
			await store.close('task a', true);
			begin().save();
			workflow.end();
			expect(saved()?.endings).toBe('');
		});
	});

	describe('the call that ends a submission', () => {
		it.each([
			['saves it after waiting for half a second', 500, true],
			['leaves it to another call after waiting longer: it has loaded long ago', 501, false],
		])('%s for the service', async (_, ms, isSaved) => {
			const store = begin();
			jest.advanceTimersByTime(ms);
			store.end('task a', ENDING);
			await executionSaved();
			expect(workflow.end()).toBe(isSaved);
		});

		it.each([
			['saves it if n8n takes three seconds', 3_000, true],
			['leaves it to another call if n8n takes longer', 3_001, false],
		])('%s to save the execution', async (_, ms, isSaved) => {
			begin().end('task a', ENDING);
			await executionSaved(ms);
			expect(workflow.end()).toBe(isSaved);
		});

		it('saves nothing before the execution on n8n 1, and then waits until n8n has saved that', async () => {
			const store = begin();
			store.end('task a', ENDING);
			expect(workflow.end()).toBe(false);
			const closed = store.close('task a', true);
			await executionSaved(STORE.savedAfterMs - 1);
			begin().save();
			workflow.end();
			expect(saved()?.endings).toBe('');
			await executionSaved(1);
			await closed;
			begin().save();
			workflow.end();
			expect(saved()?.endings).toBe(`${A} own c proof;`);
		});

		it('during a test in the editor is over at once', async () => {
			const store = new EndingStore(workflow.call('1', true));
			store.end('task a', ENDING);
			let isOver = false;
			void store.close('task a', true).then(() => (isOver = true));
			await executionSaved();
			expect(isOver).toBe(true);
			expect(store.endingOf('task a')).toEqual(ENDING);
		});
	});

	describe('a repeat', () => {
		it('saves the ending again if another writer has written over it', async () => {
			await deliver();
			workflow.saved = { 1: { secrets: `${A} sealed;`, endings: `${B} own c other;` } };
			begin().keepEnding('task a');
			expect(workflow.end()).toBe(true);
			expect(saved()).toMatchObject({
				secrets: '',
				endings: `${B} own c other;${A} own c proof;`,
			});
		});

		it('that has waited for longer than half a second saves nothing: another process may have, meanwhile', async () => {
			await deliver();
			workflow.saved = { 1: { secrets: `${A} sealed;`, endings: `${B} own c other;` } };
			const store = begin();
			jest.advanceTimersByTime(501);
			store.keepEnding('task a');
			expect(workflow.end()).toBe(false);
		});

		it('saves nothing if the ending is there, or if this process knows of none', async () => {
			await deliver();
			for (const id of ['task a', 'task b']) {
				begin().keepEnding(id);
				expect([id, workflow.end()]).toEqual([id, false]);
			}
		});
	});
});

it('A repeat is known at a process that knows only an earlier status of the task', async () => {
	const host = await open();
	host.processes = [newProcess(), newProcess()];
	await handOverTo(host.url, '7f3c', SECRET, KEY);
	const failed = { task_id: '7f3c', status: 'failed' };
	const completed = { task_id: '7f3c', status: 'completed' };
	expect((await deliver(at(host, 0), failed, SECRET)).status).toBe(200);
	await until(() => endingsIn(host) === 1);
	const failedOnly = host.stored.endings;
	expect((await deliver(at(host, 1), completed, SECRET)).status).toBe(200);
	await until(() => host.stored.endings !== failedOnly);
	const repeat = { ...completed, attempt: 2 };
	expect((await deliver(at(host, 0), repeat, SECRET)).body).toEqual({ message: 'Known' });
	expect(host.executions).toHaveLength(2);
});

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

	long.it('does not write over what another process has acknowledged', async () => {
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

	long.it(
		'20 slow deliveries amid 20 hand-overs at two processes: 20 executions and 20 secrets',
		async () => {
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
		},
	);
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
