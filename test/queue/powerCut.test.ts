/** `kill -9` of a worker or a webhook process while a submission is under way: nothing is lost or submitted twice. */
import { Bench, byId, chain } from '../e2e/harness';
import { eventually } from '../e2e/triggers';
import { itemsOf, type Execution } from '../n8n/rest';
import { count, isBack, kill, served, workerAt, workerOf, type Worker } from './harness';

const WAIT = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: 'https://example.com/interview.mp3',
	onCompletion: 'awaitWebhook',
};

describe('kill -9 in queue mode', () => {
	let bench: Bench;

	beforeAll(async () => {
		// The tasks end when a test says so, and deliveries are repeated every five seconds.
		bench = await Bench.open({
			processingSeconds: 1_000_000,
			rateLimits: false,
			webhookRetries: 100,
			webhookRetrySeconds: 300,
		});
	});

	afterEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	async function start(items: number, parameters: Record<string, unknown> = WAIT): Promise<string> {
		const workflow = chain(parameters, { items: Array.from({ length: items }, () => ({})) });
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi: bench.credential });
		return await bench.rest.run(stored);
	}

	async function suspended(items = 1): Promise<string> {
		const id = await start(items);
		await bench.rest.waitFor(id, ({ status }) => status === 'waiting');
		return id;
	}

	/** The worker that is at work on an execution, or was when it was suspended. */
	async function workerWith(id: string): Promise<Worker> {
		await eventually(() => workerOf(id) !== undefined);
		return workerAt(id) ?? workerOf(id) ?? 'worker-1';
	}

	const finishAll = () => {
		for (const { id } of bench.simulator.tasks()) bench.simulator.finish(id);
	};

	const submits = () =>
		bench.asked().filter((request) => request === 'POST /transcribe-url').length;

	const taskIds = (execution: Execution) =>
		itemsOf(execution, 'Subject')
			.map(({ json }) => json.task_id)
			.sort();

	it('of the worker that has suspended executions: the other one finishes them', async () => {
		const ids = [await suspended(), await suspended()];
		// n8n stores that an execution waits a moment before its worker is done with it. Killed in that
		// moment, the execution counts as crashed.
		await eventually(() => ids.every((id) => workerAt(id) === undefined));
		const worker = await workerWith(ids[0] ?? '');
		const other = worker === 'worker-1' ? 'worker-2' : 'worker-1';
		const before = served().length;
		await kill(worker);
		finishAll();
		const executions = await Promise.all(ids.map((id) => bench.rest.waitForEnd(id, 120_000)));
		expect(executions.map(({ status }) => status)).toEqual(['success', 'success']);
		expect(executions.flatMap(taskIds).sort()).toEqual(
			bench.simulator
				.tasks()
				.map(({ id }) => id)
				.sort(),
		);
		await eventually(() => ids.every((id) => count(other, 'finished', id) > 0));
		const through = served()
			.slice(before)
			.filter((line) => line.includes(' POST /webhook-waiting/'));
		expect(new Set(through.map((line) => line.replace(/ .*/, '')))).toEqual(
			new Set(['webhook-1', 'webhook-2']),
		);
		expect(submits()).toBe(2);
		await isBack(worker);
	}, 240_000);

	it('of the webhook process that alone knows of a delivery: the other one asks the service', async () => {
		const id = await suspended(2);
		const [second, first] = bench.simulator.tasks();
		const before = served().length;
		bench.simulator.finish(first?.id ?? '');
		await eventually(() => bench.simulator.deliveries.some(({ status }) => status === 200));
		const [line = ''] = served()
			.slice(before)
			.filter((each) => each.includes('/webhook-waiting/'));
		const name = line.startsWith('webhook-1') ? 'webhook-1' : 'webhook-2';
		await kill(name);
		bench.simulator.finish(second?.id ?? '');
		const execution = await bench.rest.waitForEnd(id, 120_000);
		expect(execution.status).toBe('success');
		expect(taskIds(execution)).toEqual([first?.id, second?.id].sort());
		expect(submits()).toBe(2);
		await isBack(name);
	}, 240_000);

	it('of the worker that is submitting: n8n 2 reports the crash, and no other worker submits again', async () => {
		bench.simulator.fault({
			match: { path: 'transcribe-url' },
			action: { kind: 'delay', ms: 10_000 },
		});
		const id = await start(1);
		await eventually(() => submits() === 1);
		const worker = await workerWith(id);
		await kill(worker);
		const execution = await bench.rest.waitForEnd(id, 180_000);
		console.log(
			`A worker killed while it submits: ${execution.status}, ${execution.error?.message}`,
		);
		expect(['crashed', 'error']).toContain(execution.status);
		await isBack(worker);
		expect(submits()).toBe(1);
	}, 300_000);

	it('of the worker that is fetching the result: the task is there to fetch', async () => {
		const id = await suspended();
		bench.simulator.fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 10_000 } });
		finishAll();
		await eventually(() => bench.asked().some((request) => request.endsWith('/result')));
		const worker = await workerWith(id);
		await kill(worker);
		const execution = await bench.rest.waitForEnd(id, 180_000);
		expect(['crashed', 'error']).toContain(execution.status);
		const [task] = bench.simulator.tasks();
		const { items, error } = await bench.runNode({
			resource: 'task',
			operation: 'wait',
			taskId: byId(task?.id ?? ''),
		});
		expect(error).toBeUndefined();
		expect(items[0]?.json).toMatchObject({ task_id: task?.id, text: expect.any(String) });
		expect(submits()).toBe(1);
		await isBack(worker);
	}, 300_000);
});
