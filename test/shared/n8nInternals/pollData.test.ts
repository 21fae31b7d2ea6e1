/** What the Account Trigger assumes of polls, in the PollContext of the n8n-core of the lock file. */
import { PollContext } from 'n8n-core';
import { Workflow, type IDataObject, type INode, type IPollFunctions } from 'n8n-workflow';

import {
	isSameActivation,
	noteActive,
	pollDataOf,
	wasActive,
} from '../../../nodes/shared/n8nInternals/pollData';
import { TranscriberAccountTrigger } from '../../../nodes/TranscriberAccountTrigger/TranscriberAccountTrigger.node';
import { additionalDataFor, typesOf } from '../../support/n8n';

const newNode = (): INode => ({
	id: '1',
	name: 'Account Trigger',
	type: 'n8n-nodes-transcriber.transcriberAccountTrigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
});

function workflowOf(node: INode, staticData: IDataObject = {}): Workflow {
	const nodeTypes = typesOf(new TranscriberAccountTrigger());
	return new Workflow({ nodes: [node], connections: {}, active: true, nodeTypes, staticData });
}

const more = additionalDataFor({ baseUrl: 'https://service.example', apiKey: 'key' });
const pollIn = (workflow: Workflow, node: INode) =>
	new PollContext(workflow, node, more, 'trigger', 'activate') as unknown as IPollFunctions;

it('the static data is that of the workflow, so n8n saves what a poll writes', () => {
	const node = newNode();
	const workflow = workflowOf(node, { global: { mine: 1 } });
	const data = pollDataOf(pollIn(workflow, node));
	expect(data).toMatchObject({ mine: 1 });
	data.mine = 2;
	expect(workflow.staticData).toMatchObject({ global: { mine: 2 }, __dataChanged: true });
});

it('all polls of an activation are known as such, but not of another trigger of the workflow', () => {
	const node = newNode();
	const workflow = workflowOf(node);
	const poll = pollIn(workflow, node);
	expect(isSameActivation(poll, 'one')).toBe(false);
	noteActive(poll, 'one');
	expect([wasActive(poll), isSameActivation(poll, 'one')]).toEqual([true, true]);
	const other = pollIn(workflow, newNode());
	expect([wasActive(other), isSameActivation(other, 'two')]).toEqual([false, false]);
	expect(isSameActivation(other, 'one')).toBe(true);
});

it('a workflow that n8n adds again by itself, with the nodes that it has loaded, is known', () => {
	const node = newNode();
	noteActive(pollIn(workflowOf(node), node), 'one');
	expect(isSameActivation(pollIn(workflowOf(node), node), 'one')).toBe(true);
});

it('a workflow that n8n loads again is another activation', () => {
	const [node, again] = [newNode(), newNode()];
	noteActive(pollIn(workflowOf(node), node), 'one');
	const poll = pollIn(workflowOf(again), again);
	expect([wasActive(poll), isSameActivation(poll, 'one')]).toEqual([false, false]);
});

describe('An n8n that keeps the data of a polling trigger in another way is refused', () => {
	const data = {};
	const contextWith = (changed: object) =>
		({
			node: newNode(),
			getNode: newNode,
			getWorkflowStaticData: () => data,
			...changed,
		}) as unknown as IPollFunctions;

	it('if it returns another object at each call', () => {
		const context = contextWith({ getWorkflowStaticData: () => ({}) });
		expect(() => pollDataOf(context)).toThrow('does not know');
		expect(() => noteActive(context, 'one')).toThrow('does not know');
	});

	it('if the context does not hold the node', () => {
		const context = contextWith({ node: undefined });
		expect(() => wasActive(context)).toThrow('does not know');
		expect(() => noteActive(context, 'one')).toThrow('does not know');
	});
});
