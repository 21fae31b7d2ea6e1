import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { startSimulator } from './index';
import { DEFAULT_SHAPES } from './options';
import { simulatorForTests, until } from './testing-client';

const { running, ask, submit } = simulatorForTests();

async function control(line: string, body?: unknown) {
	const [method, path] = line.split(' ');
	const response = await fetch(`${running().url}/_simulator/${path}`, {
		method,
		body: body === undefined ? undefined : JSON.stringify(body),
	});
	return { status: response.status, body: (await response.json()) as unknown };
}

describe('/_simulator for other processes', () => {
	it('shows requests, deliveries and the state, and does not log itself', async () => {
		const taskId = await submit();
		expect((await control('GET requests')).body).toMatchObject([{ path: '/api/v1/transcribe' }]);
		expect((await control('GET deliveries')).body).toEqual([]);
		expect((await control('GET state')).body).toMatchObject({
			apiKey: 'test-api-key',
			balance: 1000,
			uploadsAtOnce: 1,
			tasks: [{ id: taskId }],
			bots: [],
		});
		expect(running().requests).toHaveLength(1);
	});

	it('adds faults, configures, tops up, finishes, ends meetings and resets', async () => {
		await control('POST faults', { match: {}, action: { kind: 'respond', status: 418 } });
		expect((await ask('GET /account')).status).toBe(418);
		await control('POST configure', { shapes: { taskList: 'array' }, queueSeconds: 1e6 });
		expect((await ask('GET /tasks')).body).toEqual([]);
		await control('POST top-up', { rubles: 500 });
		const taskId = await submit();
		await control('POST finish', { taskId, status: 'failed', error: 'Because' });
		expect((await ask(`GET /tasks/${taskId}`)).body).toMatchObject({ error: 'Because' });
		const json = { meeting_url: 'https://meet.example.com/a', consent_acknowledged: true };
		const { body } = await ask('POST /meeting', { json });
		await control('POST end-meeting', { botId: body['bot_id'] });
		expect(running().bots()).toMatchObject([{ phase: 'processing' }]);
		expect(running().balance).toBe(1500);
		await control('POST reset');
		expect([running().tasks(), running().bots(), running().requests]).toEqual([[], [], []]);
		expect((await ask('GET /tasks')).body).toHaveProperty('tasks');
	});

	it('tells mistakes', async () => {
		expect((await control('GET nothing')).status).toBe(404);
		expect(await control('POST top-up', { rubles: 5 })).toEqual({
			status: 400,
			body: { error: expect.stringContaining('500') },
		});
		expect((await control('POST configure', { port: 1 })).status).toBe(400);
	});
});

describe('startSimulator', () => {
	it('close ends open connections and timers', async () => {
		const simulator = await startSimulator();
		simulator.fault({ match: {}, action: { kind: 'stall' } });
		const stalled = fetch(`${simulator.url}/api/v1/account`);
		const ended = expect(stalled).rejects.toThrow('fetch failed');
		await until(() => simulator.requests.length === 1);
		await simulator.close();
		await ended;
	});

	it('reset restores the options given at the start', () => {
		running().configure({ balance: 1, clockRate: 2, processingSeconds: 5, apiKey: 'other' });
		running().reset();
		expect([running().balance, running().apiKey]).toEqual([1000, 'test-api-key']);
	});

	it('keeps only so many requests', async () => {
		running().configure({ requestLogLimit: 2 });
		for (const path of ['/account', '/tasks', '/dictionary']) await ask(`GET ${path}`);
		expect(running().requests.map(({ path }) => path)).toEqual([
			'/api/v1/tasks',
			'/api/v1/dictionary',
		]);
	});
});

it('every undocumented shape stands in the table of the README', () => {
	const readme = readFileSync(join(__dirname, 'README.md'), 'utf8');
	for (const shape of Object.keys(DEFAULT_SHAPES)) expect(readme).toContain(`\`${shape}\``);
});

it('the command line starts it and Ctrl-C ends it', async () => {
	const program = spawn(
		process.execPath,
		['--import', 'tsx', join(__dirname, 'cli.ts'), '--port', '0', '--api-key', 'mine'],
		{ stdio: ['ignore', 'pipe', 'inherit'] },
	);
	const exit = new Promise((resolve) => program.once('exit', resolve));
	let output = '';
	program.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
	await until(() => output.includes('\n'));
	const [, url = ''] = /^Simulator ready at (http:\S+)\n$/.exec(output) ?? [];
	const response = await fetch(`${url}/api/v1/account`, { headers: { 'X-API-Key': 'mine' } });
	expect(response.status).toBe(200);
	program.kill('SIGINT');
	expect(await exit).toBe(0);
});
