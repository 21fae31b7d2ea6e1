/** Contract, "Trigger node", Source `meeting`: the bot that the trigger has sent is never forgotten, nor an older one taken for it. */

import { submissionKey } from '../../nodes/shared/api/submission';
import { BotStore } from '../../nodes/TranscriberTrigger/botStore';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { nameForNew } from '../../nodes/TranscriberTrigger/verifyDelivery';
import { StoredWorkflow } from './storedWorkflow';

const NOW = Date.UTC(2026, 10, 22);
const BOT = { id: 'b1', fingerprint: 'x' };
const ENDING = { by: 'own', statuses: 'c', proof: 'proof' } as const;

beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => jest.useRealTimers());

let count = 0;
let workflow: StoredWorkflow;
beforeEach(() => (workflow = new StoredWorkflow(`bots ${count++}`)));

describe('A delivery of the bot', () => {
	beforeEach(() => {
		const store = new BotStore(workflow.call());
		store.bot = BOT;
		store.save();
		workflow.end();
	});

	it('is noted with it, and saved', () => {
		expect(new BotStore(workflow.call()).noteDelivered('b1')).toBe(true);
		expect(workflow.end()).toBe(true);
		expect(workflow.saved['1']?.bot).toEqual({ ...BOT, hasDelivered: true, changedAt: NOW + 1 });
	});

	it('is noted once: its repeat saves nothing', () => {
		new BotStore(workflow.call()).noteDelivered('b1');
		workflow.end();
		expect(new BotStore(workflow.call()).noteDelivered('b1')).toBe(false);
		expect(workflow.end()).toBe(false);
	});

	it('says nothing of another bot', () => {
		const store = new BotStore(workflow.call());
		expect(store.noteDelivered('b0')).toBe(false);
		expect(workflow.end()).toBe(false);
		expect(store.bot).toEqual({ ...BOT, changedAt: NOW });
	});

	it.each([
		['by itself if it has waited half a second', STORE.mayWaitMs, true],
		['by a later call if it has waited longer', STORE.mayWaitMs + 1, false],
	])('is saved %s for the service', (_, ms, isSaved) => {
		const store = new BotStore(workflow.call());
		jest.advanceTimersByTime(ms);
		store.noteDelivered('b1');
		expect(workflow.end()).toBe(isSaved);
		expect(store.bot?.hasDelivered).toBe(true);
		new BotStore(workflow.call()).saveMissing();
		expect(workflow.end()).toBe(!isSaved);
		expect(workflow.saved['1']?.bot?.hasDelivered).toBe(true);
	});
});

it('A delivery is nothing to a trigger that has sent no bot', () => {
	const store = new BotStore(workflow.call());
	store.noteDelivered('b1');
	expect(store.bot).toBeUndefined();
	expect(workflow.end()).toBe(false);
});

it('The newest bot counts, even if it was sent after the clock was set back', () => {
	workflow.saved = { 1: { bot: { ...BOT, changedAt: NOW + 3_600_000 } } };
	const store = new BotStore(workflow.call());
	store.bot = { id: 'b2', fingerprint: 'x' };
	store.unansweredUntil = 5;
	expect(store.bot).toMatchObject({ id: 'b2', changedAt: NOW + 3_600_001 });
	expect(store.unansweredUntil).toBe(5);
});

it('A change has the time at which it was made, so that the newest of several processes counts', () => {
	workflow.saved = { 1: { bot: { ...BOT, changedAt: NOW - 10 } } };
	const store = new BotStore(workflow.call());
	store.bot = { ...BOT, releasedAt: NOW };
	expect(store.bot?.changedAt).toBe(NOW);
	workflow.saved = { 1: { bot: { id: 'b2', fingerprint: 'x', changedAt: NOW + 1 } } };
	expect(new BotStore(workflow.call()).bot?.id).toBe('b2');
});

it('Whether the trigger is on is known of the process that has switched it, and of no other', () => {
	const store = new BotStore(workflow.call());
	expect([store.isOn, store.unansweredUntil]).toEqual([undefined, 0]);
	store.isOn = true;
	expect(new BotStore(workflow.call()).isOn).toBe(true);
	expect(new BotStore(workflow.call('2')).isOn).toBeUndefined();
});

it('A hook sees that the trigger was switched off since it began, and no switching on', () => {
	const before = new BotStore(workflow.call());
	new BotStore(workflow.call()).isOn = true;
	expect(before.wasSwitchedOff).toBe(false);
	new BotStore(workflow.call()).isOn = false;
	new BotStore(workflow.call()).isOn = false;
	expect(before.wasSwitchedOff).toBe(true);
	expect(new BotStore(workflow.call()).wasSwitchedOff).toBe(false);
});

describe('The bot has delivered', () => {
	const bot = { ...BOT, changedAt: NOW };
	const name = submissionKey({ botId: 'b1' });
	const store = () => new BotStore(workflow.call());

	it('if that is noted with it, or its end is known', async () => {
		expect([
			store().hasDelivered(bot),
			store().hasDelivered({ ...bot, hasDelivered: true }),
		]).toEqual([false, true]);
		const delivering = store();
		delivering.open(name);
		delivering.end(name, ENDING);
		await jest.advanceTimersByTimeAsync(0);
		workflow.end();
		await delivering.close(name, true);
		expect(store().hasDelivered(bot)).toBe(true);
		// A new bot got the same id.
		const launching = store();
		launching.keepSecret(nameForNew(launching, name), 'sealed');
		launching.save();
		workflow.end();
		expect(store().hasDelivered(bot)).toBe(false);
	});

	it('not while its secret waits for its end', () => {
		const launching = store();
		launching.keepSecret(nameForNew(launching, name), 'sealed');
		launching.save();
		workflow.end();
		expect(store().hasDelivered(bot)).toBe(false);
	});
});
