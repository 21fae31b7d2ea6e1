/** One recording of a playlist gets no transcript: the link of the whole item would pay for the others again. */
// Also covers nodes/Transcriber/wait/waitErrors.ts, nodes/Transcriber/submit/submit.ts.

import type { INode } from 'n8n-workflow';

import { PLAYLIST } from '../../support/parameters';
import { byId, itemsOf, serviceForTests } from '../../support/service';

const service = serviceForTests();
const THE_ITEM = /submit this item alone|only the item that failed/;
const THE_RECORDING = /link to this recording alone in a new execution/;

async function playlist(status: 'failed' | 'cancelled', node: Partial<INode> = {}) {
	const [a, b] = [await service.pendingTask(), await service.pendingTask()];
	service.running().finish(a);
	service.running().finish(b, { status });
	service.answer({ tasks: [{ task_id: a }, { task_id: b }] });
	return { a, ...(await service.run(PLAYLIST, { items: itemsOf({}), node })) };
}

describe.each(['failed', 'cancelled'] as const)('One that was %s', (status) => {
	it('stops the node, which names the others', async () => {
		const { a, error } = await playlist(status);
		expect(error?.description).toMatch(THE_RECORDING);
		expect(error?.description).toMatch(
			new RegExp(`Already accepted .*${a}.*give it only what failed`),
		);
		expect(error?.description).not.toMatch(THE_ITEM);
	});

	it('has the same advice in the output of a node that goes on', async () => {
		const { items } = await playlist(status, { onError: 'continueRegularOutput' });
		const words = JSON.stringify(items.map(({ error }) => error));
		expect(words).toMatch(THE_RECORDING);
		expect(words).not.toMatch(THE_ITEM);
	});
});

it('One of which the service says only that it is not accepted', async () => {
	const a = await service.pendingTask();
	service.answer([{ task_id: a }, { success: false, message: 'Private video' }]);
	const parameters = { ...PLAYLIST, onCompletion: 'returnTask' };
	const { error } = await service.run(parameters, { items: itemsOf({}) });
	expect(error?.description).toMatch(THE_RECORDING);
	expect(error?.description).not.toMatch(THE_ITEM);
});

describe('with an Idempotency Key of the user', () => {
	const KEYED = { ...PLAYLIST, options: { idempotencyKey: 'mine' } };

	it('One that fails at once, with Call a URL', async () => {
		const [a, b] = [await service.pendingTask(), await service.pendingTask()];
		service.running().finish(b, { status: 'failed', error: 'Private video' });
		service.answer({ tasks: [{ task_id: a }, { task_id: b }] });
		const webhookUrl = 'https://hooks.example.com/now';
		const parameters = { ...KEYED, onCompletion: 'callUrl', webhookUrl };
		const { error } = await service.run(parameters, { items: itemsOf({}) });
		expect(error?.description).toMatch(THE_RECORDING);
		expect(error?.description).not.toMatch(THE_ITEM);
	});

	it('One that failed, in the output: another key for the same link would pay for the others again', async () => {
		const [a, b] = [await service.pendingTask(), await service.pendingTask()];
		service.running().finish(a);
		service.running().finish(b, { status: 'failed', error: 'Private video' });
		service.answer({ tasks: [{ task_id: a }, { task_id: b }] });
		const node = { onError: 'continueRegularOutput' } as const;
		const { json } = await service.run(KEYED, { items: itemsOf({}), node });
		expect(json.map(({ error }) => error).join()).toMatch(/failed: Private video.*charged, too/);
		expect(json.map(({ error }) => error).join()).not.toContain('To submit it again');
	});
});

it.each(['wait', 'getResult', 'export'])(
	'Transcript: %s of one that has failed names the recording, and not the item that may have been a playlist',
	async (operation) => {
		const id = await service.pendingTask();
		service.running().finish(id, { status: 'failed', error: 'Private video' });
		const parameters = { resource: 'task', operation, taskId: byId(id) };
		const { error } = await service.run(parameters, { items: itemsOf({}) });
		expect(error?.description).toContain('then submit this recording alone in a new execution');
	},
);
