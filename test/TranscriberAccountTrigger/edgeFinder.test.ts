/**
 * More tasks end between two polls than a poll can read, in a list that is not known to its end: each starts the workflow once,
 * and no old task does.
 */
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { captureLogs } from '../support/logs';
import { atLength, few, long } from '../support/long';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { replaceValues } from '../support/scale';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(120_000);

const { active, list, night, rememberATenth, state, wait } = listForTests();

few.it.each([
	[400, 10, 2, 100],
	[400, 10, 2, 350],
	[900, 10, 15, 130],
	[1_800, 10, 20, 140],
])(
	'%i tasks, %i to a page, after %i polls: %i that end while n8n is off start the workflow, and so does the next one',
	async (old, pageLength, polls, ended) => {
		if (old >= 900) rememberATenth();
		const { host } = await active(old, pageLength, polls);
		const ids = await night(host, ended);
		expect(await allStarted(host)).toEqual([...ids].sort());
		ids.push(...list().add(1));
		expect(await allStarted(host, 2)).toEqual([...ids].sort());
	},
);

/** An account of which only the first hundred of 400 tasks are known, because the service was slow at activation. */
async function knownInPart() {
	jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 1_000);
	list().delayMs = 55;
	const { host } = await active(400, 10);
	list().delayMs = 0;
	expect(state(host)['frontier']).toBeLessThan(110);
	return host;
}

long.it.each([401, 503])(
	'a poll that finds only the first page after a pause, because the others are answered %i, takes nothing for old',
	async (status) => {
		const host = await knownInPart();
		list().refuses = ({ pathname, searchParams }) =>
			pathname.endsWith('/tasks') && searchParams.get('offset') !== '0' ? status : undefined;
		const ids = await night(host, 200);
		list().refuses = () => undefined;
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

long.it(
	'tasks that are all deleted, and new ones: nothing old starts the workflow, the next ones do, and the log says what may be lost',
	async () => {
		const { host } = await active(400, 10);
		const known = Number(state(host)['frontier']);
		list().tasks.splice(0, known);
		const logs = captureLogs();
		list().add(12);
		await allStarted(host);
		logs.release();
		const lost = logs.lines.join('\n').includes('no longer lists the tasks that the trigger knows');
		expect([host.started, lost]).toEqual([[], true]);
		const ids = list().add(3);
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

long.it.each([
	[20, 30],
	[20, 90],
	[10, 30],
	[10, 90],
])(
	'%i to a page, oldest first: after the trigger forgot, the service deletes the first %i tasks while n8n is off. Nothing old starts the workflow, and nothing again',
	async (pageLength, count) => {
		replaceValues(ACCOUNT_MEMORY, { done: 400, census: 320, open: 60, tail: 20 });
		list().isOldestFirst = true;
		const { host } = await active(300, pageLength, 6);
		const ids: string[] = [];
		for (let polls = 0; polls < 40 && state(host)['complete'] !== false; polls++) {
			ids.push(...list().add(10));
			wait(1 / 60);
			await host.poll();
		}
		expect(state(host)).toMatchObject({ complete: false, frontier: pageLength });
		list().tasks.splice(0, count);
		const logs = captureLogs();
		ids.push(...(await night(host, 15)));
		expect(await allStarted(host, 20)).toEqual(ids.sort());
		logs.release();
		expect(logs.lines.join('\n')).toContain('no longer lists the tasks that the trigger knows');
	},
);

long.it.each(['newest', 'oldest'])(
	'%s first: the service deletes the end of the part that the trigger has read, and more. Nothing old starts the workflow, the next ones do',
	async (first) => {
		rememberATenth();
		jest.replaceProperty(ACCOUNT_MEMORY, 'census', 300);
		list().isOldestFirst = first === 'oldest';
		const { host } = await active(600, 20);
		const known = Number(state(host)['frontier']);
		list().tasks.splice(160, known - 60);
		await night(host, 0);
		await host.polls(atLength(20, 8));
		const ids = list().add(3);
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

long.it(
	'keeps within its requests while it searches, and says in the log that it is behind',
	async () => {
		rememberATenth();
		const { host } = await active(900, 10, 3);
		list().add(500);
		wait(8);
		const logs = captureLogs();
		for (let poll = 0; poll < 12; poll++) {
			list().requests = 0;
			await host.poll();
			expect(list().requests).toBeLessThanOrEqual(25);
		}
		logs.release();
		expect(logs.lines.join('\n')).toContain('more are new than they can read');
	},
);

long.it.each([
	['the id of a bot', (number: number) => `bot ${number}`],
	['no other id', () => undefined],
])(
	'rows without a task id between the others, with %s: no old task starts the workflow, the next one does',
	async (_, botId) => {
		list().tasks = Array.from({ length: 400 }, (__, number) =>
			number % 7 === 6
				? { task_id: null, bot_id: botId(number), status: 'cancelled' }
				: { task_id: `old ${number}`, status: 'completed' },
		);
		const { host } = await active(0, 10, 5);
		const ids = list().add(1);
		list().tasks.unshift({ task_id: null, bot_id: botId(400), status: 'scheduled' });
		expect(await allStarted(host, 8)).toEqual(ids);
	},
);

it('meetings that fill the first pages, and have no recording yet: the next task starts the workflow', async () => {
	list().tasks = Array.from({ length: 60 }, (_, number) => ({
		task_id: null,
		bot_id: `bot ${number}`,
		status: 'scheduled',
	}));
	jest.replaceProperty(ACCOUNT_MEMORY, 'census', 30);
	const { host } = await active(0, 10, 2);
	const ids = list().add(1);
	expect(await allStarted(host, 4)).toEqual(ids);
});

long.it.each([
	[100, 2, 'newest'],
	[100, 2, 'oldest'],
	[200, 5, 'oldest'],
	[300, 9, 'newest'],
])(
	'%i tasks, at most %i to a page, %s first: no old task starts the workflow, the next ones do',
	async (old, pageLength, first) => {
		list().isOldestFirst = first === 'oldest';
		const { host } = await active(old, pageLength, 8);
		expect(host.started).toEqual([]);
		const ids = list().add(3);
		expect(await allStarted(host, 8)).toEqual(ids.sort());
	},
);

long.it(
	'a list that is short for one poll three times, with its end in sight in between, is not believed',
	async () => {
		replaceValues(ACCOUNT_MEMORY, { done: 200, census: 90, open: 60 });
		const { host } = await active(104, 10, 2);
		const all = list().tasks;
		for (let turn = 0; turn < 3; turn++) {
			list().tasks = all.slice(0, 50);
			await host.poll();
			list().tasks = all;
			await host.polls(2);
		}
		await host.polls(8);
		expect(host.started).toEqual([]);
	},
);
