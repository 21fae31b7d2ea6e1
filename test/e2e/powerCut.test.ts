/** `kill -9` of n8n while 'Wait for the Transcript (Webhook)' is under way, in an n8n of its own. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startN8n, type N8nHost } from '../n8n/host';
import { ensureN8n } from '../n8n/install';
import { lineOf } from '../n8n/lines';
import { packPackage } from '../n8n/npm';
import { itemsOf, type Execution, type StoredWorkflow, type WorkflowNode } from '../n8n/rest';
import { testedVersion } from '../n8n/versions';
import { startSimulator, type FaultRule, type Simulator } from '../simulator';
import { until } from '../simulator/testing-client';
import { chain, NODE_TYPE, startWithFile } from './harness';

const TIMEOUT_MINUTES = 1.5;

const PAUSE: WorkflowNode = {
	name: 'Pause',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	parameters: { resume: 'timeInterval', amount: 20, unit: 'seconds' },
};

jest.setTimeout(300_000);

describe('kill -9 of n8n with Wait for the Transcript (Webhook)', () => {
	let host: N8nHost;
	let simulator: Simulator;
	let credential: { id: string; name: string };

	beforeAll(async () => {
		const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
		host = await startN8n({
			version: testedVersion(),
			packageTarball: tarball,
		}).finally(dispose);
		simulator = await startSimulator({
			clockRate: 60,
			processingSeconds: 1_000_000,
			webhookRetries: 200,
			// Every five seconds: a burst while n8n starts is nothing that a service does.
			webhookRetrySeconds: 300,
		});
		const { url: baseUrl, apiKey } = simulator;
		credential = await host.rest.createCredential(
			'transcriberApi',
			{ baseUrl, apiKey },
			'Simulator',
		);
	}, 300_000);

	afterEach(() => simulator.reset());

	afterAll(async () => {
		await host.stop();
		await simulator.close();
	});

	const submits = () =>
		simulator.requests.filter(({ path: asked }) => /\/transcribe-url$/.test(asked));

	const uploads = () => simulator.requests.filter(({ path: asked }) => /\/transcribe$/.test(asked));

	const fileNode = (parameters: WorkflowNode['parameters']): WorkflowNode => ({
		name: 'Subject',
		type: NODE_TYPE,
		typeVersion: 1,
		parameters: { resource: 'transcription', operation: 'transcribeFile', ...parameters },
		credentials: { transcriberApi: { name: '' } },
	});

	async function start(items: number): Promise<{ id: string; workflow: StoredWorkflow }> {
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://example.com/interview.mp3',
			onCompletion: 'awaitWebhook',
			waitOptions: { timeout: TIMEOUT_MINUTES },
		};
		const workflow = await host.rest.createWorkflow(
			chain(parameters, { items: Array.from({ length: items }, () => ({})) }),
			{ transcriberApi: credential },
		);
		return { id: await host.rest.run(workflow), workflow };
	}

	async function suspended(items = 1): Promise<string> {
		const { id } = await start(items);
		// n8n 1 stores that an execution waits a moment before it stores what it waits with. What is killed in between cannot
		// be taken up.
		const isStored = ({ raw }: Execution) =>
			(raw?.executionData?.nodeExecutionStack ?? []).length > 0;
		await host.rest.waitFor(
			id,
			(execution) => execution.status === 'waiting' && isStored(execution),
		);
		return id;
	}

	async function powerCut(): Promise<void> {
		await host.kill();
		await host.restart();
	}

	/**
	 * The execution has ended well, once, with every task in its output. When n8n starts, it looks through what was
	 * suspended, and may write over what a delivery has just woken: then it ends when its time is up.
	 */
	async function expectResults(id: string): Promise<void> {
		const execution = await host.rest.waitForEnd(id, (TIMEOUT_MINUTES + 2) * 60_000);
		// The error is compared, so that a red test shows it.
		expect([execution.status, execution.error]).toEqual(['success', undefined]);
		expect(
			itemsOf(execution, 'Subject')
				.map(({ json }) => json.task_id)
				.sort(),
		).toEqual(
			simulator
				.tasks()
				.map(({ id: taskId }) => taskId)
				.sort(),
		);
	}

	it('while suspended: the result arrives after the restart', async () => {
		const id = await suspended();
		await host.kill();
		simulator.finish(simulator.tasks()[0]?.id ?? '');
		await until(() => simulator.deliveries.length > 1);
		await host.restart();
		await expectResults(id);
		expect(submits()).toHaveLength(1);
	});

	it('when n8n cannot wake it, as right after a crash: the next delivery does', async () => {
		const id = await suspended();
		const { node } = await ensureN8n(host.version);
		const mark = (status: string) => {
			const file = path.join(host.userFolder, '.n8n', 'database.sqlite');
			const sql = `UPDATE execution_entity SET status = '${status}' WHERE id = ${id}`;
			const script = `new (require('node:sqlite').DatabaseSync)('${file}').exec("${sql}")`;
			execFileSync(node, ['-e', script]);
		};
		const answered = (wanted: number) =>
			simulator.deliveries.some(({ status }) => status === wanted);
		mark('new');
		simulator.finish(simulator.tasks()[0]?.id ?? '');
		// n8n 2 wakes only what it has marked as waiting; n8n 1 does not look.
		const isRefused = lineOf(host.version).savesBeforeItAnswers;
		await until(() => answered(isRefused ? 500 : 200));
		if (isRefused) mark('waiting');
		await expectResults(id);
		expect(answered(200)).toBe(true);
		expect(submits()).toHaveLength(1);
	});

	it('while a delivery is being answered: the service delivers again, and the result arrives once', async () => {
		const id = await suspended(2);
		const [second, first] = simulator.tasks();
		simulator.finish(first?.id ?? '');
		await until(() => simulator.deliveries.some(({ status }) => status === 200));
		// The second delivery makes the node look for the first task, unless it remembers.
		simulator.fault({ match: { path: '/tasks/' }, times: 5, action: { kind: 'delay', ms: 3000 } });
		simulator.finish(second?.id ?? '');
		await until(() => simulator.deliveries.length > 1);
		await powerCut();
		const execution = await host.rest.waitForEnd(id, 90_000);
		// Woken before the power went: n8n itself reports the crash. Otherwise the result is there.
		expect(['success', 'crashed']).toContain(execution.status);
		expect(submits()).toHaveLength(2);
	});

	it('just submitted: n8n reports the crash, and nothing is submitted twice', async () => {
		simulator.fault({
			match: { path: 'transcribe-url' },
			skip: 1,
			action: { kind: 'delay', ms: 20_000 },
		});
		const { id } = await start(2);
		// One is accepted, the other is being read.
		await until(() => simulator.tasks().length === 1 && submits().length === 2);
		await powerCut();
		const execution = await host.rest.waitForEnd(id, 90_000);
		expect(execution.status).toBe('crashed');
		expect(submits()).toHaveLength(2);
	});

	it('just sent, a file that came with the trigger: on n8n 2, the Retry pays once, and waits for no delivery', async () => {
		simulator.fault({
			match: { path: '/transcribe$' },
			action: { kind: 'delay', ms: 20_000, processed: true },
		});
		const node = fileNode({
			onCompletion: 'awaitWebhook',
			waitOptions: { timeout: TIMEOUT_MINUTES, pollInterval: 0.05 },
		});
		const id = await startWithFile(host.rest, node, credential);
		await until(() => simulator.tasks().length === 1);
		await powerCut();
		expect((await host.rest.waitForEnd(id, 90_000)).status).toBe('crashed');
		const retrying = host.rest.retry(id);
		await until(() => uploads().length === 2);
		const paid = lineOf(host.version).tellsWhatCrashed ? 1 : 2;
		await until(() => simulator.tasks().length === paid);
		// It looks at its task by itself.
		const looks = () =>
			simulator.requests.filter(
				({ method, path: asked }) => method === 'GET' && /\/tasks\//.test(asked),
			);
		await until(() => looks().length > 0);
		for (const task of simulator.tasks()) simulator.finish(task.id);
		const { status, error } = await retrying;
		expect([status, error]).toEqual(['success', undefined]);
		expect(simulator.tasks()).toHaveLength(paid);
	});

	it.each<[string, FaultRule[], Parameters<typeof startWithFile>[3]]>([
		[
			'while a file is uploaded, with the nodes listed in another order',
			[
				{
					match: { path: '/transcribe$' },
					action: { kind: 'delay', ms: 20_000, processed: true },
				},
			],
			{ listed: (nodes) => [...nodes].reverse() },
		],
		['in a later node', [], { after: [PAUSE] }],
	])(
		'%s: n8n makes up a run of the node, and on n8n 2 the Retry pays once',
		async (_when, faults, order) => {
			for (const fault of faults) simulator.fault(fault);
			const node = fileNode({ onCompletion: 'returnTask' });
			const id = await startWithFile(host.rest, node, credential, order);
			await until(() => simulator.tasks().length === 1);
			// n8n notes what begins and ends in a file, a moment later.
			await sleep(3000);
			await powerCut();
			const crashed = await host.rest.waitForEnd(id, 90_000);
			expect(crashed.status).toBe('crashed');
			expect(crashed.runData.Subject).toHaveLength(1);
			await host.rest.retry(id);
			await until(() => uploads().length === 2);
			expect(simulator.tasks()).toHaveLength(lineOf(host.version).tellsWhatCrashed ? 1 : 2);
		},
	);

	it('in a later node, with Save execution progress on: the Retry goes on behind the node', async () => {
		const id = await startWithFile(
			host.rest,
			fileNode({ onCompletion: 'returnTask' }),
			credential,
			{
				after: [PAUSE],
				settings: { saveExecutionProgress: true },
			},
		);
		await until(() => simulator.tasks().length === 1);
		await sleep(3000);
		await powerCut();
		expect((await host.rest.waitForEnd(id, 90_000)).status).toBe('crashed');
		const { status } = await host.rest.retry(id);
		expect(status).toBe('success');
		expect(uploads()).toHaveLength(1);
	});

	it("stopped by the user while it polls: n8n's log names the task", async () => {
		const parameters = {
			resource: 'transcription',
			operation: 'transcribeUrl',
			url: 'https://example.com/interview.mp3',
			onCompletion: 'poll',
		};
		const workflow = await host.rest.createWorkflow(chain(parameters, {}), {
			transcriberApi: credential,
		});
		const id = await host.rest.run(workflow);
		await until(() => simulator.tasks().length === 1);
		await host.rest.stopExecution(id);
		const [task] = simulator.tasks();
		await until(() => host.log().includes(`may charge: item 0: task ${task?.id}`));
	});

	it('resumed and fetching results: n8n reports the crash; the task is still there to fetch', async () => {
		const id = await suspended();
		const [task] = simulator.tasks();
		simulator.fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 20_000 } });
		simulator.finish(task?.id ?? '');
		await until(() => simulator.requests.some(({ path: asked }) => asked.endsWith('/result')));
		await powerCut();
		const execution = await host.rest.waitForEnd(id, 90_000);
		expect(execution.status).toBe('crashed');
		expect(submits()).toHaveLength(1);
	});
});
