/** What one poll may ask of the service, how long it may take, and what it leaves for the results. */
// Also covers countedRequests.ts.
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { until } from '../simulator/testing-client';
import { replaceValues } from '../support/scale';
import { serviceForTests } from '../support/service';
import { AccountHost } from './host';

describe('The second half of the time is for the results, so what has ended starts the workflow although', () => {
	const service = serviceForTests();

	async function active(): Promise<AccountHost> {
		const host = new AccountHost(service.credentials());
		await host.activate();
		jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 4_000);
		return host;
	}

	const stall = (path: string, skip = 0) =>
		service.running().fault({ match: { path }, skip, times: 9999, action: { kind: 'stall' } });

	it('a further page of the list never comes', async () => {
		const host = await active();
		const id = await service.completedTask();
		stall('/tasks$', 1);
		await host.poll();
		expect(host.started).toEqual([id]);
	});

	it('another task, which the list does not say to have ended, never answers', async () => {
		const host = await active();
		service.running().configure({ shapes: { taskListStatus: 'hidden' } });
		const ids = [await service.completedTask(), await service.completedTask()];
		stall(`/tasks/${ids[0]}$`);
		await host.poll();
		expect(host.started).toEqual([ids[1]]);
	});
});

describe('A connection that breaks at each result', () => {
	const service = serviceForTests({ tasksInProgress: 1000 });

	it('costs a poll no more requests than it may make: what gets no answer counts, too', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		for (let task = 0; task < 30; task++) await service.completedTask();
		replaceValues(RETRY, { base: 1, cap: 1, patienceWhenBroken: 0 });
		service.running().fault({
			match: { path: '/result$' },
			times: 9999,
			action: { kind: 'cut', when: 'beforeBody' },
		});
		const before = service.lines().length;
		await host.poll();
		expect(service.lines().length - before).toBeLessThanOrEqual(ACCOUNT_POLL.inAll);
	});
});

describe('A poll ends', () => {
	const service = serviceForTests();

	it.each([
		['a result', 'result'],
		['an export', 'export'],
	])('in time, so that n8n does not give it up, although %s never comes', async (_, what) => {
		const host = new AccountHost(service.credentials(), { options: { exportFormat: 'srt' } });
		await host.activate();
		await service.completedTask();
		service.running().fault({
			match: { path: `/${what}$` },
			times: 9999,
			action: { kind: 'stall' },
		});
		jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 1_500);
		// Without a limit of its own, a request would take longer than this test may.
		await host.poll();
	});

	it('if it waits for another one, which n8n has started before, and that one fails', async () => {
		const host = new AccountHost(service.credentials());
		await host.activate();
		const before = service.lines().length;
		const match = { path: '/tasks$' };
		service.running().fault({ match, times: 1, action: { kind: 'delay', ms: 300 } });
		host.credentials.apiKey = 'no key of the service';
		const failing = host.poll().catch(() => 'failed');
		await until(() => service.lines().length > before);
		const waiting = host.poll();
		expect([await failing, await waiting]).toEqual(['failed', []]);
	});
});
