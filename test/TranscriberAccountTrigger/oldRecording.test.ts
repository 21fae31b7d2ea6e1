/** A recording that was made long before the trigger began, but is transcribed now. */
// Also covers newSinceLastPoll.ts.

import { NewSinceLastPoll } from '../../nodes/TranscriberAccountTrigger/newSinceLastPoll';
import type { State } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { hashOf } from '../../nodes/TranscriberAccountTrigger/taskHashes';

const MINUTE = 60_000;
const created = new Date(Date.now() - 30 * 24 * 60 * MINUTE).toISOString();
const old = { task_id: 'old', status: 'completed', created_at: created };

it.each([
	['not in the first minutes, in which the list may show what had ended before', 1, 9, false],
	['after some polls', 3, 9, true],
	['after ten minutes, with however few polls', 1, 11, true],
])('starts the workflow: %s', (_when, turn, minutes, starts) => {
	const state: State = {
		account: 'a',
		since: Date.now() - minutes * MINUTE,
		at: Date.now(),
		turn,
		size: 100,
		filters: true,
		done: hashOf('known'),
		open: [],
		frontier: 0,
		edge: '',
		complete: true,
		tail: '',
		sweep: 0,
	};
	const tasks = new NewSinceLastPoll(state);
	tasks.take(old, true);
	expect(tasks.news.has('old')).toBe(starts);
});
