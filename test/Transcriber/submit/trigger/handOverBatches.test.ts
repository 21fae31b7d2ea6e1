/** Secrets that are handed over at the same time go to the trigger together. */
import {
	outboxKey,
	sendInBatch,
} from '../../../../nodes/Transcriber/submit/trigger/handOverBatches';
import { answeringTrigger, STORED } from '../../../support/answeringTrigger';
import { itemContext, type ItemPlace } from '../../../support/itemContext';
import { LINK } from '../../../support/parameters';

const API_KEY = 'test-api-key';

// What waits for a call that never comes is not to wait for long.

const tick = async () => await new Promise(setImmediate);

/** A trigger that answers a call when it is told to. */
async function slowTrigger() {
	const waiting: Array<() => void> = [];
	const trigger = await answeringTrigger(API_KEY, async () => {
		await new Promise<void>((resolve) => waiting.push(resolve));
		return STORED;
	});
	const reached = async (calls: number) => {
		const end = Date.now() + 2_000;
		while (trigger.calls.length < calls && Date.now() < end) await tick();
	};
	const handOver = async (id: string, secret: string | undefined = 'secret', place?: ItemPlace) =>
		await sendInBatch(itemContext(LINK, place), trigger.url, API_KEY, { id, secret });
	return { ...trigger, reached, handOver, answer: () => waiting.shift()?.() };
}

let trigger: Awaited<ReturnType<typeof slowTrigger>>;
beforeEach(async () => {
	trigger = await slowTrigger();
});
afterEach(() => trigger.close());

const idsOf = () => trigger.calls.map((call) => call.map(({ id }) => id));
const named = (count: number) => Array.from({ length: count }, (_, index) => `task-${index}`);

it('What comes while the trigger is busy waits, and goes together, with all of its secrets', async () => {
	const first = trigger.handOver('a');
	await trigger.reached(1);
	const others = [trigger.handOver('b', 'of b'), trigger.handOver('c', 'of c')];
	trigger.answer();
	await trigger.reached(2);
	trigger.answer();
	const replies = await Promise.all([first, ...others]);
	expect(replies.map(({ stored }) => stored)).toEqual([true, true, true]);
	expect(trigger.calls).toMatchObject([
		[{ id: 'a', secret: 'secret' }],
		[
			{ id: 'b', secret: 'of b' },
			{ id: 'c', secret: 'of c' },
		],
	]);
});

it('The trigger gets one call at a time, however the calls overlap', async () => {
	const all = [trigger.handOver('a')];
	for (const [index, id] of ['b', 'c', 'd'].entries()) {
		await trigger.reached(index + 1);
		all.push(trigger.handOver(id));
		trigger.answer();
	}
	await trigger.reached(4);
	trigger.answer();
	await Promise.all(all);
	expect(idsOf()).toEqual([['a'], ['b'], ['c'], ['d']]);
	expect(trigger.busy.most).toBe(1);
});

it('At most 100 go in one call, and later ones fill up the next', async () => {
	const all = [trigger.handOver('first')];
	await trigger.reached(1);
	all.push(...named(101).map(async (id) => await trigger.handOver(id)));
	trigger.answer();
	await trigger.reached(2);
	all.push(trigger.handOver('last'));
	trigger.answer();
	await trigger.reached(3);
	trigger.answer();
	await Promise.all(all);
	expect(idsOf().map(({ length }) => length)).toEqual([1, 100, 2]);
	expect(idsOf()[2]).toEqual(['task-100', 'last']);
});

it('What has no secret goes in a separate call, which an old trigger may refuse', async () => {
	const all = [
		trigger.handOver('a'),
		sendInBatch(itemContext(LINK), trigger.url, API_KEY, { id: 'b' }),
	];
	await trigger.reached(2);
	trigger.answer();
	trigger.answer();
	await Promise.all(all);
	expect(idsOf().sort()).toEqual([['a'], ['b']]);
});

it('What is handed over with another API key does not wait', async () => {
	const other = sendInBatch(itemContext(LINK), trigger.url, 'another', { id: 'b', secret: 's' });
	const first = trigger.handOver('a');
	await trigger.reached(2);
	trigger.answer();
	trigger.answer();
	await Promise.all([first, other]);
	expect(trigger.busy.most).toBe(2);
});

it('A cancelled execution does not wait, and what it has handed over still goes out', async () => {
	const cancel = new AbortController();
	const first = trigger.handOver('a');
	await trigger.reached(1);
	const second = trigger.handOver('b', 'of b', { cancel: cancel.signal });
	second.catch(() => {});
	const third = trigger.handOver('c');
	cancel.abort(new Error('The execution was cancelled'));
	await expect(second).rejects.toThrow('The execution was cancelled');
	trigger.answer();
	await trigger.reached(2);
	trigger.answer();
	await Promise.all([first, third]);
	expect(idsOf()).toEqual([['a'], ['b', 'c']]);
});

it('What cannot be sealed for an address blocks nothing that comes after it', async () => {
	const nowhere = async () =>
		await sendInBatch(itemContext(LINK), 'no address', API_KEY, { id: 'a', secret: 's' });
	await expect(nowhere()).rejects.toThrow('Invalid URL');
	await expect(nowhere()).rejects.toThrow('Invalid URL');
});

it('The name of an outbox tells triggers and API keys apart, and shows no API key', () => {
	const key = outboxKey(trigger.url, API_KEY);
	expect(key).toMatch(/^[\w-]{43}$/);
	expect(outboxKey(trigger.url, API_KEY)).toBe(key);
	expect(outboxKey(trigger.url, 'another')).not.toBe(key);
	expect(outboxKey(`${trigger.url}/`, API_KEY)).not.toBe(key);
});
