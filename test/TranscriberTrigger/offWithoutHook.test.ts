/** n8n 1 switches a workflow off without the `delete` hook if another trigger of it that polls refuses to start. */
// Also covers nodes/TranscriberTrigger/isBotThere.ts.

import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { pastGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();
let host: TriggerHost;
beforeEach(async () => {
	jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
	jest.replaceProperty(GRACE, 'ms', 50);
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

/** Switches the workflow on again, and gives what n8n's log says. */
async function switchedOnAgain(): Promise<string> {
	const logs = captureLogs();
	await host.activate();
	logs.release();
	return logs.of(host.node.name).join('\n');
}

it('Switched on again for the next meeting, when the bot of the last one is gone: the log says how to get another', async () => {
	for (const { id } of bots()) service.running().endMeeting(id);
	expect(await switchedOnAgain()).toMatch(/does not record any more.*deactivate and activate it/);
	expect(bots()).toHaveLength(1);
});

it('Switched on again when the service does not know the bot any more: the same', async () => {
	const action = { kind: 'respond', status: 404, body: { detail: 'No such bot' } } as const;
	service.running().fault({ match: { method: 'GET' }, times: 9, action });
	expect(await switchedOnAgain()).toMatch(/does not know meeting bot.*deactivate and activate it/);
	expect(bots()).toHaveLength(1);
});

it('Switched on again while the bot is there, it says nothing', async () => {
	expect(await switchedOnAgain()).toBe('');
	expect(bots()).toHaveLength(1);
});

it('What the log says helps: after a switch-off, it sends another', async () => {
	for (const { id } of bots()) service.running().endMeeting(id);
	await switchedOnAgain();
	await host.deactivate();
	await pastGrace(service);
	await host.activate();
	expect(bots()).toHaveLength(2);
});
