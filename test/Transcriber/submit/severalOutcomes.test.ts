/** One link of several recordings: some refused, some accepted without an id, some failed. Each of them is reported. */
// Also covers submit.ts, withoutIds.ts, nodes/shared/api/undocumented/submissions.ts.

import type { INode, INodeExecutionData } from 'n8n-workflow';

import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import { again } from '../../support/again';
import { STORED, answeringTrigger } from '../../support/answeringTrigger';
import { PLAYLIST } from '../../support/parameters';
import { itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';
import { sign } from '../../TranscriberTrigger/client';

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

	it('says of each of two without an id what the service answered', async () => {
		service.answer([
			{ ...NAMELESS, title: 'First talk' },
			{ ...NAMELESS, title: 'Second talk' },
		]);
		const said = await words(node);
		for (const title of ['First talk', 'Second talk']) expect(said).toContain(title);
		expect(said).toContain('a recording of this item is accepted');
	});

	it('says of one that is refused which one it is, and how to try it again', async () => {
		const url = 'https://video.example.com/v2';
		service.answer([{ task_id: await service.completedTask() }, { ...REFUSED, url }]);
		const said = await words(node);
		expect(said).toContain(url);
		expect(said).toContain('submit a link to this recording alone');
	});

	it.each([{ status: 'rejected', reason: 'Private video' }, { status: 'failed' }])(
		'does not call a refused one accepted: %j',
		async (refused) => {
			service.answer([{ task_id: await service.completedTask() }, refused]);
			expect(await words(node)).not.toContain('but without an id');
		},
	);

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

	it('and the secret of the first is masked wherever the answer repeats it', async () => {
		const [secret, tasks] = ['first-secret-0123', [{ id: 'a1' }, { id: 'b2' }]];
		service.answer({ task_id: 'a1', webhook_secret: secret, hint: `Check ${secret}`, tasks });
		const parameters = { ...PLAYLIST, onCompletion: 'returnTask' };
		const { json } = await service.run(parameters, { items: itemsOf({}) });
		expect(json).toHaveLength(2);
		expect(JSON.stringify(json)).not.toContain(secret);
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

describe('With Wait for the Transcript (Webhook), the one output of the item says it of each', () => {
	const AWAIT = { ...PLAYLIST, onCompletion: 'awaitWebhook' };

	it('if all are without an id', async () => {
		service.answer([
			{ ...NAMELESS, title: 'first of them' },
			{ ...NAMELESS, title: 'second of them' },
		]);
		const { json } = await service.run(AWAIT, { items: itemsOf({}), node: CONTINUE });
		expect(json[0]?.error).toMatch(/first of them.*second of them/);
	});

	it('if one is without an id, and the other fails', async () => {
		const id = await service.pendingTask();
		service.answer([{ task_id: id, webhook_secret: 's' }, NAMELESS]);
		const workflow = workflowWith(AWAIT, service.credentials(), CONTINUE);
		const asleep = await workflow.start(itemsOf({}));
		service.running().finish(id, { status: 'failed' });
		const raw = JSON.stringify({ task_id: id });
		const { woken } = await workflow.deliver(asleep, raw, sign(raw, 's'));
		expect(JSON.stringify(woken?.next)).toMatch(/Task \S+ failed.*without an id/);
	});
});

const CALL = {
	...PLAYLIST,
	onCompletion: 'callUrl',
	webhookUrl: 'https://hooks.example.com/now',
	options: { idempotencyKey: 'mine' },
};

type Run = Awaited<ReturnType<typeof service.run>>;
/** What n8n's Retry outputs after the user has set On Error to Continue. */
async function inRetry(first: Run, items: INodeExecutionData[]): Promise<Run['json']> {
	const data = again(first, CALL, items, { asFirstRun: true, node: CONTINUE });
	const more = { items, data, mode: 'retry', executionId: '42', node: CONTINUE } as const;
	return (await service.run(CALL, more)).json;
}

describe("With an 'Idempotency Key' of the user and Call a URL, one that had completed", () => {
	async function oneCompleted() {
		const [done, left] = [await service.completedTask(), await service.pendingTask()];
		service.answer([{ task_id: done }, { task_id: left, webhook_secret: 'of left' }]);
		return { done, left };
	}

	it('does not hide the secret of the other, and is alone called not new', async () => {
		const { done, left } = await oneCompleted();
		const { json } = await service.run(CALL, { items: itemsOf({}), node: CONTINUE });
		expect(json[0]).toMatchObject({ task_id: left, webhook_secret: 'of left' });
		expect(json[1]?.error).toMatch(`returned task ${done}, which had already ended`);
		expect(json[1]?.error).toContain('submit a link to it alone');
	});

	it('stops the node, whose advice leads to the other', async () => {
		const { left } = await oneCompleted();
		const items = itemsOf({});
		const first = await service.run(CALL, { items, executionId: '41' });
		expect(first.error?.message).toContain(`task ${left} was accepted`);
		expect(first.error?.description).toMatch(/On Error.*Continue.*currently saved workflow/);
		const json = await inRetry(first, items);
		expect(json[0]).toMatchObject({ task_id: left, webhook_secret: 'of left' });
	});
});

it('One that is refused does not hide that another one had ended before, nor in a Retry', async () => {
	service.answer([{ task_id: await service.completedTask() }, REFUSED]);
	const items = itemsOf({});
	const first = await service.run(CALL, { items, executionId: '41' });
	expect(first.error?.description).toContain('which had already ended');
	expect(first.error?.description).toContain("Change 'Idempotency Key' for that");
	const json = await inRetry(first, items);
	expect(JSON.stringify(json)).toContain('which had already ended');
});

describe("With an 'Idempotency Key' of the user and Call a URL, one that failed at once", () => {
	async function oneFailed() {
		const left = await service.pendingTask();
		service.answer([{ task_id: await failedTask() }, { task_id: left, webhook_secret: 'of left' }]);
		return left;
	}

	it('does not hide the secret of the other', async () => {
		const left = await oneFailed();
		const { json } = await service.run(CALL, { items: itemsOf({}), node: CONTINUE });
		expect(json[0]).toMatchObject({ task_id: left, webhook_secret: 'of left' });
		expect(json[1]?.error).toMatch(/Task \S+ failed/);
	});

	it('stops the node, whose advice leads to the other', async () => {
		const left = await oneFailed();
		const items = itemsOf({});
		const first = await service.run(CALL, { items, executionId: '41' });
		expect(first.error?.description).toMatch(/On Error.*Continue.*currently saved workflow/);
		const json = await inRetry(first, items);
		expect(json[0]).toMatchObject({ task_id: left, webhook_secret: 'of left' });
	});

	it('is reported beside others that failed, and none of them is called charged or accepted', async () => {
		const [one, other] = [await failedTask(), await failedTask()];
		service.answer([{ task_id: one }, { task_id: other }]);
		const { json } = await service.run(CALL, { items: itemsOf({}), node: CONTINUE });
		expect(json.map(({ error }) => error)).toEqual([
			expect.stringContaining(`Task ${one} failed`),
			expect.stringContaining(`Task ${other} failed`),
		]);
		expect(JSON.stringify(json)).not.toMatch(/charged, too|accepted by the service/);
	});

	it.each(['stops', 'goes on'])(
		'is handed over to a trigger, too, by a node that %s',
		async (how) => {
			const trigger = await answeringTrigger(service.running().apiKey);
			const bad = await failedTask();
			const left = await service.pendingTask();
			service.answer([
				{ task_id: bad, webhook_secret: 'of bad' },
				{ task_id: left, webhook_secret: 'of left' },
			]);
			const parameters = { ...CALL, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
			const node = how === 'stops' ? {} : CONTINUE;
			await service.run(parameters, { items: itemsOf({}), node });
			trigger.close();
			const handed = JSON.stringify(trigger.calls);
			for (const id of [bad, left]) expect(handed).toContain(id);
		},
	);

	it('is output with its reason although the hand-over of the other fails', async () => {
		jest.replaceProperty(HAND_OVER, 'patience', 50);
		const trigger = await answeringTrigger(service.running().apiKey, (_call, handed) =>
			handed.length > 0 ? { status: 500, body: 'no' } : STORED,
		);
		const bad = await failedTask();
		service.answer([{ task_id: bad }, { task_id: await service.pendingTask() }]);
		const parameters = { ...CALL, onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const { json } = await service.run(parameters, { items: itemsOf({}), node: CONTINUE });
		trigger.close();
		expect(json).toHaveLength(2);
		expect(JSON.stringify(json)).toContain(`Task ${bad} failed`);
	});
});

it.each<[string, object, () => Promise<object>]>([
	['refused', {}, async () => await Promise.resolve(REFUSED)],
	[
		'failed at once',
		{ options: { idempotencyKey: 'mine' } },
		async () => ({ task_id: await failedTask() }),
	],
])(
	'One that ended before its trigger could store the hand-over is reported in each later Retry, beside one that was %s',
	async (_how, more, bad) => {
		jest.replaceProperty(HAND_OVER, 'patience', 50);
		jest.replaceProperty(HAND_OVER, 'interval', 20);
		let isAway = true;
		const trigger = await answeringTrigger(service.running().apiKey, (_call, handed) =>
			isAway && handed.length > 0 ? { status: 500, body: 'no' } : STORED,
		);
		const id = await service.pendingTask();
		service.answer([await bad(), { task_id: id, webhook_secret: 'of it' }]);
		const url = { onCompletion: 'notifyTrigger', triggerUrl: trigger.url };
		const parameters = { ...PLAYLIST, ...more, ...url };
		const items = itemsOf({});
		const first = await service.run(parameters, { items, executionId: '41' });
		service.running().finish(id);
		isAway = false;
		const retried = async (before: typeof first, executionId: string, node: Partial<INode>) => {
			const data = again(before, parameters, items, { asFirstRun: true, node });
			return await service.run(parameters, { items, data, mode: 'retry', executionId, node });
		};
		const second = await retried(first, '42', {});
		const { json } = await retried(second, '43', CONTINUE);
		trigger.close();
		expect(JSON.stringify(json)).toMatch(/only after its end|not known whether/);
	},
);

it('A loop that brings an item back is not paid for again if one of its recordings has no id', async () => {
	const node = { onError: 'continueErrorOutput' } as const;
	service.answer([{ task_id: await service.completedTask() }, NAMELESS]);
	const first = await service.run(PLAYLIST, { items: itemsOf({}), node });
	const back = first.outputs[1] ?? [];
	expect(back[0]?.json.error).toContain('It is not submitted again');
	const second = await service.run(PLAYLIST, {
		data: again(first, PLAYLIST, back, { node }),
		node,
	});
	expect(second.outputs[1]?.[0]?.json.error).toContain('It is not submitted again');
	expect(service.lines().filter((line) => line.startsWith('POST'))).toHaveLength(1);
});
