/** Tasks of which the list does not say whether they have ended, and that the service refuses to show. */

import { few } from '../support/long';
import { listForTests } from './manyNewTasks';

jest.setTimeout(60_000);

const { active, list, state } = listForTests();

/** The service refuses to show a task as long as the task has this status. */
function refuseWhile(word: string, status: number): void {
	list().refuses = ({ pathname }) => {
		const id = decodeURIComponent(/\/tasks\/([^/]+)/.exec(pathname)?.[1] ?? '');
		const isRefused = list().tasks.some((task) => task.task_id === id && task.status === word);
		return isRefused ? status : undefined;
	};
}

function say(ids: string[], status: string): void {
	for (const task of list().tasks) if (ids.includes(String(task.task_id))) task.status = status;
}

few.it.each([
	[404, 'scheduled', 'completed'],
	[404, 'scheduled', 'failed'],
	[409, 'scheduled', 'processing'],
	[425, 'queued', 'completed'],
])(
	'a task that is refused (%i) for ten polls, and that the list shows as %s and then as %s, starts the workflow',
	async (status, word, next) => {
		const { host } = await active(3, 10);
		refuseWhile(word, status);
		const ids = list().add(1);
		say(ids, word);
		await host.polls(10);
		say(ids, next);
		await host.polls(2);
		say(ids, next === 'failed' ? next : 'completed');
		await host.polls(2);
		expect(host.started).toEqual(ids);
	},
);

it('a task that is refused, and that only some polls see in the list, starts the workflow when the list says completed', async () => {
	const { host } = await active(3, 10);
	refuseWhile('scheduled', 404);
	const ids = list().add(1);
	say(ids, 'scheduled');
	await host.polls(2);
	const { tasks } = list();
	list().tasks = tasks.filter(({ task_id }) => task_id !== ids[0]);
	await host.polls(6);
	list().tasks = tasks;
	say(ids, 'completed');
	await host.polls(2);
	expect(host.started).toEqual(ids);
});

it('many tasks that are refused keep no other task waiting', async () => {
	const { host } = await active(3, 100);
	refuseWhile('scheduled', 404);
	say(list().add(8), 'scheduled');
	await host.polls(10);
	list().requests = 0;
	await host.poll();
	expect(list().requests).toBeLessThan(10);
	const ids = list().add(1);
	say(ids, 'uploading');
	await host.poll();
	say(ids, 'completed');
	await host.poll();
	expect(host.started).toEqual(ids);
	expect(state(host).open).toHaveLength(8);
});

describe('A task that no list shows any more', () => {
	/** How often it was asked for in so many polls, and what starts when the list shows it again, as failed. */
	async function hiddenFor(polls: number) {
		const { host } = await active(3, 10);
		const ids = list().add(1, 'processing');
		await host.poll();
		const { tasks } = list();
		let asked = 0;
		list().refuses = ({ pathname }) => {
			if (pathname.includes('/tasks/')) asked += 1;
			return undefined;
		};
		// The service answers 404 for a task that it does not have.
		list().tasks = tasks.filter(({ task_id }) => task_id !== ids[0]);
		await host.polls(polls);
		list().tasks = tasks;
		say(ids, 'failed');
		const askedWhileHidden = asked;
		await host.polls(2);
		return { asked: askedWhileHidden, starts: host.started.length };
	}

	it('is still awaited after four refusals', async () => {
		expect(await hiddenFor(4)).toEqual({ asked: 4, starts: 1 });
	});

	it('is gone after five: it is not asked for again, and starts nothing', async () => {
		expect(await hiddenFor(6)).toEqual({ asked: 5, starts: 0 });
	});
});
