/** A service may keep one bot for a link, answer a second launch with it, and give its secret only once. */
// Also covers nodes/TranscriberTrigger/sendBotWhenPublished.ts.

import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { serviceForTests } from '../support/service';
import { withinGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();

it('The secret that is stored stays', async () => {
	jest.replaceProperty(GRACE, 'ms', 150);
	jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
	const parameters = {
		source: 'meeting',
		meetingUrl: 'https://meet.example.com/weekly',
		consentAcknowledged: true,
		startAt: '',
	};
	const host = await new TriggerHost({ credentials: service.credentials(), parameters }).open();
	await host.activate();
	const [{ id } = { id: '' }] = service.running().bots();
	const { secrets } = host.stored;
	service.running().fault({
		match: { path: '/meeting$', method: 'POST' },
		action: { kind: 'respond', status: 200, body: { bot_id: id, status: 'joining' } },
	});
	await withinGrace(async () => {
		await host.deactivate();
		host.node.parameters.startAt = new Date(Date.now() + 3_600_000).toISOString();
		await host.activate('update');
	});
	await host.close();
	expect(host.stored.bot).toMatchObject({ id });
	expect(host.stored.secrets).toEqual(secrets);
});
