/** "Every request" in the contract: who gets the next place within a rate limit, and when a place is free again. */
// Also covers waitForTurn.ts.

import { getEventListeners } from 'node:events';

import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { STOPS_SPENDING, REPEATABLE } from '../../../nodes/shared/api/types';
import { Queue, queueFor, takeTurn, type Leave } from '../../../nodes/shared/api/waitForTurn';

const NOW = Date.UTC(2026, 10, 24, 12);
const MINUTE = 60_000;

let keys = 0;
let apiKey: string;
beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
	jest.replaceProperty(LIMITS, 'windowMs', MINUTE);
	apiKey = `key ${++keys} of these tests`;
});
afterEach(() => void jest.useRealTimers());

const after = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);
const queue = (places: number, linger = 0, kept?: number) =>
	new Queue(
		() => places,
		() => linger,
		...(kept === undefined ? [] : [() => kept]),
	);

/** Callers, and the names of those that were let in, in their order. */
function callers() {
	const served: string[] = [];
	const leave: Record<string, (end?: never) => void> = {};
	return {
		served,
		leave: (name: string, ...given: unknown[]) =>
			(leave[name] as (...all: unknown[]) => void)(...given),
		come: async (name: string, coming: Promise<(...given: never[]) => void>) => {
			void coming.then(
				(going) => {
					served.push(name);
					leave[name] = going as never;
				},
				(failure: Error) => served.push(`${name}: ${failure.message}`),
			);
			await after(0);
		},
	};
}

describe('A queue', () => {
	it('lets in as many as it has places, and then one for each that leaves', async () => {
		const { served, come, leave } = callers();
		const line = queue(2);
		for (const name of ['a', 'b', 'c', 'd']) await come(name, line.take());
		expect(served).toEqual(['a', 'b']);
		leave('b');
		await after(0);
		expect(served).toEqual(['a', 'b', 'c']);
		leave('a');
		leave('c');
		await after(0);
		expect(served).toEqual(['a', 'b', 'c', 'd']);
		await come('e', line.take());
		await come('f', line.take());
		expect(served).toEqual(['a', 'b', 'c', 'd', 'e']);
	});

	it('keeps a place that was used for its whole window, and gives away one that was not at once', async () => {
		const { served, come, leave } = callers();
		const line = queue(1, MINUTE);
		for (const name of ['a', 'b', 'c']) await come(name, line.take());
		leave('a');
		await after(MINUTE - 1);
		expect(served).toEqual(['a']);
		await after(1);
		expect(served).toEqual(['a', 'b']);
		leave('b', false);
		await after(0);
		expect(served).toEqual(['a', 'b', 'c']);
		leave('c', true);
		await come('d', line.take());
		await after(MINUTE - 1);
		expect(served).toHaveLength(3);
		await after(1);
		expect(served).toHaveLength(4);
	});

	it('lets the urgent go first, then repeats, then first attempts, each in the order of arrival', async () => {
		const { served, come, leave } = callers();
		const line = queue(1);
		await come('holder', line.take());
		await come('first 1', line.take());
		await come('repeat 1', line.take(undefined, 'next'));
		await come('urgent 1', line.take(undefined, 'urgent'));
		await come('first 2', line.take(undefined, 'first'));
		await come('repeat 2', line.take(undefined, 'next'));
		await come('urgent 2', line.take(undefined, 'urgent'));
		for (let turns = 0; turns < 6; turns++) {
			leave(served.at(-1) ?? '');
			await after(0);
		}
		expect(served).toEqual([
			'holder',
			'urgent 1',
			'urgent 2',
			'repeat 1',
			'repeat 2',
			'first 1',
			'first 2',
		]);
	});

	it('has places that only the urgent take', async () => {
		const { served, come, leave } = callers();
		const line = queue(3, 0, 1);
		await come('a', line.take());
		await come('b', line.take(undefined, 'next'));
		await come('c', line.take());
		await come('d', line.take(undefined, 'next'));
		expect(served).toEqual(['a', 'b']);
		await come('urgent 1', line.take(undefined, 'urgent'));
		await come('urgent 2', line.take(undefined, 'urgent'));
		expect(served).toEqual(['a', 'b', 'urgent 1']);
		leave('a');
		await after(0);
		expect(served.at(-1)).toBe('urgent 2');
		leave('urgent 1');
		await after(0);
		expect(served).toHaveLength(4);
		leave('urgent 2');
		await after(0);
		expect(served.slice(4)).toEqual(['d']);
	});

	it('leaves at least one place to what is not urgent', async () => {
		const { served, come } = callers();
		const line = queue(2, 0, 2);
		await come('a', line.take());
		await come('b', line.take());
		expect(served).toEqual(['a']);
	});

	it('is left at once by who is cancelled, and by nobody else', async () => {
		const { served, come, leave } = callers();
		const line = queue(1);
		const stop = new AbortController();
		await come('a', line.take());
		for (const name of ['b', 'c', 'd']) {
			await come(name, line.take(name === 'c' ? stop.signal : undefined));
		}
		stop.abort(new Error('stopped'));
		await after(0);
		leave('a');
		await after(0);
		leave('b');
		await after(0);
		expect(served).toEqual(['a', 'c: stopped', 'b', 'd']);
		leave('d');
		await after(0);
		await come('late', line.take(stop.signal));
		await come('e', line.take());
		expect(served.slice(4)).toEqual(['late: stopped', 'e']);
	});

	it('forgets the signal of who was let in', async () => {
		const { come, leave, served } = callers();
		const line = queue(1);
		const stop = new AbortController();
		await come('a', line.take());
		await come('b', line.take(stop.signal));
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
		leave('a');
		await after(0);
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
		await come('c', line.take());
		stop.abort();
		leave('b');
		await after(0);
		expect(served).toEqual(['a', 'b', 'c']);
	});

	it('forgets the signal of who was cancelled', async () => {
		const { come, served } = callers();
		const line = queue(1);
		const stop = new AbortController();
		await come('a', line.take());
		await come('b', line.take(stop.signal));
		stop.abort(new Error('stopped'));
		await after(0);
		expect(served).toEqual(['a', 'b: stopped']);
		expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
	});
});

describe('The queue for a limit', () => {
	it('is one for each limit of each API key', () => {
		expect(queueFor(apiKey, 'submit')).toBe(queueFor(apiKey, 'submit'));
		expect(queueFor(apiKey, 'submit')).not.toBe(queueFor(apiKey, 'other'));
		expect(queueFor(apiKey, 'submit')).not.toBe(queueFor(`${apiKey}.`, 'submit'));
	});

	it.each(['submit', 'meeting', 'summary', 'other'] as const)(
		'%s has the places of the limit, for a minute each',
		async (name) => {
			const { served, come, leave } = callers();
			const kept = name === 'other' ? LIMITS.keptForUrgent : 0;
			const places = LIMITS[name] - kept;
			for (let count = 0; count <= places; count++) {
				await come(`${count}`, queueFor(apiKey, name).take());
			}
			expect(served).toHaveLength(places);
			leave('0');
			await after(MINUTE - 1);
			expect(served).toHaveLength(places);
			await after(1);
			expect(served).toHaveLength(places + 1);
			for (let count = 0; count <= kept; count++) {
				await come('urgent', queueFor(apiKey, name).take(undefined, 'urgent'));
			}
			expect(served).toHaveLength(places + 1 + kept);
		},
	);

	it('of uploads has three places, which are free again at once', async () => {
		const { served, come, leave } = callers();
		for (const name of ['a', 'b', 'c', 'd']) await come(name, queueFor(apiKey, 'uploads').take());
		expect(served).toEqual(['a', 'b', 'c']);
		leave('b');
		await after(0);
		expect(served).toEqual(['a', 'b', 'c', 'd']);
	});
});

describe('A turn', () => {
	beforeEach(() => {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'keptForUrgent', 0);
	});

	it('comes to the urgent first, and then to what was tried before', async () => {
		const { served, come, leave } = callers();
		await come('holder', takeTurn(apiKey, REPEATABLE, {}));
		await come('first', takeTurn(apiKey, REPEATABLE, {}));
		await come('repeat', takeTurn(apiKey, REPEATABLE, { isRepeat: true }));
		await come('urgent', takeTurn(apiKey, STOPS_SPENDING, {}));
		await come('urgent repeat', takeTurn(apiKey, STOPS_SPENDING, { isRepeat: true }));
		for (let turns = 0; turns < 4; turns++) {
			leave(served.at(-1) ?? '', 'unsent');
			await after(0);
		}
		expect(served).toEqual(['holder', 'urgent', 'urgent repeat', 'repeat', 'first']);
	});

	const problem = (more: object) => ({ path: '/account', ...more });

	/** Who is served at once, and who after a minute, if the request of the first of two has ended. */
	async function servedAfter(end: Parameters<Leave>[0]) {
		const seen: string[][] = [];
		for (const enterRoom of [undefined, async () => await Promise.resolve(jest.fn())]) {
			const { served, come, leave } = callers();
			await come('a', takeTurn(apiKey, REPEATABLE, { enterRoom }));
			await come('b', takeTurn(apiKey, REPEATABLE, { enterRoom }));
			leave('a', end);
			await after(0);
			seen.push([...served]);
			await after(MINUTE);
			seen.push([...served]);
			leave('b', 'unsent');
		}
		return seen;
	}

	it.each<[string, Parameters<Leave>[0]]>([
		['was accepted', 'accepted'],
		['has an unknown outcome', undefined],
		['was refused', problem({ status: 429 })],
		['got no answer', problem({ transport: 'timeout' })],
		['broke off', problem({ transport: 'broken' })],
	])('takes its place for a minute if the request %s', async (_what, end) => {
		expect(await servedAfter(end)).toEqual([['a'], ['a', 'b'], ['a'], ['a', 'b']]);
	});

	it.each<[string, Parameters<Leave>[0]]>([
		['was not sent', 'unsent'],
		['found no usable connection', problem({ transport: 'tls', isUnsent: true })],
		['found nobody who listens', problem({ transport: 'unreachable' })],
		['went to an unknown host', problem({ transport: 'unknownHost' })],
	])('gives its place back at once if the request %s', async (_what, end) => {
		const both = ['a', 'b'];
		expect(await servedAfter(end)).toEqual([both, both, both, both]);
	});

	it('of a submit is over in the room and in the limit, with the same outcome', async () => {
		const { come, leave } = callers();
		const ends: unknown[] = [];
		const signals: unknown[] = [];
		const stop = new AbortController();
		const enterRoom = async (signal?: AbortSignal) => {
			signals.push(signal);
			return await Promise.resolve((end: unknown) => void ends.push(end));
		};
		await come('a', takeTurn(apiKey, REPEATABLE, { enterRoom, stop: stop.signal }));
		leave('a', 'accepted');
		expect([ends, signals]).toEqual([['accepted'], [stop.signal]]);
	});

	it('gives its place away at once if there is no room', async () => {
		const { served, come } = callers();
		const enterRoom = async () => await Promise.reject(new Error('no room'));
		await come('a', takeTurn(apiKey, REPEATABLE, { enterRoom }));
		await come('b', takeTurn(apiKey, REPEATABLE, {}));
		expect(served).toEqual(['a: no room', 'b']);
	});

	it('does not come to who is cancelled while waiting for it', async () => {
		const { served, come } = callers();
		const stop = new AbortController();
		await come('a', takeTurn(apiKey, REPEATABLE, {}));
		await come('b', takeTurn(apiKey, REPEATABLE, { stop: stop.signal }));
		stop.abort(new Error('stopped'));
		await after(0);
		expect(served).toEqual(['a', 'b: stopped']);
	});
});
