/** Contract, "Never twice": a launch without an answer is known for its ten minutes, whatever the clock says. */
// Also covers botStore.ts.

import { BotStore } from '../../nodes/TranscriberTrigger/botStore';
import { StoredWorkflow } from './storedWorkflow';

it('The newest launch counts, even if the clock was set back since the one that is saved', () => {
	const workflow = new StoredWorkflow('launches');
	const launch = { unansweredUntil: 0, changedAt: Date.now() + 3_600_000 };
	workflow.saved = { 1: { launch } };
	const store = new BotStore(workflow.call());
	const until = Date.now() + 600_000;
	store.unansweredUntil = until;
	expect(store.unansweredUntil).toBe(until);
	store.save();
	workflow.end();
	expect(workflow.saved[1]?.launch?.unansweredUntil).toBe(until);
});
