/** The end of the list, without which a trigger cannot begin, has its own time limit at a publication. */
// Also covers pollAccount.ts, endOfList.ts.

import { ACCOUNT_MEMORY } from '../../nodes/TranscriberAccountTrigger/rememberedBetweenPolls';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { AccountHost } from './host';
import { listForTests } from './manyNewTasks';

const { list } = listForTests();

jest.setTimeout(60_000);

it('a service that is slow from then on does not keep the workflow from being published', async () => {
	jest.replaceProperty(ACCOUNT_POLL, 'firstMaxMs', 2_000);
	jest.replaceProperty(ACCOUNT_MEMORY, 'census', 20);
	Object.assign(list(), { pageLength: 20, isOldestFirst: true });
	list().add(50);
	// After the first page, and the tasks in two states.
	list().refuses = (_url, count) => void (list().delayMs = count < 3 ? 0 : 2_100);
	const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' });
	await host.activate();
	list().refuses = () => void (list().delayMs = 0);
	const ids = list().add(1);
	await host.polls(3);
	expect(host.started).toEqual(ids);
});
