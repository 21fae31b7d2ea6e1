/** A poll that a new version of the workflow has replaced must leave no trace, whatever it has found out. */
// Also covers pollAccount.ts, pollStore.ts.

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { until } from '../simulator/testing-client';
import { AccountHost } from './host';
import { ListService } from './listService';

const service = new ListService();
beforeEach(async () => {
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	await service.open();
});
afterEach(async () => await service.close());

it('One that could not find out whose a new key is starts nothing a second time', async () => {
	const credentials = { baseUrl: service.url, apiKey: 'the key' };
	const host = new AccountHost(credentials, { options: { includeResult: false } });
	service.pageLength = 10;
	service.add(3);
	await host.activate();
	const ids = service.add(10);
	// Only the first page, which has no known task.
	jest.replaceProperty(ACCOUNT_POLL, 'requests', 1);
	Object.assign(service, { requests: 0, delayMs: 500 });
	credentials.apiKey = 'a new key';
	const replaced = host.poll();
	await until(() => service.requests === 1);
	service.delayMs = 0;
	credentials.apiKey = 'the key';
	await host.activate('update');
	expect([...host.started].sort()).toEqual([...ids].sort());
	await replaced;
	await host.poll();
	expect(host.started).toHaveLength(ids.length);
});
