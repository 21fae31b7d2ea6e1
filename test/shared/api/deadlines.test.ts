/** "Waiting": a deadline holds whatever happens meanwhile. */
import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import {
	anyOf,
	answeredWithin,
	pause,
	signalAt,
	unlessAborted,
	unlessLate,
} from '../../../nodes/shared/api/deadlines';
import { Late } from '../../../nodes/shared/api/noUsableAnswer';
import { long } from '../../support/long';

/** What V8 does by itself when memory is wanted. */
function collectGarbage(): void {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
}

it('a deadline beside the signal that cancels the execution survives garbage collection', async () => {
	const execution = new AbortController();
	const stop = anyOf(execution.signal, signalAt(Date.now() + 200));
	for (let count = 0; count < 2; count++) {
		collectGarbage();
		await sleep(150);
	}
	expect(stop?.aborted).toBe(true);
});

long.it('so does a deadline that is put beside such a pair', async () => {
	const execution = new AbortController();
	const pair = anyOf(execution.signal, signalAt(Date.now() + 200));
	const stop = anyOf(pair, signalAt(Date.now() + 60_000));
	for (let count = 0; count < 3; count++) {
		collectGarbage();
		await sleep(120);
	}
	expect(stop?.aborted).toBe(true);
});

const never = new Promise<never>(() => undefined);
const own = new Error('of the work');
const cancelled = new Error('cancelled');
const LONG = 2 ** 31 + 60_000;

describe('work that a signal can end', () => {
	it('gives what it gives without a signal, and leaves no listener at one that never aborts', async () => {
		const { signal } = new AbortController();
		for (const given of [undefined, signal]) {
			expect(await unlessAborted(Promise.resolve(7), given)).toBe(7);
			await expect(unlessAborted(Promise.reject(own), given)).rejects.toBe(own);
		}
		await sleep(0);
		expect(getEventListeners(signal, 'abort')).toEqual([]);
	});

	it('ends with the reason of the signal, also of one that has aborted before', async () => {
		const execution = new AbortController();
		const working = unlessAborted(never, execution.signal);
		execution.abort(cancelled);
		await expect(working).rejects.toBe(cancelled);
		await expect(unlessAborted(never, execution.signal)).rejects.toBe(cancelled);
	});

	it('leaves no listener at a signal that has ended it: Node.js would never free the signal', async () => {
		const execution = new AbortController();
		const working = unlessAborted(never, execution.signal);
		execution.abort(cancelled);
		await expect(working).rejects.toBe(cancelled);
		expect(getEventListeners(execution.signal, 'abort')).toEqual([]);
	});
});

describe('a pause', () => {
	it('is as long as it should be, and does not begin for a cancelled execution', async () => {
		await expect(pause(1)).resolves.toBeUndefined();
		await expect(pause(1, AbortSignal.abort(cancelled))).rejects.toBe(cancelled);
		jest.useFakeTimers();
		const stopped = pause(LONG, AbortSignal.abort(cancelled));
		expect(jest.getTimerCount()).toBe(0);
		jest.useRealTimers();
		await expect(stopped).rejects.toBe(cancelled);
	});

	it('of more than 24 days, for which Node.js has no timer, does not end at once', async () => {
		jest.useFakeTimers();
		let hasEnded = false;
		void pause(LONG).then(() => (hasEnded = true));
		await jest.advanceTimersByTimeAsync(60_000);
		jest.useRealTimers();
		expect(hasEnded).toBe(false);
	});
});

describe('a deadline', () => {
	it('is a signal, or none without a deadline', async () => {
		expect(signalAt()).toBeUndefined();
		const [past, soon, far] = [-1000, 10, LONG].map((ms) => signalAt(Date.now() + ms));
		await sleep(50);
		expect([past, soon, far].map((signal) => signal?.aborted)).toEqual([true, true, false]);
	});

	it('ends the work with the error it is given, not with that of the work', async () => {
		const late = new Error('too late');
		await expect(unlessLate(never, Date.now() + 10, () => late)).rejects.toBe(late);
		await expect(unlessLate(Promise.reject(own), Date.now() + 60_000, () => late)).rejects.toBe(
			own,
		);
	});

	it('is the earlier one of the time for an answer and the deadline of the call', async () => {
		await expect(answeredWithin(never, 10)).rejects.toBeInstanceOf(Late);
		await expect(answeredWithin(never, 10, Date.now() + 60_000)).rejects.toBeInstanceOf(Late);
		await expect(answeredWithin(never, 60_000, Date.now() + 10)).rejects.toBeInstanceOf(Late);
		expect(await answeredWithin(sleep(20, 'answer'), 60_000)).toBe('answer');
	});
});

it('signals together abort with the first of them; fewer than two need no new one', () => {
	const [one, other] = [new AbortController(), new AbortController()];
	const both = anyOf(one.signal, undefined, other.signal);
	other.abort(cancelled);
	expect([both?.aborted, both?.reason]).toEqual([true, cancelled]);
	expect(anyOf(undefined, one.signal, undefined)).toBe(one.signal);
	expect(anyOf(undefined)).toBeUndefined();
});
