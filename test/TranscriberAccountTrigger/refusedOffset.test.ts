/** A service that refuses an offset behind the last task in one state has not refused `status`. */
// Also covers pagesWithinBudget.ts, openTasks.ts.

import { listForTests } from './manyNewTasks';

const { list, active } = listForTests();

it('The tasks in progress are still asked for in the next poll', async () => {
	const asked: string[] = [];
	list().refuses = ({ searchParams }) => {
		const status = searchParams.get('status');
		if (status === null) return undefined;
		asked.push(status);
		const offset = Number(searchParams.get('offset'));
		const listed = list().tasks.filter((task) => task.status === status);
		return offset > 0 && offset >= listed.length ? 422 : undefined;
	};
	// New tasks are at the end, which is read later.
	list().isOldestFirst = true;
	const { host } = await active(30, 10);
	// A full page, so that there may be another one.
	list().add(10, 'processing');
	await host.poll();
	asked.splice(0);
	await host.poll();
	expect(asked).toEqual(expect.arrayContaining(['processing', 'pending']));
});
