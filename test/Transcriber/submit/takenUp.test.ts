/**
 * Continuing what was accepted earlier: the memory identifies the task; its state is requested
 * again.
 */
// Also covers submit.ts.

import { forgetEverything } from '../../support/ownMemory';

import type { INode, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { until } from '../../simulator/testing-client';
import { shortenRetries } from '../../support/scale';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { startingAt } from '../../support/n8n';
import { SOURCE, workflowWith } from '../../support/suspended';
import { few } from '../../support/long';

const service = serviceForTests();

const LINK = { resource: 'transcription', operation: 'transcribeUrl', url: '={{ $json.url }}' };
const FILE = { resource: 'transcription', operation: 'transcribeFile' };
const links = (...names: string[]) =>
	itemsOf(...names.map((name) => ({ url: `https://files.example.com/${name}.mp3` })));
const waitOptions = { pollInterval: 0.05 };

const finishAll = () => {
	for (const { id } of service.running().tasks()) service.running().finish(id);
};

it('Two Retries of one execution at the very same moment send one bot', async () => {
	const bot = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: 'https://meet.example.com/a',
		consentAcknowledged: true,
	};
	const workflow = workflowWith(bot, service.credentials());
	const saved = workflow.save(startingAt(SOURCE, itemsOf({}), 'Trigger'));
	await Promise.all([workflow.retry({ saved }), workflow.retry({ saved })]);
	expect(service.running().bots()).toHaveLength(1);
});

describe('Wait for Webhook does not sleep', () => {
	const AWAIT = { ...LINK, onCompletion: 'awaitWebhook', waitOptions };

	it('in a Retry, for a task that the service reports to the execution that failed', async () => {
		service.running().fault({
			match: { path: '/transcribe-url$' },
			skip: 1,
			times: 1,
			action: { kind: 'respond', status: 422 },
		});
		const workflow = workflowWith(AWAIT, service.credentials());
		const failed = await workflow.start(links('a', 'b'));
		expect(failed.error).toBeDefined();
		const retrying = workflow.retry(failed);
		await until(() => service.running().tasks().length === 2);
		finishAll();
		const retried = await retrying;
		expect({ isSuspended: retried.isSuspended, error: retried.error }).toEqual({
			isSuspended: false,
		});
		expect(retried.next?.map(({ status }) => status)).toEqual(['completed', 'completed']);
		expect(service.running().tasks()).toHaveLength(2);
	});

	it('for a file whose Idempotency Key made its task in an execution before', async () => {
		const options = { idempotencyKey: 'file-17' };
		const before = workflowWith(
			{ ...FILE, options, onCompletion: 'returnTask' },
			service.credentials(),
		);
		await before.start([itemWithFile('sound')]);
		finishAll();
		const workflow = workflowWith(
			{ ...FILE, options, waitOptions, onCompletion: 'awaitWebhook' },
			service.credentials(),
		);
		const { isSuspended, next } = await workflow.start([itemWithFile('sound')]);
		expect(isSuspended).toBe(false);
		expect(next).toMatchObject([{ status: 'completed' }]);
	});

	it('for a task that its own submit already calls completed', async () => {
		const id = await service.completedTask();
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 200, body: { task_id: id, status: 'completed' } },
		});
		const { isSuspended, next } = await workflowWith(AWAIT, service.credentials()).start(
			links('a'),
		);
		expect(isSuspended).toBe(false);
		expect(next).toMatchObject([{ task_id: id, status: 'completed' }]);
		const looks = service.lines().filter((line) => line === `GET /api/v1/tasks/${id}`);
		expect(looks).toHaveLength(1);
	});
});

it('Wait for Webhook sleeps in a Retry, for a file that was refused before', async () => {
	service.running().fault({
		match: { path: '/transcribe$' },
		times: 1,
		action: { kind: 'respond', status: 422 },
	});
	const parameters = { ...FILE, onCompletion: 'awaitWebhook', waitOptions };
	const workflow = workflowWith(parameters, service.credentials());
	const failed = await workflow.start([itemWithFile('sound')]);
	expect(failed.error).toBeDefined();
	const { error, isSuspended } = await workflow.retry(failed);
	expect({ error, isSuspended }).toEqual({ isSuspended: true });
});

it.each(['poll', 'awaitWebhook'])(
	'%s: after a top-up, a Retry fetches the task whose balance was too low',
	async (onCompletion) => {
		service.running().configure({ balance: 0 });
		const options = { ...waitOptions, onInsufficientBalance: 'fail' };
		const parameters = { ...LINK, onCompletion, waitOptions: options };
		const workflow = workflowWith(parameters, service.credentials());
		const failed = await workflow.start(links('a'));
		expect(failed.error).toMatch(/balance is too low/);
		service.running().topUp(500);
		const id = service.running().tasks()[0]?.id ?? '';
		await until(() => !service.running().task(id).awaitingBalance);
		service.running().finish(id);
		const retried = await workflow.retry(failed);
		expect(retried.error).toBeUndefined();
		expect(retried.next).toMatchObject([{ task_id: id, status: 'completed' }]);
	},
);

it('a file that came with the trigger is paid once by an execution of n8n 2 that a kill ended, and its Retry', async () => {
	const parameters = { ...FILE, onCompletion: 'returnTask' };
	const workflow = workflowWith(parameters, service.credentials());
	const { atStart } = await workflow.start([itemWithFile('sound')]);
	forgetEverything();
	const retried = await workflow.retry({ saved: atStart });
	expect(retried.error).toBeUndefined();
	const keys = service.running().requests.map(({ headers }) => headers['idempotency-key']);
	expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
	expect(service.running().tasks()).toHaveLength(1);
});

it('Wait for Webhook does not sleep in the Retry of an execution of n8n 2 that a kill ended: the service reports to the other', async () => {
	const parameters = { ...FILE, onCompletion: 'awaitWebhook', waitOptions };
	const workflow = workflowWith(parameters, service.credentials());
	const { atStart } = await workflow.start([itemWithFile('sound')]);
	finishAll();
	forgetEverything();
	const { isSuspended, next } = await workflow.retry({ saved: atStart });
	expect(isSuspended).toBe(false);
	expect(next).toMatchObject([{ status: 'completed' }]);
	expect(service.running().tasks()).toHaveLength(1);
});

describe('an execution that failed before the node', () => {
	type Workflow = ReturnType<typeof workflowWith>;
	type Saved = ReturnType<typeof startingAt>;

	/** When the execution began, in ms since 1970. */
	let began = 1_790_000_000_000;
	beforeEach(() => void (began += 60_000));

	/** As n8n saves it: the trigger has run, the node after it has failed. */
	const failedBefore = (items: INodeExecutionData[]): Saved => {
		const data = startingAt(SOURCE, items, 'Trigger');
		const { executionData } = data;
		if (executionData) {
			executionData.runtimeData = { version: 1, establishedAt: began, source: 'webhook' };
		}
		return data;
	};
	/** n8n 1 gives an execution no token. */
	const asInN8n1 = (data: Saved): Saved => ({ ...data, resumeToken: undefined });
	const retry = async (workflow: Workflow, data: Saved) =>
		await workflow.retry({ saved: workflow.save(data) });
	const submitted = () => {
		const { tasks, bots } = service.running();
		return tasks().length + bots().length;
	};
	const BOT = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: 'https://meet.example.com/a',
		consentAcknowledged: true,
	};
	const SUBMISSIONS: Array<[string, INodeParameters, INodeExecutionData[]]> = [
		['a link', LINK, links('a')],
		['a bot', BOT, itemsOf({})],
		['a file', FILE, [itemWithFile('sound')]],
	];
	const start = (parameters: INodeParameters, node: Partial<INode> = {}) =>
		workflowWith({ ...parameters, onCompletion: 'returnTask' }, service.credentials(), node);

	few.describe.each<[string, (data: Saved) => Saved]>([
		['n8n 2', (data) => data],
		['n8n 1', asInN8n1],
	])('in %s', (_version, as) => {
		it.each(SUBMISSIONS)('submits %s once in two Retries', async (_name, parameters, items) => {
			const workflow = start(parameters);
			const data = as(failedBefore(items));
			const one = await retry(workflow, data);
			const two = await retry(workflow, data);
			expect([one.error, two.error]).toEqual([undefined, undefined]);
			expect([one.next?.length, two.next?.length]).toEqual([1, 1]);
			expect(submitted()).toBe(1);
		});

		it('submits in each of its nodes', async () => {
			const data = as(failedBefore(links('a')));
			await retry(start(LINK, { id: 'one' }), data);
			await retry(start(LINK, { id: 'other' }), data);
			expect(submitted()).toBe(2);
		});

		it('sends a file with the same key in two Retries, also if n8n was restarted between them', async () => {
			const workflow = start(FILE);
			const data = as(failedBefore([itemWithFile('sound')]));
			await retry(workflow, data);
			forgetEverything();
			await retry(workflow, data);
			const keys = service.running().requests.map(({ headers }) => headers['idempotency-key']);
			expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
			expect(submitted()).toBe(1);
		});

		it.each(SUBMISSIONS.slice(0, 2))(
			'sleeps in a Retry until %s is ready',
			async (_name, parameters, items) => {
				const awaiting = { ...parameters, onCompletion: 'awaitWebhook' };
				const workflow = workflowWith(awaiting, service.credentials());
				const { isSuspended, error } = await retry(workflow, as(failedBefore(items)));
				expect({ isSuspended, error }).toEqual({ isSuspended: true });
			},
		);

		it('polls in a Retry for a file, which an execution that crashed may have sent with its own address', async () => {
			const workflow = workflowWith(
				{ ...FILE, onCompletion: 'awaitWebhook', waitOptions },
				service.credentials(),
			);
			const retrying = retry(workflow, as(failedBefore([itemWithFile('sound')])));
			await until(() => service.running().tasks().length === 1);
			finishAll();
			const { isSuspended, next } = await retrying;
			expect(isSuspended).toBe(false);
			expect(next).toMatchObject([{ status: 'completed' }]);
		});

		it('reports an Idempotency Key of the user that was used before', async () => {
			const options = { idempotencyKey: 'file-17' };
			await start({ ...FILE, options }).start([itemWithFile('sound')]);
			finishAll();
			const webhookUrl = 'https://hooks.example.com/done';
			const workflow = workflowWith(
				{ ...FILE, options, onCompletion: 'callUrl', webhookUrl },
				service.credentials(),
			);
			const { error } = await retry(workflow, as(failedBefore([itemWithFile('sound')])));
			expect(error).toContain("'Idempotency Key' was used before");
		});

		it('does not pass the task of one Retry off as that of another that asks for something else', async () => {
			const data = as(failedBefore(links('a')));
			await retry(start(LINK), data);
			const other = await retry(start({ ...LINK, url: 'https://files.example.com/b.mp3' }), data);
			expect(other.error).toMatch(/^This item was changed after task /);
			expect(other.next).toBeUndefined();
			expect(submitted()).toBe(1);
		});

		it('does not refuse what its first Retry could not submit', async () => {
			service.running().fault({
				match: { method: 'POST' },
				action: { kind: 'respond', status: 422 },
				times: 1,
			});
			const workflow = start(LINK);
			const data = as(failedBefore(links('a')));
			expect((await retry(workflow, data)).error).toBeDefined();
			expect((await retry(workflow, data)).next).toHaveLength(1);
			expect(submitted()).toBe(1);
		});
	});

	const meeting = (days: number) => {
		const dateTime = new Date(Date.now() + days * 24 * 3_600_000).toISOString();
		return itemsOf({ start: { dateTime } });
	};
	it.each<[string, INodeParameters, INodeExecutionData[], INodeExecutionData[]]>([
		['a link', { ...LINK, url: '={{ $input.item.json.url }}' }, links('a'), links('c')],
		['a bot', { ...BOT, startAt: '={{ $json.start.dateTime }}' }, meeting(1), meeting(4)],
	])(
		'does not pass %s of one Retry off as that of the next, whose item is another one',
		async (_, parameters, one, other) => {
			const workflow = workflowWith(
				{ ...parameters, onCompletion: 'returnTask' },
				service.credentials(),
			);
			const first = failedBefore(one);
			expect((await retry(workflow, first)).error).toBeUndefined();
			const second = { ...failedBefore(other), resumeToken: first.resumeToken };
			const { error, next } = await retry(workflow, second);
			expect(error).toMatch(/^This item was changed after /);
			expect(next).toBeUndefined();
		},
	);

	it('in n8n 2 is never taken for another that is the same in everything that can be seen', async () => {
		const workflow = start(LINK);
		for (let execution = 0; execution < 2; execution++) {
			await retry(workflow, failedBefore(links('a')));
		}
		expect(submitted()).toBe(2);
	});

	it.each<[string, (data: Saved) => void]>([
		['of another millisecond', ({ executionData }) => later(executionData?.runtimeData)],
		['whose trigger ran in another millisecond', (data) => ranLater(data)],
		['with other data', ({ resultData }) => change(resultData.runData)],
	])('in n8n 1 is not taken for one %s', async (_what, differ) => {
		const workflow = start({ ...LINK, url: 'https://files.example.com/a.mp3' });
		await retry(workflow, asInN8n1(failedBefore(links('a'))));
		const other = asInN8n1(failedBefore(links('a')));
		differ(other);
		await retry(workflow, other);
		expect(submitted()).toBe(2);
	});

	const later = (context?: { establishedAt: number }) => {
		if (context) context.establishedAt += 1;
	};
	const ranLater = ({ resultData }: Saved) => {
		const [run] = resultData.runData['Trigger'] ?? [];
		if (run) run.startTime += 1;
	};
	const change = (runData: Saved['resultData']['runData']) => {
		const [item] = runData['Trigger']?.[0]?.data?.['main']?.[0] ?? [];
		if (item) item.json = { ...item.json, other: true };
	};
});

it('a key that was sent for one file is not sent for another', async () => {
	shortenRetries(500);
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	service.running().fault({
		match: { method: 'POST' },
		action: { kind: 'cut', when: 'afterProcessing' },
		times: 1,
	});
	const parameters = { ...FILE, onCompletion: 'returnTask' };
	const item = itemWithFile('recording 1', { property: 'one' });
	const two = itemWithFile('recording 2', { property: 'two', fileName: 'two.mp3' });
	const both = { ...item, binary: { ...item.binary, ...two.binary } };
	// The context of the item evaluates it, so a Retry finds what the user has changed.
	let property = 'one';
	const chosen = () => ({ ...parameters, binaryPropertyName: property });
	const failed = await workflowWith(chosen(), service.credentials()).start([both]);
	expect(failed.error).toBeDefined();
	property = 'two';
	const saved = failed.saved.replaceAll('"one"', '"two"').replace('"two",', '"one",');
	expect(saved).not.toBe(failed.saved);
	await workflowWith(chosen(), service.credentials()).retry({ saved });
	const keys = service
		.running()
		.requests.filter(({ method }) => method === 'POST')
		.map(({ headers }) => headers['idempotency-key']);
	expect(new Set(keys).size).toBe(keys.length);
});

it('a plain id counts where the service writes a bot_id of null beside it', async () => {
	service.running().fault({
		match: { path: '/transcribe-url$' },
		action: { kind: 'respond', status: 200, body: { id: 't-1', bot_id: null, status: 'pending' } },
	});
	const { json, error } = await service.run(
		{ ...LINK, onCompletion: 'returnTask' },
		{ items: links('a') },
	);
	expect(error).toBeUndefined();
	expect(json).toEqual([expect.objectContaining({ id: 't-1' })]);
});
