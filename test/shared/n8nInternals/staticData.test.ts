/** What the trigger assumes of n8n's static data, on the n8n-core and n8n-workflow of the lock file. */
import { HookContext, WebhookContext } from 'n8n-core';
import {
	Workflow,
	type IDataObject,
	type INode,
	type INodeTypes,
	type IWebhookData,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

import {
	staticDataOf,
	type StaticDataContext,
} from '../../../nodes/shared/n8nInternals/staticData';
import { TranscriberTrigger } from '../../../nodes/TranscriberTrigger/TranscriberTrigger.node';

const node: INode = {
	id: '1',
	name: 'Transcriber Trigger',
	type: 'n8n-nodes-transcriber.transcriberTrigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

function workflowWith(staticData: IDataObject): Workflow {
	const nodeTypes = {
		getByNameAndVersion: () => new TranscriberTrigger(),
	} as unknown as INodeTypes;
	return new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes, staticData });
}

const more = {} as IWorkflowExecuteAdditionalData;
const webhookData = {} as IWebhookData;
const contexts: Array<[string, (workflow: Workflow) => StaticDataContext]> = [
	[
		'a webhook call',
		(workflow) => new WebhookContext(workflow, node, more, 'webhook', webhookData, [], null),
	],
	['a hook', (workflow) => new HookContext(workflow, node, more, 'trigger', 'activate')],
];

/** workflow-static-data.service.js of n8n: what is saved at the end of a call, if anything is. */
function savedOf({ staticData }: Workflow): IDataObject | undefined {
	const data = staticData as { __dataChanged?: boolean };
	if (data.__dataChanged !== true) return undefined;
	const saved = JSON.parse(JSON.stringify(staticData)) as IDataObject;
	data.__dataChanged = false;
	return saved;
}

describe.each(contexts)('The static data in %s', (_, contextOf) => {
	it('is what was loaded, in the workflow and for the node', () => {
		const { loaded } = staticDataOf(contextOf(workflowWith({ global: { mine: 1 } })));
		expect(loaded).toMatchObject({ mine: 1 });
		expect(staticDataOf(contextOf(workflowWith({}))).loaded).toEqual({});
	});

	it('is not saved unless that was asked for', () => {
		const workflow = workflowWith({ global: { mine: 1 } });
		staticDataOf(contextOf(workflow));
		expect(savedOf(workflow)).toBeUndefined();
	});

	it('is saved once, with what other nodes keep in it', () => {
		const workflow = workflowWith({ global: { mine: 1 }, 'node:Other': { last: 'today' } });
		staticDataOf(contextOf(workflow)).save(
			() => ({ section: 1 }),
			() => true,
		);
		expect(savedOf(workflow)).toEqual({
			global: { mine: 1, section: 1 },
			'node:Other': { last: 'today' },
		});
		expect(savedOf(workflow)).toBeUndefined();
	});

	it('is not saved when that is too late', () => {
		const workflow = workflowWith({ global: { mine: 1 } });
		staticDataOf(contextOf(workflow)).save(
			() => ({ section: 1 }),
			() => false,
		);
		expect(savedOf(workflow)).toBeUndefined();
	});
});

describe('The static data in a webhook call', () => {
	const contextOf = (workflow: Workflow) =>
		new WebhookContext(workflow, node, more, 'webhook', webhookData, [], null);

	it('is put together when it is saved', () => {
		const workflow = workflowWith({ global: { mine: 1 } });
		const { save } = staticDataOf(contextOf(workflow));
		const sections = { section: 'early' };
		save(
			() => sections,
			() => true,
		);
		sections.section = 'late';
		expect(savedOf(workflow)).toEqual({ global: { mine: 1, section: 'late' } });
	});

	it('is not saved when that is too late by then', () => {
		const workflow = workflowWith({ global: { mine: 1 } });
		let isInTime = true;
		staticDataOf(contextOf(workflow)).save(
			() => ({}),
			() => isInTime,
		);
		isInTime = false;
		expect(savedOf(workflow)).toBeUndefined();
	});

	it('is saved although n8n 2 makes the workflow of the new execution of the same data', () => {
		const staticData: IDataObject = { global: { mine: 1 } };
		const workflow = workflowWith(staticData);
		staticDataOf(contextOf(workflow)).save(
			() => ({ section: 1 }),
			() => true,
		);
		workflowWith(staticData);
		expect(savedOf(workflow)).toEqual({ global: { mine: 1, section: 1 } });
	});
});

it('A hook leaves the data to the polling triggers, for which n8n keeps the same workflow', () => {
	const workflow = workflowWith({ global: { mine: 1 }, 'node:RSS': { last: 'Monday' } });
	const polling = { name: 'RSS' } as INode;
	const own = workflow.getStaticData('node', polling);
	const context = new HookContext(workflow, node, more, 'trigger', 'activate');
	staticDataOf(context).save(
		() => ({ section: 1 }),
		() => true,
	);
	expect(savedOf(workflow)).toBeDefined();
	own.last = 'Tuesday';
	expect(savedOf(workflow)).toMatchObject({ 'node:RSS': { last: 'Tuesday' } });
	workflow.getStaticData('node', polling).last = 'Wednesday';
	workflow.getStaticData('global').mine = 2;
	expect(savedOf(workflow)).toEqual({
		global: { mine: 2, section: 1 },
		'node:RSS': { last: 'Wednesday' },
	});
});

it('An n8n that keeps static data in another way is refused before anything is saved', () => {
	const context = {
		getNode: () => node,
		getWorkflow: () => ({ id: '1' }),
		getMode: () => 'webhook',
		getWorkflowStaticData: () => ({}),
	};
	expect(() => staticDataOf(context)).toThrow('Update the package');
});
