/**
 * A rotated API key, which the credential learns of only after more tasks have ended than a poll can list.
 */
import { captureLogs } from '../support/logs';
import { few, long } from '../support/long';
import { allStarted, listForTests } from './manyNewTasks';

jest.setTimeout(120_000);

const { active, list, wait } = listForTests();

few.it.each([
	['newest first', 10, 60, 90],
	['newest first', 10, 60, 130],
	['newest first', 10, 60, 400],
	['newest first', 20, 200, 260],
	['oldest first', 10, 60, 300],
	['newest first', 10, 0, 130],
])(
	'a list %s, %i to a page: of %i tasks before, all %i that have ended start the workflow',
	async (order, pageLength, old, ended) => {
		list().isOldestFirst = order === 'oldest first';
		const { host, credentials } = await active(old, pageLength, 3);
		const ids = list().add(ended);
		list().refuses = () => 401;
		await expect(host.poll()).rejects.toMatchObject({ httpCode: '401' });
		list().refuses = () => undefined;
		wait(8);
		credentials.apiKey = 'the new key of the account';
		expect(await allStarted(host)).toEqual(ids.sort());
	},
);

few.it.each([
	[10, 1_000, 30],
	[100, 3_000, 300],
])(
	'pages of %i: of %i tasks the oldest %i are deleted, and as many end, before the key is rotated: all of these start the workflow',
	async (pageLength, old, ended) => {
		const { host, credentials } = await active(old, pageLength, 1);
		list().tasks = list().tasks.slice(0, -ended);
		const ids = list().add(ended);
		wait(8);
		credentials.apiKey = 'the new key of the account';
		const logs = captureLogs();
		const started = await allStarted(host);
		logs.release();
		expect(started).toEqual(ids.sort());
		expect(logs.lines.join('\n')).not.toContain('belongs to another account');
	},
);

long.it('the same where the list is too long to be wholly known', async () => {
	const { host, credentials } = await active(9_000, 100, 30);
	list().tasks = list().tasks.slice(0, -300);
	const ids = list().add(300);
	wait(8);
	credentials.apiKey = 'the new key of the account';
	await host.restart();
	expect(await allStarted(host)).toEqual(ids.sort());
});

long.it(
	'a poll that cannot find out whose key it is starts nothing and says so, and a later one goes on',
	async () => {
		const { host, credentials } = await active(60, 10, 3);
		const ids = list().add(1_500);
		wait(8);
		credentials.apiKey = 'the new key of the account';
		const logs = captureLogs();
		await host.poll();
		expect(host.started).toEqual([]);
		const started = await allStarted(host, 20);
		logs.release();
		expect(started).toEqual(ids.sort());
		expect(logs.lines.join('\n')).toContain('could not find out whether it belongs to the same');
	},
);

long.it.each([60, 900])(
	'the key of another account with %i tasks: none of them starts the workflow, the next one does',
	async (others) => {
		const { host, credentials } = await active(200, 10, 3);
		list().tasks = [];
		list().add(others);
		credentials.apiKey = 'the key of another account';
		await host.polls(12);
		expect(host.started).toEqual([]);
		const ids = list().add(1);
		expect(await allStarted(host)).toEqual(ids);
	},
);

it('a key of a large other account, corrected before its account is known, takes nothing from the search for the right one', async () => {
	const { host, credentials } = await active(300, 10, 3);
	const ids = list().add(30);
	wait(1);
	const mine = list().tasks;
	list().tasks = [];
	list().add(3_000);
	credentials.apiKey = 'the key of another account, by mistake';
	const logs = captureLogs();
	await host.poll();
	logs.release();
	expect(logs.lines.join('\n')).toContain('could not find out whether it belongs to the same');
	list().tasks = mine;
	credentials.apiKey = 'the new key of the account';
	expect(await allStarted(host)).toEqual(ids.sort());
});
