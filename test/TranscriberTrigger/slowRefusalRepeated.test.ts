/** A launch that is refused after long: n8n has given the publication up by then, and tries it again. */
// Also covers sendBotWhenPublished.ts.

import { ACTIVATION } from '../../nodes/TranscriberTrigger/launchBot';
import { serviceForTests } from '../support/service';
import { TriggerHost } from './host';

const service = serviceForTests();
const parameters = {
	source: 'meeting',
	meetingUrl: 'https://meet.example.com/weekly',
	consentAcknowledged: true,
};

it('the refusal is repeated for a while after its end, however long it took, and no bot is asked for again', async () => {
	jest.replaceProperty(ACTIVATION, 'slowMs', 500);
	const host = await new TriggerHost({ credentials: service.credentials(), parameters }).open();
	// The time for which it is repeated is shorter than the launch.
	const began = Date.now();
	let passed = 0;
	jest.spyOn(Date, 'now').mockImplementation(() => began + passed);
	service.running().fault({
		match: { method: 'POST', path: '/meeting$' },
		times: 9,
		action: { kind: 'respond', status: 422 },
	});
	const send = host.activate('update').catch((error: unknown) => error);
	const launched = () => service.lines().filter((line) => line.startsWith('POST')).length;
	while (launched() === 0) await new Promise((resolve) => setImmediate(resolve));
	passed = ACTIVATION.repeatedMs + 1_000;
	expect(String(await send)).toContain('422');
	passed += ACTIVATION.repeatedMs - 1_000;
	expect(String(await host.activate('update').catch((error: unknown) => error))).toContain('422');
	expect(launched()).toBe(1);
	jest.restoreAllMocks();
	await host.close();
});
