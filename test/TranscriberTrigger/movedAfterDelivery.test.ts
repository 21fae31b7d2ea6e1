/** After its transcript has started the workflow, the log must not say that it does not. */
// Also covers isBotThere.ts, botStore.ts.
import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { serviceForTests } from '../support/service';
import { captureLogs } from '../support/logs';
import { until } from '../simulator/testing-client';
import { TriggerHost, newProcess } from './host';

const service = serviceForTests();
beforeEach(() => jest.replaceProperty(GRACE, 'ms', 150));

async function delivered(emitDuplicates: boolean) {
	const host = await new TriggerHost({
		credentials: service.credentials(),
		parameters: {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
			events: ['meetingCompleted', 'meetingFailed'],
			options: { emitDuplicates },
		},
	}).open();
	await host.activate();
	const bot = service.running().bots().at(-1);
	service.running().endMeeting(String(bot?.id));
	service.running().finish(String(service.running().bots().at(-1)?.taskId));
	await until(() => host.executions.length === 1);
	await until(() => host.saving === 0);
	await new Promise((resolve) => setTimeout(resolve, 300));
	return host;
}

it.each([true, false])(
	'start of n8n with another address after the transcript has started the workflow (Emit Duplicates: %s)',
	async (emitDuplicates) => {
		const host = await delivered(emitDuplicates);
		// The same n8n and database, with a new address (a new tunnel).
		const { credentials, parameters } = host.settings;
		const moved = await new TriggerHost({ credentials, parameters }).open();
		Object.assign(moved.node, host.node);
		moved.saved = host.saved;
		moved.processes = [newProcess()];
		const logs = captureLogs();
		await moved.activate('init');
		logs.release();
		await host.close();
		await moved.close();
		expect(moved.stored.endings + String(moved.stored.bot?.['hasDelivered'])).not.toBe('undefined');
		expect(logs.lines.filter((line) => line.includes('does not start the workflow'))).toEqual([]);
	},
);

it('moved to another n8n after the transcript has started the workflow: unpublishing there does not tell to stop the bot', async () => {
	const host = await delivered(false);
	const { credentials, parameters } = host.settings;
	const moved = await new TriggerHost({ credentials, parameters, workflowId: 'other' }).open();
	Object.assign(moved.node, host.node);
	moved.saved = host.saved;
	moved.processes = [newProcess()];
	const logs = captureLogs();
	await moved.activate('init');
	await moved.deactivate();
	logs.release();
	await host.close();
	await moved.close();
	expect(logs.lines.filter((line) => line.includes('is not cancelled'))).toEqual([]);
});
