/** What goes wrong, as the user of a real n8n sees it. */
import { Bench, byId } from './harness';

describe('errors in a real n8n', () => {
	let bench: Bench;

	beforeAll(async () => {
		bench = await Bench.open({ rateLimits: false });
	});

	afterEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	it('a wrong API key is named, with what to do about it, and does not appear in the message', async () => {
		bench.simulator.configure({ apiKey: 'another-key' });
		const { error } = await bench.runNode({ resource: 'account', operation: 'get' });
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '401',
			message: expect.stringMatching(/API key/i),
			description: expect.stringMatching(/credential|cabinet/i),
		});
		expect(JSON.stringify(error)).not.toContain('test-api-key');
	});

	it('an unknown task is an error that names the item', async () => {
		const { error } = await bench.runNode({
			resource: 'task',
			operation: 'get',
			taskId: byId('no-such-task'),
		});
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '404',
			context: { itemIndex: 0 },
		});
	});

	it('a missing file is refused before anything is sent', async () => {
		const { error } = await bench.runNode({
			resource: 'transcription',
			operation: 'transcribeFile',
			binaryPropertyName: 'recording',
		});
		expect(error).toMatchObject({
			message: expect.stringContaining("'recording'"),
			context: { itemIndex: 0 },
		});
		expect(bench.simulator.requests).toEqual([]);
	});

	it('an empty task id is refused before anything is sent', async () => {
		const parameters = { resource: 'task', operation: 'get', taskId: byId('') };
		// n8n checks required parameters itself: 2.x in the execution, 1.x before it starts one.
		const message = await bench.runNode(parameters).then(
			({ error }) => error?.message,
			(refusal: Error) => refusal.message,
		);
		expect(message).toMatch(/"Task" is required|The workflow has issues/);
		expect(bench.simulator.requests).toEqual([]);
	});

	it('On Error = Continue: each item carries its own outcome', async () => {
		const good = await bench.finishedTask();
		const { execution, items } = await bench.runNode(
			{ resource: 'task', operation: 'get', taskId: byId('={{ $json.id }}') },
			{
				items: [{ id: 'no-such-task' }, { id: good }, { id: 'nor-this-one' }],
				node: { onError: 'continueRegularOutput' },
			},
		);
		expect(execution.status).toBe('success');
		expect(items).toMatchObject([
			{ json: { error: expect.any(String) }, pairedItem: { item: 0 } },
			{ json: { task_id: good, status: 'completed' }, pairedItem: { item: 1 } },
			{ json: { error: expect.any(String) }, pairedItem: { item: 2 } },
		]);
	});

	it('a task that fails is an error with the reason that the service gave', async () => {
		const id = await bench.finishedTask();
		bench.simulator.configure({ processingSeconds: 3_000 });
		const { task_id: failing } = await bench.call<{ task_id: string }>('POST', 'transcribe-url', {
			url: 'https://files.example.com/silence.mp3',
		});
		bench.simulator.finish(failing, { status: 'failed', error: 'No speech was found' });
		const { error } = await bench.runNode({
			resource: 'task',
			operation: 'wait',
			taskId: byId(failing),
		});
		expect(`${error?.message} ${error?.description}`).toContain('No speech was found');
		expect(`${error?.message} ${error?.description}`).toContain(failing);
		expect(failing).not.toBe(id);
	});
});
