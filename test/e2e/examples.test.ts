/** The examples as they are imported, each run to its end. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { lineOf } from '../n8n/lines';
import {
	itemsOf,
	type Execution,
	type StoredWorkflow,
	type Workflow,
	type WorkflowNode,
} from '../n8n/rest';
import { startModel, type ScriptedModel } from '../support/model';
import { Bench, readExample, sharedN8n } from './harness';

/** Changes what the sticky notes tell the user to change in the node 'Settings'. */
function withSettings(workflow: Workflow, values: Record<string, string>): Workflow {
	const settings = workflow.nodes.find(({ name }) => name === 'Settings');
	const { assignments } = settings?.parameters.assignments as {
		assignments: Array<{ name: string; value: unknown }>;
	};
	for (const assignment of assignments) {
		assignment.value = values[assignment.name] ?? assignment.value;
	}
	return workflow;
}

/** The meeting of the examples that cannot be transcribed. */
const NO_SPEECH = {
	name: 'globex',
	seconds: 60,
	segments: [],
	summary: '',
	fail: 'No speech was found',
};

interface DataTable {
	id: string;
	name: string;
	projectId: string;
}

async function tableCalled(bench: Bench, wanted: string): Promise<DataTable | undefined> {
	const { data } = await bench.rest.get<{ data: DataTable[] }>('/data-tables-global?take=100');
	return data.find(({ name }) => name === wanted);
}

async function rowsOf(bench: Bench, name: string): Promise<Array<Record<string, unknown>>> {
	const table = await tableCalled(bench, name);
	const rows = await bench.rest.get<{ data: Array<Record<string, unknown>> }>(
		`/projects/${table?.projectId}/data-tables/${table?.id}/rows`,
	);
	return rows.data;
}

/** On n8n 1 no node can make a data table: the user does it, and so does this. */
async function withCrmTable(bench: Bench, workflow: Workflow): Promise<Workflow> {
	if (lineOf(bench.n8n.version).hasDataTableNode) return workflow;
	const node = workflow.nodes.find(({ name }) => name === 'CRM Table');
	const { tableName, columns } = node?.parameters as {
		tableName: string;
		columns: { column: object[] };
	};
	const { id: project } = await bench.rest.get<{ id: string }>('/projects/personal');
	const table =
		(await tableCalled(bench, tableName)) ??
		(await bench.rest.post<DataTable>(`/projects/${project}/data-tables`, {
			name: tableName,
			columns: columns.column,
		}));
	const chosen: WorkflowNode = {
		name: 'CRM Table',
		type: 'n8n-nodes-base.set',
		typeVersion: 3.4,
		position: node?.position,
		parameters: { mode: 'raw', jsonOutput: JSON.stringify({ id: table.id }), options: {} },
	};
	const nodes = workflow.nodes.map((one) => (one === node ? chosen : one));
	return { ...workflow, nodes };
}

function jsonOf(execution: Execution, node: string): unknown[] {
	return itemsOf(execution, node).map(({ json }) => json);
}

describe('examples/sync-dictionary.json', () => {
	let bench: Bench;
	let workflow: StoredWorkflow;

	beforeAll(async () => {
		bench = await Bench.open({ limitTerms: 3 });
		workflow = await bench.rest.createWorkflow(await readExample('sync-dictionary.json'), {
			transcriberApi: bench.credential,
		});
	});

	afterAll(async () => await bench.close());

	const TERMS = ['Kubernetes', 'Анна Петрова', 'OKR', 'n8n'];

	it('the rows of the sheet become the dictionary, with one read and one write', async () => {
		await bench.call('PUT', 'dictionary', { terms: ['n8n', 'outdated'] });
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(workflow);
		expect(execution.error).toBeUndefined();
		expect(bench.asked(from)).toEqual(['GET /dictionary', 'PUT /dictionary']);
		expect(await bench.call('GET', 'dictionary')).toMatchObject({ terms: TERMS });
		expect(jsonOf(execution, 'Tell What Changed')).toEqual([
			{
				message:
					'4 terms with 28 of 20000 characters. Added: Kubernetes, Анна Петрова, OKR. Removed: outdated. Not applied, because only the first 3 are: n8n.',
			},
		]);
	});

	it('the next run finds nothing to do and writes nothing', async () => {
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(workflow);
		expect(bench.asked(from)).toEqual(['GET /dictionary']);
		expect(jsonOf(execution, 'Nothing to Tell')).toMatchObject([
			{ changed: false, unchanged: TERMS },
		]);
		expect(execution.runData['Tell What Changed']).toBeUndefined();
	});
});

describe('examples/folder-of-recordings.json', () => {
	const FAILED: Record<string, RegExp> = {
		'call-05.mp3': /No speech was found/,
		'call-09.wav': /is empty/,
		'call-13.m4a': /longer than 4 hours/,
		'call-17.mp4': /No speech was found/,
	};
	let bench: Bench;
	let folder: string;
	let execution: Execution;

	beforeAll(async () => {
		bench = await Bench.open({
			script: [
				{ ...NO_SPEECH, name: 'call-05.mp3' },
				{ ...NO_SPEECH, name: 'call-13.m4a', seconds: 5 * 3600 },
				{ ...NO_SPEECH, name: 'call-17.mp4' },
			],
		});
		folder = path.join(bench.n8n.files, 'recordings');
		await mkdir(folder, { recursive: true });
		const kinds = ['mp4', 'mp3', 'wav', 'mp3', 'm4a'];
		for (let number = 1; number <= 20; number++) {
			const name = `call-${String(number).padStart(2, '0')}`;
			const known = Object.keys(FAILED).find((file) => file.startsWith(name));
			const file = known ?? `${name}.${kinds[number % kinds.length]}`;
			await writeFile(path.join(folder, file), file === 'call-09.wav' ? '' : `sound ${number}`);
		}
		await writeFile(path.join(folder, 'notes.txt'), 'not a recording');
		const workflow = await readExample('folder-of-recordings.json');
		const outcome = await bench.outcome(withSettings(workflow, { folder }), 280_000);
		execution = outcome.execution;
	}, 300_000);

	afterAll(async () => await bench.close());

	it('transcribes 20 recordings, and one that fails does not stop the others', () => {
		expect(execution.error).toBeUndefined();
		expect(jsonOf(execution, 'Summary')).toEqual([
			{ done: 16, failed: 4, report: path.join(folder, 'report.csv') },
		]);
	});

	it('no recording is submitted twice, and none that cannot be right is submitted at all', () => {
		const names = bench.simulator.requests.flatMap(({ file }) => (file ? [file.name] : []));
		expect(new Set(names).size).toBe(names.length);
		expect(names).toHaveLength(19);
		expect(names).not.toContain('call-09.wav');
		expect(bench.simulator.requests.filter(({ status }) => status === 429)).toEqual([]);
	});

	it('leaves a subtitle file beside each recording that was transcribed', async () => {
		const subtitles = (await readdir(folder)).filter((file) => file.endsWith('.srt'));
		expect(subtitles).toHaveLength(16);
		expect(await readFile(path.join(folder, 'call-01.mp3.srt'), 'utf8')).toMatch(
			/^1\r?\n00:00:00,000 --> /,
		);
	});

	it('reports every recording, and the reason where there is no transcript', () => {
		const rows = jsonOf(execution, 'In the Order of Names') as Array<Record<string, string>>;
		expect(rows.map(({ file }) => file?.slice(0, 7))).toEqual(
			Array.from({ length: 20 }, (_, index) => `call-${String(index + 1).padStart(2, '0')}`),
		);
		for (const { file = '', result, reason, task_id: taskId } of rows) {
			const why = FAILED[file];
			expect({ file, result }).toEqual({ file, result: why ? 'failed' : 'done' });
			if (why) expect(reason).toMatch(why);
			else expect(bench.simulator.task(taskId ?? '').name).toBe(file);
		}
	});

	it('saves the report as a CSV file', async () => {
		const lines = (await readFile(path.join(folder, 'report.csv'), 'utf8')).trim().split(/\r?\n/);
		expect(lines[0]).toMatch(/file,result,task_id,words,summary,reason$/);
		expect(lines).toHaveLength(21);
	});
});

describe('examples/rotate-api-key.json', () => {
	const RESCUE = 'Transcriber API key rescue';
	// The public API of n8n 1 can create and delete credentials, but not change them.
	const canStore = lineOf(sharedN8n().version).canChangeCredentials;
	let bench: Bench;
	let n8nApi: { id: string; name: string };
	let oldKey: string;

	beforeAll(async () => {
		bench = await Bench.open();
		oldKey = bench.simulator.apiKey;
		// One that may do what the sticky note says and nothing else.
		const { rawApiKey } = await bench.rest.post<{ rawApiKey: string }>('/api-keys', {
			label: `rotation ${Date.now()}`,
			scopes: [canStore ? 'credential:update' : 'credential:create'],
			expiresAt: null,
		});
		n8nApi = await bench.rest.createCredential('n8nApi', {
			apiKey: rawApiKey,
			baseUrl: `${bench.n8n.url}/api/v1`,
		});
	});

	beforeEach(() => bench.simulator.reset());

	afterAll(async () => await bench.close());

	/** The example with a credential of its own. */
	async function example(n8nUrl = bench.n8n.url, change: Record<string, string> = {}) {
		const { url: baseUrl, apiKey } = bench.simulator;
		const data = { baseUrl, apiKey, webhookSecret: 'kept' };
		const transcriberApi = await bench.rest.createCredential('transcriberApi', data, 'Rotated');
		const settings = { n8nUrl, credentialId: transcriberApi.id, ...change };
		const workflow = withSettings(await readExample('rotate-api-key.json'), settings);
		return { workflow, transcriberApi };
	}

	/** Runs it, and keeps what came out: otherwise there would be nothing to look at. */
	async function rotate(...how: Parameters<typeof example>) {
		const { workflow, transcriberApi } = await example(...how);
		workflow.settings = { ...workflow.settings, saveManualExecutions: true };
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi, n8nApi });
		return { execution: await bench.rest.runToEnd(stored), transcriberApi };
	}

	async function stored({ id }: { id: string }): Promise<unknown> {
		return await bench.rest
			.get<{ data: unknown }>(`/credentials/${id}?includeData=true`)
			.then(({ data }) => data);
	}

	it('is kept out of the execution history', async () => {
		const { settings } = await readExample('rotate-api-key.json');
		expect(settings).toMatchObject({ saveDataSuccessExecution: 'none' });
	});

	it('started by hand, it leaves nothing there either', async () => {
		const { workflow, transcriberApi } = await example();
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi, n8nApi });
		await expect(bench.rest.runToEnd(stored)).rejects.toThrow('n8n keeps no execution');
		expect(bench.asked().filter((line) => line.startsWith('POST'))).toHaveLength(canStore ? 1 : 0);
	});

	it.each([
		['a credential id that is not there', { credentialId: 'nobody' }],
		['no credential id', { credentialId: '' }],
	])('%s stops it before the old key is given up', async (_what, change) => {
		const { execution } = await rotate(bench.n8n.url, change);
		expect(execution.status).toBe('error');
		expect(bench.asked()).toEqual([]);
		expect(bench.simulator.apiKey).toBe(oldKey);
	});

	it('an address that is not that of n8n stops it as well', async () => {
		const { execution } = await rotate('http://127.0.0.1:9');
		expect(execution.status).toBe('error');
		expect(bench.simulator.apiKey).toBe(oldKey);
	});

	if (canStore) describe('on an n8n whose public API can change a credential', storing);
	else it('an n8n whose public API cannot change a credential stops it as well', stops);

	async function stops(): Promise<void> {
		const { execution } = await rotate();
		expect(execution.status).toBe('error');
		expect(bench.simulator.apiKey).toBe(oldKey);
	}

	function storing(): void {
		it('stores the new key in the credential of n8n, and the key works there', async () => {
			const { execution, transcriberApi } = await rotate();
			expect(execution.error).toBeUndefined();
			expect(jsonOf(execution, 'Rotated')).toEqual([
				{ message: 'The API key was rotated and stored. The old one no longer works.' },
			]);
			expect(bench.simulator.apiKey).not.toBe(oldKey);
			const last = bench.simulator.requests.at(-1);
			expect(last).toMatchObject({ path: '/api/v1/account', status: 200 });
			expect(last?.headers['x-api-key']).toBe(bench.simulator.apiKey);
			// The other fields stay; n8n shows that a secret is there, not what it is.
			expect(await stored(transcriberApi)).toMatchObject({
				baseUrl: bench.simulator.url,
				webhookSecret: expect.stringMatching(/./),
			});
		});

		it('if storing fails, the key is where the owner finds it, and the execution says where', async () => {
			const proxy = await proxyThatFailsAfter(1, bench.n8n.url);
			const { execution } = await rotate(proxy.url);
			await proxy.close();
			expect(proxy.calls()).toBe(4);
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(await rescued()).toContain(bench.simulator.apiKey);
		});

		it('so it is if the stored key does not work', async () => {
			bench.simulator.fault({
				match: { path: '/account$' },
				skip: 1,
				action: { kind: 'respond', status: 401 },
			});
			const { execution } = await rotate();
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(await rescued()).toContain(bench.simulator.apiKey);
		});

		it.each(['key', 'new_key', 'apiKey'])(
			'finds the new key in a field "%s"',
			async (apiKeyField) => {
				bench.simulator.configure({ shapes: { apiKeyField } });
				const { execution } = await rotate();
				expect(execution.error).toBeUndefined();
			},
		);

		it('an answer in which no key can be found is rescued as a whole', async () => {
			bench.simulator.configure({ shapes: { apiKeyField: 'token' } });
			const { execution } = await rotate();
			expect(execution.error?.message).toContain("data table 'Transcriber API key rescue'");
			expect(JSON.stringify(await rowsOf(bench, RESCUE))).toContain(bench.simulator.apiKey);
		});
	}

	async function rescued(): Promise<unknown[]> {
		return (await rowsOf(bench, RESCUE)).map((row) => row['new_api_key']);
	}
});

/** An n8n address whose public API answers only so many times. */
async function proxyThatFailsAfter(times: number, target: string) {
	let calls = 0;
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on('data', (chunk: Buffer) => chunks.push(chunk));
		request.on('end', () => {
			calls += 1;
			if (calls > times) {
				response.statusCode = 500;
				response.end('{"message":"out of order"}');
				return;
			}
			void fetch(`${target}${request.url}`, {
				method: request.method,
				headers: {
					'content-type': 'application/json',
					'x-n8n-api-key': String(request.headers['x-n8n-api-key']),
				},
				body: Buffer.concat(chunks).toString(),
			}).then(async (answer) => {
				response.statusCode = answer.status;
				response.setHeader('content-type', 'application/json');
				response.end(await answer.text());
			});
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		calls: () => calls,
		close: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

describe('examples/meeting-to-crm.json', () => {
	let bench: Bench;
	let execution: Execution;
	let whileWaiting: Execution;

	beforeAll(async () => {
		bench = await Bench.open({ script: [NO_SPEECH] });
		const workflow = await readExample('meeting-to-crm.json');
		const stored = await bench.rest.createWorkflow(await withCrmTable(bench, workflow), {
			transcriberApi: bench.credential,
		});
		const id = await bench.rest.run(stored);
		whileWaiting = await bench.rest.waitFor(id, ({ status }) => status === 'waiting');
		execution = await bench.rest.waitForEnd(id, 90_000);
	});

	afterAll(async () => await bench.close());

	it('sends bots at the time of the meetings, to those whose participants consent', () => {
		const sent = bench.simulator.requests.filter(({ path: asked }) => asked === '/api/v1/meeting');
		const bots = sent.map(({ body }) => body as Record<string, unknown>);
		expect(bots.map(({ meeting_url: url }) => url).sort()).toEqual([
			'https://meet.example.com/acme-kick-off',
			'https://meet.example.com/globex-review',
		]);
		for (const { start_at: startAt, consent_acknowledged: consent } of bots) {
			expect(consent).toBe(true);
			expect(Date.parse(String(startAt)) - Date.parse(execution.startedAt ?? '')).toBeGreaterThan(
				100_000,
			);
		}
	});

	it('is suspended until the transcripts are ready', () => {
		expect(whileWaiting.status).toBe('waiting');
		expect(execution.status).toBe('success');
	});

	it('writes a row for each meeting: summary and speakers, or why there is no transcript', async () => {
		const rows = (await rowsOf(bench, 'Meetings (CRM)')).filter(({ bot_id: bot }) => !bot);
		expect(rows).toHaveLength(2);
		expect(rows).toEqual(
			expect.arrayContaining([
				expect.objectContaining({
					title: 'Kick-off',
					customer: 'Acme',
					outcome: 'transcribed',
					task_id: expect.stringMatching(/./),
					summary: expect.stringMatching(/simulat/i),
					speakers: expect.stringMatching(/./),
				}),
				expect.objectContaining({
					title: 'Quarterly review',
					customer: 'Globex',
					outcome: expect.stringContaining('No speech was found'),
				}),
			]),
		);
	});
});

describe('examples/meeting-to-crm-with-trigger.json and its send-bots', () => {
	let bench: Bench;
	let trigger: StoredWorkflow;

	beforeAll(async () => {
		bench = await Bench.open({ script: [NO_SPEECH] });
		const credentials = { transcriberApi: bench.credential };
		const receiving = await readExample('meeting-to-crm-with-trigger.json');
		trigger = await bench.rest.createWorkflow(await withCrmTable(bench, receiving), credentials);
		await bench.rest.activate(trigger);
	});

	afterAll(async () => {
		await bench.rest.deactivate(trigger);
		await bench.close();
	});

	it('the first ends at once, and the second completes each row when its transcript is ready', async () => {
		const { webhookId } = trigger.nodes.find(({ name }) => name === 'Transcript Ready') ?? {};
		const triggerUrl = `${bench.n8n.url}/webhook/${webhookId}/transcriber`;
		const sending = await readExample('meeting-to-crm-with-trigger-send-bots.json');
		const workflow = await withCrmTable(bench, withSettings(sending, { triggerUrl }));
		const stored = await bench.rest.createWorkflow(workflow, { transcriberApi: bench.credential });
		const sent = await bench.rest.runToEnd(stored);
		expect(sent.error).toBeUndefined();
		expect(jsonOf(sent, 'Open the Row')).toMatchObject([
			{ title: 'Kick-off', outcome: 'bot sent' },
			{ title: 'Quarterly review', outcome: 'bot sent' },
		]);

		const bots = bench.simulator.bots().map(({ id }) => id);
		const done = async () =>
			(await rowsOf(bench, 'Meetings (CRM)')).filter(
				({ bot_id: bot, outcome }) => bots.includes(String(bot)) && outcome !== 'bot sent',
			);
		const deadline = Date.now() + 60_000;
		while ((await done()).length < 2 && Date.now() < deadline) await sleep(500);
		expect(await done()).toEqual(
			expect.arrayContaining([
				expect.objectContaining({
					title: 'Kick-off',
					customer: 'Acme',
					outcome: 'transcribed',
					summary: expect.stringMatching(/simulat/i),
					speakers: expect.stringMatching(/./),
				}),
				expect.objectContaining({
					title: 'Quarterly review',
					customer: 'Globex',
					outcome: 'no transcript: No speech was found',
				}),
			]),
		);
		expect(await bench.rest.executions(trigger.id)).toHaveLength(2);
	});
});

describe('examples/ask-your-meetings.json', () => {
	let bench: Bench;
	let model: ScriptedModel;

	beforeAll(async () => {
		bench = await Bench.open();
		model = await startModel();
	});

	afterAll(async () => {
		await model.close();
		await bench.close();
	});

	it('the agent lists recordings, reads a summary and a transcript, and answers', async () => {
		const taskId = await bench.finishedTask();
		model.script(
			[{ tool: 'List_Recordings', args: { limit: 5 } }],
			([list = '']) => {
				expect(list).toContain(taskId);
				return [{ tool: 'Read_Summary', args: { task_id: taskId } }];
			},
			[{ tool: 'Read_Transcript', args: { task_id: taskId } }],
			'It was a simulation.',
		);
		const openAiApi = await bench.rest.createCredential('openAiApi', {
			apiKey: 'none',
			url: model.url,
		});
		const workflow = await readExample('ask-your-meetings.json');
		workflow.pinData = {
			'When Chat Message Received': [
				{ json: { chatInput: 'What was said?', sessionId: 'session', action: 'sendMessage' } },
			],
		};
		const stored = await bench.rest.createWorkflow(workflow, {
			transcriberApi: bench.credential,
			openAiApi,
		});
		const from = bench.simulator.requests.length;
		const execution = await bench.rest.runToEnd(stored);
		expect(execution.error).toBeUndefined();
		expect(jsonOf(execution, 'Meeting Assistant')).toMatchObject([
			{ output: 'It was a simulation.' },
		]);
		expect(bench.asked(from).filter((line) => line !== 'GET /tasks')).toEqual([
			`GET /tasks/${taskId}/result`,
			`GET /tasks/${taskId}/result`,
		]);
		const [, summary = '', transcript = ''] = model.toolResults();
		expect(summary).toContain('summary');
		expect(summary).not.toContain('segments');
		expect(transcript).toContain('text');
		expect(transcript).not.toContain('summary');
	});

	it('its tools can neither rotate keys nor send bots nor change anything', async () => {
		const { nodes } = await readExample('ask-your-meetings.json');
		const tools = nodes.filter(({ type }) => type.endsWith('.transcriberTool'));
		expect(tools.map(({ parameters }) => parameters.operation)).toEqual([
			'getAll',
			'getResult',
			'getResult',
		]);
	});
});
