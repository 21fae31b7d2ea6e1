/** A list that ends in bots without a task, of a service that shows its last page again behind the end. */
// Also covers pagesWithinBudget.ts, warnOnce.ts.

import { captureLogs } from '../support/logs';
import { listForTests } from './manyNewTasks';

const { list, active } = listForTests();

const bots = (count: number) =>
	Array.from({ length: count }, (_, index) => ({
		task_id: null,
		bot_id: `bot ${index}`,
		status: 'pending',
	}));

beforeEach(() => {
	list().pageOf = (listed, offset, limit) => {
		const from = offset < listed.length ? offset : Math.max(0, listed.length - limit);
		return listed.slice(from, from + limit);
	};
});

it('An account with two scheduled bots and no task yet: the workflow can be published', async () => {
	list().tasks = bots(2);
	const { host } = await active(0, 100);
	const ids = list().add(1);
	await host.polls(3);
	expect(host.started).toEqual(ids);
});

it('The last page of an oldest-first list has scheduled bots only: it is published, and new tasks start it', async () => {
	list().isOldestFirst = true;
	list().add(120);
	list().tasks.push(...bots(30));
	const { host } = await active(0, 10, 3);
	const ids = list().add(4);
	await host.polls(6);
	expect([...host.started].sort()).toEqual([...ids].sort());
});

it('A scheduled bot, whose task comes with its recording, is no task without an id in the log', async () => {
	list().tasks = bots(1);
	const logs = captureLogs();
	const { host } = await active(0, 100);
	await host.polls(2);
	list().tasks = [{ task_id: 'task 1', bot_id: 'bot 0', status: 'completed' }];
	await host.polls(2);
	logs.release();
	expect(host.started).toEqual(['task 1']);
	expect(logs.lines.filter((line) => line.includes('do not start the workflow'))).toEqual([]);
});
