/** For the tests of lists that change by more tasks than one poll can read. */
import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { RETRY } from '../../nodes/shared/api/delayBeforeRetry';
import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import type { Credentials } from '../support/n8n';
import { atLength } from '../support/long';
import { replaceValues } from '../support/scale';
import { AccountHost } from './host';
import { ListService } from './listService';

/** A service for each test, and an n8n whose clock can be set forward. */
export function listForTests() {
	let service: ListService | undefined;
	let passed = 0;
	const now = Date.now.bind(Date);

	beforeEach(async () => {
		passed = 0;
		jest.replaceProperty(LIMITS, 'windowMs', 0);
		replaceValues(RETRY, { base: 1, cap: 1, patienceWhenBroken: 20, patienceWhenBusy: 20 });
		jest.spyOn(Date, 'now').mockImplementation(() => now() + passed);
		service = await new ListService().open();
	});
	afterEach(async () => {
		await service?.close();
	});

	const list = () => {
		if (!service) throw new Error('There is no service yet');
		return service;
	};
	const wait = (hours: number) => void (passed += hours * 3_600_000);

	return {
		list,
		wait,
		/** Publishes a workflow, and polls so often. Without results, a poll outputs all tasks that it has found. */
		async active(old: number, pageLength: number, polls = 0, includeResult = false) {
			list().pageLength = pageLength;
			list().add(old);
			const credentials: Credentials = { baseUrl: list().url, apiKey: 'the key' };
			const host = new AccountHost(credentials, { options: { includeResult } });
			await host.activate();
			await host.polls(polls);
			return { host, credentials };
		},
		/** A tenth of what is shipped, for tests of lists that are longer than what is remembered. */
		rememberATenth() {
			for (const what of ['done', 'census', 'open', 'tail'] as const)
				jest.replaceProperty(ACCOUNT_MEMORY, what, ACCOUNT_MEMORY[what] / 10);
		},
		/** n8n is off for a night, in which so many tasks end. */
		async night(host: AccountHost, ended: number) {
			const ids = list().add(ended);
			wait(8);
			await host.restart();
			return ids;
		},
		/** The state that n8n has saved. */
		state(host: AccountHost): Record<string, unknown> {
			const { global } = JSON.parse(host.saved) as { global: Record<string, object> };
			return { ...Object.values(global)[0] };
		},
	};
}

/** Polls until `quiet` polls in a row have started nothing. Returns the ids, sorted. */
export async function allStarted(host: AccountHost, quiet = atLength(8, 4)): Promise<string[]> {
	for (let before = -1, same = 0; same < quiet;) {
		await host.poll();
		same = host.started.length === before ? same + 1 : 0;
		before = host.started.length;
	}
	return [...host.started].sort();
}
