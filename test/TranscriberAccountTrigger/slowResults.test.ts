/** A service that takes a while for each result, and a poll that finds several. */
// Also covers fetchTranscripts.ts.

import { ONE_TASK } from '../../nodes/TranscriberAccountTrigger/openTasks';
import { listForTests } from './manyNewTasks';

const { active, list } = listForTests();

it('each transcript has its whole time, however long the ones before it took', async () => {
	const { host } = await active(3, 100, 0, true);
	jest.replaceProperty(ONE_TASK, 'maxMs', 3_000);
	const ids = list().add(10);
	list().delayMs = 400;
	await host.poll();
	expect([...host.started].sort()).toEqual(ids.sort());
});
