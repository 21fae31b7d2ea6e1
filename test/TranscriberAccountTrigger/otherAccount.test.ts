/** A key in the credential that may be of another account: only what ends from now on starts the workflow. */
// Also covers sameAccount.ts.

import type { Run } from '../support/engine';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { atLength, few, long } from '../support/long';
import { AccountHost } from './host';

jest.setTimeout(60_000);

const service = serviceForTests({ tasksInProgress: 1000, hashUploads: false });

/** A trigger whose account has so many old tasks. Its credential can be edited. */
async function active(seeded: number) {
	service.running().seed(seeded);
	const credentials: Run['credentials'] = service.credentials();
	const host = new AccountHost(credentials);
	await host.activate();
	return { host, credentials };
}

/** Somebody enters the key of an account with other tasks. */
function otherAccount(credentials: Run['credentials'], seeded: number): void {
	const simulator = service.running();
	simulator.reset();
	simulator.configure({ apiKey: 'the key of another account' });
	simulator.seed(seeded);
	credentials.apiKey = simulator.apiKey;
}

/** Somebody rotates the key, and enters the new one. */
async function rotated(credentials: Run['credentials']): Promise<void> {
	const { body } = await service.ask('POST /api-key/generate');
	credentials.apiKey = String(body['api_key']);
}

few.it.each([
	[30, 60],
	[30, 1000],
	[1000, 60],
	[1000, 1000],
	[0, 60],
])(
	'the key of another account: of %i old tasks before and %i now, none starts the workflow',
	async (before, now) => {
		const { host, credentials } = await active(before);
		await host.polls(2);
		otherAccount(credentials, now);
		const open = await service.pendingTask();
		await host.polls(3);
		expect(host.started).toEqual([]);
		const ids = [await service.completedTask(), open];
		service.running().finish(open);
		await host.polls(5);
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

it("the key of another account: n8n's log says that n8n has not saved that yet", async () => {
	const { host, credentials } = await active(30);
	otherAccount(credentials, 60);
	const { lines, release } = captureLogs();
	await host.polls(3);
	release();
	expect(lines.filter((line) => line.includes('belongs to another account'))).toEqual([
		expect.stringMatching(/when you change this node.*Do not switch the workflow off/),
	]);
});

it('the key of another account in a new version: n8n saves that, and its log says nothing', async () => {
	const { host, credentials } = await active(30);
	otherAccount(credentials, 60);
	const { lines, release } = captureLogs();
	await host.activate('update');
	release();
	expect(lines.filter((line) => line.includes('another account'))).toEqual([]);
	const id = await service.completedTask();
	await host.restart();
	await host.polls(2);
	expect(host.started).toEqual([id]);
});

few.it.each(['all known tasks were deleted', 'the key was rotated before the first task'])(
	'after the clock was set back by an hour, and %s, new tasks are no sign of another account',
	async (what) => {
		const { now } = Date;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
		const isDeleted = what.includes('deleted');
		const { host, credentials } = await active(isDeleted ? 30 : 0);
		await host.polls(2);
		clock.mockRestore();
		for (const { id } of service.running().tasks()) service.running().discard(id);
		if (!isDeleted) await rotated(credentials);
		const ids = [await service.completedTask(), await service.completedTask()];
		await host.polls(3);
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

long.it.each([30, 0])(
	'the key of an account without tasks (%i before), and n8n is restarted: its first transcript starts the workflow',
	async (before) => {
		const { host, credentials } = await active(before);
		otherAccount(credentials, 0);
		await host.restart();
		const id = await service.completedTask();
		await host.polls(2);
		expect(host.started).toEqual([id]);
	},
);

it('a key that is rotated before the first task of the account: its first transcripts start the workflow', async () => {
	const { host, credentials } = await active(0);
	await rotated(credentials);
	const ids = [await service.completedTask(), await service.completedTask()];
	await host.polls(3);
	expect([...host.started].sort()).toEqual(ids.sort());
});

long.it(
	'the key of an account whose list does not say `status`, after one without tasks: no old task starts the workflow',
	async () => {
		const { host, credentials } = await active(0);
		otherAccount(credentials, 60);
		service.running().configure({ shapes: { taskListStatus: 'hidden' } });
		await host.polls(4);
		expect(host.started).toEqual([]);
	},
);

long.it(
	'a rotated key, and a list that is empty in a bad moment: no old task starts the workflow',
	async () => {
		const { host, credentials } = await active(30);
		await rotated(credentials);
		service.running().fault({
			match: { path: '/tasks$' },
			times: 9,
			action: { kind: 'respond', status: 200, body: { tasks: [] } },
		});
		await host.polls(3);
		const id = await service.completedTask();
		await host.polls(3);
		expect(host.started).toEqual([id]);
	},
);

few.it.each([1, 30, 500])(
	'a rotated key of the same account, with %i tasks: what ended in between starts the workflow',
	async (seeded) => {
		const { host, credentials } = await active(seeded);
		const open = await service.pendingTask();
		await host.poll();
		await rotated(credentials);
		service.running().finish(open);
		const ids = [open];
		for (let count = 0; count < atLength(25, 8); count++) {
			ids.push(await service.completedTask());
		}
		await host.polls(4);
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

it('a rotated key, which n8n learns of some polls later, and after a restart', async () => {
	const { host, credentials } = await active(30);
	const first = await service.completedTask();
	const { body } = await service.ask('POST /api-key/generate');
	await expect(host.poll()).rejects.toMatchObject({ httpCode: '401' });
	credentials.apiKey = String(body['api_key']);
	const second = await service.completedTask();
	await host.restart();
	await host.polls(2);
	expect([...host.started].sort()).toEqual([first, second].sort());
});

long.it('another credential with a key of the same account loses nothing', async () => {
	const { host } = await active(30);
	const id = await service.completedTask();
	host.node.credentials = { transcriberApi: { id: '2', name: 'Again' } };
	await host.activate('update');
	await host.poll();
	expect(host.started).toEqual([id]);
});

long.it(
	'the same key: all tasks that were known may be deleted, and what ended since starts the workflow',
	async () => {
		const { host } = await active(30);
		const known = service.running().tasks();
		for (const { id } of known) service.running().discard(id);
		const ids = [await service.completedTask(), await service.completedTask()];
		await host.restart();
		await host.polls(2);
		expect([...host.started].sort()).toEqual(ids.sort());
	},
);

it('the same key: more new tasks than can have ended since the last poll, and none that is known, are old ones', async () => {
	const { host } = await active(30);
	for (const { id } of service.running().tasks()) service.running().discard(id);
	service.running().seed(60);
	await host.polls(3);
	expect(host.started).toEqual([]);
	const id = await service.completedTask();
	await host.poll();
	expect(host.started).toEqual([id]);
});

it('the key itself is saved nowhere', async () => {
	const { host, credentials } = await active(3);
	await rotated(credentials);
	await service.completedTask();
	await host.poll();
	expect(host.saved).not.toContain(credentials.apiKey);
	expect(host.saved).not.toContain(service.credentials().apiKey);
});
