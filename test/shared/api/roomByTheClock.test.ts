/** "Patience" in the contract: when a submit may pass after a refusal because of too many tasks, to the millisecond. */
// Also covers roomForTasks.ts.

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { NoRoom, Room, countFor, roomOf } from '../../../nodes/shared/api/roomForTasks';
import type { Caller } from '../../../nodes/shared/api/types';

const NOW = Date.UTC(2026, 10, 24, 12);
const SECOND = 1_000;
const MINUTE = 60_000;
const FULL = LIMITS.tasksInProgress;
const REFUSAL = { path: '/transcribe', status: 429 };

beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
	// The pauses have their full length: 10 s, 20 s, 40 s and so on.
	jest.spyOn(Math, 'random').mockReturnValue(1);
	jest.replaceProperty(RETRY, 'room', MINUTE);
});
afterEach(() => void jest.useRealTimers());

const after = async (ms: number) => await jest.advanceTimersByTimeAsync(ms);

/** An account in which `inProgress` tasks are in progress, or that does not show how many. */
function account(inProgress?: number | Error) {
	const room = new Room();
	const state = { inProgress, looks: [] as number[] };
	const count = async () => {
		state.looks.push(Date.now() - NOW);
		if (state.inProgress instanceof Error) throw state.inProgress;
		return await Promise.resolve(state.inProgress);
	};
	const submit = (began = Date.now(), stop?: AbortSignal, counting = count) => {
		const visit = {
			/** When it was let in, or sent away, in ms from the beginning. */
			at: undefined as number | undefined,
			failure: undefined as unknown,
			end: (() => {}) as (end?: Parameters<Awaited<ReturnType<Room['enter']>>>[0]) => void,
		};
		void room
			.enter(counting, began, stop)
			.then(
				(leave) => (visit.end = leave),
				(failure: unknown) => (visit.failure = failure),
			)
			.finally(() => (visit.at = Date.now() - NOW));
		return visit;
	};
	return {
		room,
		state,
		submit,
		/** Submits, and is refused at once. */
		refuse: async (refusal: object = {}) => {
			const refused = submit();
			await after(0);
			refused.end({ ...REFUSAL, ...refusal });
		},
	};
}

const timesOf = (visits: Array<{ at?: number }>) => visits.map(({ at }) => at);

it('nobody looks for room before a submit has been refused', async () => {
	const { submit, state } = account(FULL);
	const visits = [submit(), submit(), submit()];
	await after(0);
	visits[0]?.end('accepted');
	visits[1]?.end();
	visits.push(submit());
	await after(0);
	expect(timesOf(visits)).toEqual([0, 0, 0, 0]);
	expect(state.looks).toEqual([]);
});

it.each<[string, Parameters<ReturnType<ReturnType<typeof account>['submit']>['end']>[0]]>([
	['was accepted', 'accepted'],
	['was not sent', 'unsent'],
	['ended in nobody knows what', undefined],
	['was refused for another reason', { path: '/transcribe', status: 503 }],
	['met a connection that broke', { path: '/transcribe', transport: 'broken' }],
])('no submit waits because another one %s', async (_what, end) => {
	const { submit, state } = account(FULL);
	const first = submit();
	await after(0);
	first.end(end);
	const second = submit();
	await after(0);
	expect([second.at, state.looks]).toEqual([0, []]);
});

describe('An account that the list shows as full', () => {
	it('is looked at 10 s after the refusal, and then every 15 s', async () => {
		const { refuse, submit, state } = account(FULL);
		await refuse();
		const visit = submit();
		await after(45 * SECOND);
		expect(state.looks).toEqual([10_000, 25_000, 40_000]);
		state.inProgress = FULL - 1;
		await after(10 * SECOND);
		expect(visit.at).toBe(55_000);
	});

	it('lets as many in at once as there is room, and the next ones after another look', async () => {
		const { refuse, submit, state } = account(FULL + 1);
		await refuse();
		const visits = [1, 2, 3, 4, 5].map(() => submit());
		await after(10 * SECOND);
		state.inProgress = FULL - 2;
		await after(15 * SECOND);
		expect(timesOf(visits)).toEqual([25_000, 25_000, undefined, undefined, undefined]);
		// The two that were let in may not be in the list yet.
		await after(15 * SECOND);
		expect(visits[2]?.at).toBeUndefined();
		visits[0]?.end('unsent');
		await after(15 * SECOND);
		expect(timesOf(visits)).toEqual([25_000, 25_000, 55_000, undefined, undefined]);
		visits[1]?.end();
		visits[2]?.end('accepted');
		await after(15 * SECOND);
		expect(timesOf(visits)).toEqual([25_000, 25_000, 55_000, 70_000, 70_000]);
	});

	it('is looked at once for all who wait', async () => {
		const { refuse, submit, state } = account(FULL);
		await refuse();
		const visits = [submit(), submit(), submit()];
		await after(26 * SECOND);
		expect(state.looks).toEqual([10_000, 25_000]);
		expect(timesOf(visits)).toEqual([undefined, undefined, undefined]);
	});

	it('is one that tries alone again if it refuses although the list shows room by then', async () => {
		const { refuse, submit, state } = account(FULL);
		await refuse();
		const visits = [submit(), submit(), submit()];
		await after(10 * SECOND);
		state.inProgress = 0;
		await after(15 * SECOND);
		expect(timesOf(visits)).toEqual([25_000, 25_000, 25_000]);
		await after(SECOND);
		for (const { end } of visits) end(REFUSAL);
		const next = [submit(), submit()];
		await after(MINUTE);
		expect(timesOf(next)).toEqual([46_000, undefined]);
	});
});

describe('An account that refuses although the list shows room, or does not show it', () => {
	it.each([
		['shows room', 3],
		['does not', undefined],
	])(
		'is tried by one submit at a time, after pauses that double, if the list %s',
		async (_what, inProgress) => {
			const { refuse, submit } = account(inProgress);
			await refuse();
			const times = [];
			for (let tries = 0; tries < 6; tries++) {
				const [visit, began] = [submit(), Date.now()];
				while (visit.at === undefined) await after(SECOND);
				times.push(Date.now() - began);
				visit.end(REFUSAL);
			}
			expect(times).toEqual([10, 20, 40, 80, 160, 300].map((pause) => pause * SECOND));
		},
	);

	it('is tried by nobody else while one tries', async () => {
		const { refuse, submit, state } = account(0);
		await refuse();
		const [first, second] = [submit(), submit()];
		await after(35 * SECOND);
		expect(timesOf([first, second])).toEqual([10_000, undefined]);
		expect(state.looks).toEqual([10_000, 20_000, 30_000]);
		first.end('unsent');
		await after(5 * SECOND);
		expect(second.at).toBe(40_000);
	});

	it('takes all for which the list shows room, as soon as it has accepted one', async () => {
		const { refuse, submit, state } = account(FULL - 3);
		await refuse();
		const visits = [1, 2, 3, 4, 5].map(() => submit());
		await after(10 * SECOND);
		visits[0]?.end('accepted');
		await after(10 * SECOND);
		expect(timesOf(visits)).toEqual([10_000, 20_000, 20_000, 20_000, undefined]);
		expect(state.looks).toEqual([10_000, 20_000]);
		// The list helps again, so the next look comes after the time for looks.
		for (const { end } of visits.slice(1, 4)) end('accepted');
		await after(15 * SECOND);
		expect(visits[4]?.at).toBe(35_000);
	});

	it('takes one at a time, 10 s apart, if it has accepted one, and the list shows nothing', async () => {
		const { refuse, submit } = account(undefined);
		await refuse();
		const first = submit();
		await after(10 * SECOND);
		first.end(REFUSAL);
		const visits = [submit(), submit(), submit()];
		await after(20 * SECOND);
		expect(visits[0]?.at).toBe(30_000);
		visits[0]?.end('accepted');
		await after(20 * SECOND);
		visits[1]?.end('accepted');
		await after(10 * SECOND);
		expect(timesOf(visits)).toEqual([30_000, 50_000, 60_000]);
	});
});

describe('Refusals', () => {
	it('of submits that were under way together count as one', async () => {
		const { submit } = account(0);
		const together = [submit(), submit(), submit()];
		await after(SECOND);
		together[0]?.end(REFUSAL);
		await after(SECOND);
		for (const { end } of together.slice(1)) end(REFUSAL);
		const next = submit();
		await after(MINUTE);
		expect(next.at).toBe(12_000);
	});

	it('of submits one after the other count each, however fast they come', async () => {
		const { submit } = account(0);
		const first = submit();
		await after(0);
		first.end({ ...REFUSAL, retryAfter: 1 });
		const second = submit();
		await after(1);
		second.end(REFUSAL);
		const third = submit();
		await after(MINUTE);
		expect(third.at).toBe(20_001);
	});

	it('of submits that were under way together count as one, also if one began in the last moment', async () => {
		const { submit } = account(0);
		const first = submit();
		await after(SECOND);
		const last = submit();
		await after(0);
		first.end(REFUSAL);
		await after(SECOND);
		last.end(REFUSAL);
		const next = submit();
		await after(MINUTE);
		expect(next.at).toBe(12_000);
	});

	it('of a submit that began before an earlier refusal count if one was accepted since', async () => {
		const { submit } = account(0);
		const [first, slow] = [submit(), submit()];
		await after(SECOND);
		first.end(REFUSAL);
		const accepted = submit();
		await after(10 * SECOND);
		accepted.end('accepted');
		await after(SECOND);
		slow.end(REFUSAL);
		const next = [submit(), submit()];
		await after(MINUTE);
		// The list showed room, but the service has refused again: one at a time tries.
		expect(timesOf(next)).toEqual([22_000, undefined]);
	});

	it('that ask for a pause get it', async () => {
		const { refuse, submit, state } = account(FULL - 1);
		await refuse({ retryAfter: 45 * SECOND });
		const visit = submit();
		await after(MINUTE);
		expect([visit.at, state.looks]).toEqual([45_000, [45_000]]);
	});

	it('take away the room that was left', async () => {
		const { refuse, submit, state } = account(FULL);
		await refuse();
		const visit = submit();
		await after(10 * SECOND);
		state.inProgress = FULL - 5;
		await after(15 * SECOND);
		visit.end(REFUSAL);
		const next = submit();
		await after(0);
		expect(next.at).toBeUndefined();
	});
});

describe('A long upload', () => {
	it('that began before the refusal keeps nobody from trying', async () => {
		const { submit } = account(0);
		const long = submit();
		await after(1);
		const short = submit();
		await after(1);
		short.end(REFUSAL);
		const next = submit();
		await after(10 * SECOND);
		expect([long.at, next.at]).toEqual([0, 10_002]);
	});

	it('that tries is alone for five minutes, and then holds up nobody', async () => {
		const { refuse, submit } = account(undefined);
		await refuse();
		const visits = [submit(), submit(), submit()];
		await after(15 * MINUTE);
		expect(timesOf(visits)).toEqual([10_000, 320_000, 630_000]);
	});
});

describe('The patience', () => {
	const isOf = (problem: object) => ({ message: 'No room', problem });

	it('ends 30 minutes after the first refusal, with the last refusal', async () => {
		const { refuse, submit } = account(FULL);
		await refuse({ serviceMessage: 'full' });
		const visit = submit();
		await after(31 * MINUTE);
		// The look at the end of the patience is the last one.
		expect(visit.at).toBe(30 * MINUTE - 5_000);
		expect(visit.failure).toBeInstanceOf(NoRoom);
		expect(visit.failure).toMatchObject(isOf({ ...REFUSAL, serviceMessage: 'full' }));
	});

	it('takes in a look that comes at its very end', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 40 * SECOND);
		const { refuse, submit, state } = account(FULL);
		await refuse();
		const visit = submit();
		await after(39 * SECOND);
		state.inProgress = 0;
		await after(SECOND);
		expect([visit.at, visit.failure]).toEqual([40_000, undefined]);
	});

	it('ends at once if the service asks to come back only after it', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 40 * SECOND);
		const { refuse, submit, state } = account(0);
		await refuse({ retryAfter: 40 * SECOND + 1 });
		const visit = submit();
		await after(0);
		expect([visit.at, state.looks]).toEqual([0, []]);
		expect(visit.failure).toBeInstanceOf(NoRoom);
	});

	it('does not begin anew with another refusal', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 25 * SECOND);
		const { refuse, submit } = account(0);
		await refuse();
		const visit = submit();
		await after(10 * SECOND);
		visit.end(REFUSAL);
		const next = submit(NOW);
		await after(0);
		expect(next.failure).toBeInstanceOf(NoRoom);
	});

	it('begins anew with each accepted submit, because the own items may take the room', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 30 * SECOND);
		const { refuse, submit, state } = account(0);
		await refuse();
		const visit = submit();
		await after(20 * SECOND);
		state.inProgress = FULL;
		visit.end('accepted');
		const next = submit(NOW);
		await after(29 * SECOND);
		expect(next.failure).toBeUndefined();
		await after(MINUTE);
		expect([next.at, (next.failure as NoRoom).message]).toEqual([50_000, 'No room']);
	});

	it('begins with the first refusal after an accepted submit', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 25 * SECOND);
		const { refuse, submit } = account(0);
		await refuse();
		const visits = [submit(), submit()];
		await after(10 * SECOND);
		visits[0]?.end('accepted');
		await after(10 * SECOND);
		expect(visits[1]?.at).toBe(20_000);
		await after(25 * SECOND);
		visits[1]?.end(REFUSAL);
		const next = submit(NOW);
		await after(10 * SECOND);
		expect([next.at, next.failure]).toEqual([55_000, undefined]);
	});

	it('of a run that begins later has its full length', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 30 * SECOND);
		const { refuse, submit } = account(FULL);
		await refuse();
		await after(20 * SECOND);
		const [early, late] = [submit(NOW), submit()];
		await after(2 * MINUTE);
		expect([early.at, late.at]).toEqual([20_000, 50_000]);
	});

	it('of a caller that comes after it takes in one look, if one is due: there may be room by now', async () => {
		const { refuse, submit, state } = account(FULL);
		await refuse();
		await after(31 * MINUTE);
		const visit = submit(NOW);
		await after(0);
		expect([visit.at, state.looks]).toEqual([31 * MINUTE, [31 * MINUTE]]);
		expect(visit.failure).toBeInstanceOf(NoRoom);
		state.inProgress = 0;
		await after(15 * SECOND);
		const next = submit(NOW);
		await after(0);
		expect([next.failure, typeof next.at]).toEqual([undefined, 'number']);
	});

	it('takes in only one look by then, if looks take long', async () => {
		const { refuse, submit } = account();
		await refuse();
		await after(31 * MINUTE);
		let looks = 0;
		const slow = async () => {
			looks += 1;
			await after(20 * SECOND);
			return FULL;
		};
		const visit = submit(NOW, undefined, slow);
		for (let waits = 0; waits < 10; waits++) await after(0);
		expect([looks, visit.failure]).toEqual([1, expect.any(NoRoom)]);
	});
});

describe('A caller that is cancelled', () => {
	it('leaves at once, with the reason, and leaves the room as it is', async () => {
		const { refuse, submit, room } = account(0);
		await refuse();
		const stop = new AbortController();
		const [gone, other] = [submit(NOW, stop.signal), submit()];
		await after(SECOND);
		stop.abort(new Error('stopped'));
		await after(0);
		expect(gone).toMatchObject({ at: 1_000, failure: { message: 'stopped' } });
		await after(9 * SECOND);
		expect(other.at).toBe(10_000);
		other.end('accepted');
		await after(MINUTE + 1);
		expect(room.isOver()).toBe(true);
	});

	it('while it looks leaves the look to the others', async () => {
		const { refuse, submit, state } = account(0);
		await refuse();
		const stop = new AbortController();
		const looking = async () =>
			await new Promise<number>((_resolve, reject) => {
				stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error));
			});
		const [gone, other] = [submit(NOW, stop.signal, looking), submit()];
		await after(12 * SECOND);
		expect(state.looks).toEqual([]);
		stop.abort(new Error('stopped'));
		await after(999);
		expect(timesOf([gone, other])).toEqual([12_000, undefined]);
		await after(1);
		expect([other.at, state.looks]).toEqual([13_000, [13_000]]);
	});

	it('while another one looks leaves at once', async () => {
		const { refuse, submit } = account(0);
		await refuse();
		const stop = new AbortController();
		const slow = async () => await new Promise<number>((done) => setTimeout(done, MINUTE, 0));
		const [other, gone] = [submit(NOW, undefined, slow), submit(NOW, stop.signal, slow)];
		await after(12 * SECOND);
		stop.abort(new Error('stopped'));
		await after(0);
		expect(timesOf([other, gone])).toEqual([undefined, 12_000]);
		await after(58 * SECOND);
		expect(other.at).toBe(70_000);
	});
});

describe('What is known of an account', () => {
	it('is forgotten a minute after its last submit has ended', async () => {
		const { submit, room } = account();
		expect(room.isOver()).toBe(true);
		const visit = submit();
		await after(2 * MINUTE);
		expect(room.isOver()).toBe(false);
		visit.end('unsent');
		await after(MINUTE);
		expect(room.isOver()).toBe(false);
		await after(1);
		expect(room.isOver()).toBe(true);
	});

	it('is kept while somebody waits, and for a minute after the last one was sent away', async () => {
		const { submit, refuse, room } = account(FULL);
		await refuse();
		const visit = submit();
		await after(5 * MINUTE);
		expect(room.isOver()).toBe(false);
		await after(25 * MINUTE + 54 * SECOND);
		expect([visit.at, room.isOver()]).toEqual([30 * MINUTE - 5_000, false]);
		await after(2 * SECOND);
		expect(room.isOver()).toBe(true);
	});

	it('is kept while somebody waits and a long upload goes on', async () => {
		const { submit, refuse, room } = account(FULL);
		submit();
		await refuse();
		submit();
		await after(5 * MINUTE);
		expect(room.isOver()).toBe(false);
	});

	it('is that of its API key', async () => {
		const one = roomOf('key 1');
		const leave = await one.enter(async () => await Promise.resolve(0), NOW);
		expect(roomOf('key 1')).toBe(one);
		expect(roomOf('key 2')).not.toBe(one);
		leave('accepted');
		await after(MINUTE + 1);
		expect(roomOf('key 1')).not.toBe(one);
	});
});

describe('The number of tasks in progress', () => {
	const caller = {} as Caller;
	const failing = async () => await Promise.reject(new Error('no list'));

	it('is asked for in the name of the caller', async () => {
		const count = jest.fn(async () => await Promise.resolve(7));
		expect(await countFor(caller, count)()).toBe(7);
		expect(count).toHaveBeenCalledWith(caller);
	});

	it('is unknown if the list cannot be read', async () => {
		expect(await countFor(caller, failing)()).toBeUndefined();
		expect(await countFor(caller, failing, new AbortController().signal)()).toBeUndefined();
	});

	it('is not asked for any more by an execution that was cancelled', async () => {
		await expect(countFor(caller, failing, AbortSignal.abort())()).rejects.toThrow('no list');
	});
});
