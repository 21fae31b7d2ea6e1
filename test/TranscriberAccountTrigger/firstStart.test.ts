/** A workflow that was published before n8n started, for example by its command line, and has never polled. */
// Also covers pollAccount.ts.
import { AccountHost } from './host';
import { listForTests } from './manyNewTasks';

const { list, wait } = listForTests();

it('n8n starts it while the service is away: the trigger starts, and what ends after the service is back starts the workflow', async () => {
	const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' });
	list().add(3);
	list().refuses = () => 503;
	await host.activate('init');
	list().refuses = () => undefined;
	wait(1 / 60);
	await host.poll();
	const ids = list().add(1);
	wait(1 / 60);
	await host.poll();
	expect(host.started).toEqual(ids);
});
