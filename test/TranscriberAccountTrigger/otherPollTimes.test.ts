/** A new version of a published workflow with other poll times: how long the trigger may have been silent. */
// Also covers pollStore.ts.

import { AccountHost } from './host';
import { listForTests } from './manyNewTasks';

const { list, wait } = listForTests();

it('what has ended since the last weekly poll starts it, when it polls every hour from now on', async () => {
	list().add(3);
	const host = new AccountHost({ baseUrl: list().url, apiKey: 'the key' });
	host.pollTimes = { item: [{ mode: 'everyWeek', weekday: '1', hour: 9, minute: 0 }] };
	await host.activate();
	const ids = list().add(1);
	wait(72);
	host.pollTimes = { item: [{ mode: 'everyHour', minute: 0 }] };
	await host.activate('update');
	await host.poll();
	expect(host.started).toEqual(ids);
});
