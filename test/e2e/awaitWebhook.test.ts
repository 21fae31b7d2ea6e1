/** 'Wait for the Transcript (Webhook)' in a real n8n: the execution sleeps, and only a genuine delivery wakes it. */
import { createHmac } from 'node:crypto';

import { lineOf } from '../n8n/lines';
import { itemsOf, type Execution, type WorkflowNode } from '../n8n/rest';
import { until } from '../simulator/testing-client';
import { Bench, byId, chain, inOneLine, NODE_TYPE } from './harness';

const LINK = 'https://example.com/interview.mp3';

const WAIT = {
	resource: 'transcription',
	operation: 'transcribeUrl',
	url: '={{ $json.url ?? "https://example.com/interview.mp3" }}',
	onCompletion: 'awaitWebhook',
};

/** What comes after. */
const LAST = { name: 'Last', type: 'n8n-nodes-base.noOp', typeVersion: 1, parameters: {} };

const WITHIN_MS = 240_000;

describe('Wait for the Transcript (Webhook)', () => {
	let bench: Bench;

	/** The tasks end when a test says so. Each test has an API key of its own, since the node keeps to 60 requests a minute. */
	const open = async () => await Bench.open({ processingSeconds: 1_000_000, rateLimits: false });

	beforeEach(async () => {
		bench = await open();
	});

	afterEach(async () => await bench.close());

	/** Starts the node over these items and waits until the execution sleeps. */
	async function suspended(
		parameters: Record<string, unknown> = {},
		items: Array<Record<string, unknown>> = [{}],
		node = {},
		credential = bench.credential,
	) {
		const workflow = chain({ ...WAIT, ...parameters }, { items, node });
		const nodes = [...workflow.nodes, LAST];
		const stored = await bench.rest.createWorkflow(
			{ ...workflow, nodes, connections: inOneLine(nodes) },
			{ transcriberApi: credential },
		);
		const id = await bench.rest.run(stored);
		await bench.rest.waitFor(id, ({ status }) => status === 'waiting');
		return { id, stored };
	}

	async function ended(id: string): Promise<Execution> {
		return await bench.rest.waitForEnd(id);
	}

	const status = async (id: string) => (await bench.rest.execution(id)).status;

	/** All items of a run are submitted at once, so only their links tell them apart. */
	const tasksByLink = () => bench.simulator.tasks().sort((a, b) => a.name.localeCompare(b.name));

	/** Posts a delivery to where the service was told to deliver task number `index`. */
	async function deliver(
		index: number,
		change: { secret?: string; body?: string; signature?: string | null } = {},
	): Promise<number> {
		const task = tasksByLink()[index];
		const address = task?.parameters.webhookUrl;
		if (!task || !address) throw new Error(`submission ${index} has no webhook address`);
		const body = change.body ?? JSON.stringify({ task_id: task.id });
		const digest = createHmac('sha256', change.secret ?? task.webhookSecret ?? '');
		const signature = change.signature ?? `sha256=${digest.update(body).digest('hex')}`;
		const answer = await fetch(address, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				...(change.signature === null ? {} : { 'x-service-signature': signature }),
			},
			body,
		});
		return answer.status;
	}

	it('sends its own resume address as webhook_url, sleeps, and outputs the result on delivery', async () => {
		const { id } = await suspended();
		const [task] = bench.simulator.tasks();
		// The secret is in nothing that n8n saves or shows.
		expect(task?.webhookSecret).toEqual(expect.any(String));
		expect(JSON.stringify(await bench.rest.execution(id))).not.toContain(task?.webhookSecret);
		expect(task?.parameters.webhookUrl).toContain('/webhook-waiting/');
		bench.simulator.finish(task?.id ?? '');
		const execution = await ended(id);
		expect(execution.status).toBe('success');
		expect(itemsOf(execution, 'Subject')).toEqual([
			expect.objectContaining({
				json: expect.objectContaining({
					text: expect.any(String),
					segments: expect.any(Array),
					task_id: task?.id,
					status: 'completed',
				}),
				pairedItem: { item: 0 },
			}),
		]);
	});

	it('of a file: the subtitles bear the name of the recording', async () => {
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeFile',
			onCompletion: 'awaitWebhook',
			waitOptions: { exportFormat: 'srt' },
		};
		const file = { name: 'interview.mp3', mimeType: 'audio/mpeg', content: 'sound' };
		const stored = await bench.rest.createWorkflow(chain(parameters, { file }), {
			transcriberApi: bench.credential,
		});
		const id = await bench.rest.run(stored);
		await finishAt(id, 1);
		const [item] = itemsOf(await ended(id), 'Subject');
		expect(item?.binary?.['data']).toMatchObject({ fileName: 'interview.srt' });
		expect(bench.asked().filter((request) => request === 'POST /transcribe')).toHaveLength(1);
	});

	it('refuses a forged, unsigned or foreign delivery with 401, and keeps waiting', async () => {
		const { id } = await suspended();
		expect(await deliver(0, { secret: 'not the secret' })).toBe(401);
		expect(await deliver(0, { signature: null })).toBe(401);
		expect(await deliver(0, { signature: `sha256=${'0'.repeat(64)}` })).toBe(401);
		expect(await deliver(0, { body: JSON.stringify({ task_id: 'another-task' }) })).toBe(401);
		expect(await deliver(0, { body: '[]' })).toBe(401);
		expect(await status(id)).toBe('waiting');
		bench.simulator.finish(bench.simulator.tasks()[0]?.id ?? '');
		expect((await ended(id)).status).toBe('success');
	});

	it('with several items resumes once, when all have ended, in order and paired', async () => {
		const { id } = await suspended({}, [
			{ url: `${LINK}?0` },
			{ url: `${LINK}?1` },
			{ url: `${LINK}?2` },
		]);
		const tasks = tasksByLink();
		const finish = (index: number) => bench.simulator.finish(tasks[index]?.id ?? '');
		finish(2);
		finish(0);
		await until(
			() => bench.simulator.deliveries.filter((each) => each.status === 200).length === 2,
		);
		// A repeat is known.
		expect(await deliver(0)).toBe(200);
		expect(await status(id)).toBe('waiting');
		finish(1);
		const items = itemsOf(await ended(id), 'Subject');
		expect(items.map(({ json }) => json.task_id)).toEqual(tasks.map((task) => task.id));
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
		expect(bench.asked().filter((request) => request === 'POST /transcribe-url')).toHaveLength(3);
	});

	const START: WorkflowNode = {
		name: 'Start',
		type: 'n8n-nodes-base.manualTrigger',
		typeVersion: 1,
		parameters: {},
	};
	const subject = (name: string): WorkflowNode => ({
		name,
		type: NODE_TYPE,
		typeVersion: 1,
		parameters: WAIT,
		credentials: { transcriberApi: { name: '' } },
	});
	const to = (node: string) => [{ node, type: 'main', index: 0 }];

	/** Ends what is open as soon as the execution waits for so many submissions in all. */
	async function finishAt(id: string, count: number): Promise<void> {
		await until(() => bench.simulator.tasks().length === count);
		await bench.rest.waitFor(id, (execution) => execution.status === 'waiting');
		const open = bench.simulator.tasks().filter((task) => task.status !== 'completed');
		for (const task of open) bench.simulator.finish(task.id);
	}

	it('an execution is suspended as often as it has to be: in a loop, and by another node after that', async () => {
		const nodes: WorkflowNode[] = [
			START,
			{ name: 'Loop', type: 'n8n-nodes-base.splitInBatches', typeVersion: 3, parameters: {} },
			subject('Subject'),
			subject('After'),
		];
		const stored = await bench.rest.createWorkflow(
			{
				name: 'Loop',
				nodes,
				connections: {
					Start: { main: [to('Loop')] },
					Loop: { main: [to('After'), to('Subject')] },
					Subject: { main: [to('Loop')] },
				},
				pinData: { Start: [{ json: {} }, { json: {} }] },
			},
			{ transcriberApi: bench.credential },
		);
		const id = await bench.rest.run(stored);
		for (const count of [1, 2, 4]) await finishAt(id, count);
		const execution = await ended(id);
		expect(execution.status).toBe('success');
		expect(itemsOf(execution, 'Subject')).toHaveLength(2);
		expect(itemsOf(execution, 'After')).toHaveLength(2);
		expect(bench.asked().filter((request) => request === 'POST /transcribe-url')).toHaveLength(4);
	});

	it('in two branches: one after the other', async () => {
		const stored = await bench.rest.createWorkflow(
			{
				name: 'Branches',
				nodes: [START, subject('A'), subject('B')],
				connections: { Start: { main: [[...to('A'), ...to('B')]] } },
				pinData: { Start: [{ json: {} }] },
			},
			{ transcriberApi: bench.credential },
		);
		const id = await bench.rest.run(stored);
		for (const count of [1, 2]) await finishAt(id, count);
		const execution = await ended(id);
		expect(execution.status).toBe('success');
		expect(['A', 'B'].map((name) => itemsOf(execution, name).length)).toEqual([1, 1]);
	});

	it('in a workflow that another one calls: that one gets the result, on n8n 2', async () => {
		const inner = await bench.rest.createWorkflow(
			{
				name: 'Inner',
				nodes: [
					{
						name: 'Called',
						type: 'n8n-nodes-base.executeWorkflowTrigger',
						typeVersion: 1.1,
						parameters: { inputSource: 'passthrough' },
					},
					subject('A'),
				],
				connections: { Called: { main: [to('A')] } },
			},
			{ transcriberApi: bench.credential },
		);
		await bench.rest.activate(inner);
		const outer = await bench.rest.createWorkflow({
			name: 'Outer',
			nodes: [
				START,
				{
					name: 'Call',
					type: 'n8n-nodes-base.executeWorkflow',
					typeVersion: 1.2,
					parameters: { workflowId: byId(inner.id), options: { waitForSubWorkflow: true } },
				},
				LAST,
			],
			connections: { Start: { main: [to('Call')] }, Call: { main: [to('Last')] } },
			pinData: { Start: [{ json: {} }] },
		});
		const id = await bench.rest.run(outer);
		await finishAt(id, 1);
		const [item] = itemsOf(await ended(id), 'Last');
		const { returnsFromSleep } = lineOf(bench.n8n.version);
		expect(item?.json.status).toBe(returnsFromSleep ? 'completed' : undefined);
	});

	it('a failed task is the error of the node, naming task and reason', async () => {
		const { id } = await suspended();
		const [task] = bench.simulator.tasks();
		bench.simulator.finish(task?.id ?? '', { status: 'failed', error: 'No speech found' });
		const execution = await ended(id);
		expect(execution.status).toBe('error');
		expect(execution.error?.message).toContain(`Task ${task?.id} failed: No speech found`);
	});

	it('with On Error = Continue a failed task is the error of its item', async () => {
		const { id } = await suspended({}, [{}, {}], { onError: 'continueRegularOutput' });
		const [second, first] = bench.simulator.tasks();
		bench.simulator.finish(first?.id ?? '', { status: 'failed', error: 'No speech found' });
		bench.simulator.finish(second?.id ?? '');
		const execution = await ended(id);
		const items = itemsOf(execution, 'Subject');
		expect(items.map(({ json }) => json.status ?? json.error)).toEqual(
			expect.arrayContaining(['completed', expect.stringContaining('No speech found')]),
		);
		expect(bench.asked().filter((request) => request === 'POST /transcribe-url')).toHaveLength(2);
	});

	it('an item that was refused stays refused after the others were waited for', async () => {
		bench.simulator.fault({
			match: { method: 'POST', path: 'transcribe-url' },
			action: {
				kind: 'respond',
				status: 413,
				body: { detail: { error_code: 'audio_too_long_api_balance', message: 'too long' } },
			},
		});
		const { id } = await suspended({}, [{}, {}], { onError: 'continueRegularOutput' });
		bench.simulator.finish(bench.simulator.tasks()[0]?.id ?? '');
		const items = itemsOf(await ended(id), 'Subject');
		expect(items).toHaveLength(2);
		expect(items.map(({ json }) => json.status ?? json.error)).toEqual(
			expect.arrayContaining(['completed', expect.stringContaining('longer than 4 hours')]),
		);
		expect(bench.asked().filter((request) => request === 'POST /transcribe-url')).toHaveLength(2);
	});

	const RETRY_ON_FAIL = { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 };

	it.each(['continueRegularOutput', 'continueErrorOutput'])(
		'Retry On Fail with On Error = %s: the item that is wrong fails after the others were waited for',
		async (onError) => {
			const items = [{ url: 'nonsense' }, { url: `${LINK}?0` }, { url: `${LINK}?1` }];
			const { id } = await suspended({}, items, { ...RETRY_ON_FAIL, onError });
			for (const task of tasksByLink()) bench.simulator.finish(task.id);
			const execution = await ended(id);
			expect(execution.status).toBe('success');
			const outputs = execution.runData['Subject']?.at(-1)?.data?.main ?? [];
			const outcomes = outputs.flatMap((output) => output ?? []).map(({ json }) => json);
			expect(outcomes.map((json) => json['error'] ?? json['status']).sort()).toEqual([
				expect.stringContaining("'URL' is not a web address: 'nonsense'"),
				'completed',
				'completed',
			]);
			expect(bench.asked().filter((request) => request === 'POST /transcribe-url')).toHaveLength(2);
		},
	);

	it('Retry On Fail with On Error = Stop: nothing sleeps while one has failed, and nothing is submitted twice', async () => {
		bench.simulator.fault({
			match: { method: 'POST', path: 'transcribe-url' },
			action: { kind: 'respond', status: 422 },
		});
		const items = [{ url: `${LINK}?0` }, { url: `${LINK}?1` }];
		const { id } = await suspended({}, items, RETRY_ON_FAIL);
		for (const task of tasksByLink()) bench.simulator.finish(task.id);
		const execution = await ended(id);
		expect(execution.status).toBe('success');
		expect(itemsOf(execution, 'Subject').map(({ json }) => json.status)).toEqual([
			'completed',
			'completed',
		]);
		expect(bench.simulator.tasks()).toHaveLength(2);
	});

	it('sleeps on when the service fails while it delivers, and loses nothing', async () => {
		const { id } = await suspended({}, [{ url: `${LINK}?0` }, { url: `${LINK}?1` }]);
		const [first, second] = tasksByLink();
		bench.simulator.fault({
			match: { method: 'GET', path: '/tasks/' },
			action: { kind: 'respond', status: 500 },
		});
		bench.simulator.fault({ match: { webhook: true }, action: { kind: 'lose' } });
		bench.simulator.finish(first?.id ?? '');
		expect(await deliver(0)).toBe(503);
		expect(await status(id)).toBe('waiting');
		bench.simulator.finish(second?.id ?? '');
		const execution = await ended(id);
		expect(execution.status).toBe('success');
		expect(itemsOf(execution, 'Last').map(({ json }) => json.task_id)).toEqual([
			first?.id,
			second?.id,
		]);
	});

	describe('when nobody has woken it and the time is up', () => {
		/** Longer than it takes to suspend all of them, on a busy machine as well: else n8n wakes one before. */
		const BRIEFLY = { waitOptions: { timeout: 0.5 } };
		/** n8n looks once a minute whose time is up, so all of them wait together. */
		/** Each with the links of its items. */
		const RUNS = {
			fails: { links: ['a-open', 'a-done'], node: {} },
			goesOn: {
				links: ['b-open', 'b-done'],
				node: { onError: 'continueRegularOutput', alwaysOutputData: true },
			},
			allDone: { links: ['c-done'], node: {} },
			/** Its credential is deleted while it sleeps. */
			hasNoCredential: { links: ['d-done'], node: { onError: 'continueErrorOutput' } },
		};
		type Run = keyof typeof RUNS;
		let executions: Record<Run, Execution>;
		let retried: Execution;
		let submits: number;
		const tasks = new Map<string, string>();

		beforeAll(async () => {
			bench = await open();
			const { url: baseUrl, apiKey } = bench.simulator;
			const deleted = await bench.rest.createCredential('transcriberApi', { baseUrl, apiKey });
			const ids: Array<[Run, string]> = [];
			for (const [run, { links, node }] of Object.entries(RUNS)) {
				const items = links.map((link) => ({ url: `https://example.com/${link}.mp3` }));
				const credential = run === 'hasNoCredential' ? deleted : undefined;
				ids.push([run as Run, (await suspended(BRIEFLY, items, node, credential)).id]);
			}
			await bench.rest.call('DELETE', `/credentials/${deleted.id}`);
			for (const { id, name } of bench.simulator.tasks()) {
				const [link = ''] = /[abcd]-\w+/.exec(name) ?? [];
				tasks.set(link, id);
				if (!link.endsWith('done')) continue;
				// The service gives up delivering it.
				bench.simulator.fault({ match: { webhook: true }, action: { kind: 'lose' } });
				bench.simulator.finish(id);
			}
			executions = Object.fromEntries(
				await Promise.all(
					ids.map(async ([run, id]) => [run, await bench.rest.waitForEnd(id, WITHIN_MS)]),
				),
			) as typeof executions;
			const [late = ''] = RUNS.fails.links;
			bench.simulator.fault({ match: { webhook: true }, action: { kind: 'lose' } });
			bench.simulator.finish(tasks.get(late) ?? '');
			retried = await bench.rest.retry(executions.fails.id);
			submits = bench.asked().filter((asked) => asked === 'POST /transcribe-url').length;
			await bench.close();
		}, WITHIN_MS);

		it('the error names what is still open, and nothing else', () => {
			const { error } = executions.fails;
			expect(error?.message).toContain(
				`Task ${tasks.get('a-open')} has not ended within 0.5 minutes (status: `,
			);
			expect(error?.message).not.toContain(tasks.get('a-done'));
		});

		it('with On Error = Continue what has ended is there, in its place', () => {
			const items = itemsOf(executions.goesOn, 'Subject');
			expect(items.map(({ json }) => json.task_id ?? json.error)).toEqual([
				expect.stringContaining(`Task ${tasks.get('b-open')} has not ended`),
				tasks.get('b-done'),
			]);
			expect(items.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		});

		it('a transcript whose delivery was lost is not lost, and what comes after runs once', () => {
			const { status, runData } = executions.allDone;
			expect(status).toBe('success');
			expect(runData['Last']?.length).toBe(1);
			const items = itemsOf(executions.allDone, 'Last');
			expect(items.map(({ json }) => json.task_id)).toEqual([tasks.get('c-done')]);
		});

		it("n8n's Retry of the failed execution fetches what has ended since", () => {
			expect(retried.status).toBe('success');
			expect(itemsOf(retried, 'Last').map(({ json }) => json.task_id)).toEqual([
				tasks.get('a-open'),
				tasks.get('a-done'),
			]);
		});

		it('the input does not pass for the transcripts if n8n can no longer read the credential', () => {
			const { status, error, runData } = executions.hasNoCredential;
			expect(status).toBe('error');
			expect(error?.message).toMatch(/credential/i);
			expect(runData['Last']).toBeUndefined();
		});

		it('nothing is submitted again', () => {
			expect(submits).toBe(tasks.size);
		});
	});

	const SEND_BOT = {
		resource: 'meeting',
		operation: 'sendBot',
		meetingUrl: '={{ $json.url ?? "https://meet.example.com/abc" }}',
		consentAcknowledged: true,
	};

	it(
		'a bot that was cancelled without a recording keeps no execution asleep, and fails after some looks',
		async () => {
			// The test ends the meetings, however long n8n takes until then.
			bench.simulator.configure({ meetingSeconds: 1e6 });
			const { id } = await suspended(
				{ ...SEND_BOT, waitOptions: { pollInterval: 1 } },
				['calledBack', 'recorded'].map((name) => ({ url: `https://meet.example.com/${name}` })),
				{ onError: 'continueRegularOutput' },
			);
			const bots = bench.simulator.bots();
			const botAt = (name: string) =>
				bots.find(({ meetingUrl }) => meetingUrl.endsWith(name))?.id ?? '';
			bench.simulator.configure({ shapes: { stoppedRecording: 'discarded' } });
			await bench.call('DELETE', `meeting/${botAt('calledBack')}`);
			bench.simulator.configure({ processingSeconds: 1 });
			bench.simulator.endMeeting(botAt('recorded'));
			// The looks at the bot go on for two minutes at most.
			const items = itemsOf(await bench.rest.waitForEnd(id, WITHIN_MS), 'Subject');
			expect(items.map(({ json }) => json.status ?? json.error)).toEqual([
				expect.stringContaining(`Meeting bot ${botAt('calledBack')} was cancelled`),
				'completed',
			]);
		},
		WITHIN_MS,
	);

	it('a meeting bot is waited for by its bot id', async () => {
		bench.simulator.configure({ meetingSeconds: 1e6 });
		const { id } = await suspended(SEND_BOT);
		const [bot] = bench.simulator.bots();
		bench.simulator.configure({ processingSeconds: 1 });
		bench.simulator.endMeeting(bot?.id ?? '');
		const [item] = itemsOf(await ended(id), 'Subject');
		expect(item?.json).toMatchObject({ status: 'completed', task_id: expect.any(String) });
	});
});
