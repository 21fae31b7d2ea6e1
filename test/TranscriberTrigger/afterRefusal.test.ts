/** Contract, "Trigger node", source `meeting`: what a refused launch leaves behind, and that the end of a bot is looked up first. */
// Also covers sendBotWhenPublished.ts, cancelBotWhenUnpublished.ts.

import { HookContext } from 'n8n-core';
import { Workflow, type IDataObject, type IWebhookData } from 'n8n-workflow';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { queueFor } from '../../nodes/shared/api/waitForTurn';
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { ACTIVATION } from '../../nodes/TranscriberTrigger/launchBot';
import { until } from '../simulator/testing-client';
import { additionalDataFor, typesOf } from '../support/n8n';
import { serviceForTests } from '../support/service';
import { pastGrace } from './grace';
import { TriggerHost, newProcess } from './host';

const service = serviceForTests();
const parameters = {
	source: 'meeting',
	meetingUrl: 'https://meet.example.com/weekly',
	consentAcknowledged: true,
};

let host: TriggerHost;
beforeEach(async () => {
	jest.replaceProperty(GRACE, 'ms', 150);
	host = await new TriggerHost({ credentials: service.credentials(), parameters }).open();
});
afterEach(async () => {
	await pastGrace(service);
	await host.close();
});

const refuseLaunches = () =>
	service.running().fault({
		match: { path: '/meeting$' },
		times: 9,
		action: { kind: 'respond', status: 422 },
	});
const count = (method: string) => service.lines().filter((line) => line.startsWith(method)).length;

it('A refusal that took long is not repeated for another account', async () => {
	jest.replaceProperty(ACTIVATION, 'slowMs', 0);
	refuseLaunches();
	await expect(host.activate()).rejects.toThrow('422');
	service.running().clearFaults();
	host.node.credentials = { transcriberApi: { id: '2', name: 'Another account' } };
	await host.activate('update');
	expect(service.running().bots()).toHaveLength(1);
});

it('A launch that was refused for sure does not count as unanswered after a restart of n8n 2.41', async () => {
	let staticData: IDataObject = {};
	/** As n8n 2.41 does: what an activation has written is saved, also if it fails. */
	const publish = async (process = newProcess()) => {
		const { node } = host;
		const nodeTypes = typesOf(process);
		const nodes = [node];
		const parts = { id: 'workflow-2', nodes, connections: {}, active: true, nodeTypes, staticData };
		const workflow = new Workflow(parts);
		const more = additionalDataFor(service.credentials(), {
			webhookBaseUrl: 'http://127.0.0.1:5678/webhook',
		});
		const webhook = {
			webhookDescription: process.description.webhooks?.[0],
			node: node.name,
			path: 'id/transcriber',
		} as unknown as IWebhookData;
		const context = new HookContext(workflow, node, more, 'trigger', 'update', webhook);
		try {
			await process.webhookMethods.default.create.call(context);
		} finally {
			staticData = JSON.parse(JSON.stringify(workflow.staticData)) as IDataObject;
		}
	};
	refuseLaunches();
	await expect(publish()).rejects.toThrow('422');
	service.running().clearFaults();
	await publish();
	expect(service.running().bots()).toHaveLength(1);
});

it('The look at a bot before it is cancelled goes before other requests: one that has left is not cancelled', async () => {
	jest.replaceProperty(CANCEL_BOT, 'lookMs', 5_000);
	await host.activate();
	const [bot] = service.running().bots();
	service.running().endMeeting(String(bot?.id));
	const queue = queueFor(service.credentials().apiKey, 'other');
	const places = LIMITS.other - LIMITS.keptForUrgent;
	const turns = await Promise.all(Array.from({ length: places }, async () => await queue.take()));
	await host.deactivate();
	await until(() => count('GET') > 0).finally(() => {
		for (const leave of turns) leave(false);
	});
	await pastGrace(service);
	expect(count('DELETE')).toBe(0);
});
