/** What was accepted before, by this execution or another, and is taken up: which task it is, not how it was. */
import { RETRY } from '../../../nodes/shared/api/retry';
import { until } from '../../simulator/testing-client';
import { shortenRetries } from '../../support/scale';
import { itemWithFile, itemsOf, serviceForTests } from '../../support/service';
import { workflowWith } from '../../support/suspended';

const service = serviceForTests();

const LINK = { resource: 'transcription', operation: 'transcribeUrl', url: '={{ $json.url }}' };
const FILE = { resource: 'transcription', operation: 'transcribeFile' };
const links = (...names: string[]) =>
	itemsOf(...names.map((name) => ({ url: `https://files.example.com/${name}.mp3` })));
const waitOptions = { pollInterval: 0.05 };

const finishAll = () => {
	for (const { id } of service.running().tasks()) service.running().finish(id);
};

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
		expect({ isAsleep: retried.isAsleep, error: retried.error }).toEqual({ isAsleep: false });
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
		const { isAsleep, next } = await workflow.start([itemWithFile('sound')]);
		expect(isAsleep).toBe(false);
		expect(next).toMatchObject([{ status: 'completed' }]);
	});

	it('for a task that its own submit already calls completed', async () => {
		const id = await service.completedTask();
		service.running().fault({
			match: { method: 'POST' },
			action: { kind: 'respond', status: 200, body: { task_id: id, status: 'completed' } },
		});
		const { isAsleep, next } = await workflowWith(AWAIT, service.credentials()).start(links('a'));
		expect(isAsleep).toBe(false);
		expect(next).toMatchObject([{ task_id: id, status: 'completed' }]);
		const looks = service.lines().filter((line) => line === `GET /api/v1/tasks/${id}`);
		expect(looks).toHaveLength(1);
	});
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
