/** An oldest-first list of which the service deletes the beginning, so that the end that the trigger knows moves. */
// Also covers endOfList.ts.
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { captureLogs } from '../support/logs';
import { atLength, long } from '../support/long';
import { replaceValues } from '../support/scale';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(120_000);
const { active, list, night, rememberATenth, wait } = listForTests();

it('a page of tasks between the known end and the place where it was: each starts the workflow at the next poll', async () => {
	rememberATenth();
	list().isOldestFirst = true;
	const { host } = await active(150, 10, atLength(12, 5));
	const logs = captureLogs();
	const ids = list().add(60);
	list().tasks.splice(0, 30);
	wait(8);
	await host.restart();
	wait(1 / 60);
	await host.poll();
	logs.release();
	expect({ started: [...host.started].sort(), said: logs.of(host.node.name) }).toEqual({
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
		expect({ lost, said: logs.of(host.node.name) }).toEqual({ lost: [], said: [] });
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
		expect({ lost: lost.length, said: logs.of(host.node.name) }).toEqual({ lost: 0, said: [] });
	},
);

describe('A list that is longer than what the trigger reads in full, and loses its beginning', () => {
	long.it.each([
		[20, 250],
		[0, 250],
		[5, 250],
		[6, 250],
		[20, 190],
		[250, 45],
		[250, 30],
		[250, 250],
	])(
		'%i of the oldest tasks are deleted, and %i end in a night: each starts the workflow once',
		async (deleted, ended) => {
			rememberATenth();
			list().isOldestFirst = true;
			const { host } = await active(900, 10, 60);
			list().tasks.splice(0, deleted);
			const ids = await night(host, ended);
			expect(await allStarted(host, 20)).toEqual(ids.sort());
		},
	);

	long.it.each([3, 1, 2, 4, 5, 6, 7])(
		'and %i polls after a night loses more of it: each task of the night starts the workflow once',
		async (polls) => {
			rememberATenth();
			list().isOldestFirst = true;
			const { host } = await active(900, 10, 60);
			list().tasks.splice(0, 20);
			const ids = await night(host, 130);
			for (let poll = 0; poll < polls; poll++) {
				wait(1 / 60);
				await host.poll();
			}
			list().tasks.splice(0, 20);
			expect(await allStarted(host, 20)).toEqual(ids.sort());
		},
	);

	long.it(
		'as much as is new, and the end that the trigger knows is far before: each task starts the workflow',
		async () => {
			rememberATenth();
			list().isOldestFirst = true;
			const { host } = await active(900, 10, 60);
			list().tasks.splice(0, 250);
			const ids = await night(host, 250);
			const logs = captureLogs();
			const started = await allStarted(host, 20);
			logs.release();
			expect({ started, said: logs.of(host.node.name) }).toEqual({ started: ids.sort(), said: [] });
		},
	);

	long.it.each([
		[100, 1_100, 50, 5],
		[1_100, 1_100, 50, 20],
		[450, 450, 20, 80],
	])(
		'with the shipped limits (%i deleted): each of %i tasks of a night starts the workflow (%i to a page)',
		async (deleted, ended, pageLength, polls) => {
			list().isOldestFirst = true;
			const { host } = await active(9_000, pageLength, polls);
			list().tasks.splice(0, deleted);
			const ids = await night(host, ended);
			expect(await allStarted(host, 20)).toEqual(ids.sort());
		},
	);

	long.it(
		'in two nights, while few requests are left for each look: each task starts the workflow',
		async () => {
			replaceValues(ACCOUNT_MEMORY, { done: 500, census: 250, open: 60 });
			list().isOldestFirst = true;
			const { host } = await active(325, 10);
			list().tasks.splice(0, 159);
			const ids = await night(host, 138);
			list().tasks.splice(0, 36);
			ids.push(...(await night(host, 2)), ...list().add(25));
			expect(await allStarted(host, 20)).toEqual(ids.sort());
		},
	);

	long.it.each([
		[400, 150],
		[30, 10],
	])(
		'at a service that shows its last page behind the end, too (%i deleted): each of %i tasks of a night starts the workflow',
		async (deleted, ended) => {
			list().isOldestFirst = true;
			list().pageOf = (listed, offset, limit) => {
				const last = Math.max(0, listed.length - 1);
				const from = offset < listed.length ? offset : last - (last % limit);
				return listed.slice(from, from + limit);
			};
			const { host } = await active(9_000, 100, 12);
			list().tasks.splice(0, deleted);
			const ids = await night(host, ended);
			expect(await allStarted(host, 20)).toEqual(ids.sort());
		},
	);
});

long.it.each([200, 300])(
	'after %i tasks, a page of tasks in progress hides the unread ones before it: each starts the workflow when it has ended',
	async (count) => {
		rememberATenth();
		list().isOldestFirst = true;
		const { host } = await active(700, 10, 30);
		const ids: string[] = [];
		for (let added = 0; added < count; added += 20) {
			ids.push(...list().add(20));
			wait(1 / 60);
			await host.polls(2);
		}
		list().tasks.splice(0, 60);
		wait(8);
		ids.push(...list().add(5));
		const inProgress = list().add(10);
		ids.push(...inProgress, ...list().add(50));
		const tasks = list().tasks.filter((task) => inProgress.includes(String(task.task_id)));
		for (const task of tasks) task.status = 'processing';
		for (let poll = 0; poll < 6; poll++) {
			wait(1 / 60);
			await host.poll();
		}
		for (const task of tasks) task.status = 'completed';
		expect(await allStarted(host, 30)).toEqual(ids.sort());
	},
);
