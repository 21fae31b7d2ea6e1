/** Contract, "Patience", and "Every request": when a request is sent again. More of it in sendWithRetries.test.ts. */

import {
	delayBeforeRetry,
	hasKey,
	patienceFor,
	pauseWhenFull,
	RETRY,
	TIMEOUTS,
} from '../../../nodes/shared/api/delayBeforeRetry';
import { REPEATABLE, type Policy } from '../../../nodes/shared/api/types';
import type { Problem } from '../../../nodes/shared/api/noUsableAnswer';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const problem = (more: Partial<Problem>): Problem => ({ path: '/', ...more });

const chance = (value: number) => jest.spyOn(Math, 'random').mockReturnValue(value);

it('The times are those of the contract', () => {
	expect(TIMEOUTS).toEqual({
		request: MINUTE,
		uploadIdle: 5 * MINUTE,
		upload: 24 * 60 * MINUTE,
	});
	expect(RETRY).toEqual({
		base: SECOND,
		cap: 30 * SECOND,
		patienceWhenFull: 30 * MINUTE,
		patienceWhenBusy: 3 * MINUTE,
		patienceWhenBroken: 2 * MINUTE,
		patienceWhenUnreachable: 15 * SECOND,
		patienceWhenRefused: 10 * SECOND,
		look: 15 * SECOND,
		tryBase: 10 * SECOND,
		tryCap: 5 * MINUTE,
		room: MINUTE,
		brief: 8 * SECOND,
	});
});

describe('The wait before the next attempt', () => {
	const waits = (more: Partial<Problem>, left = Infinity) =>
		[1, 2, 3, 6, 20].map((tries) => delayBeforeRetry(problem(more), tries, left));

	it('grows to 30 s, with full jitter', () => {
		chance(1);
		const longest = [1, 2, 4, 30, 30].map((seconds) => seconds * SECOND);
		expect(waits({ status: 503 })).toEqual(longest);
		expect(waits({ status: 409 })).toEqual(longest);
		expect(waits({ status: 503, recordingBytes: 5 })).toEqual(longest);
		chance(0.25);
		expect(waits({ status: 503 })).toEqual(longest.map((wait) => wait / 4));
	});

	it('grows to 5 minutes for an upload that 409 holds up, and is never longer than the patience', () => {
		chance(1);
		const upload = { status: 409, recordingBytes: 0 };
		expect(waits(upload)).toEqual([10, 20, 40, 300, 300].map((seconds) => seconds * SECOND));
		expect(waits(upload, 15 * SECOND)).toEqual([10, 15, 15, 15, 15].map((s) => s * SECOND));
		expect(waits(upload, 0)).toEqual(Array(5).fill(undefined));
	});

	it('is what the service asks for, if the patience is long enough', () => {
		chance(1);
		const asked = (left: number) =>
			delayBeforeRetry(problem({ status: 429, retryAfter: 5_000 }), 1, left);
		expect([asked(5_000), asked(4_999)]).toEqual([5_000, undefined]);
		expect(delayBeforeRetry(problem({ status: 429, retryAfter: 0 }), 1, 5_000)).toBe(SECOND);
	});

	it('ends with the patience at the latest, so that chance gives up no patience', () => {
		chance(1);
		expect(waits({ status: 503 }, 10_000)).toEqual([1_000, 2_000, 4_000, 10_000, 10_000]);
		expect(waits({ transport: 'unreachable', status: undefined }, 1_500).at(1)).toBe(1_500);
	});

	it('does not come when no patience is left', () => {
		chance(0);
		const wait = (left: number) => delayBeforeRetry(problem({ status: 503 }), 1, left);
		expect([wait(1), wait(0), wait(-1)]).toEqual([0, undefined, undefined]);
	});
});

it('The pause while the account is full grows from 10 s to 5 minutes, and is at least half of that', () => {
	const pauses = () => [0, 1, 2, 3, 5, 6, 60].map(pauseWhenFull);
	const longest = [10, 10, 20, 40, 160, 300, 300].map((seconds) => seconds * SECOND);
	chance(1);
	expect(pauses()).toEqual(longest);
	chance(0);
	expect(pauses()).toEqual(longest.map((pause) => pause / 2));
	chance(0.5);
	expect(pauses()).toEqual(longest.map((pause) => (pause * 3) / 4));
});

describe('The patience', () => {
	const SUBMIT: Policy = { limit: 'submit', repeatable: true, upload: true };
	const LINK: Policy = { limit: 'submit', repeatable: false };
	const BOT: Policy = { limit: 'meeting', repeatable: false };
	const SUMMARY: Policy = { limit: 'summary', repeatable: false };
	const POLICIES = [SUBMIT, LINK, BOT, SUMMARY, REPEATABLE];
	const of = (more: Partial<Problem>) =>
		POLICIES.map((policy) => patienceFor(problem(more), policy)?.slice('patienceWhen'.length));

	it.each<[Partial<Problem>, Array<string | undefined>]>([
		[{ status: 429 }, ['Full', 'Full', 'Full', 'Busy', 'Busy']],
		[{ status: 503, isBlank: true }, Array(5).fill('Broken')],
		[{ status: 503, isWebPage: true }, ['Broken', undefined, undefined, undefined, 'Broken']],
		[{ status: 409 }, ['Full', undefined, undefined, undefined, undefined]],
		[{ status: 409, errorCode: 'exists' }, Array(5).fill(undefined)],
		[{ transport: 'unreachable' }, ['Unreachable', undefined, undefined, undefined, 'Unreachable']],
		[{ transport: 'broken' }, ['Broken', undefined, undefined, undefined, 'Broken']],
		[{ status: 502 }, ['Broken', undefined, undefined, undefined, 'Broken']],
		[{ status: 500 }, Array(5).fill(undefined)],
		[{ status: 400 }, Array(5).fill(undefined)],
		[{ transport: 'unknownHost' }, Array(5).fill(undefined)],
	])('after %j, of a file, a link, a bot, a summary and a read, is %j', (more, patience) => {
		expect(of(more)).toStrictEqual(patience);
	});

	it('counts a key if the policy says so, or for a submit that may be repeated', () => {
		expect(POLICIES.map(hasKey)).toEqual([true, false, false, false, false]);
		expect(hasKey({ ...LINK, keyed: true })).toBe(true);
		expect(hasKey({ ...SUBMIT, keyed: false })).toBe(false);
	});
});
