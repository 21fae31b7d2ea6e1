/** A service that does not give a result for less than half an hour costs no transcript, with a poll every minute. */
// Also covers pollLimits.ts, fetchTranscripts.ts.

import { giveUpSoon } from '../support/scale';
import { serviceForTests } from '../support/service';
import { AccountHost } from './host';

const service = serviceForTests();

it('What fails at 29 polls starts the workflow at the next one, with its transcript', async () => {
	giveUpSoon();
	const host = new AccountHost(service.credentials());
	await host.activate();
	const id = await service.completedTask();
	const match = { path: '/result$' };
	service.running().fault({ match, times: 9999, action: { kind: 'respond', status: 500 } });
	await host.polls(29);
	expect(host.started).toEqual([]);
	service.running().clearFaults();
	const [item] = await host.poll();
	expect(item?.json).toMatchObject({ task_id: id, text: expect.stringMatching(/\w/) });
});
