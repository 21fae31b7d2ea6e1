/** "Answers" in the contract: a list where an object is documented, as a playlist may be answered. */
// Also covers nodes/Transcriber/item/forEachTask.ts.

import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { POLL as LOOKS } from '../../../nodes/Transcriber/wait/pauseBetweenLooks';
import { STORE } from '../../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../../simulator/testing-client';
import { callTool } from '../../support/agent';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';
import { few, long } from '../../support/long';
import { deliver, sign } from '../../TranscriberTrigger/client';
import { TriggerHost } from '../../TranscriberTrigger/host';

const service = serviceForTests();

const waitOptions = { pollInterval: 0.02 };
const LINK = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://video.example.com/playlist',
	waitOptions,
};
const FILE = { resource: 'transcription', operation: 'transcribeFile', waitOptions };
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: 'https://meet.example.com/abc',
	consentAcknowledged: true,
	waitOptions,
};
const CONTINUE: Partial<INode> = { onError: 'continueRegularOutput' };
const one = () => itemsOf({});

/** Lets the service answer the next submits with these. */
function answerSubmits(...bodies: unknown[]): void {
	for (const body of bodies) {
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 200, body, readBody: true },
		});
	}
}

async function tasks(count: number): Promise<string[]> {
	const ids: string[] = [];
	while (ids.length < count) ids.push(await service.pendingTask());
	return ids;
}

const listOf = (ids: string[]) => ids.map((id) => ({ task_id: id, status: 'pending' }));
const posts = () => service.lines().filter((line) => line.startsWith('POST'));
const finish = (...ids: string[]) => ids.forEach((id) => service.running().finish(id));
const pairs = (items: INodeExecutionData[]) =>
	items.map(({ json, pairedItem }) => [json.task_id ?? json.bot_id, pairedItem]);

few.describe.each<[string, INodeParameters, () => INodeExecutionData[], 'task_id' | 'bot_id']>([
	['transcribeFile', FILE, () => [itemWithFile()], 'task_id'],
	['transcribeUrl', LINK, one, 'task_id'],
	['sendBot', BOT, one, 'bot_id'],
])('%s that is answered with several', (_name, parameters, items, field) => {
	const submit = async (body: unknown) => {
		answerSubmits(body);
		const run = { ...parameters, onCompletion: 'returnTask' };
		return await service.run(run, { items: items() });
	};
	const expected = [
		['a-1', { item: 0 }],
		['b-2', { item: 0 }],
	];

	few.it.each([
		['a list', [{ [field]: 'a-1' }, { [field]: 'b-2' }]],
		['bare ids', ['a-1', 'b-2']],
		['a list under `tasks`', { total: 2, tasks: [{ [field]: 'a-1' }, { [field]: 'b-2' }] }],
		['bare ids under `data`', { data: ['a-1', 'b-2'] }],
		['nested ones', [{ task: { [field]: 'a-1' } }, { data: { [field]: 'b-2' } }]],
	])('outputs each of them, paired: %s', async (_shape, body) => {
		const { items: output, error } = await submit(body);
		expect(error).toBeUndefined();
		expect(pairs(output)).toEqual(expected);
	});

	it('takes one that is in a list as one', async () => {
		const { items: output } = await submit([{ [field]: 'a-1' }]);
		expect(pairs(output)).toEqual(expected.slice(0, 1));
	});

	it('is an error that names the accepted ones where one has no id', async () => {
		const { error } = await submit([{ [field]: 'a-1' }, { message: 'This video is private' }]);
		expect(error?.message).toMatch(/accepted, but without an id/);
		expect(error?.message).toContain('a-1');
		expect(error?.description).toContain('This video is private');
	});
});

it('with On Error = Continue, a video that is accepted without an id is output with its answer', async () => {
	answerSubmits([{ task_id: 'a-1' }, { reference: 'REF-2' }]);
	const parameters = { ...LINK, onCompletion: 'returnTask' };
	const { json } = await service.run(parameters, { items: one(), node: CONTINUE });
	expect(json).toMatchObject([
		{ task_id: 'a-1' },
		{ error: expect.stringMatching(/without an id.*REF-2/) },
	]);
});

describe('a playlist with a video that waits for balance', () => {
	const FAILS = { ...LINK, waitOptions: { ...waitOptions, onInsufficientBalance: 'fail' } };
	const LOW = 'the balance is too low';

	async function submitted(): Promise<string[]> {
		const [a = '', b = ''] = await tasks(2);
		finish(a);
		answerSubmits([{ task_id: a }, { task_id: b, status: 'awaiting_balance' }]);
		return [a, b];
	}

	it('gives an agent the others', async () => {
		const [a, b] = await submitted();
		const tool = { parameters: FAILS, credentials: service.credentials(), calls: [{}] };
		const [answer] = await callTool(tool);
		expect(answer).toContain('"status":"completed"');
		for (const words of [a, b, LOW]) expect(answer).toContain(words);
	});

	it('outputs the others with On Error = Continue', async () => {
		const [a] = await submitted();
		const { items } = await service.run(FAILS, { items: one(), node: CONTINUE });
		expect(items).toMatchObject([
			{ json: { task_id: a, status: 'completed' } },
			{ json: { error: expect.stringContaining(LOW) } },
		]);
	});
});

describe('a playlist with a video that the service refuses', () => {
	const REFUSED = { url: 'https://video.example.com/2', error: 'Private video' };
	const WORDS = 'The service refused one of the recordings: Private video';

	it.each([
		['in `error`', { error: 'Private video' }],
		['in `detail`', { status: 'failed', detail: { error_code: 'x', message: 'Private video' } }],
		['beside a blank id', { task_id: '', error: { message: 'Private video' } }],
	])('is an error with its words and the accepted ones: %s', async (_place, refused) => {
		answerSubmits({ tasks: [{ task_id: 'a-1' }, refused, { task_id: 'c-3' }] });
		const { error } = await service.run(LINK, { items: one() });
		expect(error?.message).toBe(
			`${WORDS} (task a-1, task c-3 were accepted by the service) [item 0]`,
		);
		expect(error?.description).toMatch(/item 0: task a-1, item 0: task c-3.*'On Error'/);
		expect(`${error?.message} ${error?.description}`).not.toContain('without an id');
		expect(posts()).toHaveLength(1);
	});

	it.each(['poll', 'returnTask', 'callUrl'])(
		'with On Error = Continue the others are output: %s',
		async (onCompletion) => {
			const [a = ''] = await tasks(1);
			finish(a);
			answerSubmits([{ task_id: a }, REFUSED]);
			const webhookUrl = 'https://hooks.example.com/a';
			const parameters = { ...LINK, onCompletion, webhookUrl };
			const { items } = await service.run(parameters, { items: one(), node: CONTINUE });
			expect(items).toMatchObject([
				{ json: { task_id: a }, pairedItem: { item: 0 } },
				{ json: { error: expect.stringContaining(WORDS) }, pairedItem: { item: 0 } },
			]);
		},
	);

	it('with On Error = Continue and the webhook, the others are waited for', async () => {
		const [a = ''] = await tasks(1);
		answerSubmits([{ task_id: a, webhook_secret: 'hush' }, REFUSED]);
		const parameters = { ...LINK, onCompletion: 'awaitWebhook' };
		const workflow = workflowWith(parameters, service.credentials(), CONTINUE);
		const sleeping = await workflow.start(one());
		expect({ error: sleeping.error, isSuspended: sleeping.isSuspended }).toEqual({
			isSuspended: true,
		});
		finish(a);
		const raw = JSON.stringify({ task_id: a });
		const { woken } = await workflow.deliver(sleeping, raw, sign(raw, 'hush'));
		expect(woken?.next).toMatchObject([
			{ task_id: a, status: 'completed' },
			{ error: expect.stringContaining(WORDS) },
		]);
	});

	it.each([
		['one that is in progress', { error: 'Slow', status: 'pending' }],
		['one with words, but no refusal', { message: 'Private video' }],
	])('does not count %s', async (_what, other) => {
		answerSubmits([{ task_id: 'a-1' }, other]);
		const { error } = await service.run(LINK, { items: one() });
		expect(error?.message).toMatch(/accepted, but without an id/);
	});

	it('says of a playlist without any other that it is refused', async () => {
		answerSubmits({ tasks: [REFUSED, REFUSED] });
		const { error } = await service.run(LINK, { items: one() });
		expect(error?.message).toBe(`${WORDS} [item 0]`);
	});

	it('does not count an answer about one recording', async () => {
		answerSubmits({ error: 'Private video' });
		const { error } = await service.run(LINK, { items: one() });
		expect(error?.message).toMatch(
			/^The service answered .* without an id, and says: Private video/,
		);
	});
});

describe('with "Wait for the Transcript (Polling)"', () => {
	const POLL = { ...LINK, onCompletion: 'poll' };
	beforeEach(() => void jest.replaceProperty(LOOKS, 'perTask', 50));

	it('waits for all of them, and outputs each, paired with its input item', async () => {
		const ids = await tasks(4);
		answerSubmits(listOf(ids.slice(0, 3)), listOf(ids.slice(3)));
		const run = service.run(POLL, { items: itemsOf({ n: 0 }, { n: 1 }) });
		await until(() => posts().length === 2);
		finish(...ids);
		const { items, error } = await run;
		expect(error).toBeUndefined();
		expect(items.map(({ json }) => json.status)).toEqual(Array(4).fill('completed'));
		expect(pairs(items).sort()).toEqual(
			ids.map((id, index) => [id, { item: index < 3 ? 0 : 1 }]).sort(),
		);
	});

	it('names those that are not in the message where one of them fails', async () => {
		const [a = '', b = ''] = await tasks(2);
		answerSubmits(listOf([a, b]));
		const run = service.run(POLL, { items: one() });
		await until(() => posts().length === 1);
		service.running().finish(a, { status: 'failed', error: 'Noise' });
		const { error } = await run;
		expect(error?.message).toContain(`Task ${a} failed: Noise (task ${b} was accepted`);
	});

	it('with On Error = Continue one that fails does not hide the transcripts of the others', async () => {
		const [a = '', b = ''] = await tasks(2);
		answerSubmits(listOf([a, b]));
		const run = service.run(POLL, { items: one(), node: CONTINUE });
		await until(() => posts().length === 1);
		service.running().finish(a, { status: 'failed', error: 'Noise' });
		finish(b);
		const { items } = await run;
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 0 }]);
		expect(items[0]?.json.error).toContain(`Task ${a} failed: Noise`);
		expect(items[1]?.json).toMatchObject({ task_id: b, status: 'completed' });
	});

	it("n8n's Retry takes all of them up", async () => {
		const ids = await tasks(2);
		answerSubmits(listOf(ids));
		const short = { ...waitOptions, timeout: 0.04 };
		const parameters = { ...POLL, waitOptions: short };
		const workflow = workflowWith(parameters, service.credentials());
		const failed = await workflow.start(one());
		for (const id of ids) expect(failed.error).toContain(id);
		finish(...ids);
		const { next, error } = await workflow.retry(failed);
		expect(error).toBeUndefined();
		expect(next).toMatchObject(ids.map((id) => ({ task_id: id, status: 'completed' })));
		expect(posts()).toHaveLength(1);
	});
});

describe('with "Wait for the Transcript (Webhook)"', () => {
	const AWAIT = { ...LINK, onCompletion: 'awaitWebhook' };
	const secretOf = (id: string) => `secret of ${id}`;
	const withSecrets = (ids: string[]) =>
		ids.map((id) => ({ task_id: id, status: 'pending', webhook_secret: secretOf(id) }));

	async function asleep(ids: string[]) {
		answerSubmits(withSecrets(ids));
		const workflow = workflowWith(AWAIT, service.credentials());
		const sleeping = await workflow.start(one());
		expect({ error: sleeping.error, isSuspended: sleeping.isSuspended }).toEqual({
			isSuspended: true,
		});
		const report = async (id: string, secret = secretOf(id)) => {
			const raw = JSON.stringify({ task_id: id });
			return await workflow.deliver(sleeping, raw, sign(raw, secret));
		};
		return { workflow, sleeping, report };
	}

	it('sleeps until the delivery of the last one, each checked with its own secret', async () => {
		const [a = '', b = ''] = await tasks(2);
		const { report, sleeping } = await asleep([a, b]);
		expect(sleeping.saved).not.toContain(secretOf(a));
		finish(a);
		expect(await report(a)).toEqual({ status: 200 });
		finish(b);
		expect(await report(b, secretOf(a))).toEqual({ status: 401 });
		const { woken } = await report(b);
		expect(woken?.error).toBeUndefined();
		expect(woken?.next).toMatchObject([
			{ task_id: a, status: 'completed' },
			{ task_id: b, status: 'completed' },
		]);
		expect(posts()).toHaveLength(1);
	});

	it('names those that have not ended when the time is up', async () => {
		const [a = '', b = ''] = await tasks(2);
		const { workflow, sleeping } = await asleep([a, b]);
		finish(a);
		const { error } = await workflow.timeIsUp(sleeping);
		expect(error).toContain(`Task ${b} has not ended within 180 minutes (status: pending)`);
	});
});

describe('with "Start Another Workflow When Ready"', () => {
	let host: TriggerHost;
	beforeEach(async () => {
		jest.replaceProperty(STORE, 'safeAfterMs', 100);
		const parameters = { options: { includeResult: false } };
		host = await new TriggerHost({ parameters, credentials: service.credentials() }).open();
	});
	afterEach(async () => await host.close());

	it('hands the secret of each of them over', async () => {
		const [a = '', b = ''] = await tasks(2);
		answerSubmits([
			{ task_id: a, webhook_secret: 'secret of a' },
			{ task_id: b, webhook_secret: 'secret of b' },
		]);
		const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const { json, error } = await service.run(notify, { items: one() });
		expect(error).toBeUndefined();
		expect(json).toEqual([{ task_id: a }, { task_id: b }]);
		for (const [id, secret] of [
			[a, 'secret of a'],
			[b, 'secret of b'],
		]) {
			const answer = await deliver(host.url, { task_id: id, status: 'completed' }, secret ?? '');
			expect(answer.status).toBe(200);
		}
		expect(host.executions).toHaveLength(2);
	});

	few.it.each([{ error: 'Private video' }, { status: 'pending' }])(
		'hands over the others before it reports %j',
		async (odd) => {
			const [a = ''] = await tasks(1);
			answerSubmits([{ task_id: a, webhook_secret: 'secret of a' }, odd]);
			const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
			const { error } = await service.run(notify, { items: one() });
			expect(error?.message).toContain(`task ${a} was accepted`);
			const answer = await deliver(host.url, { task_id: a, status: 'completed' }, 'secret of a');
			expect(answer.status).toBe(200);
			expect(host.executions).toHaveLength(1);
		},
	);

	long.it('hands over each, also if the service gives one a blank secret', async () => {
		const [a = '', b = ''] = await tasks(2);
		answerSubmits([
			{ task_id: a, webhook_secret: ' ' },
			{ task_id: b, webhook_secret: 'secret of b' },
		]);
		const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const { json, error } = await service.run(notify, { items: one() });
		expect(error).toBeUndefined();
		expect(json).toEqual([{ task_id: a }, { task_id: b }]);
		const answer = await deliver(host.url, { task_id: b, status: 'completed' }, 'secret of b');
		expect(answer.status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});
});

describe('with "Call a URL When Ready"', () => {
	it('outputs each with its secret, which the receiver needs', async () => {
		const answer = [
			{ task_id: 'a', webhook_secret: 'one' },
			{ task_id: 'b', webhook_secret: 'two' },
		];
		answerSubmits(answer);
		const webhookUrl = 'https://hooks.example.com/a';
		const { json } = await service.run({ ...LINK, onCompletion: 'callUrl', webhookUrl });
		expect(json).toEqual(answer);
	});
});

it('what version 1.0.0 has saved of a submission, one answer, is taken up', async () => {
	const [id = ''] = await tasks(1);
	const short = { ...waitOptions, timeout: 0.04 };
	const workflow = workflowWith(
		{ ...LINK, onCompletion: 'poll', waitOptions: short },
		service.credentials(),
	);
	answerSubmits({ task_id: id, status: 'pending' });
	const failed = await workflow.start(one());
	const context = failed.data.executionData?.contextData['node:Transcriber'];
	if (!context) throw new Error('Nothing was remembered');
	const answer = { task_id: id, status: 'pending' };
	const old = { state: 'accepted', at: Date.now(), answer, deliversTo: '' };
	Object.assign(context, { accepted: { '0:0': old } });
	finish(id);
	const { next, error } = await workflow.retry({ saved: workflow.save(failed.data) });
	expect(error).toBeUndefined();
	expect(next).toMatchObject([{ task_id: id, status: 'completed' }]);
	expect(posts()).toHaveLength(1);
});
