/** A delivery that says that a task has failed, without the reason. */
// Also covers triggerOutput.ts.
import { serviceForTests } from '../support/service';
import { deliver, handOverTo } from './client';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open } = hostsForTests(service);

it('starts the workflow although the service never gives the reason', async () => {
	const host = await open({});
	const { apiKey } = service.credentials();
	await handOverTo(host.url, '7f3c', 'whsec_of_the_task', apiKey);
	service.running().fault({ match: { path: '/tasks/' }, times: 9, action: { kind: 'stall' } });
	const body = { task_id: '7f3c', status: 'failed' };
	expect((await deliver(host.url, body, 'whsec_of_the_task')).status).toBe(200);
	expect(host.executions.flat().map(({ json }) => json)).toEqual([body]);
});
