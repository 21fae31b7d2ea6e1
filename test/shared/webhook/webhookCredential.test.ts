/** Contract, "Webhook calls": the credential is read once for many. */

import { WebhookContext } from 'n8n-core';
import { Workflow, type INode, type IWebhookData, type IWebhookFunctions } from 'n8n-workflow';

import { webhookCredential } from '../../../nodes/shared/webhook/webhookCredential';
import { TranscriberTrigger } from '../../../nodes/TranscriberTrigger/TranscriberTrigger.node';
import { additionalDataFor, credentialsHelper, typesOf } from '../../support/n8n';

const NOW = Date.UTC(2026, 10, 22);
const nodeTypes = typesOf(new TranscriberTrigger());

let count = 0;
let workflowId: string;
let readings: number;
/** What n8n does when it is asked for the credential. */
let onReading: () => void;
const stored = { baseUrl: 'https://api.example.com', apiKey: 'first' };

beforeEach(() => {
	jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate'] });
	workflowId = `credentials ${count++}`;
	readings = 0;
	onReading = () => {};
	stored.apiKey = 'first';
});
afterEach(() => jest.useRealTimers());

interface Call {
	nodeId?: string;
	credentialId?: string;
	executionId?: string;
	workflow?: string;
}

/** A call of a webhook; with an execution, of one that is suspended. */
function call({ nodeId = '1', credentialId = '1', executionId, workflow }: Call = {}) {
	const node: INode = {
		id: nodeId,
		name: 'Trigger',
		type: 'n8n-nodes-transcriber.transcriberTrigger',
		typeVersion: 1,
		position: [0, 0],
		credentials: { transcriberApi: { id: credentialId, name: 'Transcriber API' } },
		parameters: {},
	};
	const helper = credentialsHelper(stored, () => {
		readings += 1;
		onReading();
	});
	const id = workflow ?? workflowId;
	return new WebhookContext(
		new Workflow({ id, nodes: [node], connections: {}, active: true, nodeTypes }),
		node,
		additionalDataFor(helper, { executionId }),
		'webhook',
		{} as IWebhookData,
		[],
		null,
	) as IWebhookFunctions;
}

const keyIn = async (given?: Call, fresh?: boolean) =>
	(await webhookCredential(call(given), fresh)).apiKey;

it('The credential is read once for all calls of ten seconds', async () => {
	expect(await keyIn()).toBe('first');
	stored.apiKey = 'second';
	jest.advanceTimersByTime(9_999);
	expect(await keyIn()).toBe('first');
	expect(readings).toBe(1);
	jest.advanceTimersByTime(1);
	expect(await keyIn()).toBe('second');
	expect(readings).toBe(2);
});

it('Where a key that was just changed may matter, it is read again after a second', async () => {
	await keyIn();
	stored.apiKey = 'second';
	jest.advanceTimersByTime(999);
	expect(await keyIn({}, true)).toBe('first');
	jest.advanceTimersByTime(1);
	expect(await keyIn({}, true)).toBe('second');
	expect(await keyIn()).toBe('second');
	expect(readings).toBe(2);
});

it.each<[string, Call]>([
	['Another node', { nodeId: '2' }],
	['Another workflow, in which the nodes have the same ids,', { workflow: 'a copy' }],
	['A node with another credential', { credentialId: '2' }],
	['A suspended execution', { executionId: '7' }],
])('%s has its own reading', async (_, other) => {
	await keyIn();
	await keyIn(other);
	await keyIn(other);
	expect(readings).toBe(2);
});

it('Readings are kept for ten seconds only, because each suspended execution has one with the secrets in it', async () => {
	const kept: Array<Map<string, unknown>> = [];
	let reading: typeof webhookCredential = webhookCredential;
	jest.isolateModules(() => {
		const memory = jest.requireActual<{ remembered: (row: string) => Map<string, unknown> }>(
			'../../../nodes/shared/processMemory',
		);
		const { remembered } = memory;
		memory.remembered = (row) => {
			const map = remembered(row);
			if (row === 'credentialReadings') kept.push(map);
			return map;
		};
		({ webhookCredential: reading } = jest.requireActual<{ webhookCredential: typeof reading }>(
			'../../../nodes/shared/webhook/webhookCredential',
		));
	});
	for (const executionId of ['1', '2', '3']) await reading(call({ executionId }));
	expect(kept.map(({ size }) => size)).toEqual([3]);
	jest.advanceTimersByTime(10_000);
	await reading(call({ executionId: '4' }));
	expect(kept.map(({ size }) => size)).toEqual([1]);
});

describe('A reading that fails', () => {
	beforeEach(() => {
		onReading = () => {
			throw new Error('no database');
		};
	});

	it('of a trigger is not repeated within a second, whatever strangers call', async () => {
		await expect(keyIn()).rejects.toThrow('no database');
		onReading = () => {};
		jest.advanceTimersByTime(999);
		await expect(keyIn()).rejects.toThrow('no database');
		jest.advanceTimersByTime(1);
		expect(await keyIn()).toBe('first');
		expect(readings).toBe(2);
	});

	it('of a suspended execution is repeated at the next call, which may wake it', async () => {
		await expect(keyIn({ executionId: '7' })).rejects.toThrow('no database');
		onReading = () => {};
		expect(await keyIn({ executionId: '7' })).toBe('first');
	});
});

it('A node without a credential is refused as n8n refuses it', async () => {
	for (const credentials of [undefined, {}]) {
		const context = call();
		Object.assign(context, { node: { ...context.getNode(), credentials } });
		await expect(webhookCredential(context)).rejects.toThrow(/does not have any credentials/);
	}
});
