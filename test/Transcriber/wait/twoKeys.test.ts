/** "Waiting" in the contract: polling of one key never slows another key, also at the same service. */
// Also covers pollUntilEnded.ts.
import { until } from '../../simulator/testing-client';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();

it('one task is looked at often beside ten of another key', async () => {
	service.running().fault({
		match: { path: '/tasks/' },
		times: 9_999,
		action: { kind: 'respond', status: 200, body: { status: 'processing' } },
	});
	const waitFor = async (apiKey: string, taskId: string, count: number, timeout: number) =>
		await service.run(
			{
				resource: 'task',
				operation: 'wait',
				taskId: byId(taskId),
				waitOptions: { timeout, pollInterval: 0.05 },
			},
			{
				credentials: service.credentials({ apiKey }),
				items: itemsOf(...Array.from({ length: count }, () => ({}))),
				node: { onError: 'continueRegularOutput' },
			},
		);
	const looksAt = (id: string) => service.lines().filter((line) => line.endsWith(`/${id}`)).length;
	const many = waitFor('key-of-many-0123456789', 'many', 10, 0.08);
	await until(() => looksAt('many') >= 10);
	const one = waitFor('key-of-one-0123456789', 'one', 1, 0.08);
	await until(() => looksAt('one') >= 1);
	const ofMany = looksAt('many');
	await until(() => looksAt('one') >= 4);
	// Beside ten tasks of its own key, each of them would be looked at as often.
	expect(looksAt('many') - ofMany).toBeLessThan(10);
	await Promise.all([many, one]);
});
