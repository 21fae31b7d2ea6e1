/**
 * Tasks that the trigger cannot read: they start nothing, and n8n's log says why.
 */
import { captureLogs } from '../support/logs';
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { queueFor } from '../../nodes/shared/api/waitForTurn';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { serviceForTests } from '../support/service';
import { few, long } from '../support/long';
import { AccountHost } from './host';

const service = serviceForTests({ tasksInProgress: 1000, hashUploads: false });

async function logged(work: () => Promise<unknown>): Promise<string[]> {
	const logs = captureLogs();
	try {
		await work();
	} finally {
		logs.release();
	}
	return logs.lines.filter((line) => /Account Trigger: /.test(line));
}

describe('a status that the service document does not show', () => {
	few.it.each(['succeeded', 'dead_letter', 'x'.repeat(5_000)])(
		'is in the log once, with what to do: %#',
		async (status) => {
			const host = new AccountHost(service.credentials());
			await host.activate();
			const ids = [await service.pendingTask(), await service.pendingTask()];
			for (const id of ids) service.running().finish(id, { status });
			const lines = await logged(async () => await host.polls(4));
			expect(host.started).toEqual([]);
			expect(lines).toHaveLength(1);
			expect(lines[0]).toContain(`has the status '${status.slice(0, 40)}'`);
			expect(lines[0]).toMatch(/does not document.*Transcript: Get Result.*Transcriber Trigger/);
			expect(lines[0]?.length).toBeLessThan(1000);
		},
	);

	it('of the list alone starts the workflow: the task itself says that it has completed', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		const id = await service.completedTask();
		service.running().fault({
			match: { path: '/tasks$' },
			times: 20,
			action: { kind: 'respond', status: 200, body: [{ task_id: id, status: 'succeeded' }] },
		});
		await host.polls(2);
		expect(host.started).toEqual([id]);
	});

	it('before the end is "not yet": the workflow starts when the task has completed', async () => {
		service.running().configure({ dialect: 'moreStatuses' });
		const before = await service.pendingTask();
		const host = new AccountHost(service.credentials());
		await host.activate();
		const after = await service.pendingTask();
		await host.polls(2);
		for (const id of [before, after]) service.running().finish(id);
		await host.polls(2);
		expect([...host.started].sort()).toEqual([before, after].sort());
	});

	long.it('keeps no other task waiting, however many tasks have it', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		for (let count = 0; count < 40; count++) {
			service.running().finish(await service.pendingTask(), { status: 'succeeded' });
		}
		await host.polls(2);
		const id = await service.completedTask();
		await host.poll();
		expect(host.started).toEqual([id]);
	});

	it('is named by "Execute step", where no task has finished otherwise', async () => {
		service.running().finish(await service.pendingTask(), { status: 'succeeded' });
		const host = new AccountHost(service.credentials());
		await expect(host.executeStep()).rejects.toMatchObject({
			message: expect.stringContaining("'succeeded'"),
		});
	});
});

describe('a task without an id that can be read', () => {
	it('is in the log once, with what to do', async () => {
		service.running().configure({ dialect: 'strangeIdName' });
		const host = new AccountHost(service.credentials());
		await service.completedTask();
		const lines = await logged(async () => {
			await host.activate();
			await service.completedTask();
			await host.polls(3);
		});
		expect(host.started).toEqual([]);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatch(/1 of 1 tasks.*no readable id \(task_id, id.*Transcriber Trigger/);
	});

	it('is an error of "Execute step"', async () => {
		service.running().configure({ dialect: 'strangeIdName' });
		await service.completedTask();
		const host = new AccountHost(service.credentials());
		await expect(host.executeStep()).rejects.toMatchObject({
			message: 'The tasks in the list of the service have no readable ID',
		});
	});
});

long.it(
	'more transcripts than a poll after a pause can fetch are in the log once, with what to do',
	async () => {
		const pause = jest.replaceProperty(ACCOUNT_POLL, 'pauseMs', 0);
		const host = new AccountHost(service.credentials());
		await host.activate();
		const ids = await Promise.all(
			Array.from({ length: 60 }, async () => await service.completedTask()),
		);
		const lines = await logged(async () => await host.polls(3));
		pause.restore();
		expect([...host.started].sort()).toEqual(ids.sort());
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatch(/of them start the workflow at the next polls.*poll more often/);
	},
);

it('a start of n8n while the service is away is in the log, with the reason', async () => {
	const host = new AccountHost(service.credentials());
	await host.activate();
	service.running().fault({ match: {}, times: 1e6, action: { kind: 'respond', status: 500 } });
	const lines = await logged(async () => await host.restart());
	service.running().clearFaults();
	expect(lines).toEqual([
		expect.stringContaining(
			'The poll at the start of n8n failed, and the next polls go on: The service',
		),
	]);
});

it('a duplicate of the workflow, in which the nodes have the same ids, warns too', async () => {
	const id = await service.pendingTask();
	const hosts = [new AccountHost(service.credentials()), new AccountHost(service.credentials())];
	const [one, other] = hosts;
	Object.assign(other?.node ?? {}, { id: one?.node.id });
	for (const host of hosts) await host.activate();
	service.running().finish(id, { status: 'halted' });
	const lines = await logged(async () => {
		for (const host of hosts) await host.polls(2);
	});
	expect(lines).toHaveLength(2);
});

describe('polls without an output although tasks have ended', () => {
	it('are in the log once, with what to do', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		await service.completedTask();
		jest.replaceProperty(ACCOUNT_POLL, 'inAll', 1);
		jest.replaceProperty(ACCOUNT_POLL, 'forOneTask', 0);
		const lines = await logged(async () => await host.polls(3));
		expect(host.started).toEqual([]);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatch(/1 finished tasks, but could not fetch any.*Transcriber Trigger/);
	});

	it('are in the log once if not even the list could be read', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		jest.replaceProperty(LIMITS, 'windowMs', 60_000);
		jest.replaceProperty(LIMITS, 'other', 0);
		// Takes the place that even a limit of zero leaves.
		await queueFor(service.running().apiKey, 'other').take();
		jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 50);
		const lines = await logged(async () => await host.polls(3));
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatch(/could not read the task list.*same API key.*Transcriber Trigger/);
	});
});
