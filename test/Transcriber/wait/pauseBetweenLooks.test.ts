/** Contract, "Waiting": when the next look at a task is due. By a clock that the test moves on. */

import type { INode } from 'n8n-workflow';

import { POLL, untilNextLook } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { ServiceError } from '../../../nodes/shared/api/serviceError';

const NOW = Date.UTC(2026, 10, 22);
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
type Next = Parameters<typeof untilNextLook>[0];

beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
});
afterEach(() => jest.useRealTimers());

/** How long the pause before the next look is, in ms; a poll that has just looked, every ten seconds. */
async function pauseOf(next: Partial<Next>): Promise<number> {
	const usual = { began: NOW, lookedAt: NOW, pollInterval: 10 * SECOND, deadline: NOW + 3 * HOUR };
	let isOver = false;
	void untilNextLook({ ...usual, others: () => 0, ...next }).then(() => (isOver = true));
	await jest.advanceTimersByTimeAsync(0);
	while (!isOver) await jest.advanceTimersToNextTimerAsync();
	return Date.now() - NOW;
}

const NODE = { name: 'Transcriber', parameters: {} } as unknown as INode;
const asked = (retryAfter?: number) =>
	new ServiceError(NODE, { path: '/tasks/1', status: 503, retryAfter });

describe('The pause before the next look', () => {
	it.each<[string, Partial<Next>, number]>([
		['is the poll interval', {}, 10 * SECOND],
		['counts from the last look', { began: NOW - MINUTE, lookedAt: NOW - 4 * SECOND }, 6 * SECOND],
		['counts from the beginning before the first look', { lookedAt: undefined }, 10 * SECOND],
		['is over if the look is overdue', { lookedAt: NOW - MINUTE, began: NOW - MINUTE }, 0],
		['grows to a tenth of the time waited so far', { began: NOW - 5 * MINUTE }, 30 * SECOND],
		['grows to a minute at most', { began: NOW - 2 * HOUR }, MINUTE],
		['leaves room for other tasks of the same key', { others: () => 20 }, 30 * SECOND],
		['is a long poll interval, whatever was waited', { pollInterval: 5 * MINUTE }, 5 * MINUTE],
	])('%s', async (_, next, ms) => {
		expect(await pauseOf(next)).toBe(ms);
	});

	it('gets shorter within five seconds when other tasks have ended', async () => {
		let others = 100;
		setTimeout(() => (others = 0), 42 * SECOND);
		expect(await pauseOf({ others: () => others })).toBe(45 * SECOND);
	});
});

describe('Retry-After', () => {
	it.each([
		['puts the next look off', 30 * SECOND, 30 * SECOND],
		['does not bring it forward', SECOND, 10 * SECOND],
		['does nothing where there is none', undefined, 10 * SECOND],
		['of a day puts it off for five minutes', 24 * HOUR, 5 * MINUTE],
	])('%s', async (_, retryAfter, ms) => {
		expect(await pauseOf({ failure: asked(retryAfter) })).toBe(ms);
	});

	it('is not read from a failure that is no answer of the service', async () => {
		const failure = Object.assign(new Error(), { problem: { retryAfter: MINUTE } });
		expect(await pauseOf({ failure })).toBe(10 * SECOND);
	});

	it('leaves time for the last look before the deadline', async () => {
		const next = { failure: asked(HOUR), deadline: NOW + MINUTE };
		expect(await pauseOf(next)).toBe(MINUTE - POLL.lastLook);
	});
});

describe('The last look', () => {
	it.each<[string, Partial<Next>, number]>([
		[
			'comes two seconds before the deadline, though the pause has grown',
			{ began: NOW - 2 * HOUR, deadline: NOW + 30 * SECOND },
			28 * SECOND,
		],
		['is not sooner than the poll interval', { deadline: NOW + 11 * SECOND }, 10 * SECOND],
		['does not come after the deadline', { deadline: NOW + 7 * SECOND }, 7 * SECOND],
		[
			'comes within the poll interval if it is the first one',
			{ lookedAt: undefined, deadline: NOW + 9 * SECOND },
			7 * SECOND,
		],
		[
			'comes after half of a very short timeout',
			{ lookedAt: undefined, deadline: NOW + 3 * SECOND },
			1.5 * SECOND,
		],
		['is over at once after the deadline', { deadline: NOW - SECOND, pollInterval: MINUTE }, 0],
	])('%s', async (_, next, ms) => {
		expect(await pauseOf(next)).toBe(ms);
	});
});

it('A cancelled execution stops waiting at once', async () => {
	const cancelling = new AbortController();
	const others = () => 0;
	const next = { began: NOW, pollInterval: HOUR, deadline: NOW + 3 * HOUR, others };
	const waiting = untilNextLook(next, cancelling.signal);
	cancelling.abort(new Error('stopped'));
	await expect(waiting).rejects.toThrow('stopped');
	expect(Date.now()).toBe(NOW);
});

it('A clock that is set back by hours makes a pause longer by some seconds at most', async () => {
	let isOver = false;
	const next = { began: NOW, lookedAt: NOW, pollInterval: 10 * SECOND, deadline: NOW + 3 * HOUR };
	void untilNextLook({ ...next, others: () => 0 }).then(() => (isOver = true));
	await jest.advanceTimersByTimeAsync(0);
	jest.setSystemTime(NOW - 3 * HOUR);
	await jest.advanceTimersByTimeAsync(10 * SECOND + POLL.recheck);
	expect(isOver).toBe(true);
});
