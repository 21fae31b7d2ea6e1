/** A new API key, and a list that does not show yet whose it is: the trigger goes on asking until it knows. */
// Also covers pollAccount.ts.

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { AccountHost } from './host';
import { ListService } from './listService';

const service = new ListService();
beforeEach(async () => {
	jest.replaceProperty(LIMITS, 'windowMs', 0);
	await service.open();
});
afterEach(async () => await service.close());

it('An empty list under a new key is noted for no account while the list before was not read to its end', async () => {
	service.pageLength = 10;
	service.add(600);
	const host = new AccountHost({ baseUrl: service.url, apiKey: 'the key of one account' });
	await host.activate();
	host.credentials.apiKey = 'the key of another account, which has no tasks yet';
	service.tasks = [];
	await host.poll();
	service.add(30);
	await host.poll();
	const [id] = service.add(1);
	await host.polls(4);
	expect(host.started).toEqual([id]);
});
