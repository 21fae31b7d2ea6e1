/**
 * What n8nInternals/suspendExecution.ts takes for granted, in the n8n-core of the lock file. Where a test
 * fails after an update of n8n-core, the node would lose paid recordings on that n8n.
 */
import { ExecuteSingleContext } from 'n8n-core';
import type {
	IExecuteData,
	IExecutePaginationFunctions,
	INode,
	IWebhookFunctions,
} from 'n8n-workflow';

import { Transcriber } from '../../../nodes/Transcriber/Transcriber.node';
import {
	assertCanSuspend,
	suspendedExecution,
} from '../../../nodes/shared/n8nInternals/suspendExecution';
import { itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';

const service = serviceForTests();

const AWAIT = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url }}',
	onCompletion: 'awaitWebhook',
};
const ITEMS = itemsOf({ url: 'https://files.example.com/a.mp3' });

const suspended = async (node: Partial<INode> = {}) => {
	const workflow = workflowWith(AWAIT, service.credentials(), node);
	return { workflow, asleep: await workflow.start(ITEMS) };
};
const stackOf = ({ data }: { data: { executionData?: { nodeExecutionStack: IExecuteData[] } } }) =>
	(data.executionData?.nodeExecutionStack ?? []).map((entry) => ({
		name: entry.node.name,
		items: entry.data.main?.[0]?.map(({ json }) => json),
	}));

describe('n8n-core', () => {
	it('puts the entry that was running back on top of the stack, before the copy of the node', async () => {
		const { asleep } = await suspended();
		expect(stackOf(asleep)).toEqual([
			{ name: 'Transcriber', items: [] },
			{ name: 'Transcriber', items: ITEMS.map(({ json }) => json) },
		]);
	});

	it('saves the context of the node with the execution', async () => {
		const { asleep } = await suspended();
		expect(asleep.data.executionData?.contextData['node:Transcriber']).toMatchObject({
			suspension: { run: 0, asleep: true },
		});
	});

	it('runs the copy after the emptied entry when the time is up, as the next run of the node', async () => {
		const { workflow, asleep } = await suspended({ alwaysOutputData: true });
		service.running().finish(service.running().tasks()[0]?.id ?? '');
		const { data, next } = await workflow.timeIsUp(asleep);
		expect(data.resultData.runData['Transcriber']).toHaveLength(2);
		expect(data.resultData.runData['Next']).toHaveLength(1);
		expect(next).toEqual([expect.objectContaining({ status: 'completed' })]);
	});

	it('has putExecutionToWait in the context of a single item', () => {
		expect(ExecuteSingleContext.prototype).toHaveProperty('putExecutionToWait');
	});
});

describe('an n8n that cannot suspend', () => {
	/** What the node sees of an n8n that can. */
	const able = () => {
		const node = { name: 'Transcriber' } as INode;
		const nodeContext = {};
		const entry = { node, data: { main: [[]] }, source: null };
		return {
			getNode: () => node,
			getContext: () => nodeContext as object,
			getExecuteData: () => entry as unknown,
			putExecutionToWait: (async () => {}) as unknown,
			runExecutionData: {
				executionData: {
					contextData: { 'node:Transcriber': nodeContext },
					nodeExecutionStack: [],
				},
			} as unknown,
		};
	};
	const check = (changes: Partial<ReturnType<typeof able>>) => () =>
		assertCanSuspend({ ...able(), ...changes } as unknown as IExecutePaginationFunctions);

	it('is not refused if it can', () => expect(check({})).not.toThrow());

	it.each<[string, Partial<ReturnType<typeof able>>]>([
		['has no putExecutionToWait', { putExecutionToWait: undefined }],
		['does not show the data of the execution', { runExecutionData: undefined }],
		['has another stack', { runExecutionData: { executionData: { contextData: {} } } }],
		['keeps the context of a node elsewhere', { getContext: () => ({}) }],
		['keeps the input elsewhere', { getExecuteData: () => ({ node: {} }) }],
	])('because it %s is refused, with what to do instead', (_why, changes) => {
		expect(check(changes)).toThrow(
			expect.objectContaining({
				message: 'This n8n cannot suspend the node',
				description: "Choose 'Wait for the Transcript (Polling)' in 'Get the Transcript'.",
			}),
		);
	});

	it('a delivery to an execution that n8n does not show gets 503, so that the service repeats it', async () => {
		const answer = { status: jest.fn(() => ({ json: () => undefined })) };
		const context = {
			getNode: () => ({ id: '1', name: 'Transcriber' }) as INode,
			getWorkflow: () => ({ id: '1' }),
			getResponseObject: () => answer,
			logger: { error: () => {} },
		} as unknown as IWebhookFunctions;
		expect(() => suspendedExecution(context)).toThrow('does not show');
		const result = await new Transcriber().webhook.call(context);
		expect([result, answer.status.mock.calls]).toEqual([{ noWebhookResponse: true }, [[503]]]);
	});

	it('gets nothing submitted', async () => {
		const hidden = Object.assign(ExecuteSingleContext.prototype, { putExecutionToWait: undefined });
		const { asleep } = await suspended();
		Reflect.deleteProperty(hidden, 'putExecutionToWait');
		expect(asleep.error).toContain('This n8n cannot suspend the node');
		expect(service.lines()).toEqual([]);
	});
});
