/** A bot that was cancelled and has no task: for a while it may still get one. */
import {
	CALLED_OFF,
	calledOffSince,
	isCalledOff,
	isFinal,
	mayGetTask,
} from '../../../nodes/shared/api/calledOffBot';

const NOW = Date.UTC(2026, 10, 26, 12);
const CANCELLED_BOT = { bot_id: 'bot_1', status: 'cancelled' };

beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

describe('A cancelled bot', () => {
	it.each([
		['without a task is called off, and not final', CANCELLED_BOT, true, false],
		['with a task is final', { ...CANCELLED_BOT, task_id: 'tsk_1' }, false, true],
	])('%s', (_, state, calledOff, final) => {
		expect([isCalledOff(state), isFinal(state)]).toEqual([calledOff, final]);
	});

	it('is called off since the first look that saw it so', () => {
		expect(calledOffSince(CANCELLED_BOT)).toBe(NOW);
		expect(calledOffSince(CANCELLED_BOT, NOW - 5_000)).toBe(NOW - 5_000);
		expect(calledOffSince({ bot_id: 'bot_1', status: 'joining' }, NOW - 5_000)).toBeUndefined();
	});

	it('is called off since now if the clock was set back after the look before', () => {
		expect(calledOffSince(CANCELLED_BOT, NOW + 5_000)).toBe(NOW);
	});

	it('may get a task for the time of CALLED_OFF, and not longer', () => {
		expect(mayGetTask(NOW - CALLED_OFF.mayGetTaskMs + 1)).toBe(true);
		expect(mayGetTask(NOW - CALLED_OFF.mayGetTaskMs)).toBe(false);
	});
});
