/** Contract, "Trigger node": a meeting trigger takes nothing from a polling trigger in its workflow. */
// Also covers nodes/shared/n8nInternals/staticData.ts.

import { HookContext } from 'n8n-core';
import type { INode, IWorkflowExecuteAdditionalData } from 'n8n-workflow';

import { TranscriberTrigger } from '../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { credentialsHelper } from '../support/n8n';
import { serviceForTests } from '../support/service';
import { long } from '../support/long';
import { AccountHost } from '../TranscriberAccountTrigger/host';

const service = serviceForTests();
const RSS = { name: 'RSS' } as INode;

/** An Account Trigger and a meeting trigger in one workflow: n8n runs the hooks first. */
function workflowWithBoth(): AccountHost {
	const host = new AccountHost(service.credentials(), { options: { includeResult: false } });
	const trigger = new TranscriberTrigger();
	const node = {
		...host.node,
		id: `meeting-${host.node.id}`,
		name: 'Meeting',
		type: 'n8n-nodes-transcriber.transcriberTrigger',
		webhookId: 'w',
		parameters: {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
			events: ['meetingCompleted'],
		},
	};
	host.beforePolls = async (workflow, mode) => {
		const more = {
			credentialsHelper: credentialsHelper(service.credentials()),
			webhookBaseUrl: 'http://127.0.0.1:5678/webhook',
			variables: {},
		} as unknown as IWorkflowExecuteAdditionalData;
		const webhook = {
			webhookDescription: trigger.description.webhooks?.[0],
			node: node.name,
			path: 'w/transcriber',
		};
		workflow.nodes[node.name] = node;
		const { getByNameAndVersion } = workflow.nodeTypes;
		workflow.nodeTypes.getByNameAndVersion = (type) =>
			type === node.type ? trigger : getByNameAndVersion(type);
		const context = new HookContext(workflow, node, more, 'trigger', mode, webhook as never);
		const { checkExists, create } = trigger.webhookMethods.default;
		if (!(await checkExists.call(context))) await create.call(context);
	};
	return host;
}

long.it(
	'the Account Trigger beside a meeting trigger loses nothing through a restart',
	async () => {
		const host = workflowWithBoth();
		await host.activate();
		const before = await service.completedTask();
		await host.poll();
		const whileDown = await service.completedTask();
		await host.restart();
		await host.poll();
		expect(host.started).toEqual([before, whileDown]);
		expect(service.running().bots()).toHaveLength(1);
	},
);

it('and starts nothing twice where the meeting trigger was added later', async () => {
	const host = workflowWithBoth();
	const { beforePolls } = host;
	host.beforePolls = async () => {};
	await host.activate();
	const tasks = [await service.completedTask()];
	await host.poll();
	host.beforePolls = beforePolls;
	await host.activate('update');
	tasks.push(await service.completedTask());
	await host.poll();
	await host.restart();
	await host.poll();
	expect(host.started).toEqual(tasks);
});

it('what another polling trigger keeps is saved after the bot was sent', async () => {
	const host = workflowWithBoth();
	const { beforePolls } = host;
	host.saved = JSON.stringify({ 'node:RSS': { last: 'Monday' } });
	let writeLater = () => {};
	host.beforePolls = async (workflow, mode) => {
		await beforePolls(workflow, mode);
		writeLater = () => void (workflow.getStaticData('node', RSS).last = 'Tuesday');
	};
	await host.activate();
	writeLater();
	await service.completedTask();
	await host.poll();
	expect(JSON.parse(host.saved)).toMatchObject({ 'node:RSS': { last: 'Tuesday' } });
});
