/** A new API key, and a list that does not show yet whose it is: the trigger goes on asking until it knows. */
// Also covers pollAccount.ts.

import { listForTests } from './manyNewTasks';

const { list, active } = listForTests();

it('An empty list under a new key is noted for no account while the list before was not read to its end', async () => {
	const { host, credentials } = await active(600, 10);
	credentials.apiKey = 'the key of another account, which has no tasks yet';
	list().tasks = [];
	await host.poll();
	list().add(30);
	await host.poll();
	const [id] = list().add(1);
	await host.polls(4);
	expect(host.started).toEqual([id]);
});
