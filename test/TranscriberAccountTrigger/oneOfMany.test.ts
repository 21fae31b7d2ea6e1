/** Tasks of which the list does not show the end, and tasks that end twice. */
// Also covers openTasks.ts, fetchTranscripts.ts.
import { listForTests } from './manyNewTasks';

jest.setTimeout(60_000);
const { active, list } = listForTests();

function say(ids: string[], facts: object): void {
	for (const task of list().tasks)
		if (ids.includes(String(task.task_id))) Object.assign(task, facts);
}

/** No list shows them any more, but GET /tasks/{id} does. */
function hide(ids: string[]): void {
	list().pageOf = (tasks, offset, limit) =>
		tasks.filter(({ task_id: id }) => !ids.includes(String(id))).slice(offset, offset + limit);
}

it.each(['failed', 'cancelled'])(
	'One that has %s, with a reason, and completes after all starts a workflow that wants completed ones only',
	async (status) => {
		const { host } = await active(3, 10);
		host.node.parameters.events = ['transcriptCompleted'];
		await host.activate('update');
		const ids = list().add(1);
		say(ids, { status, error: 'The recording has no sound' });
		await host.polls(2);
		say(ids, { status: 'completed', error: undefined });
		await host.polls(2);
		expect(host.started).toEqual(ids);
	},
);

it('Of more tasks than a poll can ask for, each has its turn', async () => {
	const { host } = await active(3, 100);
	const ids = list().add(12, 'processing');
	await host.poll();
	hide(ids);
	await host.poll();
	const ended = [ids.at(0), ids.at(5), ids.at(-1)].map(String);
	say(ended, { status: 'completed' });
	await host.polls(4);
	expect([...host.started].sort()).toEqual([...ended].sort());
});

it.each([0, 1])(
	'One that the service cannot show at the moment keeps no other from starting the workflow (%i)',
	async (place) => {
		const { host } = await active(3, 100);
		const ids = list().add(2, 'processing');
		await host.poll();
		hide(ids);
		const [other = '', away = ''] = [ids.at(place), ids.at(1 - place)];
		list().refuses = ({ pathname }) =>
			decodeURIComponent(pathname).endsWith(`/${away}`) ? 503 : undefined;
		say([other], { status: 'completed' });
		await host.polls(3);
		expect(host.started).toEqual([other]);
	},
);
