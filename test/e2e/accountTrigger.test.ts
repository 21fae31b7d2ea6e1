/** The Transcriber Account Trigger in an n8n of its own, which polls at its own times and is restarted. */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startN8n, type N8nHost } from '../n8n/host';
import { packPackage } from '../n8n/npm';
import { itemsOf, type StoredWorkflow, type WorkflowNode } from '../n8n/rest';
import { testedVersion } from '../n8n/versions';
import { startSimulator, type Simulator } from '../simulator';
import { submit } from '../simulator/testing-client';
import { inOneLine, readExample } from './harness';

jest.setTimeout(300_000);

describe('the Transcriber Account Trigger in a real n8n', () => {
	let host: N8nHost;
	let simulator: Simulator;
	let credentials: { transcriberApi: { id: string; name: string } };

	beforeAll(async () => {
		const { tarball, dispose } = await packPackage(path.join(__dirname, '..', '..'));
		host = await startN8n({ version: testedVersion(), packageTarball: tarball }).finally(dispose);
		simulator = await startSimulator({ clockRate: 60, processingSeconds: 1_000_000 });
		credentials = { transcriberApi: await credentialWith(simulator.apiKey) };
	}, 300_000);

	afterAll(async () => {
		await host.stop();
		await simulator.close();
	});

	const credentialWith = async (apiKey: string) =>
		await host.rest.createCredential(
			'transcriberApi',
			{ baseUrl: simulator.url, apiKey },
			'Simulator',
		);

	const nodes: WorkflowNode[] = [
		{
			name: 'Every Transcript',
			type: 'n8n-nodes-transcriber.transcriberAccountTrigger',
			typeVersion: 1,
			parameters: {
				// n8n refuses a cron expression that is due more than once a minute, but takes several.
				pollTimes: {
					item: [0, 10, 20, 30, 40, 50].map((second) => ({
						mode: 'custom',
						cronExpression: `${second} * * * * *`,
					})),
				},
				events: ['transcriptCompleted', 'transcriptFailed'],
			},
			credentials: { transcriberApi: { name: '' } },
		},
		{
			name: 'CRM',
			type: 'n8n-nodes-base.set',
			typeVersion: 3.4,
			parameters: {
				assignments: {
					assignments: [
						{ id: '1', name: 'task', type: 'string', value: '={{ $json.task_id }}' },
						{ id: '2', name: 'note', type: 'string', value: '={{ $json.text ?? $json.error }}' },
					],
				},
				options: {},
			},
		},
	];

	const workflow = () => ({ name: 'Account', nodes, connections: inOneLine(nodes) });

	/** What the CRM has got, over all executions. */
	async function rows(stored: StoredWorkflow): Promise<Array<Record<string, unknown>>> {
		const executions = await host.rest.executions(stored.id);
		const whole = await Promise.all(
			executions.map(async ({ id }) => await host.rest.waitForEnd(id)),
		);
		return whole.flatMap((execution) => itemsOf(execution, 'CRM').map(({ json }) => json));
	}

	/** Waits for so many rows, and some polls longer for those that must not come. */
	async function settledRows(stored: StoredWorkflow, wanted: number) {
		const deadline = Date.now() + 90_000;
		while ((await rows(stored)).length < wanted && Date.now() < deadline) await sleep(1_000);
		await sleep(21_000);
		return await rows(stored);
	}

	it('starts once for every task that ends after publishing, also while n8n is restarted and the service is away, and the next node sees its text', async () => {
		simulator.seed(120);
		const open = await submit(simulator);
		const stored = await host.rest.createWorkflow(workflow(), credentials);
		await host.rest.activate(stored);
		// Publishing goes on for a moment after it was acknowledged: the first poll belongs to it.
		while (!simulator.requests.some(({ query }) => query?.status === 'pending')) await sleep(200);
		await sleep(1_000);
		const quick = await submit(simulator);
		simulator.finish(quick);
		expect(await settledRows(stored, 1)).toMatchObject([
			{ task: quick, note: expect.stringMatching(/simulat/i) },
		]);

		await host.kill();
		simulator.finish(open, { status: 'failed', error: 'No speech was found' });
		const down = await submit(simulator);
		simulator.finish(down);
		// After a power cut, n8n may be back before the internet is. n8n 2.41 gives a trigger up after 15 seconds.
		simulator.fault({ match: {}, times: 1e6, action: { kind: 'respond', status: 500 } });
		await host.restart();
		await sleep(30_000);
		simulator.clearFaults();
		const all = await settledRows(stored, 3);
		expect(all.map(({ task }) => task).sort()).toEqual([quick, open, down].sort());
		expect(all.find(({ task }) => task === open)?.note).toBe('No speech was found');
		await host.rest.deactivate(stored);
	});

	it('fetches the newest finished transcript when the step is executed', async () => {
		const id = await submit(simulator);
		simulator.finish(id);
		const stored = await host.rest.createWorkflow(workflow(), credentials);
		const execution = await host.rest.runToEnd(stored);
		expect(itemsOf(execution, 'CRM').map(({ json }) => json.task)).toEqual([id]);
	});

	it('examples/new-transcripts.json makes a message of the newest transcript, and of what ends once it is published', async () => {
		const newest = await submit(simulator);
		simulator.finish(newest);
		const example = await readExample('new-transcripts.json');
		const stored = await host.rest.createWorkflow(example, credentials);
		const tried = await host.rest.runToEnd(stored);
		expect(itemsOf(tried, 'Message With Speakers').map(({ json }) => json)).toMatchObject([
			{ subject: 'New transcript', message: expect.stringMatching(/simulat/i) },
		]);
		const from = simulator.requests.length;
		const failing = await submit(simulator);
		await host.rest.activate(stored);
		const isOver = () =>
			simulator.requests.slice(from).some(({ query }) => query.status === 'pending');
		while (!isOver()) await sleep(200);
		await sleep(1_000);
		simulator.finish(failing, { status: 'failed', error: 'No speech was found' });
		const deadline = Date.now() + 90_000;
		const started = async () =>
			(await host.rest.executions(stored.id)).filter(({ id }) => id !== tried.id);
		while ((await started()).length === 0 && Date.now() < deadline) await sleep(500);
		const [execution] = await started();
		const ended = await host.rest.waitForEnd(execution?.id ?? '');
		expect(itemsOf(ended, 'Message With the Reason').map(({ json }) => json)).toEqual([
			{
				subject: 'A recording could not be transcribed',
				message: `No speech was found (task ${failing})`,
			},
		]);
		await host.rest.deactivate(stored);
	});

	it('says at publishing that the API key is wrong', async () => {
		const wrong = { transcriberApi: await credentialWith('a-wrong-key') };
		const stored = await host.rest.createWorkflow(workflow(), wrong);
		// n8n 1 answers with the reason. n8n 2 publishes after it has answered, and tells it then.
		let told = await host.rest.activate(stored).then(
			() => '',
			(error: unknown) => String(error instanceof Error ? error.message : error),
		);
		const deadline = Date.now() + 60_000;
		while (!/API key/i.test(told) && Date.now() < deadline) {
			await sleep(500);
			const status = await host.rest.get(`/workflows/${stored.id}/publication-status`);
			told = JSON.stringify(status);
		}
		expect(told).toMatch(/API key/i);
	});

	it('fetches a transcript although the poll of another trigger of the workflow ends meanwhile', async () => {
		// The polls of the tests before count against the requests a minute of their API key.
		simulator.configure({ apiKey: 'a-key-with-all-its-requests' });
		const unused = { transcriberApi: await credentialWith(simulator.apiKey) };
		const [trigger] = nodes;
		if (!trigger) throw new Error('There is no trigger');
		const parameters = { ...trigger.parameters, options: { includeResult: false } };
		const both = [...nodes, { ...trigger, name: 'Without the Text', parameters }];
		const stored = await host.rest.createWorkflow(
			{ name: 'Both', nodes: both, connections: inOneLine(nodes) },
			unused,
		);
		const from = simulator.requests.length;
		await host.rest.activate(stored);
		const polls = () =>
			simulator.requests.slice(from).filter(({ query }) => query.status === 'pending').length;
		while (polls() < 2) await sleep(200);
		await sleep(1_000);
		const ids = [await submit(simulator), await submit(simulator)];
		const match = { method: 'GET', path: `/result$` };
		simulator.fault({ match, times: 2, action: { kind: 'delay', ms: 2_000 } });
		for (const id of ids) simulator.finish(id);
		const got = await settledRows(stored, 2);
		expect(got.map(({ task }) => task).sort()).toEqual([...ids].sort());
		expect(got.map(({ note }) => note)).toEqual(Array(2).fill(expect.stringMatching(/simulat/i)));
		const lines = host.log().split('\n');
		expect(lines.filter((line) => line.includes('No bridge acquired'))).toEqual([]);
		await host.rest.deactivate(stored);
	});
});
