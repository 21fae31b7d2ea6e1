/** A task that the user does not want, among those that he wants: in first, middle and last place. */
// Also covers fetchTranscripts.ts, newestTranscript.ts.

import { AccountHost } from './host';
import { listForTests } from './manyNewTasks';

const { list } = listForTests();
const hostFor = (events = ['transcriptCompleted']) =>
	new AccountHost({ baseUrl: list().url, apiKey: 'the key' }, { events });

it.each([0, 1, 2])(
	'one that has failed, in place %i, holds up none of the others',
	async (place) => {
		list().add(3);
		const host = hostFor();
		await host.activate();
		const ids = list().add(3);
		const [failed] = ids.splice(place, 1);
		for (const task of list().tasks) {
			if (task.task_id === failed) Object.assign(task, { status: 'failed', error: 'No sound' });
		}
		await host.poll();
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

it("'Execute step' shows a finished transcript behind many of which nobody knows whether they have finished", async () => {
	const [finished = ''] = list().add(1);
	list().add(12, 'archived');
	const [item] = await hostFor().executeStep();
	expect(item?.json.task_id).toBe(finished);
});
