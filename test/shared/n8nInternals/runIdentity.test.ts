/** What n8nInternals/runIdentity.ts takes for granted, in the n8n-core of the lock file. */
import { ExecuteSingleContext } from 'n8n-core';
import type { IExecuteData, IExecutePaginationFunctions } from 'n8n-workflow';

import { runKeyOf, sharedByRetriesOf } from '../../../nodes/shared/n8nInternals/runIdentity';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { startingAt } from '../../support/n8n';
import { SOURCE, workflowWith } from '../../support/suspended';

const service = serviceForTests();

const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	onCompletion: 'returnTask',
	url: '={{ $json.url ?? "https://files.example.com/talk.mp3" }}',
};

it('n8n-core starts all items of a node before one can go on: one that is wrong stops all of them', async () => {
	const items = itemsOf(...Array.from({ length: 50 }, () => ({})), { url: 'nonsense' });
	const { error } = await service.run(LINK, { items });
	expect(error?.message).toContain('nonsense');
	expect(service.lines()).toEqual([]);
});

it('n8n-core gives all items of a run one and the same getExecuteData(): they wait for each other', async () => {
	const { json, error } = await service.run(LINK, { items: itemsOf({}, {}, {}) });
	expect(error).toBeUndefined();
	expect(json).toHaveLength(3);
});

it('an n8n that gives another object at each call is refused before anything is sent', () => {
	const context = {
		getNode: () => ({ name: 'Transcriber' }),
		getExecuteData: () => ({}),
	} as unknown as IExecutePaginationFunctions;
	expect(() => runKeyOf(context)).toThrow('This n8n runs the items of a node in a way');
});

it('an n8n that gives each item another object is refused before anything is sent', async () => {
	const copies = new WeakMap<object, IExecuteData>();
	jest.spyOn(ExecuteSingleContext.prototype, 'getExecuteData').mockImplementation(function (
		this: ExecuteSingleContext,
	) {
		const copy = copies.get(this) ?? { ...this.executeData };
		copies.set(this, copy);
		return copy;
	});
	const { error } = await service.run(LINK, { items: itemsOf({}, {}, {}) });
	expect(error?.message).toContain('This n8n runs the items of a node in a way');
	expect(service.lines()).toEqual([]);
});

describe('what an execution shares with its Retries', () => {
	const failed = async () => {
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 422 },
			times: 2,
		});
		const workflow = workflowWith(LINK, service.credentials());
		const first = await workflow.start(itemsOf({}));
		return { first: first.data, second: (await workflow.retry(first)).data };
	};

	it('n8n-core makes up a token for each execution, and keeps it in a Retry', async () => {
		const { first, second } = await failed();
		const other = await failed();
		expect(first.resumeToken).toMatch(/^.{32}/);
		expect(second.resumeToken).toBe(first.resumeToken);
		expect(other.first.resumeToken).not.toBe(first.resumeToken);
	});

	it('n8n-core notes when an execution began, and keeps that and the run of the trigger in a Retry', async () => {
		const { first, second } = await failed();
		const { establishedAt } = first.executionData?.runtimeData ?? {};
		expect(establishedAt).toBeGreaterThan(1_700_000_000_000);
		expect(second.executionData?.runtimeData?.establishedAt).toBe(establishedAt);
		expect(second.resultData.runData['Source']).toEqual(first.resultData.runData['Source']);
	});

	const shared = (mode: string, content = '', change: object = {}) => {
		const data = startingAt(SOURCE, [itemWithFile(content)], 'Trigger');
		const { executionData } = data;
		if (executionData) {
			executionData.runtimeData = { version: 1, establishedAt: 17, source: 'webhook' };
		}
		return sharedByRetriesOf({
			getMode: () => mode,
			getExecutionId: () => '17',
			getWorkflow: () => ({ id: 'workflow-1' }),
			runExecutionData: { ...data, resumeToken: undefined, ...change },
		} as unknown as IExecutePaginationFunctions);
	};

	it('is the token, in a Retry and before; without a token it is looked for in a Retry only', () => {
		expect(shared('retry')).toMatch(/^[\w-]{43}$/);
		expect(shared('webhook')).toBeUndefined();
		const token = { resumeToken: 'token' };
		expect(shared('webhook', '', token)).toMatch(/^[\w-]{43}$/);
		expect(shared('webhook', '', token)).toBe(shared('retry', '', token));
	});

	it('is nothing where n8n keeps neither a token nor what its trigger has done', () => {
		expect(shared('retry', '', { executionData: {} })).toBeUndefined();
		expect(shared('retry', '', { resultData: { runData: {} } })).toBeUndefined();
	});

	it('does not show the token, which wakes a suspended execution', () => {
		expect(shared('retry', '', { resumeToken: 'token' })).not.toContain('token');
	});

	it('reads only the beginning of a file in memory, and its length', () => {
		const file = 'x'.repeat(1_000_000);
		expect(shared('retry', `${file}a`)).toBe(shared('retry', `${file}b`));
		expect(shared('retry', file)).not.toBe(shared('retry', `${file}${file}`));
		expect(shared('retry', `a${file}`)).not.toBe(shared('retry', `b${file}`));
	});
});
