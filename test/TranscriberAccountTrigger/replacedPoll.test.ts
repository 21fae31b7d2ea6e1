/** A poll that a new version of the workflow has replaced must leave no trace, whatever it has found out. */
// Also covers pollAccount.ts, pollStore.ts.

import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { until } from '../simulator/testing-client';
import { listForTests } from './manyNewTasks';

const { list, active } = listForTests();

it('One that could not find out whose a new key is starts nothing a second time', async () => {
	const { host, credentials } = await active(3, 10);
	const service = list();
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
