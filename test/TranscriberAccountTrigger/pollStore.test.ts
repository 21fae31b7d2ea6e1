/** Contract, "Account trigger node": what a trigger remembers between two polls, and when it starts afresh. */

import { PollContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type IPollFunctions,
	type WorkflowActivateMode,
} from 'n8n-workflow';

import { PollStore } from '../../nodes/TranscriberAccountTrigger/pollStore';
import {
	ACCOUNT_MEMORY,
	type State,
} from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { TranscriberAccountTrigger } from '../../nodes/TranscriberAccountTrigger/TranscriberAccountTrigger.node';
import { CREDENTIAL, additionalDataFor, typesOf } from '../support/n8n';

const NOW = Date.UTC(2026, 10, 22);
const HOUR = 3_600_000;
const credentials = { baseUrl: 'https://api.example.com', apiKey: 'k' };
const nodeTypes = typesOf(new TranscriberAccountTrigger());
const STATE: State = {
	account: 'a',
	since: NOW,
	at: NOW,
	turn: 3,
	size: 100,
	filters: true,
	done: 'mine',
	open: [{ id: '1' }],
	frontier: 0,
	edge: '',
	complete: true,
	tail: '',
	sweep: 0,
};

let count = 0;
let workflowId: string;
beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
	workflowId = `polls ${count++}`;
});
afterEach(() => jest.useRealTimers());

/** The static data of a workflow whose trigger has this state. */
const savedWith = (state: Partial<State>, nodeId = '1') =>
	JSON.stringify({ [`transcriberAccountTrigger:${nodeId}`]: { ...STATE, ...state } });

interface Activation {
	context: IPollFunctions;
	/** One poll's store: each poll makes its own. */
	poll: () => PollStore;
	/** What is in the static data of this activation. */
	stateOf: (nodeId?: string) => Partial<State>;
}

/** n8n loads the workflow, to poll with these objects until the next activation. */
function activate(
	mode: WorkflowActivateMode,
	saved = '{}',
	nodeId = '1',
	credentialId = '1',
): Activation {
	const node: INode = {
		id: nodeId,
		name: `Trigger ${nodeId}`,
		type: 'n8n-nodes-transcriber.transcriberAccountTrigger',
		typeVersion: 1,
		position: [0, 0],
		credentials: { transcriberApi: { ...CREDENTIAL.transcriberApi, id: credentialId } },
		parameters: {},
	};
	const staticData = { global: JSON.parse(saved) as IDataObject };
	const parts = { id: workflowId, nodes: [node], connections: {}, active: true, nodeTypes };
	const workflow = new Workflow({ ...parts, staticData });
	const data = additionalDataFor(credentials);
	const context = new PollContext(workflow, node, data, 'trigger', mode);
	const stateOf = (id = nodeId) =>
		(workflow.getStaticData('global')[`transcriberAccountTrigger:${id}`] ?? {}) as Partial<State>;
	return { context, poll: () => new PollStore(context), stateOf };
}

describe('A fresh state', () => {
	it('knows no task, and takes GET /tasks for one that respects `status`', async () => {
		const store = activate('activate').poll();
		expect(await store.fresh()).toEqual({
			...STATE,
			account: await store.account(),
			turn: 0,
			done: '',
			open: [],
			complete: false,
		});
	});

	it('is where a trigger begins that has never polled', () => {
		expect(activate('activate').poll().load()).toBeUndefined();
	});
});

describe('A poll goes on from', () => {
	it('what the poll before has saved, and a poll that fails leaves that as it was', () => {
		const active = activate('activate');
		const before: State = { ...STATE, lost: { place: 7 } };
		active.poll().save(structuredClone(before));
		const state = active.poll().load();
		expect(state).toEqual(before);
		Object.assign(state?.open[0] ?? {}, { id: 'changed' });
		Object.assign(state?.lost ?? {}, { place: 8 });
		expect(active.poll().load()).toEqual(before);
	});

	it('what n8n has loaded, if another process has polled since this one did', () => {
		activate('init', savedWith({})).poll().save(STATE);
		jest.advanceTimersByTime(10);
		const { poll } = activate('init', savedWith({ at: NOW + 1, done: 'theirs' }));
		expect(poll().load()?.done).toBe('theirs');
	});

	it('what this process remembers, if n8n has loaded something older', () => {
		jest.advanceTimersByTime(10);
		activate('init', savedWith({})).poll().save(STATE);
		const { poll } = activate('init', savedWith({ at: NOW, done: 'older' }));
		expect(poll().load()?.done).toBe('mine');
	});
});

describe('A workflow that is switched on', () => {
	it.each([
		['within five seconds goes on: n8n tries again', ACCOUNT_MEMORY.sameActivation, 'mine'],
		['later starts afresh', ACCOUNT_MEMORY.sameActivation + 1, undefined],
		['with a clock that was set back starts afresh', -ACCOUNT_MEMORY.sameActivation - 1, undefined],
	])('%s', (_, ms, done) => {
		jest.setSystemTime(NOW + ms);
		const active = activate('activate', savedWith({}));
		expect(active.poll().load()?.done).toBe(done);
		active.poll().save(STATE);
		jest.advanceTimersByTime(HOUR);
		expect(active.poll().load()?.done).toBe('mine');
	});

	it('ends the old state at once, also for a later try of n8n as a new version', () => {
		jest.setSystemTime(NOW + HOUR);
		const active = activate('activate', savedWith({}));
		active.poll().load();
		expect(active.stateOf()).toEqual({ at: NOW + HOUR, isOver: true });
		expect(activate('update', savedWith({})).poll().load()).toBeUndefined();
	});

	it.each(['init', 'leadershipChange'] as const)(
		'by n8n itself (%s) goes on, however long n8n was away',
		(mode) => {
			jest.setSystemTime(NOW + 1000 * HOUR);
			expect(activate(mode, savedWith({})).poll().load()?.done).toBe('mine');
		},
	);
});

describe('A new version of a published workflow', () => {
	it.each([
		['goes on if this process has polled within two hours', 2 * HOUR, 'mine'],
		['starts afresh if it has not: the node was disabled', 2 * HOUR + 1, undefined],
	])('%s, whatever was saved when', (_, ms, done) => {
		activate('init', savedWith({})).poll().load();
		jest.advanceTimersByTime(ms);
		const old = savedWith({ at: NOW - 1000 * HOUR });
		expect(activate('update', old).poll().load()?.done).toBe(done);
	});

	it.each([
		['goes on if another process has saved a poll within 25 hours', 25 * HOUR, 'mine'],
		['starts afresh if none has', 25 * HOUR + 1, undefined],
	])('%s, and this one has not polled yet', (_, ms, done) => {
		jest.setSystemTime(NOW + ms);
		expect(activate('update', savedWith({})).poll().load()?.done).toBe(done);
	});

	it('that starts afresh says so in the log, and one that goes on does not', () => {
		const active = activate('update', savedWith({}));
		const warn = jest.spyOn(active.context.logger, 'warn');
		active.poll().load();
		expect(warn).not.toHaveBeenCalled();
		jest.advanceTimersByTime(26 * HOUR);
		active.poll().load();
		expect(warn.mock.calls).toEqual([[expect.stringContaining('starts afresh')]]);
	});

	it('is not enabled anew by each of its polls', () => {
		const active = activate('update', savedWith({}));
		active.poll().save(STATE);
		jest.advanceTimersByTime(1000 * HOUR);
		expect(active.poll().load()?.done).toBe('mine');
	});
});

it.each([
	['activate', true, false],
	['update', true, false],
	['init', false, true],
	['leadershipChange', false, true],
] as const)(
	'Only the first poll of an activation (%s) is that of the user, or of the start of n8n',
	(mode, isPublishing, isStartOfN8n) => {
		const active = activate(mode);
		const store = active.poll();
		expect([store.isPublishing(), store.isStartOfN8n()]).toEqual([isPublishing, isStartOfN8n]);
		store.noteActive();
		const next = active.poll();
		expect([next.isPublishing(), next.isStartOfN8n()]).toEqual([false, false]);
	},
);

it('How long ago the poll before began is known of the polls of this process', () => {
	const active = activate('activate');
	const first = active.poll();
	first.load();
	expect(first.sinceLastTry).toBe(Infinity);
	jest.advanceTimersByTime(500);
	const second = active.poll();
	second.load();
	expect(second.sinceLastTry).toBe(500);
});

describe('What a poll saves', () => {
	it('has the time of the poll, also if the clock was set back since the one before', () => {
		const active = activate('init', savedWith({ at: NOW + HOUR, done: 'before' }));
		active.poll().save(STATE);
		expect(active.stateOf()).toEqual({ ...STATE, at: NOW });
	});

	it('has the newest states of the other triggers of the workflow with it', () => {
		const other = activate('init', '{}', '2');
		other.poll().save({ ...STATE, done: 'newest' });
		const old = activate('init', savedWith({ at: NOW - 1, done: 'old' }, '2'), '1');
		old.poll().save(STATE);
		expect(old.stateOf('2').done).toBe('newest');
		const none = activate('init', '{}', '1');
		none.poll().save(STATE);
		expect(none.stateOf('2').done).toBe('newest');
	});

	it('never puts an older state of another trigger over that of another process', () => {
		activate('init', '{}', '2')
			.poll()
			.save({ ...STATE, done: 'old' });
		const active = activate('init', savedWith({ at: NOW + 1, done: 'newest' }, '2'), '1');
		active.poll().save(STATE);
		expect(active.stateOf('2').done).toBe('newest');
	});

	it('has nothing of other workflows', () => {
		activate('init').poll().save(STATE);
		workflowId = 'another workflow';
		const active = activate('init', '{}', '2');
		active.poll().save(STATE);
		const data = active.context.getWorkflowStaticData('global');
		expect(Object.keys(data)).toEqual(['transcriberAccountTrigger:2']);
	});
});

describe('Of two polls of a trigger at once', () => {
	/** A poll that runs until it is told to end. */
	function run(active: Activation) {
		const store = active.poll();
		let end = () => {};
		const running = new Promise<string>((resolve) => (end = () => resolve('output')));
		return { store, end, result: store.alone(async () => await running) };
	}

	it('the second does not run, and ends after the first', async () => {
		const active = activate('activate');
		const first = run(active);
		const second = active.poll();
		const order: string[] = [];
		const both = [
			first.result.then((output) => order.push(`first: ${output}`)),
			second
				.alone(async () => await Promise.resolve('twice'))
				.then((output) => order.push(`second: ${output}`)),
		];
		await Promise.resolve();
		expect(order).toEqual([]);
		first.end();
		await Promise.all(both);
		expect(order).toEqual(['first: output', 'second: null']);
		expect(await active.poll().alone(async () => await Promise.resolve('next'))).toBe('next');
	});

	it('that of a new version replaces that of the old one, which then must not save', async () => {
		const old = run(activate('init', savedWith({})));
		expect(old.store.isCurrent()).toBe(true);
		const newVersion = activate('update', savedWith({}));
		const current = run(newVersion);
		expect([old.store.isCurrent(), current.store.isCurrent()]).toEqual([false, true]);
		old.end();
		expect(await old.result).toBe('output');
		// The end of the old one does not make room for a second one of the new version.
		const second = newVersion.poll().alone(async () => await Promise.resolve('twice'));
		current.end();
		expect(await current.result).toBe('output');
		expect(await second).toBeNull();
	});

	it('one that fails makes room for the next', async () => {
		const active = activate('activate');
		const failing = active.poll().alone(async () => await Promise.reject(new Error('no network')));
		await expect(failing).rejects.toThrow('no network');
		expect(await active.poll().alone(async () => await Promise.resolve('next'))).toBe('next');
	});
});

it('Another API key, address or credential may be another account', async () => {
	const active = activate('activate');
	const account = await active.poll().account();
	expect(account).toMatch(/^.{8}$/);
	const others: string[] = [];
	for (const change of [{ apiKey: 'another' }, { baseUrl: 'https://other.example.com' }]) {
		const before = { ...credentials };
		Object.assign(credentials, change);
		others.push(await activate('activate').poll().account());
		Object.assign(credentials, before);
	}
	others.push(await activate('activate', '{}', '1', '2').poll().account());
	expect(new Set([account, ...others]).size).toBe(4);
});
