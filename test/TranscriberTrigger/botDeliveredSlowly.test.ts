/** With Emit Duplicates, the store learns of the end of a bot as well. */
// Also covers receiveDelivery.ts, botStore.ts.

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { serviceForTests } from '../support/service';
import { hostsForTests } from './hostsForTests';

const service = serviceForTests();
const { open } = hostsForTests(service);

it('A bot that has delivered while the service was slow is saved as one, with Emit Duplicates too', async () => {
	jest.replaceProperty(STORE, 'mayWaitMs', -1);
	const host = await open({
		source: 'meeting',
		meetingUrl: 'https://meet.example.com/weekly',
		consentAcknowledged: true,
		options: { includeResult: false, emitDuplicates: true },
	});
	await host.activate();
	const [bot] = service.running().bots();
	service.running().endMeeting(String(bot?.id));
	service.running().finish(String(service.running().bots()[0]?.taskId));
	await until(() => host.executions.length > 0);
	await until(() => host.stored.bot?.['hasDelivered'] === true);
});
