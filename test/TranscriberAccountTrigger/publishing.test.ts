/** What publishing ends and what it keeps, with n8n's publication service (on by default from 2.41) and without. */
// Also covers pollAccount.ts.

import { randomUUID } from 'node:crypto';

import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { queueFor } from '../../nodes/shared/api/waitForTurn';
import { serviceForTests } from '../support/service';
import { few, long } from '../support/long';
import { AccountHost, newProcess, takeAllTurns } from './host';

const service = serviceForTests({ tasksInProgress: 1000 });
beforeEach(() => jest.replaceProperty(ACCOUNT_MEMORY, 'sameActivation', -1));

const AS_241 = { savesFailures: true };
const AS_230 = { savesFailures: false };

function newHost(settings: Partial<AccountHost> = {}): AccountHost {
	const parameters = { options: { includeResult: false } };
	return Object.assign(new AccountHost(service.credentials(), parameters), settings);
}

/** Publishes with an API key that the service refuses, `tries` times as n8n does by itself. */
async function failToPublish(host: AccountHost, mode: 'activate' | 'update', tries = 5) {
	const { apiKey } = host.credentials;
	host.credentials.apiKey = 'an-old-key-of-the-account';
	for (let attempt = 0; attempt < tries; attempt++) {
		await expect(host.activate(mode)).rejects.toThrow('API key');
	}
	host.credentials.apiKey = apiKey;
}

describe('What ended while the workflow was off starts nothing', () => {
	few.it.each([
		['published again', AS_241, async (host: AccountHost) => await host.activate('update')],
		['published again (before 2.41)', AS_230, async (host: AccountHost) => await host.activate()],
		['restarted', AS_241, async (host: AccountHost) => await host.restart()],
	])('after a publication that failed, and then is %s', async (_, settings, succeed) => {
		const host = newHost(settings);
		await host.activate('activate');
		const first = await service.completedTask();
		await host.poll();
		for (let n = 0; n < 5; n++) await service.completedTask();
		await failToPublish(host, 'activate');
		await succeed(host);
		const next = await service.completedTask();
		await host.polls(3);
		expect(host.started).toEqual([first, next]);
	});

	few.it.each([
		['half an hour', 0.5, false],
		['20 hours, and n8n was restarted', 20, true],
	])(
		"after a publication that failed at 'Trigger On', off for %s",
		async (_, hours, isRestarted) => {
			const host = newHost(AS_241);
			await host.activate('activate');
			const first = await service.completedTask();
			await host.poll();
			for (let n = 0; n < 5; n++) await service.completedTask();
			const now = Date.now() + hours * 3_600_000 - performance.now();
			const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + performance.now());
			if (isRestarted) host.forget();
			const { events } = host.node.parameters;
			host.node.parameters.events = [];
			for (let tries = 0; tries < 5; tries++) {
				await expect(host.activate('activate')).rejects.toThrow('Trigger On');
			}
			Object.assign(host.node.parameters, { events });
			await host.activate('update');
			await host.polls(2);
			clock.mockRestore();
			expect(host.started).toEqual([first]);
		},
	);

	long.it('after a new version that enables the node failed, and is published again', async () => {
		const host = newHost(AS_241);
		await host.activate('activate');
		const first = await service.completedTask();
		await host.poll();
		for (let n = 0; n < 5; n++) await service.completedTask();
		// Disabled for a week.
		const now = Date.now() + 7 * 24 * 3_600_000 - performance.now();
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now + performance.now());
		await failToPublish(host, 'update');
		await host.activate('update');
		const next = await service.completedTask();
		await host.polls(3);
		clock.mockRestore();
		expect(host.started).toEqual([first, next]);
	});
});

long.it(
	'A new version that fails at first keeps the old state: what ended meanwhile starts the workflow',
	async () => {
		const host = newHost(AS_241);
		await host.activate('activate');
		await host.poll();
		const meanwhile = await service.completedTask();
		await failToPublish(host, 'update');
		await host.activate('update');
		await host.poll();
		expect(host.started).toEqual([meanwhile]);
	},
);

describe('n8n starts while the service is away, as after a power cut', () => {
	const away = () =>
		service.running().fault({ action: { kind: 'respond', status: 500 }, match: {}, times: 1e6 });

	it('the trigger starts, a later poll that fails says so, and what ended meanwhile starts the workflow', async () => {
		const host = newHost(AS_241);
		await host.activate('activate');
		const first = await service.completedTask();
		await host.poll();
		const meanwhile = await service.completedTask();
		away();
		await host.restart();
		await expect(host.poll()).rejects.toThrow('The service');
		service.running().clearFaults();
		await host.poll();
		const next = await service.completedTask();
		await host.poll();
		expect(host.started).toEqual([first, meanwhile, next]);
	});

	it('only the poll at the start is forgiven, also if it found the rate limit used up', async () => {
		const host = newHost(AS_241);
		await host.activate('activate');
		const short = jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 50);
		const release = await takeAllTurns(host.credentials.apiKey);
		service.running().requests.length = 0;
		await host.activate('init').finally(release);
		expect(service.lines()).toEqual([]);
		short.restore();
		away();
		await expect(host.poll()).rejects.toThrow('The service');
	});

	long.it(
		'the trigger starts although its publication had failed before, and starts afresh',
		async () => {
			const host = newHost(AS_241);
			await failToPublish(host, 'activate');
			await service.completedTask();
			away();
			await host.restart();
			service.running().clearFaults();
			await host.poll();
			const next = await service.completedTask();
			await host.poll();
			expect(host.started).toEqual([next]);
		},
	);
});

few.it.each(['activate', 'update', 'init'] as const)(
	'n8n adds the workflow again by itself (%s): what ended since the last poll starts the workflow',
	async (mode) => {
		const host = newHost(AS_230);
		await host.activate(mode === 'init' ? 'activate' : mode);
		if (mode === 'init') await host.restart();
		await host.poll();
		const first = await service.completedTask();
		await host.addAgain(mode);
		const second = await service.completedTask();
		await host.addAgain(mode);
		await host.poll();
		expect(host.started).toEqual([first, second]);
		// But not what ends while the user has switched it off.
		await service.completedTask();
		await host.activate();
		const third = await service.completedTask();
		await host.poll();
		expect(host.started).toEqual([first, second, third]);
	},
);

it('The package is updated in the running n8n, which leaves the workflow active: what ended meanwhile starts it', async () => {
	const host = newHost(AS_241);
	await host.activate('activate');
	await host.poll();
	const meanwhile = await service.completedTask();
	host.forget();
	await host.poll();
	const next = await service.completedTask();
	await host.polls(2);
	expect(host.started).toEqual([meanwhile, next]);
});

it("The poll of another trigger takes n8n's expression sandbox away: the workflow starts with its transcripts", async () => {
	const host = newHost(AS_241);
	await host.activate('activate');
	const id = await service.completedTask();
	host.takeSandboxAway();
	await host.poll();
	expect(host.started).toEqual([id]);
});

describe('Two Account Triggers in a workflow, each with its own copy of the static data', () => {
	/** From 2.41, n8n adds only the changed trigger again, and saves the copy of the one that outputs. */
	function twoTriggers(): [AccountHost, AccountHost] {
		let column = '{}';
		const workflowId = randomUUID();
		const inOneWorkflow = () =>
			Object.defineProperty(newHost({ ...AS_241, workflowId }), 'saved', {
				get: () => column,
				set: (data: string) => (column = data),
			});
		return [inOneWorkflow(), inOneWorkflow()];
	}

	few.it.each(['first', 'second'])(
		'start nothing twice and lose nothing after a restart, whose copy was saved last (%s)',
		async (last) => {
			const [one, other] = twoTriggers();
			await one.activate();
			await other.activate('update');
			const ended: string[] = [];
			for (let n = 0; n < 3; n++) {
				ended.push(await service.completedTask());
				for (const host of last === 'first' ? [other, one] : [one, other]) await host.poll();
			}
			expect([one.started, other.started]).toEqual([ended, ended]);
			ended.push(await service.completedTask());
			// n8n loads the static data once when it starts.
			const { saved } = one;
			const process = newProcess();
			for (const host of [one, other]) {
				host.saved = saved;
				await host.restart(process);
				await host.polls(2);
			}
			expect([one.started, other.started]).toEqual([ended, ended]);
		},
	);

	long.it('start nothing twice after two restarts with transcripts in between', async () => {
		const [one, other] = twoTriggers();
		await one.activate();
		await other.activate();
		const process = newProcess();
		for (const host of [one, other, one]) await host.restart(process);
		const ended: string[] = [];
		for (let n = 0; n < 3; n++) {
			ended.push(await service.completedTask());
			await other.poll();
			await one.poll();
		}
		await other.restart();
		await other.polls(2);
		expect(other.started).toEqual(ended);
	});

	long.it('do not bring back a state that a failed publication has ended', async () => {
		const [one, other] = twoTriggers();
		await one.activate();
		await other.activate();
		await one.restart();
		for (let n = 0; n < 3; n++) await service.completedTask();
		await failToPublish(other, 'activate');
		await one.poll();
		await other.activate('update');
		await other.polls(2);
		expect(other.started).toEqual([]);
	});
});

describe('A publication that n8n repeats', () => {
	const refuse = (times: number) =>
		service.running().fault({ action: { kind: 'respond', status: 503 }, match: {}, times });

	beforeEach(() => {
		jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 3_000);
		jest.replaceProperty(ACCOUNT_POLL, 'repeatedMaxMs', 1);
		jest.replaceProperty(RETRY, 'base', 100);
	});

	it('takes less time than the first try, so that n8n shows the reason, not its own deadline', async () => {
		refuse(1e6);
		const host = newHost();
		const attempts: number[] = [];
		for (let tries = 0; tries < 3; tries++) {
			const before = service.running().requests.length;
			await expect(host.activate()).rejects.toThrow('The service');
			attempts.push(service.running().requests.length - before);
		}
		expect(attempts[0]).toBeGreaterThan(2);
		// One more where the first is answered within the millisecond.
		expect(Math.max(...attempts.slice(1))).toBeLessThanOrEqual(2);
	});

	it('takes no longer for a new version, although its trigger has a state', async () => {
		const host = newHost();
		await host.activate();
		refuse(1e6);
		for (let tries = 0; tries < 3; tries++) {
			const before = service.running().requests.length;
			await expect(host.activate('update')).rejects.toThrow('The service');
			expect(service.running().requests.length - before).toBeLessThanOrEqual(2);
		}
	});

	it('may take its time again if the user publishes later', async () => {
		jest.replaceProperty(ACCOUNT_POLL, 'repeatedWithinMs', 0);
		const host = newHost();
		jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 1);
		refuse(1);
		await expect(host.activate()).rejects.toThrow('The service');
		jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 3_000);
		refuse(2);
		await host.activate();
		await service.completedTask();
		await host.poll();
		expect(host.started).toHaveLength(1);
	});
});

describe('A publication while other requests have used up the rate limit of the API key', () => {
	beforeEach(() => {
		jest.replaceProperty(LIMITS, 'windowMs', 6_000);
		jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 1_500);
		service.running().seed(200);
	});

	/** With a key of its own, because the service does not give the places back within a test. */
	async function hostOfBusyKey(places: number): Promise<AccountHost> {
		const apiKey = `busy-${places}`;
		service.running().configure({ apiKey });
		for (let left = LIMITS.other - LIMITS.keptForUrgent; left > places; left--) {
			(await queueFor(apiKey, 'other').take())();
		}
		const host = newHost();
		host.credentials.apiKey = apiKey;
		return host;
	}

	few.it.each([1, 0, 3])(
		'says so, and when to publish again, and does not blame the service: %i requests are left',
		async (places) => {
			const host = await hostOfBusyKey(places);
			await expect(host.activate()).rejects.toMatchObject({
				message: expect.stringMatching(
					/requests a minute .* are used up.* Publish the workflow again in a minute/,
				),
			});
			expect(service.running().requests).toHaveLength(places);
		},
	);
});
