/** An oldest-first list of which the service deletes the beginning, so that the end that the trigger knows moves. */
// Also covers endOfList.ts.
import { captureLogs } from '../support/logs';
import { long } from '../support/long';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(120_000);
const { active, list, rememberATenth, wait } = listForTests();

it('a page of tasks between the known end and the place where it was: each starts the workflow at the next poll', async () => {
	rememberATenth();
	list().isOldestFirst = true;
	const { host } = await active(150, 10, 12);
	const logs = captureLogs();
	const ids = list().add(60);
	list().tasks.splice(0, 30);
	wait(8);
	await host.restart();
	wait(1 / 60);
	await host.poll();
	logs.release();
	expect({ started: [...host.started].sort(), said: logs.lines }).toEqual({
		started: ids.sort(),
		said: [],
	});
});

/** In a night 300 tasks end, and the service deletes the 30 oldest. Then `perPoll` tasks end before each of the polls. */
long.it.each([
	{ what: 'in an account in which nothing ends later', before: 2_950, polls: 60, perPoll: 0 },
	{
		what: 'long before the trigger forgets, in an account in which twelve tasks end between any two polls',
		before: 2_000,
		polls: 90,
		perPoll: 12,
	},
])(
	'tasks that end while n8n is off and the service deletes 30 old ones, $what: each starts the workflow',
	async ({ before, polls, perPoll }) => {
		list().isOldestFirst = true;
		const { host } = await active(7_000, 100, 20);
		const ids = list().add(before);
		while (host.started.length < ids.length) {
			wait(1 / 60);
			await host.poll();
		}
		const logs = captureLogs();
		ids.push(...list().add(300));
		list().tasks.splice(0, 30);
		wait(8);
		await host.restart();
		for (let poll = 0; poll < polls; poll++) {
			ids.push(...list().add(perPoll));
			wait(5 / 60);
			await host.poll();
		}
		await allStarted(host, 30);
		logs.release();
		const lost = ids.filter((id) => !host.started.includes(id));
		expect({ lost, said: logs.lines }).toEqual({ lost: [], said: [] });
	},
);

long.it(
	'a service that keeps the last 5 000 tasks, 50 of which end between any two polls: each starts the workflow',
	async () => {
		list().isOldestFirst = true;
		const { host } = await active(5_000, 100, 20);
		const ids: string[] = [];
		const logs = captureLogs();
		for (let polls = 0; polls < 140; polls++) {
			ids.push(...list().add(50));
			list().tasks.splice(0, 50);
			wait(5 / 60);
			await host.poll();
		}
		await allStarted(host, 60);
		logs.release();
		const started = new Set(host.started);
		const lost = ids.filter((id) => !started.has(id));
		expect(host.started.length).toBe(started.size);
		// The service still has them all.
		expect(list().tasks.filter((task) => lost.includes(String(task.task_id)))).toHaveLength(
			lost.length,
		);
		expect({ lost: lost.length, said: logs.lines }).toEqual({ lost: 0, said: [] });
	},
);
