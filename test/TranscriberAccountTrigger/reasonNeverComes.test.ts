/** Each of the requests that a poll makes for one task has the end of the poll as its limit. */
// Also covers accountTriggerOutput.ts.

import { ACCOUNT_POLL } from '../../nodes/TranscriberAccountTrigger/pollLimits';
import { serviceForTests } from '../support/service';
import { AccountHost } from './host';

const service = serviceForTests();

it('A poll ends in time, so that n8n does not give it up, although the reason of a failure never comes', async () => {
	const host = new AccountHost(service.credentials());
	await host.activate();
	const id = await service.pendingTask();
	service.running().finish(id, { status: 'failed', error: '' });
	const match = { path: `/tasks/${id}$` };
	service.running().fault({ match, times: 9999, action: { kind: 'stall' } });
	jest.replaceProperty(ACCOUNT_POLL, 'maxMs', 1_500);
	// Without a limit of its own, the request would take longer than this test may.
	await host.poll();
	expect(service.lines()).toContain(`GET /api/v1/tasks/${id}`);
});
