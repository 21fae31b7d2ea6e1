/** n8n 1 switches a workflow off without the `delete` hook if another trigger of it that polls refuses to start. */
// Also covers nodes/TranscriberTrigger/isBotThere.ts.

import { CANCEL_BOT } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { serviceForTests } from '../support/service';
import { TriggerHost } from './host';

const service = serviceForTests();
let host: TriggerHost;
beforeEach(async () => {
	jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
	const parameters = {
		source: 'meeting',
		meetingUrl: 'https://meet.example.com/weekly',
		consentAcknowledged: true,
	};
	host = await new TriggerHost({ credentials: service.credentials(), parameters }).open();
	await host.activate();
});
afterEach(async () => await host.close());

const bots = () => service.running().bots();

it('Switched on again for the next meeting, when the bot of the last one is gone, it sends another', async () => {
	for (const { id } of bots()) service.running().endMeeting(id);
	await host.activate();
	expect(bots()).toHaveLength(2);
	expect(host.stored.bot).toMatchObject({ id: bots()[1]?.id });
});

it('Switched on again while the bot is there, it keeps the bot', async () => {
	await host.activate();
	expect(bots()).toHaveLength(1);
});

it('Switched on again when the service does not know the bot any more, it sends another', async () => {
	const action = { kind: 'respond', status: 404, body: { detail: 'No such bot' } } as const;
	service.running().fault({ match: { method: 'GET' }, times: 9, action });
	await host.activate();
	expect(bots()).toHaveLength(2);
});

it('Switched on again when the service cannot be asked, it sends none: two bots are worse than none', async () => {
	service.running().fault({
		match: { method: 'GET' },
		times: 99,
		action: { kind: 'respond', status: 403 },
	});
	await host.activate();
	expect(bots()).toHaveLength(1);
});

it('Added again by n8n itself, because another trigger has failed, it asks nobody and keeps the bot', async () => {
	const before = service.lines().length;
	await host.activate('init');
	await host.activate('update');
	expect(service.lines().slice(before)).toEqual([]);
});
