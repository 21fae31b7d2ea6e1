/**
 * A bot, and an id that may be a number, belong to one account of the service.
 */
// Also covers sameMeetingBot.ts.

import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { until } from '../simulator/testing-client';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { few } from '../support/long';
import { deliver, handOverTo } from './client';
import { pastGrace, withinGrace } from './grace';
import { TriggerHost } from './host';

const one = serviceForTests();
const two = serviceForTests();

const launches = ({ lines }: typeof one) =>
	lines().filter((line) => line === 'POST /api/v1/meeting').length;
const calledBack = ({ lines }: typeof one) =>
	lines().filter((line) => line.startsWith('DELETE')).length;

const parameters = {
	source: 'meeting',
	meetingUrl: 'https://meet.example.com/weekly',
	consentAcknowledged: true,
};

describe('The bot of a meeting trigger', () => {
	let host: TriggerHost;
	let credentials: ReturnType<typeof one.credentials>;
	beforeEach(async () => {
		jest.replaceProperty(GRACE, 'ms', 150);
		credentials = one.credentials();
		host = await new TriggerHost({ credentials, parameters }).open();
	});
	afterEach(async () => {
		await host.close();
		await other?.close();
		other = undefined;
	});

	/** Another workflow, of the other account. */
	let other: TriggerHost | undefined;
	async function openOther(nodeId: string): Promise<TriggerHost> {
		const settings = { credentials: two.credentials(), parameters, workflowId: 'other' };
		other = await new TriggerHost(settings).open();
		other.node.id = nodeId;
		return other;
	}

	few.it.each([
		['does not know it', undefined],
		['refuses a look at it', { kind: 'respond', status: 403 } as const],
		['has one with the same id', { kind: 'respond', status: 200, body: '{}' } as const],
	])('is cancelled there if a new version has another account, which %s', async (_, action) => {
		await host.activate();
		await host.deactivate();
		Object.assign(credentials, two.credentials());
		if (action) two.running().fault({ match: { path: '/meeting/' }, times: 9, action });
		await host.activate('update');
		await until(() => calledBack(one) === 1);
		for (const service of [one, two]) await pastGrace(service);
		expect([launches(one), calledBack(one)]).toEqual([1, 1]);
		expect([launches(two), calledBack(two)]).toEqual([1, 0]);
	});

	it('also if only the credential is another one', async () => {
		await host.activate();
		await host.deactivate();
		host.node.credentials = { transcriberApi: { id: '2', name: 'Another' } };
		await host.activate('update');
		await until(() => calledBack(one) === 1);
		expect(launches(one)).toBe(2);
	});

	it('stays when an older version of the package stored no account with it', async () => {
		await host.activate();
		const saved = JSON.parse(host.saved) as { global: Record<string, { bot?: object }> };
		const { bot } = saved.global[`transcriberTrigger:${host.node.id}`] ?? {};
		expect(bot).toHaveProperty('account');
		Object.assign(bot ?? {}, { account: undefined });
		host.saved = JSON.stringify(saved);
		host.restart();
		for (let times = 0; times < 2; times++) {
			await withinGrace(async () => {
				await host.deactivate();
				await host.activate('update');
			});
		}
		await pastGrace(one);
		expect([launches(one), calledBack(one)]).toEqual([1, 0]);
		expect(host.stored.bot).toHaveProperty('account', expect.any(String));
	});

	it('is not asked for at another account after a restart of n8n; the log says that it may go on', async () => {
		await host.activate();
		await host.deactivate();
		const { saved } = host;
		await until(() => calledBack(one) === 1);
		host.saved = saved;
		host.restart();
		Object.assign(credentials, two.credentials());
		const logs = captureLogs();
		await host.activate('activate');
		await until(() => logs.lines.join().includes('could not be cancelled'));
		await pastGrace(two);
		logs.release();
		expect([launches(two), calledBack(two)]).toEqual([1, 0]);
		expect(logs.lines.join('\n')).toContain('could not be cancelled, so it may go on recording');
	});

	it('may go on if the credential is one of another service when the workflow is switched off: the log says so', async () => {
		// The service has shown the bot long since, so that it would count as gone.
		jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
		await host.activate();
		Object.assign(credentials, two.credentials());
		const logs = captureLogs();
		await host.deactivate();
		await until(() => logs.lines.join().includes('could not be cancelled'));
		logs.release();
		expect(calledBack(two)).toBeGreaterThan(0);
		expect(logs.lines.join('\n')).toContain('could not be cancelled, so it may go on recording');
		expect(logs.lines.join('\n')).toContain('It may belong to another account');
		expect(host.stored.bot).toHaveProperty('releasedAt');
	});

	it('is called back if the node has another credential for the same account by then', async () => {
		await host.activate();
		host.node.credentials = { transcriberApi: { id: '2', name: 'Another' } };
		await host.deactivate();
		await until(() => calledBack(one) === 1);
	});

	it.each([
		['another workflow', randomUUID],
		['a copy of the workflow', () => host.node.id],
	])(
		'is called back although %s gets one with the same id from another account by then',
		async (_, nodeId) => {
			for (const { running } of [one, two]) {
				const answer = { kind: 'respond', status: 200, body: { bot_id: 7 } } as const;
				running().fault({ match: { path: '/meeting' }, times: 9, action: answer });
			}
			const another = await openOther(nodeId());
			await host.activate();
			await withinGrace(async () => {
				await host.deactivate();
				await another.activate();
			});
			await until(() => calledBack(one) === 1);
			expect([launches(two), calledBack(two)]).toEqual([1, 0]);
		},
	);

	it('comes although a copy of the workflow is switched off while it is being sent', async () => {
		const copy = await openOther(host.node.id);
		const action = { kind: 'delay', ms: 300, processed: true } as const;
		one.running().fault({ match: { path: '/meeting$' }, action });
		const launch = host.activate();
		await until(() => launches(one) === 1);
		await Promise.all([launch, copy.deactivate()]);
		await pastGrace(one);
		expect([host.stored.bot?.id, calledBack(one)]).toEqual([one.running().bots()[0]?.id, 0]);
	});

	it('may go on if the credential cannot be read when the workflow is switched off: the log says so', async () => {
		await host.activate();
		credentials.apiKey = '';
		const logs = captureLogs();
		await host.deactivate();
		await until(() => logs.lines.join().includes('could not be cancelled'));
		logs.release();
		expect(calledBack(one)).toBe(0);
		expect(logs.lines.join('\n')).toContain('could not be cancelled, so it may go on recording');
		expect(logs.lines.join('\n')).toContain("The 'API Key' of the credential is empty");
		expect(host.stored.bot).toHaveProperty('releasedAt');
		// It is cancelled when the trigger is on again.
		Object.assign(credentials, one.credentials());
		await host.activate();
		await until(() => calledBack(one) === 1);
		expect(launches(one)).toBe(2);
	});
});

describe('The log names what the user has to do about a bot', () => {
	it('that the network does not let the trigger cancel', async () => {
		jest.replaceProperty(GRACE, 'ms', 50);
		jest.replaceProperty(CANCEL_BOT, 'patienceMs', 200);
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		const host = await new TriggerHost({ credentials: one.credentials(), parameters }).open();
		await host.activate();
		const [bot] = one.running().bots();
		one.running().fault({
			match: { path: '/meeting/' },
			times: 1000,
			action: { kind: 'cut', when: 'beforeBody' },
		});
		const logs = captureLogs();
		await host.deactivate();
		await until(() => logs.lines.join('\n').includes('could not be cancelled'));
		logs.release();
		await host.close();
		const line = logs.of(host.node.name).find((one) => one.includes('could not be cancelled'));
		expect(line).toContain(`meeting bot ${bot?.id} `);
		expect(line).toContain('Stop it with Meeting: Cancel or Stop');
	});

	few.it.each([400, 409, 422])(
		'but nothing if a DELETE is answered %d because the bot has left meanwhile',
		async (status) => {
			jest.replaceProperty(GRACE, 'ms', 50);
			// A busy machine may take longer for a look than the two seconds of a trigger.
			jest.replaceProperty(CANCEL_BOT, 'lookMs', 15_000);
			jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
			const host = await new TriggerHost({ credentials: one.credentials(), parameters }).open();
			await host.activate();
			const id = String(one.running().bots()[0]?.id);
			const match = { method: 'DELETE' };
			one.running().fault({ match, times: 9, action: { kind: 'respond', status } });
			// The first look comes before the bot leaves.
			one.running().fault({
				match: { method: 'GET', path: '/meeting/' },
				action: { kind: 'respond', status: 200, body: { bot_id: id, status: 'joining' } },
			});
			one.running().endMeeting(id);
			const tries = () => one.lines().filter((line) => line.startsWith('DELETE'));
			const logs = captureLogs();
			await host.deactivate();
			await until(() => tries().length > 0);
			await pastGrace(one);
			await sleep(1_000);
			logs.release();
			await host.close();
			// One more if a busy machine breaks the connection of the look between them.
			expect(tries().length).toBeLessThan(3);
			expect(logs.lines.join('\n')).not.toContain('could not be cancelled');
		},
	);

	it('that n8n has called the bot back because another trigger could not start for long', async () => {
		jest.replaceProperty(GRACE, 'ms', 50);
		const host = await new TriggerHost({ credentials: one.credentials(), parameters }).open();
		await host.activate();
		// Then n8n removes the trigger, and starts all triggers of the workflow again.
		await host.deactivate();
		await until(() => calledBack(one) === 1);
		await pastGrace(one);
		const logs = captureLogs();
		await host.activate('init');
		logs.release();
		await host.close();
		expect(launches(one)).toBe(1);
		expect(logs.lines.join('\n')).toContain('the trigger has no meeting bot');
	});

	it('that is being cancelled when n8n adds the workflow again: its cancellation goes on', async () => {
		jest.replaceProperty(GRACE, 'ms', 50);
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 500);
		jest.replaceProperty(CANCEL_BOT, 'patienceMs', 10_000);
		const host = await new TriggerHost({ credentials: one.credentials(), parameters }).open();
		await host.activate();
		const action = { kind: 'respond', status: 503 } as const;
		one.running().fault({ match: { method: 'DELETE' }, times: 1, action });
		await host.deactivate();
		await until(() => calledBack(one) === 1);
		const logs = captureLogs();
		await host.activate('init');
		logs.release();
		await until(() => calledBack(one) === 2);
		await host.close();
		expect(launches(one)).toBe(1);
		expect(logs.lines.join('\n')).toContain('the trigger has no meeting bot');
	});

	it('that n8n did not store, because it was killed while it published', async () => {
		const host = await new TriggerHost({ credentials: one.credentials(), parameters }).open();
		const logs = captureLogs();
		await host.activate('init');
		logs.release();
		await host.activate();
		host.restart();
		const later = captureLogs();
		await host.activate('init');
		later.release();
		await host.close();
		expect(logs.lines.join('\n')).toContain('the trigger knows of no meeting bot');
		expect(later.lines.join('\n')).not.toContain('the trigger knows of no meeting bot');
		expect(launches(one)).toBe(1);
	});
});

/** A service that gives the task 17 this text, after `ms`. */
async function serviceWith(text: string, ms: number): Promise<{ server: Server; baseUrl: string }> {
	const server = createServer((request, response) => {
		void sleep(ms).then(() => {
			const isResult = request.url?.includes('/result');
			response.setHeader('content-type', 'application/json');
			response.end(JSON.stringify(isResult ? { text } : { task_id: '17', status: 'completed' }));
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return { server, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('two workflows with one node id, two accounts with one task id: each gets its own transcript', async () => {
	const services = [await serviceWith('text of A', 1000), await serviceWith('text of B', 10)];
	const hosts: TriggerHost[] = [];
	for (const [index, { baseUrl }] of services.entries()) {
		const credentials = { baseUrl, apiKey: `key-${index}` };
		const host = await new TriggerHost({ credentials, workflowId: `wf-${index}` }).open();
		host.node.id = 'imported';
		await handOverTo(host.url, '17', `secret-${index}`, `key-${index}`, 200);
		hosts.push(host);
	}
	const body = { task_id: '17', status: 'completed' };
	await Promise.all(
		hosts.map(async ({ url }, index) => {
			await sleep(index * 300);
			await deliver(url, body, `secret-${index}`);
		}),
	);
	const texts = hosts.map(({ executions }) => executions[0]?.[0]?.json.text);
	await Promise.all(hosts.map(async (host) => await host.close()));
	for (const { server } of services) server.close();
	expect(texts).toEqual(['text of A', 'text of B']);
});
