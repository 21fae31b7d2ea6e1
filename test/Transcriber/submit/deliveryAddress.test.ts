/**
 * To which address the service reports what was submitted, if it may be the task of an earlier
 * request: an execution sleeps, or a node succeeds, only if a webhook will come.
 */
// Also covers submit.ts, once/formerAddress.ts.

import { NodeHelpers, sleep, type INodeParameters, type IRunExecutionData } from 'n8n-workflow';

import { Transcriber } from '../../../nodes/Transcriber/Transcriber.node';
import { LIMITS } from '../../../nodes/shared/api/rateLimits';
import { queueFor } from '../../../nodes/shared/api/waitForTurn';
import { RETRY } from '../../../nodes/shared/api/delayBeforeRetry';
import { YOUNG } from '../../../nodes/Transcriber/submit/suspension/lookBeforeSuspending';
import { HAND_OVER } from '../../../nodes/Transcriber/submit/trigger/confirmedByTrigger';
import type { FaultRule } from '../../simulator/index';
import { until } from '../../simulator/testing-client';
import { type Outcome } from '../../support/engine';
import { FILE, LINK } from '../../support/parameters';
import { shortenRetries } from '../../support/scale';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';
import { few, long } from '../../support/long';
import { deliver, sign } from '../../TranscriberTrigger/client';
import { TriggerHost } from '../../TranscriberTrigger/host';

const service = serviceForTests();

/** How n8n saves and loads executions. */
const flatted = jest.requireActual<{
	parse: (text: string) => IRunExecutionData;
	stringify: (data: IRunExecutionData) => string;
}>('flatted');

const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
const AWAIT = { onCompletion: 'awaitWebhook', waitOptions: { pollInterval: 0.05 } };
const CALL = { onCompletion: 'callUrl', webhookUrl: 'https://hooks.example.com/a' };
const LOST: FaultRule['action'] = { kind: 'cut', when: 'afterProcessing' };

const files = (...names: string[]) =>
	names.map((name) => itemWithFile(name, { fileName: `${name}.mp3` }));

function fault(action: FaultRule['action'], more: Partial<FaultRule> = {}): void {
	service.running().fault({ match: { method: 'POST' }, action, ...more });
}

const tasks = () => service.running().tasks();

function addressOfLastUpload(): unknown {
	const uploads = service.running().requests.filter(({ method }) => method === 'POST');
	return (uploads.at(-1)?.body as { webhook_url?: string } | undefined)?.webhook_url;
}

const submits = () => service.lines().filter((line) => line.startsWith('POST ')).length;

/** n8n's Retry with the currently saved workflow, which has these parameters. */
async function retry(failed: Outcome, changed: INodeParameters, node = {}): Promise<Outcome> {
	const data = flatted.parse(flatted.stringify(failed.data));
	const { resultData } = data;
	delete resultData.error;
	resultData.runData[resultData.lastNodeExecuted ?? '']?.pop();
	const { description } = new Transcriber();
	const { properties } = description;
	const parameters =
		NodeHelpers.getNodeParameters(properties, changed, true, false, null, description) ?? {};
	const [entry] = data.executionData?.nodeExecutionStack ?? [];
	if (entry) entry.node = { ...entry.node, ...node, parameters };
	return await service.run(changed, { data, executionId: '42' });
}

describe('Wait for Webhook still suspends if Retry On Fail repeats', () => {
	it('an upload whose fate is not known', async () => {
		fault({ kind: 'respond', status: 500 });
		const workflow = workflowWith({ ...FILE, ...AWAIT }, service.credentials(), RETRY_ON_FAIL);
		const { isSuspended, error } = await workflow.start(files('a'));
		expect({ isSuspended, error }).toEqual({ isSuspended: true });
		expect(submits()).toBe(2);
	});

	it('an upload that the service has accepted, and then wakes on its delivery', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		fault(LOST);
		const workflow = workflowWith({ ...FILE, ...AWAIT }, service.credentials(), RETRY_ON_FAIL);
		const asleep = await workflow.start(files('a'));
		expect(asleep.isSuspended).toBe(true);
		expect(tasks()).toHaveLength(1);
		const [{ id, webhookSecret = '' } = { id: '' }] = tasks();
		service.running().finish(id);
		const raw = JSON.stringify({ task_id: id, status: 'completed' });
		const { woken } = await workflow.deliver(asleep, raw, sign(raw, webhookSecret));
		expect(woken?.next).toMatchObject([{ task_id: id, status: 'completed' }]);
	});

	long.it('one of three uploads', async () => {
		fault({ kind: 'respond', status: 500 }, { skip: 2, times: 1 });
		const workflow = workflowWith({ ...FILE, ...AWAIT }, service.credentials(), RETRY_ON_FAIL);
		const { isSuspended } = await workflow.start(files('a', 'b', 'c'));
		expect(isSuspended).toBe(true);
		expect(tasks()).toHaveLength(3);
	});
});

it('Wait for Webhook polls in a Retry, if the failed execution may have given its own address', async () => {
	jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
	fault(LOST);
	const workflow = workflowWith({ ...FILE, ...AWAIT }, service.credentials());
	const failed = await workflow.start(files('a'));
	expect(failed.error).toBeDefined();
	const retrying = workflow.retry(failed);
	await until(() => service.lines().some((line) => line.startsWith('GET ')));
	for (const { id } of tasks()) service.running().finish(id);
	const { isSuspended, next } = await retrying;
	expect(isSuspended).toBe(false);
	expect(next).toMatchObject([{ status: 'completed' }]);
	expect(tasks()).toHaveLength(1);
});

describe('a service that takes an Idempotency-Key again only with the same request', () => {
	beforeEach(() => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		service.running().configure({ shapes: { otherRequestWithKeyStatus: 422 } });
	});

	const OWN = { options: { idempotencyKey: 'file-17' } };
	const WEBHOOK_FIELD = { customFields: '{ "webhook_url": "https://hooks.example.com/c" }' };

	it.each<[string, INodeParameters, INodeParameters]>([
		['Wait for Webhook', AWAIT, AWAIT],
		['Wait for Webhook, with a key of the user', { ...AWAIT, ...OWN }, { ...AWAIT, ...OWN }],
		['Call a URL', CALL, CALL],
		[
			'a webhook_url in Custom Fields',
			{ onCompletion: 'returnTask', options: WEBHOOK_FIELD },
			{ onCompletion: 'returnTask', options: WEBHOOK_FIELD },
		],
	])(
		'returns the task in a Retry of a file whose answer was lost: %s',
		async (_how, before, now) => {
			fault(LOST);
			const more = { items: files('a'), executionId: '41' };
			const failed = await service.run({ ...FILE, ...before }, more);
			expect(failed.error).toBeDefined();
			const [{ id } = { id: '' }] = tasks();
			service.running().finish(id);
			const { error, json } = await retry(failed, { ...FILE, ...now });
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ task_id: id }]);
			expect(tasks()).toHaveLength(1);
		},
	);

	it.each([400, 409, 422])(
		'is not said to go on with the file if it refuses the key with %s: in a Retry, and in a new execution',
		async (status) => {
			service.running().configure({ dialect: `otherRequest${status}` as 'otherRequest400' });
			fault(LOST, { times: 1 });
			const parameters = { ...FILE, ...CALL, ...OWN };
			const failed = await service.run(parameters, { items: files('a'), executionId: '41' });
			const changed = { ...parameters, webhookUrl: 'https://hooks.example.com/b' };
			const more = { items: files('a'), executionId: '43' };
			for (const { error } of [await retry(failed, changed), await service.run(changed, more)]) {
				expect(error?.description).toContain("'Idempotency Key'");
				expect(error?.description).toContain('Get Many and Return All');
				expect(error?.description).not.toMatch(/not paid twice|costs nothing more|, or none/);
			}
			expect(tasks()).toHaveLength(1);
		},
	);

	it('may have accepted the file, says the error, if it refuses the key after n8n was killed', async () => {
		const parameters = { ...FILE, ...AWAIT };
		const more = { items: files('a'), resumeToken: `token ${Math.random()}` };
		await service.run(parameters, { ...more, executionId: '41', mode: 'trigger' });
		const retried = { ...more, executionId: '42', mode: 'retry' } as const;
		const { error } = await service.run(parameters, retried);
		expect(error?.description).toMatch(/may have accepted it.*Get Many and Return All/);
		expect(tasks()).toHaveLength(1);
	});

	const CODED = { error_code: 'invalid_webhook_url', message: 'webhook_url must be public' };
	const IN_WORDS = [{ loc: ['body', 'webhook_url'], msg: 'host cannot be resolved' }];

	describe.each([
		['with a code', { status: 400, body: { detail: CODED } }],
		['in words', { status: 422, body: { detail: IN_WORDS } }],
	])('does not get an address again that it has refused %s', (_what, refusal) => {
		const refused = async (parameters: INodeParameters) => {
			jest.replaceProperty(RETRY, 'patienceWhenBroken', 5_000);
			fault({ kind: 'respond', status: 502 }, { times: 1 });
			fault({ kind: 'respond', ...refusal }, { times: 1 });
			const more = { items: files('a'), executionId: '41' };
			const failed = await service.run({ ...FILE, ...parameters }, more);
			expect(failed.error?.message).toBeDefined();
			expect(failed.error?.description).not.toMatch(/Look in your account/);
			return failed;
		};

		it.each<[string, INodeParameters, RegExp | undefined]>([
			['Wait for Webhook', AWAIT, /webhook-waiting.*42/],
			['Return the ID', { onCompletion: 'returnTask' }, undefined],
		])('in a Retry with %s', async (_how, now, address) => {
			const retrying = retry(await refused(AWAIT), { ...FILE, ...now });
			await until(() => tasks().length === 1);
			for (const { id } of tasks()) service.running().finish(id);
			expect((await retrying).error).toBeUndefined();
			if (address) expect(addressOfLastUpload()).toMatch(address);
			else expect(addressOfLastUpload()).toBeUndefined();
		});
	});

	it('reports to the address that the user has entered after it had refused another one', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 5_000);
		fault({ kind: 'respond', status: 502 }, { times: 1 });
		fault({ kind: 'respond', status: 400, body: { detail: CODED } }, { times: 1 });
		const bad = { ...FILE, ...CALL };
		const failed = await service.run(bad, { items: files('a'), executionId: '41' });
		const good = 'https://hooks.example.com/good';
		const { error, json } = await retry(failed, { ...bad, webhookUrl: good });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: tasks()[0]?.id }]);
		expect(addressOfLastUpload()).toBe(good);
	});

	it('gets what Custom Fields have in a Retry, also if that changes by itself', async () => {
		fault({ kind: 'respond', status: 502 }, { times: 1 });
		const field = '={{ JSON.stringify({ webhook_url: $execution.resumeUrl }) }}';
		const parameters = { ...FILE, options: { customFields: field } };
		const failed = await service.run(parameters, { items: files('a'), executionId: '41' });
		expect(failed.error).toBeDefined();
		expect((await retry(failed, parameters)).error).toBeUndefined();
		expect(addressOfLastUpload()).toMatch(/webhook-waiting.*42/);
	});

	it('gets no address of Wait for Webhook in a Retry with Return the ID', async () => {
		fault({ kind: 'respond', status: 502 }, { times: 1 });
		const more = { items: files('a'), executionId: '41' };
		const failed = await service.run({ ...FILE, ...AWAIT }, more);
		expect((await retry(failed, { ...FILE, onCompletion: 'returnTask' })).error).toBeUndefined();
		expect(addressOfLastUpload()).toBeUndefined();
	});

	it('gets no address of Call a URL in a Retry with Wait for Webhook', async () => {
		fault({ kind: 'respond', status: 502 }, { times: 1 });
		const more = { items: files('a'), executionId: '41' };
		const failed = await service.run({ ...FILE, ...CALL }, more);
		const retrying = retry(failed, { ...FILE, ...AWAIT });
		await until(() => tasks().length === 1);
		for (const { id } of tasks()) service.running().finish(id);
		expect((await retrying).error).toBeUndefined();
		expect(addressOfLastUpload()).toMatch(/webhook-waiting.*42/);
	});

	it('gets no address that the user has taken out since', async () => {
		fault({ kind: 'cut', when: 'beforeBody' }, { times: 1 });
		const failed = await service.run(
			{ ...FILE, ...CALL },
			{ items: files('a'), executionId: '41' },
		);
		const { json } = await retry(failed, { ...FILE, onCompletion: 'returnTask' });
		expect(json).toHaveLength(1);
		expect(service.running().requests.at(-1)?.body).not.toHaveProperty('webhook_url');
	});
});

describe('a file whose answer was lost, then a Retry with Call a URL', () => {
	const lost = async (parameters: INodeParameters) => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		fault(LOST);
		const failed = await service.run(parameters, { items: files('a'), executionId: '41' });
		expect(failed.error).toBeDefined();
		return failed;
	};

	few.it.each([
		['no address', FILE],
		['another address', { ...FILE, ...CALL, webhookUrl: 'https://hooks.example.com/b' }],
	])('is an error that names its task if it was sent with %s', async (_what, before) => {
		const failed = await lost(before);
		const { error, json } = await retry(failed, { ...FILE, ...CALL }, RETRY_ON_FAIL);
		const [{ id } = { id: '' }, ...others] = tasks();
		expect(others).toEqual([]);
		expect(json).toEqual([]);
		expect(error?.message).toMatch(/^The service reports task .* to .*'Webhook URL'/);
		expect(error?.message).toContain(id);
		expect(error?.description).toMatch(/Wait Until Finished/);
	});

	it('is that error also if the service has refused something else than the address since', async () => {
		jest.replaceProperty(RETRY, 'patienceWhenBroken', 5_000);
		fault(LOST, { times: 1 });
		fault({ kind: 'respond', status: 422, body: { detail: 'No such language' } }, { times: 1 });
		const more = { items: files('a'), executionId: '41' };
		const failed = await service.run({ ...FILE, ...CALL }, more);
		expect(failed.error).toBeDefined();
		const other = { ...FILE, ...CALL, webhookUrl: 'https://hooks.example.com/b' };
		const { error } = await retry(failed, other);
		expect(error?.message).toMatch(/^The service reports task .* to a different address/);
		expect(tasks()).toHaveLength(1);
	});

	it('succeeds if it was sent with the same address', async () => {
		const failed = await lost({ ...FILE, ...CALL });
		const { error, json } = await retry(failed, { ...FILE, ...CALL });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: tasks()[0]?.id }]);
	});
});

describe("with the user's own Idempotency Key, used before, Call a URL", () => {
	beforeEach(() => shortenRetries(10));

	const OWN = { ...FILE, options: { idempotencyKey: 'file-17' } };
	const usedBefore = async () => {
		const { json } = await service.run(OWN, { items: files('a'), executionId: '41' });
		return String(json[0]?.['task_id']);
	};

	it.each([{}, RETRY_ON_FAIL])(
		'is an error that names the task if that has ended: %j',
		async (node) => {
			const id = await usedBefore();
			service.running().finish(id);
			const more = { items: files('a'), node };
			const { error, json } = await service.run({ ...OWN, ...CALL }, more);
			expect(json).toEqual([]);
			expect(error?.message).toMatch(/^'Idempotency Key' was used before/);
			expect(error?.message).toContain(`task ${id}`);
			expect(error?.description).toMatch(/Wait Until Finished.*Change 'Idempotency Key'/);
			expect(tasks()).toHaveLength(1);
		},
	);

	it('is the same error in a Retry, and Wait by Polling then outputs the transcript', async () => {
		const id = await usedBefore();
		service.running().finish(id);
		const failed = await service.run({ ...OWN, ...CALL }, { items: files('a') });
		const again = await retry(failed, { ...OWN, ...CALL });
		expect(again.error?.message).toContain(`task ${id}`);
		const polled = await retry(again, { ...OWN, ...AWAIT, onCompletion: 'poll' });
		expect(polled.json).toMatchObject([{ task_id: id, status: 'completed' }]);
	});

	few.it.each([
		['has not ended', () => {}],
		[
			'cannot be asked about',
			() => {
				const match = { path: '/tasks/' };
				service.running().fault({ match, action: { kind: 'respond', status: 500 } });
			},
		],
	])('is a success if the task %s', async (_what, prepare) => {
		const id = await usedBefore();
		prepare();
		const { error, json } = await service.run({ ...OWN, ...CALL }, { items: files('a') });
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: id }]);
	});

	long.it(
		'is an error that leaves it open if the task ends while the question about its state waits for its turn',
		async () => {
			jest.replaceProperty(LIMITS, 'windowMs', 0);
			const queue = queueFor(service.running().apiKey, 'other');
			const turns = Array.from(
				{ length: LIMITS.other },
				async () => await queue.take(undefined, 'urgent'),
			);
			const leave = await Promise.all(turns);
			const running = service.run({ ...OWN, ...CALL }, { items: files('a') });
			await until(() => tasks().length > 0);
			for (const { id } of tasks()) service.running().finish(id);
			await Promise.race([running, sleep(1_800)]);
			for (const leaveQueue of leave) leaveQueue();
			const { error } = await running;
			expect(error?.message).toMatch(/^'Idempotency Key' may have been used before/);
			expect(error?.message).toContain(`task ${tasks()[0]?.id}`);
		},
	);

	describe('is a success if the task is new, and ends', () => {
		it('before the node has repeated an upload whose answer was lost', async () => {
			fault(LOST, { times: 1 });
			fault({ kind: 'delay', ms: 400 }, { times: 1 });
			const running = service.run({ ...OWN, ...CALL }, { items: files('a') });
			await until(() => tasks().length > 0);
			for (const { id } of tasks()) service.running().finish(id);
			expect((await running).error).toBeUndefined();
			expect([submits(), tasks().length]).toEqual([2, 1]);
		});

		it('before a Retry of an execution to which its answer was lost', async () => {
			jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
			fault(LOST, { times: 1 });
			const more = { items: files('a'), executionId: '41' };
			const failed = await service.run({ ...OWN, ...CALL }, more);
			expect(failed.error).toBeDefined();
			for (const { id } of tasks()) service.running().finish(id);
			expect((await retry(failed, { ...OWN, ...CALL })).error).toBeUndefined();
			expect([submits(), tasks().length]).toEqual([2, 1]);
		});
	});

	it('is not said of a task that fails at once, which may be new: its reason is', async () => {
		const body = { status: 'failed', error: 'Unsupported codec' };
		const match = { method: 'GET', path: '/tasks/' };
		service.running().fault({ match, action: { kind: 'respond', status: 200, body } });
		const first = await service.run({ ...OWN, ...CALL }, { items: files('a'), executionId: '41' });
		const id = tasks()[0]?.id ?? '';
		for (const { error } of [first, await retry(first, { ...OWN, ...CALL })]) {
			expect(error?.message).toContain(`Task ${id} failed: Unsupported codec`);
			expect(error?.description).toContain("Change 'Idempotency Key'");
		}
		expect([submits(), tasks().length]).toEqual([1, 1]);
	});

	it('is still the error if the service first refused to take the upload now', async () => {
		const id = await usedBefore();
		service.running().finish(id);
		fault({ kind: 'respond', status: 503 }, { times: 1 });
		const { error } = await service.run({ ...OWN, ...CALL }, { items: files('a') });
		expect(error?.message).toMatch(/^'Idempotency Key' was used before/);
		expect(submits()).toBe(3);
	});

	it('asks the service nothing if the answer to the submit already has the end', async () => {
		const body = { task_id: '7f3c', status: 'Completed' };
		fault({ kind: 'respond', status: 200, body, readBody: true });
		const { error } = await service.run({ ...OWN, ...CALL }, { items: files('a') });
		expect(error?.message).toContain('task 7f3c');
		expect(service.lines()).toHaveLength(1);
	});
});

describe('a Retry of a hand-over to a Transcriber Trigger that was away', () => {
	let host: TriggerHost;
	beforeEach(async () => {
		jest.replaceProperty(HAND_OVER, 'patienceWhenNotActive', 0);
		const parameters = { options: { includeResult: false } };
		host = await new TriggerHost({ parameters, credentials: service.credentials() }).open();
	});
	afterEach(async () => await host.close());

	const notify = () => ({ ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url });

	/** The trigger goes away after the check, while the service takes the item. */
	async function failed() {
		fault({ kind: 'delay', ms: 400 }, { times: 1 });
		const running = service.run(notify(), { items: itemsOf({}), executionId: '41' });
		await until(() => submits() > 0);
		host.isActive = false;
		const outcome = await running;
		expect(outcome.error?.message).toContain('did not accept the hand-over of');
		host.isActive = true;
		const [{ id, webhookSecret = '' } = { id: '' }] = tasks();
		return { outcome, id, webhookSecret };
	}

	it('says that the task has ended meanwhile, in each Retry, and still hands its secret over', async () => {
		const { outcome, id, webhookSecret } = await failed();
		service.running().finish(id);
		const first = await retry(outcome, notify());
		expect(first.error?.message).toContain(
			`got the hand-over of task ${id} only after its end, so the workflow of the trigger may never start`,
		);
		expect(first.error?.description).toContain('Transcript: Get Result');
		const second = await retry(first, notify());
		expect(second.error?.message).toContain(`task ${id} only after its end`);
		const late = await deliver(host.url, { task_id: id, status: 'completed' }, webhookSecret);
		expect(late.status).toBe(200);
		expect(host.executions).toHaveLength(1);
		expect(tasks()).toHaveLength(1);
	});

	it('says that an item whose answer was lost may be accepted, if the trigger is away in the Retry', async () => {
		const patience = jest.replaceProperty(RETRY, 'patienceWhenBroken', 0);
		fault(LOST);
		const file = { ...FILE, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const outcome = await service.run(file, { items: files('a'), executionId: '41' });
		expect(tasks()).toHaveLength(1);
		host.isActive = false;
		const { error } = await retry(outcome, file);
		expect(error?.message).toMatch(/so this item was not sent again: its workflow is not active/);
		expect(error?.description).toContain('a new execution is charged again');
		patience.restore();
	});

	long.it(
		'says in each Retry that an own key was used before, and still hands the secret over',
		async () => {
			const OWN = { ...FILE, options: { idempotencyKey: 'file-17' } };
			const notifyOwn = { ...OWN, onCompletion: 'notifyTrigger', triggerUrl: host.url };
			await service.run({ ...OWN, ...CALL }, { items: files('a'), executionId: '40' });
			const [{ id, webhookSecret = '' } = { id: '' }] = tasks();
			service.running().finish(id);
			const first = await service.run(notifyOwn, { items: files('a'), executionId: '41' });
			expect(first.error?.message).toMatch(/^'Idempotency Key' was used before/);
			const second = await retry(first, notifyOwn);
			expect(second.error?.message).toMatch(/^'Idempotency Key' was used before/);
			const late = await deliver(host.url, { task_id: id, status: 'completed' }, webhookSecret);
			expect(late.status).toBe(200);
			expect(host.executions).toHaveLength(1);
			expect(tasks()).toHaveLength(1);
		},
	);

	long.it(
		"says in each Retry what is wrong with a 'Trigger URL' that was changed since",
		async () => {
			const options = { idempotencyKey: 'file-17' };
			const file = { ...FILE, options, onCompletion: 'notifyTrigger', triggerUrl: host.url };
			fault({ kind: 'delay', ms: 400 }, { times: 1 });
			const running = service.run(file, { items: files('a'), executionId: '41' });
			await until(() => submits() > 0);
			host.isActive = false;
			const outcome = await running;
			expect(outcome.error?.message).toContain('did not accept the hand-over of');
			host.isActive = true;
			const wrong = { ...file, triggerUrl: host.url.replace('http://', '') };
			const first = await retry(outcome, wrong);
			expect(first.error?.message).toMatch(/^'Trigger URL' is not a web address/);
			const second = await retry(first, wrong);
			expect(second.error?.message).toMatch(/^'Trigger URL' is not a web address/);
			expect((await retry(second, file)).error).toBeUndefined();
			expect(tasks()).toHaveLength(1);
		},
	);

	it('succeeds if the task has not ended', async () => {
		const { outcome, id } = await failed();
		const { error, json } = await retry(outcome, notify());
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: id }]);
	});

	long.it('is an error if the service cannot be asked, until it can', async () => {
		const { outcome, id } = await failed();
		const match = { path: '/tasks/' };
		service.running().fault({ match, times: 1, action: { kind: 'respond', status: 403 } });
		const first = await retry(outcome, notify());
		expect(first.error?.message).toContain(`It is not known whether task ${id} had ended before`);
		expect(first.error?.description).toContain('A Retry of this execution asks again');
		expect((await retry(first, notify())).error).toBeUndefined();
	});
});

describe('a task that ends before its submit is answered', () => {
	const ATTEMPT_LOST = () => {
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		jest.replaceProperty(RETRY, 'base', 1000);
		fault(LOST, { times: 1 });
	};
	const ANSWERED_LATE = () => fault({ kind: 'delay', ms: 1000, processed: true }, { times: 1 });

	beforeEach(() => void jest.replaceProperty(YOUNG, 'ms', 200));
	async function endSoon(): Promise<void> {
		await until(() => tasks().length === 1);
		await sleep(300);
		service.running().finish(tasks()[0]?.id ?? '');
	}

	few.it.each([
		['a file whose first answer was lost', FILE, ATTEMPT_LOST],
		['a link that was answered late', LINK, ANSWERED_LATE],
	])('is output at once by Wait for Webhook: %s', async (_, parameters, prepare) => {
		prepare();
		const workflow = workflowWith({ ...parameters, ...AWAIT }, service.credentials());
		const starting = workflow.start(files('a'));
		await endSoon();
		const { isSuspended, next } = await starting;
		expect([isSuspended, next?.[0]?.status]).toEqual([false, 'completed']);
	});

	few.it.each([
		['a file whose first answer was lost', FILE, ATTEMPT_LOST],
		['a link that was answered late', LINK, ANSWERED_LATE],
	])('is reported by Start Another Workflow: %s', async (_, parameters, prepare) => {
		const credentials = service.credentials();
		const host = await new TriggerHost({ credentials, parameters: {} }).open();
		prepare();
		const notify = { ...parameters, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const running = service.run(notify, { items: files('a') });
		await endSoon();
		expect((await running).error?.message).toContain('only after its end');
		await host.close();
	});

	it('is left to the trigger if it has failed: after a slow upload, its failure may be new', async () => {
		const credentials = service.credentials();
		const host = await new TriggerHost({ credentials, parameters: {} }).open();
		ANSWERED_LATE();
		service.running().configure({ webhookRetrySeconds: 1000 });
		const notify = { ...LINK, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const running = service.run(notify, { items: files('a') });
		await until(() => tasks().length === 1);
		await sleep(300);
		const [{ id } = { id: '' }] = tasks();
		service.running().finish(id, { status: 'failed', error: 'Noise' });
		const { error, json } = await running;
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ task_id: id }]);
		await until(() => host.executions.length === 1);
		await host.close();
	});

	long.it('does not keep the hand-over waiting for the turn of that look', async () => {
		const credentials = service.credentials();
		const host = await new TriggerHost({ credentials, parameters: {} }).open();
		const queue = queueFor(credentials.apiKey, 'other');
		const taken = Array.from({ length: LIMITS.other }, async () => {
			return await queue.take(AbortSignal.timeout(200)).catch(() => undefined);
		});
		const leaves = await Promise.all(taken);
		fault({ kind: 'delay', ms: 500 }, { times: 1 });
		const notify = { ...FILE, onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const running = service.run(notify, { items: files('a') });
		await until(() => host.stored.secrets !== '');
		for (const leave of leaves) leave?.(false);
		expect((await running).error).toBeUndefined();
		await host.close();
	});
});

describe('a blank webhook_secret is none:', () => {
	few.it.each(['', ' '])(
		'%j: a delivery wakes the execution if the service says the same',
		async (blank) => {
			const id = await service.pendingTask();
			const body = { task_id: id, status: 'pending', webhook_secret: blank };
			fault({ kind: 'respond', status: 200, body, readBody: true });
			const workflow = workflowWith({ ...LINK, ...AWAIT }, service.credentials());
			const asleep = await workflow.start(itemsOf({}));
			expect(asleep.isSuspended).toBe(true);
			service.running().finish(id);
			const raw = JSON.stringify({ task_id: id, status: 'completed' });
			const { status, woken } = await workflow.deliver(asleep, raw, sign(raw, 'of the account'));
			expect(status).toBe(200);
			expect(woken?.next).toMatchObject([{ task_id: id, status: 'completed' }]);
		},
	);
});
