/** 'Wait for the Transcript (Webhook)': what a process knows of the endings of a suspended execution. */
// First, before the code is loaded.
import { forgetEverything } from '../../../support/ownMemory';

import type { WaitingItem } from '../../../../nodes/Transcriber/submit/once/suspensionState';
import {
	RESUME,
	knownOf,
	noteEnding,
} from '../../../../nodes/Transcriber/submit/suspension/knownEndings';
import { asleep, callTo, keysIn, knownOfItems } from '../../../support/asleep';

beforeEach(forgetEverything);

const HOUR = 3_600_000;

const contextOf = (executionId = '41', node = {}) => callTo({ executionId, node });

const known = (...items: WaitingItem[]) => knownOfItems(contextOf(), items);

describe('What is known of a suspended execution', () => {
	it('begins with the endings that it was suspended with', () => {
		const items = {
			0: { taskId: 'a', ended: true },
			1: { taskId: 'b', ended: false },
			2: { botId: 'c' },
		};
		const state = knownOf(contextOf(), asleep(items, { until: 7 * HOUR }));
		expect(keysIn(state)).toEqual({ ended: ['task a'], completed: [], failed: [], recordings: [] });
		expect(state.until).toBe(7 * HOUR);
	});

	it('is that of the execution, the node and the run', () => {
		const state = known({ taskId: 'a' });
		expect(knownOf(contextOf(), asleep({}))).toBe(state);
		expect(knownOf(contextOf('42'), asleep({}))).not.toBe(state);
		expect(knownOf(contextOf('41', { id: 'other' }), asleep({}))).not.toBe(state);
		expect(knownOf(contextOf(), asleep({}, { run: 1 }))).not.toBe(state);
	});

	it('is kept for an hour after the time of the execution was up', () => {
		const now = 1_000_000_000;
		const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
		expect(RESUME.keep).toBe(HOUR);
		const state = knownOf(contextOf(), asleep({}, { until: now }));
		clock.mockReturnValue(now + HOUR);
		expect(knownOf(contextOf(), asleep({}))).toBe(state);
		clock.mockReturnValue(now + HOUR + 1);
		expect(knownOf(contextOf(), asleep({}))).not.toBe(state);
	});
});

describe('What is noted of a submission', () => {
	it.each([
		['completed', { completed: ['task a'], failed: [] }],
		['COMPLETED', { completed: ['task a'], failed: [] }],
		['failed', { completed: [], failed: ['task a'] }],
		['processing', { completed: [], failed: [] }],
		[undefined, { completed: [], failed: [] }],
	])('is how it has ended: %s', (status, noted) => {
		const state = known();
		noteEnding(state, { taskId: 'a' }, { status, task_id: 'a' });
		expect(keysIn(state)).toMatchObject({ ...noted, recordings: [] });
	});

	it('is the task of a bot', () => {
		const state = known();
		noteEnding(state, { botId: 'b' }, { bot_id: 'b', status: 'scheduled' });
		expect(keysIn(state).recordings).toEqual([]);
		noteEnding(state, { botId: 'b' }, { bot_id: 'b', task_id: 'a' });
		expect(keysIn(state).recordings).toEqual([['bot b', 'a']]);
	});
});
