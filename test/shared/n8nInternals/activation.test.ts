/** What the trigger assumes of the ways in which n8n switches a workflow on. */
import { HookContext, WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IHookFunctions,
	type INode,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowActivateMode,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import {
	isActivatedByN8n,
	isActivatedByUser,
	isPublishedAgain,
	isSwitchedOnByUser,
	isTest,
} from '../../../nodes/shared/n8nInternals/activation';
import { TranscriberTrigger } from '../../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { typesOf } from '../../support/n8n';

/** All of n8n's modes: with one more, or one less, this does not compile. */
const MODES: Record<WorkflowActivateMode, boolean> = {
	activate: true,
	create: true,
	update: true,
	init: false,
	leadershipChange: false,
	manual: false,
};

const hook = (activation: string, mode: WorkflowExecuteMode = 'trigger') =>
	({ getActivationMode: () => activation, getMode: () => mode }) as unknown as IHookFunctions;

it.each(Object.entries(MODES))("mode '%s': a user has switched the workflow on: %s", (mode, is) => {
	expect(isActivatedByUser(hook(mode))).toBe(is);
});

it('a mode that nobody knows yet is none of the user: no bot is sent', () => {
	expect(isActivatedByUser(hook('resumed'))).toBe(false);
});

it('the start of n8n and of a main process are its own activations', () => {
	const modes = Object.keys(MODES).filter((mode) => isActivatedByN8n(hook(mode)));
	expect(modes).toEqual(['init', 'leadershipChange']);
});

it('while the editor listens for a test event, no mode is', () => {
	for (const mode of Object.keys(MODES))
		expect(isActivatedByUser(hook(mode, 'manual'))).toBe(false);
});

it('a new version of an active workflow is not switched on, and nor is one that n8n starts', () => {
	const modes = Object.keys(MODES).filter((mode) => isSwitchedOnByUser(hook(mode)));
	expect(modes).toEqual(['activate', 'create']);
	expect(isSwitchedOnByUser(hook('activate', 'manual'))).toBe(false);
});

it('a publication after the first one has the mode of a new version, also if the first one failed', () => {
	expect(Object.keys(MODES).filter((mode) => isPublishedAgain(hook(mode)))).toEqual(['update']);
	expect(isPublishedAgain(hook('update', 'manual'))).toBe(false);
});

describe("The editor's listening for a test event, in the contexts of n8n-core", () => {
	const node: INode = {
		id: '1',
		name: 'Transcriber Trigger',
		type: 'n8n-nodes-transcriber.transcriberTrigger',
		typeVersion: 1,
		position: [0, 0],
		parameters: {},
		webhookId: 'one',
	};
	const nodeType = new TranscriberTrigger();
	const nodeTypes = typesOf(nodeType);
	const workflow = new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes });
	const webhookDescription = nodeType.description.webhooks?.[0];
	const webhook = { webhookDescription, path: 'one/transcriber' } as unknown as IWebhookData;
	const more = {
		webhookBaseUrl: 'https://n8n.example/webhook',
		webhookTestBaseUrl: 'https://n8n.example/webhook-test',
	} as IWorkflowExecuteAdditionalData;
	const hookOf = (mode: WorkflowExecuteMode, activation: WorkflowActivateMode, isMarked: boolean) =>
		new HookContext(workflow, node, more, mode, activation, { ...webhook, isTest: isMarked });

	it('begins in a mode that tells', () => {
		expect(isTest(hookOf('manual', 'manual', true))).toBe(true);
	});

	it('ends in the modes of a switch-off: only the mark of the webhook tells, as its address does', () => {
		const [test, published] = [true, false].map((is) => hookOf('internal', 'update', is));
		expect([test, published].map((hook) => hook && isTest(hook))).toEqual([true, false]);
		expect([test, published].map((hook) => hook?.getNodeWebhookUrl('default'))).toEqual([
			'https://n8n.example/webhook-test/one/transcriber',
			'https://n8n.example/webhook/one/transcriber',
		]);
		expect([test, published].map((hook) => hook && isActivatedByUser(hook))).toEqual([false, true]);
	});

	it('is also known in a call', () => {
		const callOf = (isMarked: boolean) =>
			new WebhookContext(
				workflow,
				node,
				more,
				'webhook',
				{ ...webhook, isTest: isMarked },
				[],
				null,
			);
		expect([true, false].map((is) => isTest(callOf(is)))).toEqual([true, false]);
	});

	it('cannot be told in a hook without a webhook: such an n8n is refused', () => {
		const withoutWebhook = new HookContext(workflow, node, more, 'internal', 'update');
		expect(() => isTest(withoutWebhook)).toThrow('does not tell a test in the editor');
	});
});
