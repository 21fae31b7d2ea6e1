/** "Every request" in the contract: the attempts of one request, and what their failures mean. */
// Also covers sendWithRetries.ts, types.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import { NodeOperationError, type IN8nHttpFullResponse } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { Late, Refused } from '../../../nodes/shared/api/noUsableAnswer';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { roomOf } from '../../../nodes/shared/api/roomForTasks';
import { asUnsent, neverLeft, sendWithRetries } from '../../../nodes/shared/api/sendWithRetries';
import { ServiceError } from '../../../nodes/shared/api/serviceError';
import {
	REPEATABLE,
	STOPS_SPENDING,
	type Caller,
	type Policy,
} from '../../../nodes/shared/api/types';
import { queueFor } from '../../../nodes/shared/api/waitForTurn';
import { until } from '../../simulator/testing-client';
import { itemContext } from '../../support/itemContext';
import { additionalDataFor } from '../../support/n8n';
import { contextsWith } from '../n8nInternals/contexts';

const LONG = 60_000;
/** A link: it has no key, so it must not be repeated. */
const LINK: Policy = { limit: 'submit', repeatable: false };
/** A file with its Idempotency-Key. */
const FILE: Policy = { limit: 'submit', repeatable: true, upload: true };

let keys = 0;
let apiKey: string;
beforeEach(() => {
	apiKey = `key-of-attempts-${++keys}`;
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	for (const name of Object.keys(RETRY) as Array<keyof typeof RETRY>) {
		jest.replaceProperty(RETRY, name, name.startsWith('patience') ? LONG : 1);
	}
});
type Bounds = Parameters<typeof sendWithRetries>[1];
type Outcome = 'accepted' | Error | (() => 'accepted' | Error | Promise<'accepted' | Error>);

const refused = (status: number, body: object | string = {}, headers = {}) =>
	new Refused({ statusCode: status, headers, body } as IN8nHttpFullResponse);
const busy = () => refused(429, { detail: 'Too many' });
const atWork = () => refused(409);
const down = () => refused(503, { detail: 'Down', code: 'service_unavailable' });
const unreachable = () => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
const broken = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** Sends a request whose attempts have these outcomes, the last one again and again. */
function sending(outcomes: Outcome[], bounds: Partial<Bounds> = {}, cancel?: AbortSignal) {
	const credentials = { baseUrl: 'http://127.0.0.1:9', apiKey };
	/** Whether an earlier attempt may have been accepted, for each attempt. */
	const sent: boolean[] = [];
	const request = { policy: REPEATABLE, path: '/account', ...bounds };
	const result = sendWithRetries(
		itemContext({}, { credentials, cancel }),
		request,
		async ({ apiKey: used }, mayBeAccepted) => {
			expect(used).toBe(apiKey);
			const outcome = outcomes[Math.min(sent.length, outcomes.length - 1)];
			sent.push(mayBeAccepted);
			const end = typeof outcome === 'function' ? await outcome() : outcome;
			if (end instanceof Error) throw end;
			return end;
		},
	);
	result.catch(() => undefined);
	return { result, sent, failure: async () => await result.then(fail, (error: Error) => error) };
}

const fail = () => {
	throw new Error('It was accepted');
};

describe('A failure before anything was sent', () => {
	it('is marked as such', () => {
		const failure = new Error('a');
		expect([neverLeft(failure), asUnsent(failure), neverLeft(failure)]).toEqual([
			false,
			failure,
			true,
		]);
	});

	it.each(['text', null, undefined, 7])('may be %j, which has no mark', (failure) => {
		expect([asUnsent(failure), neverLeft(failure)]).toEqual([failure, false]);
	});

	it('is known if the request never had its turn', async () => {
		await queueFor(apiKey, 'other').take(undefined, 'urgent');
		jest.replaceProperty(LIMITS, 'other', 1);
		const { failure, sent } = sending(['accepted'], { deadline: Date.now() + 5 });
		const error = await failure();
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({ problem: { path: '/account', transport: 'noTurn' } });
		expect([sent, neverLeft(error)]).toEqual([[], true]);
	});

	it('is not assumed if the request was sent', async () => {
		const { failure, sent } = sending([refused(400)]);
		const error = await failure();
		expect([sent, neverLeft(error)]).toEqual([[false], false]);
	});

	it('may come from the attempt itself, and is no failure of the service', async () => {
		const own = asUnsent(new Error(`No file for ${apiKey}`));
		const error = await sending([own]).failure();
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toMatch(/^No file for \*+/);
		expect([neverLeft(error), error instanceof ServiceError]).toEqual([true, false]);
	});

	it('does not hide that an earlier attempt may have been accepted', async () => {
		const own = asUnsent(new NodeOperationError(itemContext({}).getNode(), 'No file'));
		const { failure, sent } = sending([broken(), own]);
		const error = await failure();
		expect([sent, neverLeft(error), error.message]).toEqual([[false, true], false, 'No file']);
		expect(error).not.toBe(own);
	});
});

describe('A failure that is not of the service', () => {
	it('is shown as it is if it is in words for the user', async () => {
		const own = new NodeOperationError(itemContext({}).getNode(), 'Not a file');
		expect(await sending([own]).failure()).toBe(own);
	});

	it('is shown without the API key otherwise', async () => {
		const error = await sending([new TypeError(`bad ${apiKey}`)]).failure();
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toMatch(/^bad \*+/);
	});

	it('may be no error at all', async () => {
		const thrown = `odd ${apiKey}`;
		const { result } = sending([
			() => {
				throw thrown;
			},
		]);
		await expect(result).rejects.toThrow(/^odd \*+/);
	});
});

describe('The next attempt', () => {
	it('comes after a refusal that may pass, and knows that nothing was accepted', async () => {
		const { result, sent } = sending([busy(), down(), unreachable(), 'accepted']);
		expect(await result).toBe('accepted');
		expect(sent).toEqual([false, false, false, false]);
	});

	it.each([
		['the connection broke', broken],
		['there was no answer in time', () => new Late()],
		['a gateway lost the service', () => refused(502)],
		['a gateway answered 503', () => refused(503, '<html>', { 'content-type': 'text/html' })],
	])('knows that an earlier one may have been accepted, if %s', async (_what, failure) => {
		const { result, sent } = sending([failure(), busy(), 'accepted']);
		await result;
		expect(sent).toEqual([false, true, true]);
	});

	it('of a file knows that an earlier one may have been accepted, after a 409', async () => {
		const { result, sent } = sending([refused(409), 'accepted'], { policy: FILE });
		await result;
		expect(sent).toEqual([false, true]);
	});

	it('of a link does not come after a 409 or a connection that broke', async () => {
		for (const failure of [refused(409), broken()]) {
			const { failure: end, sent } = sending([failure, 'accepted'], { policy: LINK });
			expect(await end()).toBeInstanceOf(ServiceError);
			expect(sent).toEqual([false]);
		}
	});

	it('does not come for a caller that repeats its request itself', async () => {
		const { failure, sent } = sending([down(), 'accepted'], { once: true });
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(1);
	});

	it('does not come if the patience is over', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		const { failure, sent } = sending([down(), 'accepted']);
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(1);
	});

	it('has the patience of its kind of failure, from the first failure of that kind', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 2_000);
		const late = async () => {
			await sleep(2_100);
			return broken();
		};
		const { failure, sent } = sending([down(), late, 'accepted']);
		expect(await failure()).toMatchObject({ problem: { attempts: 2 } });
		expect(sent).toHaveLength(2);
	});

	it('has a full patience again if the service was there meanwhile', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 100);
		const late = async () => {
			await sleep(120);
			return busy();
		};
		const { result, sent } = sending([down(), late, down(), 'accepted']);
		await result;
		expect(sent).toHaveLength(4);
	});

	it('has no full patience again because it had to wait long for its turn', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 2_000);
		jest.replaceProperty(LIMITS, 'windowMs', 2_500);
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'keptForUrgent', 0);
		const { failure, sent } = sending([down(), down(), 'accepted']);
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(2);
	});

	it('of a 503 is not lengthened for a service that is away again and again while it is busy', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 2_000);
		const late = async () => {
			await sleep(2_100);
			return busy();
		};
		const { failure, sent } = sending([busy(), down(), late, down(), 'accepted']);
		expect(await failure()).toMatchObject({ httpCode: '429' });
		expect(sent).toHaveLength(3);
	});

	it('has a full patience if its kind of failure is new', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBusy', 100);
		const late = async () => {
			await sleep(120);
			return busy();
		};
		const { result, sent } = sending([down(), late, 'accepted']);
		await result;
		expect(sent).toHaveLength(3);
	});
});

describe('The error of the service', () => {
	it('tells what was sent, how often, and whether an earlier attempt may be accepted', async () => {
		const bounds = { policy: FILE, path: '/transcribe', recordingBytes: 7, isEmpty: false };
		const { failure } = sending([busy(), refused(413)], bounds);
		expect(await failure()).toMatchObject({
			problem: {
				path: '/transcribe',
				recordingBytes: 7,
				isEmpty: false,
				status: 413,
				isKeyed: true,
				isRepeat: false,
				attempts: 2,
			},
		});
		const again = sending([broken(), refused(400)], { isEmpty: true });
		expect(await again.failure()).toMatchObject({
			problem: { path: '/account', isEmpty: true, isKeyed: false, isRepeat: true, attempts: 2 },
		});
	});
});

describe('The place in the queue', () => {
	/** The names of requests in the order in which they are sent, while one place is free. */
	async function orderOf(
		requests: Array<[string, Partial<Bounds>, Outcome[]]>,
		queue: 'other' | 'uploads',
	) {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'keptForUrgent', 0);
		jest.replaceProperty(LIMITS, 'uploadsAtOnce', 1);
		const leave = await queueFor(apiKey, queue).take();
		const order: string[] = [];
		const all = [];
		for (const [name, bounds, outcomes] of requests) {
			const named = outcomes.map((outcome) => async () => {
				order.push(name);
				return typeof outcome === 'function' ? await outcome() : outcome;
			});
			all.push(sending(named, bounds).result);
			await sleep(2);
		}
		leave();
		await Promise.all(all);
		return order;
	}

	it('is before first attempts for what the caller has tried before, and before all for what ends costs', async () => {
		const order = await orderOf(
			[
				['first', {}, ['accepted']],
				['repeat', { isRepeat: true }, ['accepted']],
				['urgent', { policy: STOPS_SPENDING }, ['accepted']],
			],
			'other',
		);
		expect(order).toEqual(['urgent', 'repeat', 'first']);
	});

	it('is before first attempts for what failed before', async () => {
		const slow = async () => {
			await sleep(20);
			return 'accepted' as const;
		};
		const order = await orderOf(
			[
				['a', {}, [busy(), 'accepted']],
				['b', {}, [slow]],
				['c', {}, [slow]],
			],
			'other',
		);
		expect(order).toEqual(['a', 'b', 'a', 'c']);
	});

	it('of an upload that was tried before is before that of others', async () => {
		const order = await orderOf(
			[
				['first', { policy: FILE }, ['accepted']],
				['repeat', { policy: FILE, isRepeat: true }, ['accepted']],
			],
			'uploads',
		);
		expect(order).toEqual(['repeat', 'first']);
	});

	it('of an upload is given to another one in the pause before its next attempt, and taken again first', async () => {
		const slow = async () => {
			await sleep(20);
			return 'accepted' as const;
		};
		const order = await orderOf(
			[
				['a', { policy: FILE }, [down(), 'accepted']],
				['b', { policy: FILE }, [slow]],
				['c', { policy: FILE }, [slow]],
			],
			'uploads',
		);
		expect(order).toEqual(['a', 'b', 'a', 'c']);
	});

	it('of an upload is free after its failure', async () => {
		jest.replaceProperty(LIMITS, 'uploadsAtOnce', 1);
		await sending([refused(400)], { policy: FILE }).failure();
		await sending(['accepted'], { policy: FILE }).result;
		await sending([new Error('odd')], { policy: FILE }).failure();
		expect(await sending(['accepted'], { policy: FILE }).result).toBe('accepted');
	});

	it('among the uploads is none for other requests', async () => {
		jest.replaceProperty(LIMITS, 'uploadsAtOnce', 1);
		await queueFor(apiKey, 'uploads').take();
		expect(await sending(['accepted'], { policy: LINK }).result).toBe('accepted');
	});
});

describe('The room for tasks', () => {
	const counted = (inProgress = 0) => {
		const asked = jest.fn(async () => await Promise.resolve(inProgress));
		return { asked, policy: { ...LINK, countTasks: asked } };
	};

	it('is waited for after a 429, and nothing is asked before', async () => {
		const { asked, policy } = counted();
		const { result, sent } = sending([busy(), busy(), 'accepted'], { policy });
		await result;
		expect([sent.length, asked.mock.calls.length]).toEqual([3, 2]);
	});

	it('is nothing for other failures, nor for requests that need none', async () => {
		const { asked, policy } = counted();
		await sending([down(), 'accepted'], { policy }).result;
		await sending([busy(), 'accepted'], { policy: LINK }).result;
		expect(asked).not.toHaveBeenCalled();
	});

	it('is that in which the request was refused, also if that is forgotten meanwhile', async () => {
		const { asked, policy } = counted();
		jest.replaceProperty(RETRY, 'room', -1);
		const forgotten = async () => {
			await sleep(3);
			return await Promise.resolve(busy());
		};
		await sending([forgotten, 'accepted'], { policy }).result;
		expect(asked).toHaveBeenCalledTimes(1);
	});

	it('that does not come is the error of the service', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenFull', 30);
		const { policy } = counted(LIMITS.tasksInProgress);
		const { failure, sent } = sending([busy()], { policy, path: '/transcribe-url' });
		const error = await failure();
		expect(error).toBeInstanceOf(ServiceError);
		expect(error).toMatchObject({
			problem: { path: '/transcribe-url', status: 429, isRepeat: false },
		});
		expect([sent.length, neverLeft(error)]).toEqual([1, false]);
	});

	it('keeps the place among the uploads of who waits for it', async () => {
		jest.replaceProperty(LIMITS, 'uploadsAtOnce', 1);
		const order: string[] = [];
		const named = (name: string, outcome: Outcome) => () => {
			order.push(name);
			return outcome as 'accepted';
		};
		const asked = async () => {
			await sleep(20);
			return 0;
		};
		const waiting = sending([named('a', busy()), named('a', 'accepted')], {
			policy: { ...FILE, countTasks: asked },
		});
		await until(() => order.length === 1);
		await Promise.all([waiting.result, sending([named('b', 'accepted')], { policy: FILE }).result]);
		expect(order).toEqual(['a', 'a', 'b']);
	});

	it('does not make the patience with other failures longer', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		const { policy } = counted();
		const { failure, sent } = sending([down()], { policy });
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(1);
	});

	it('that did not come for another request is the error of this one, with its own path', async () => {
		jest.replaceProperty(RETRY, 'room', LONG);
		jest.replaceProperty(RETRY, 'patienceWhenFull', 30);
		const { policy } = counted(LIMITS.tasksInProgress);
		await sending([busy()], { policy, path: '/transcribe-url' }).failure();
		const { failure, sent } = sending(['accepted'], { policy, path: '/meeting', began: 0 });
		const error = await failure();
		expect(error).toMatchObject({ problem: { path: '/meeting', status: 429 } });
		expect([sent, neverLeft(error)]).toEqual([[], true]);
	});

	it('has a patience that begins with the run of the node', async () => {
		jest.replaceProperty(RETRY, 'room', LONG);
		jest.replaceProperty(RETRY, 'patienceWhenFull', 100);
		const refusal = { ...busy().response, path: '/', status: 429, retryAfter: 500 };
		const count = async () => await Promise.resolve(0);
		(await roomOf(apiKey).enter(count, Date.now()))(refusal);
		const began = Date.now() + LONG;
		const { policy } = counted();
		const stop = new AbortController();
		const { result, sent } = sending(['accepted'], { policy, began, abandoned: stop.signal });
		await sleep(20);
		stop.abort(new Error('still waiting'));
		await expect(result).rejects.toThrow('still waiting');
		expect(sent).toEqual([]);
	});

	it('has news of an accepted submit', async () => {
		jest.replaceProperty(RETRY, 'room', LONG);
		// Whoever tries alone is alone for long.
		jest.replaceProperty(RETRY, 'tryCap', LONG);
		const { policy, asked } = counted(LIMITS.tasksInProgress - 2);
		await sending([busy(), 'accepted'], { policy }).result;
		// Without the news of the acceptance, the second one of these would wait for the first.
		let both = 0;
		const together = async () => {
			both += 1;
			while (both < 2) await sleep(1);
			return 'accepted' as const;
		};
		await Promise.all([1, 2].map(async () => await sending([together], { policy }).result));
		expect(asked.mock.calls.length).toBeGreaterThan(1);
	});
});

describe('A deadline', () => {
	it('ends the pause before the next attempt, with the last failure', async () => {
		const { failure, sent } = sending(
			[refused(503, { code: 'service_unavailable' }, { 'retry-after': '1' })],
			{
				deadline: Date.now() + 30,
			},
		);
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(1);
	});

	it('that counts from the first turn does so', async () => {
		const leave = await queueFor(apiKey, 'other').take();
		jest.replaceProperty(LIMITS, 'other', 1);
		const slow = refused(503, { code: 'service_unavailable' }, { 'retry-after': '1' });
		const { failure, sent } = sending([slow], { fromTurn: 30 });
		await sleep(60);
		expect(sent).toEqual([]);
		leave();
		expect(await failure()).toMatchObject({ httpCode: '503' });
		expect(sent).toHaveLength(1);
	});

	it('that counts from the first turn leaves time for further attempts', async () => {
		const { result, sent } = sending([busy(), busy(), 'accepted'], { fromTurn: LONG });
		await result;
		expect(sent).toHaveLength(3);
	});

	it('that counts from the first turn does not begin anew with each attempt', async () => {
		const late = async () => {
			await sleep(20);
			return busy();
		};
		const { failure } = sending([late], { fromTurn: 50 });
		expect(await failure()).toMatchObject({ httpCode: '429' });
	});
});

describe('Somebody who does not want the request any more', () => {
	const abandoned = new Error('abandoned');

	it('ends the wait for a turn, with the reason', async () => {
		await queueFor(apiKey, 'other').take();
		jest.replaceProperty(LIMITS, 'other', 1);
		const stop = new AbortController();
		const { failure, sent } = sending(['accepted'], { abandoned: stop.signal });
		await sleep(2);
		stop.abort(abandoned);
		const error = await failure();
		expect([error, sent, neverLeft(error)]).toEqual([abandoned, [], true]);
	});

	it.each([
		['ends the pause after a refusal, with the reason', busy, true],
		['does not end the pause after an attempt that may have arrived', broken, false],
		[
			'does not end the pause after a 409 for a file, on which the service is at work',
			atWork,
			false,
		],
	])('%s', async (_what, failing, ends) => {
		const stop = new AbortController();
		jest.replaceProperty(RETRY, 'base', 60);
		jest.replaceProperty(RETRY, 'cap', 60);
		jest.spyOn(Math, 'random').mockReturnValue(1);
		const outcomes: Outcome[] = [failing(), 'accepted'];
		const { result, sent } = sending(outcomes, { policy: FILE, abandoned: stop.signal });
		await sleep(20);
		stop.abort(abandoned);
		expect(await result.catch((error: unknown) => error)).toBe(ends ? abandoned : 'accepted');
		expect(sent).toHaveLength(ends ? 1 : 2);
	});

	it('does not end an attempt', async () => {
		const stop = new AbortController();
		const slow = async () => {
			stop.abort(abandoned);
			return await Promise.resolve('accepted' as const);
		};
		expect(await sending([slow], { abandoned: stop.signal }).result).toBe('accepted');
	});

	it('at the same time as the place in the queue comes keeps it from being sent, and frees the place', async () => {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'windowMs', 3_000);
		const leave = await queueFor(apiKey, 'other').take();
		const stop = new AbortController();
		const { failure, sent } = sending(['accepted'], { abandoned: stop.signal });
		await sleep(5);
		leave(false);
		stop.abort(abandoned);
		expect([await failure(), sent]).toEqual([abandoned, []]);
		const next = sending(['accepted'], { deadline: Date.now() + 2_000 });
		expect(await next.result).toBe('accepted');
	});

	it('in the moment of the turn keeps it from being sent, and frees the place at once', async () => {
		jest.replaceProperty(LIMITS, 'other', 1);
		jest.replaceProperty(LIMITS, 'windowMs', 3_000);
		const stop = AbortSignal.abort(abandoned);
		const { failure, sent } = sending(['accepted'], { abandoned: stop });
		expect([await failure(), sent]).toEqual([abandoned, []]);
		const next = sending(['accepted'], { deadline: Date.now() + 2_000 });
		expect(await next.result).toBe('accepted');
	});
});

describe('A cancelled execution', () => {
	const cancelled = new Error('cancelled by the user');
	const WORDS = 'The execution was cancelled';

	it.each<[string, Outcome, Partial<Bounds>, boolean]>([
		['was refused', refused(400), {}, true],
		['found nobody who listens', unreachable(), {}, true],
		['broke off', broken(), {}, false],
		['failed in an unknown way', new Error('odd'), {}, false],
		['of a file is still processed', refused(409), { policy: FILE }, false],
		['of a link was refused with 409', refused(409), { policy: LINK }, true],
	])(
		'whose attempt %s: the reason tells whether nothing was done',
		async (_what, outcome, bounds, isReason) => {
			const stop = new AbortController();
			const ending = async () => {
				stop.abort(cancelled);
				return typeof outcome === 'function' ? await outcome() : outcome;
			};
			const error = await sending([ending], bounds, stop.signal).failure();
			if (isReason) expect(error).toBe(cancelled);
			else expect([error.constructor, error.message]).toEqual([NodeOperationError, WORDS]);
		},
	);

	it('whose earlier attempt may have been accepted does not say that nothing was done', async () => {
		const stop = new AbortController();
		const ending = () => {
			stop.abort(cancelled);
			return refused(400);
		};
		const error = await sending([broken(), ending], {}, stop.signal).failure();
		expect(error.message).toBe(WORDS);
	});

	it.each([
		['nothing was done', busy, false],
		['something may have been done', broken, true],
	])('in the pause before the next attempt says whether %s', async (_what, failing, isInWords) => {
		const stop = new AbortController();
		jest.replaceProperty(RETRY, 'base', 500);
		jest.replaceProperty(RETRY, 'cap', 500);
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		const { failure } = sending([failing()], {}, stop.signal);
		await sleep(20);
		stop.abort(cancelled);
		const error = await failure();
		if (isInWords) expect(error.message).toBe(WORDS);
		else expect(error).toBe(cancelled);
	});

	it('says that something may have been done, also if another item has failed before', async () => {
		const [stop, abandoned] = [new AbortController(), new AbortController()];
		jest.replaceProperty(RETRY, 'base', 2_000);
		jest.replaceProperty(RETRY, 'cap', 2_000);
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		const bounds = { abandoned: abandoned.signal };
		const { failure, sent } = sending([broken()], bounds, stop.signal);
		await until(() => sent.length === 1);
		await sleep(20);
		abandoned.abort(new Error('abandoned'));
		stop.abort(cancelled);
		expect((await failure()).message).toBe(WORDS);
	});

	it('in the moment of the turn sends nothing', async () => {
		const { failure, sent } = sending(['accepted'], {}, AbortSignal.abort(cancelled));
		expect([await failure(), sent]).toEqual([cancelled, []]);
	});
});

it('A caller that nobody can cancel sends its requests, too', async () => {
	const credentials = { baseUrl: 'http://127.0.0.1:9', apiKey };
	const { hook } = contextsWith(additionalDataFor(credentials));
	const bounds = { policy: REPEATABLE, path: '/account' };
	const accepted = async () => await Promise.resolve('accepted');
	expect(hook).not.toHaveProperty('getExecutionCancelSignal');
	expect(await sendWithRetries(hook as unknown as Caller, bounds, accepted)).toBe('accepted');
});

describe('What may be repeated', () => {
	it('is what changes nothing, and what ends costs, which goes first', () => {
		expect([REPEATABLE, STOPS_SPENDING]).toEqual([
			{ limit: 'other', repeatable: true },
			{ limit: 'other', repeatable: true, isUrgent: true },
		]);
	});
});
