/** One link of several recordings: some refused, some accepted without an id, some failed. Each of them is reported. */
// Also covers submit.ts, withoutIds.ts, nodes/shared/api/undocumented/submissions.ts.

import type { INode } from 'n8n-workflow';

import { PLAYLIST } from '../../support/parameters';
import { itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';

const service = serviceForTests();
const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const WAYS: Array<[string, Partial<INode>]> = [
	['stops', {}],
	['goes on', CONTINUE],
];
const REFUSED = { error: 'Private video' };
const NAMELESS = { status: 'pending' };

/** All that the user sees of the run. */
async function words(node: Partial<INode>): Promise<string> {
	const { error, json } = await service.run(PLAYLIST, { items: itemsOf({}), node });
	return JSON.stringify([error?.message, error?.description, json]);
}
async function failedTask(): Promise<string> {
	const id = await service.pendingTask();
	service.running().finish(id, { status: 'failed' });
	return id;
}

describe.each(WAYS)('A node that %s', (_, node) => {
	it('says of one without an id that it is accepted, also beside one that is refused', async () => {
		service.answer([REFUSED, NAMELESS]);
		const said = await words(node);
		expect(said).toMatch(/without an id/);
		expect(said).not.toMatch(/accepted none of them/);
	});

	it('says it beside one with an id, too', async () => {
		service.answer([{ task_id: await service.completedTask() }, REFUSED, NAMELESS]);
		expect(await words(node)).toMatch(/without an id/);
	});

	it('says that none is accepted if all are refused', async () => {
		service.answer([REFUSED, REFUSED]);
		expect(await words(node)).toMatch(/Private video/);
	});
});

describe('A node that goes on, where the only one with an id fails, still reports', () => {
	it.each([
		['one without an id', NAMELESS, /without an id/],
		['one that is refused', REFUSED, /Private video/],
	])('%s', async (_what, other, said) => {
		service.answer([{ task_id: await failedTask() }, other]);
		expect(await words(CONTINUE)).toMatch(said);
	});
});

/** n8n would run a suspended node again for an error in its output, and the execution would be lost. */
describe('With Retry On Fail, while another item of the node sleeps, no error is output', () => {
	it.each([
		['all are without an id', [NAMELESS, REFUSED]],
		['one is refused, and the other is', undefined],
	])('if %s', async (_what, body) => {
		const [id, other] = [await service.pendingTask(), await service.pendingTask()];
		service.answer(body ?? [REFUSED, { task_id: id, awaiting_balance: true, webhook_secret: 's' }]);
		service.answer({ task_id: other, webhook_secret: 't' });
		const waitOptions = { pollInterval: 0.02, onInsufficientBalance: 'fail' };
		const waiting = { ...PLAYLIST, onCompletion: 'awaitWebhook', waitOptions };
		const node = { ...CONTINUE, retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
		const workflow = workflowWith(waiting, service.credentials(), node);
		const { isSuspended, error } = await workflow.start(itemsOf({}, {}));
		expect([isSuspended, error]).toEqual([true, undefined]);
	});
});

it('A refusal of one that had ended before is output beside one without an id', async () => {
	service.answer([{ task_id: await failedTask() }, NAMELESS]);
	const webhookUrl = 'https://hooks.example.com/now';
	const options = { idempotencyKey: 'mine' };
	const parameters = { ...PLAYLIST, onCompletion: 'callUrl', webhookUrl, options };
	const { json } = await service.run(parameters, { items: itemsOf({}), node: CONTINUE });
	expect(json).toHaveLength(2);
	expect(json[0]?.error).toMatch(/Task \S+ failed/);
	expect(json[0]?.error).not.toMatch(/charged, too/);
	expect(json[1]?.error).toMatch(/without an id/);
});

describe('A list of all tasks beside the id of the first', () => {
	it('is not overlooked: the others are paid for, too', async () => {
		const [a, b] = [await service.completedTask(), await service.completedTask()];
		service.answer({ task_id: a, status: 'pending', tasks: [{ task_id: a }, { task_id: b }] });
		const { json } = await service.run(PLAYLIST, { items: itemsOf({}) });
		expect(json.map(({ task_id }) => task_id)).toEqual([a, b]);
	});

	it('is none if it holds other things, or this task alone', async () => {
		const a = await service.completedTask();
		for (const tasks of [[{ task_id: a }], [{ task_id: 'other-1' }], ['note']]) {
			service.answer({ task_id: a, status: 'pending', tasks });
			const { json } = await service.run(PLAYLIST, { items: itemsOf({}) });
			expect(json.map(({ task_id }) => task_id)).toEqual([a]);
		}
	});
});
