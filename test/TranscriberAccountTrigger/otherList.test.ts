/** What belongs to another time, or another account, starts nothing. */
// Also covers longestPollInterval.ts.
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { AccountHost } from './host';
import { listForTests } from './manyNewTasks';

const { active, list, wait } = listForTests();

it('A node with two poll times counts as disabled after the shorter one: what ended meanwhile starts nothing', async () => {
	const credentials = { baseUrl: list().url, apiKey: 'the key' };
	const host = new AccountHost(credentials, { options: { includeResult: false } });
	const weekly = { mode: 'everyWeek', hour: 9, minute: 0, weekday: '1' };
	host.pollTimes = { item: [{ mode: 'everyHour', minute: 0 }, weekly] };
	list().add(5);
	await host.activate();
	await host.polls(4);
	// A new version disables the node, and another one enables it.
	list().add(3);
	wait(5);
	await host.activate('update');
	await host.polls(3);
	expect(host.started).toEqual([]);
});

it('The key of another account, whose list is empty for a moment, starts nothing of what is there', async () => {
	jest.replaceProperty(ACCOUNT_POLL, 'emptyListMs', 20);
	const { host, credentials } = await active(5, 100, 4);
	credentials.apiKey = 'the key of another account';
	list().tasks = [];
	list().add(9);
	let isEmpty = true;
	const { pageOf } = list();
	list().pageOf = (listed, offset, limit) => {
		if (!isEmpty) return pageOf(listed, offset, limit);
		isEmpty = false;
		return [];
	};
	await host.polls(3);
	expect(host.started).toEqual([]);
});

it('A task that the list wrongly calls failed starts the workflow with what the list says of it besides', async () => {
	const { host } = await active(5, 100, 4, true);
	const [id] = list().add(1);
	const { pageOf } = list();
	const isWrong = (task: object) => 'task_id' in task && task.task_id === id;
	list().pageOf = (listed, offset, limit) =>
		pageOf(listed, offset, limit).map((task) =>
			isWrong(task) ? { ...task, status: 'failed', title: 'Interview' } : task,
		);
	await host.polls(2);
	expect(host.executions.flat().map(({ json }) => json)).toMatchObject([
		{ task_id: id, status: 'completed', title: 'Interview' },
	]);
});
