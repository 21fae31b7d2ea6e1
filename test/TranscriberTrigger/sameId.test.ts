/** Contract, "The trigger's store": a task and a bot may have the same id, and an id may come back. */
// Also covers receiveHandOver.ts, receiveDelivery.ts.

import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeParameters } from 'n8n-workflow';

import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { until } from '../simulator/testing-client';
import { runNode } from '../support/engine';
import { serviceForTests } from '../support/service';
import { few } from '../support/long';
import { deliver, handOverTo, putAll } from './client';
import { TriggerHost, type HostSettings } from './host';

const service = serviceForTests();
const KEY = 'test-api-key';

let host: TriggerHost;
beforeEach(() => jest.replaceProperty(STORE, 'safeAfterMs', 50));
afterEach(async () => {
	jest.restoreAllMocks();
	await host.close();
});

async function open(options: INodeParameters = {}, settings: Partial<HostSettings> = {}) {
	const parameters = { options: { includeResult: false, ...options } };
	host = await new TriggerHost({
		parameters,
		credentials: service.credentials(),
		...settings,
	}).open();
}

/** What the Transcriber node hands over, until it is stored. */
async function handOver(
	kind: 'task' | 'bot',
	id: string,
	secret?: string,
	key = KEY,
): Promise<void> {
	for (let tries = 0; tries < 100; tries++) {
		const { body } = await putAll(host.url, [{ id, kind, secret }], key);
		if (body['stored'] === true) return;
		await sleep(60);
	}
	throw new Error('It was never stored');
}

const TASK = { task_id: '5', status: 'completed' };
const BOT = {
	event: 'meeting.transcript.completed',
	bot_id: '5',
	task_id: '9',
	status: 'completed',
	result_url: '/api/v1/tasks/9/result',
};
const deliverTask = async () => await deliver(host.url, TASK, 'secret of task 5');
const deliverBot = async () => await deliver(host.url, BOT, 'secret of bot 5');

describe('A task and a bot with the same id', () => {
	it('are both waited for, and each starts the workflow once', async () => {
		await open();
		await handOver('task', '5', 'secret of task 5');
		await handOver('bot', '5', 'secret of bot 5');
		host.restart();
		for (const send of [deliverTask, deliverBot, deliverTask, deliverBot]) {
			expect((await send()).status).toBe(200);
			await sleep(150);
		}
		expect(host.executions.flat().map(({ json }) => json)).toEqual([TASK, BOT]);
	});

	it('the bot is handed over after the task has ended', async () => {
		await open();
		await handOver('task', '5', 'secret of task 5');
		expect((await deliverTask()).status).toBe(200);
		await until(() => host.stored.endings !== '');
		await handOver('bot', '5', 'secret of bot 5');
		host.restart();
		expect((await deliverBot()).status).toBe(200);
		expect(host.executions).toHaveLength(2);
	});

	it('a delivery for the bot whose secret is not here yet is 503, and not taken for the task', async () => {
		await open();
		await handOver('task', '5', 'secret of task 5');
		expect((await deliverBot()).status).toBe(503);
		await handOver('bot', '5', 'secret of bot 5');
		expect([(await deliverBot()).status, (await deliverTask()).status]).toEqual([200, 200]);
	});

	it('neither secret proves a delivery of the other', async () => {
		await open();
		await handOver('task', '5', 'secret of task 5');
		await handOver('bot', '5', 'secret of bot 5');
		expect((await deliver(host.url, TASK, 'secret of bot 5')).status).toBe(401);
		expect((await deliver(host.url, BOT, 'secret of task 5')).status).toBe(401);
		expect(host.executions).toEqual([]);
	});

	it('from the Transcriber node: a task id that is the id of a bot', async () => {
		await open();
		for (const [path, body] of [
			['/transcribe-url$', { task_id: 5, status: 'pending', webhook_secret: 'secret of task 5' }],
			['/meeting$', { bot_id: 5, status: 'joining', webhook_secret: 'secret of bot 5' }],
		] as const) {
			service.running().fault({
				match: { method: 'POST', path },
				action: { kind: 'respond', status: 200, body },
			});
		}
		const notify = { onCompletion: 'notifyTrigger', triggerUrl: host.url };
		const url = 'https://files.example.com/a.mp3';
		const task = { resource: 'transcription', operation: 'transcribeUrl', url, ...notify };
		const bot = {
			resource: 'meeting',
			operation: 'sendBot',
			meetingUrl: 'https://meet.example.com/abc',
			consentAcknowledged: true,
			...notify,
		};
		for (const parameters of [task, bot]) {
			const { error } = await runNode({ credentials: service.credentials(), parameters });
			expect(error).toBeUndefined();
		}
		expect([(await deliverTask()).status, (await deliverBot()).status]).toEqual([200, 200]);
	});
});

describe('What version 0.1.0 has handed over or stored, under the bare id,', () => {
	few.it.each([
		['task', { task_id: '7', status: 'completed' }],
		['bot', { ...BOT, bot_id: '7' }],
	])('is found for a %s, also after a restart, and its repeat is known', async (_, body) => {
		await open();
		await handOverTo(host.url, '7', 'secret', KEY);
		host.restart();
		expect((await deliver(host.url, body, 'another')).status).toBe(401);
		expect((await deliver(host.url, body, 'secret')).status).toBe(200);
		await until(() => host.stored.endings !== '');
		host.restart();
		expect((await deliver(host.url, { ...body, attempt: 2 }, 'secret')).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});
});

describe('An id whose submission has ended', () => {
	it('is acknowledged for the same secret, and brings nothing back', async () => {
		await open();
		await handOver('task', '5', 'secret of task 5');
		await deliverTask();
		await until(() => host.stored.endings !== '');
		await handOver('task', '5', 'secret of task 5');
		expect(host.stored.secrets).toBe('');
		await deliverTask();
		expect(host.executions).toHaveLength(1);
	});

	it('is waited for again with another secret: it is the id of another submission', async () => {
		await open();
		for (const secret of ['first', 'second', 'third']) {
			await handOver('task', '5', secret);
			host.restart();
			expect((await deliver(host.url, TASK, secret)).status).toBe(200);
			await until(() => host.stored.secrets === '');
		}
		for (const secret of ['first', 'second', 'third']) {
			const answer = await deliver(host.url, { ...TASK, attempt: 2 }, secret);
			expect([secret, answer.status]).toEqual([secret, 200]);
		}
		expect((await deliver(host.url, TASK, 'made up')).status).toBe(401);
		expect(host.executions).toHaveLength(3);
	});

	it('is waited for again, although the API key was rotated in between', async () => {
		const credentials = service.credentials();
		await open({}, { credentials });
		await handOver('bot', '5', 'first');
		expect((await deliver(host.url, { ...BOT, task_id: '1' }, 'first')).status).toBe(200);
		await until(() => host.stored.endings !== '');
		Object.assign(credentials, { apiKey: 'another' });
		host.restart();
		await handOver('bot', '5', 'second', 'another');
		expect((await deliver(host.url, { ...BOT, task_id: '2' }, 'second')).status).toBe(200);
		expect(host.executions.flat().map(({ json }) => json.task_id)).toEqual(['1', '2']);
	});

	it('is waited for again, after an ending that the service was asked about', async () => {
		await open();
		const id = await service.completedTask();
		await handOver('task', id);
		const body = { task_id: id, status: 'completed' };
		expect((await deliver(host.url, body, 'unknown')).status).toBe(200);
		await until(() => host.stored.endings !== '');
		await handOver('task', id, 'second');
		expect((await deliver(host.url, { ...body, attempt: 2 }, 'second')).status).toBe(200);
		expect(host.executions).toHaveLength(2);
	});

	it('is the same submission, if a repeat is byte for byte the delivery that ended it', async () => {
		const credentials = service.credentials();
		await open({}, { credentials });
		await handOver('task', '5', 'secret');
		expect((await deliver(host.url, TASK, 'secret')).status).toBe(200);
		await until(() => host.stored.endings !== '');
		Object.assign(credentials, { apiKey: 'another' });
		host.restart();
		await handOver('task', '5', 'secret', 'another');
		expect((await deliver(host.url, TASK, 'secret')).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it('is not known from its status alone, if the second secret cannot be read after a rotation', async () => {
		const credentials = service.credentials();
		await open({}, { credentials });
		const body = { task_id: await service.completedTask(), status: 'completed' };
		await handOver('task', body.task_id, 'first');
		expect((await deliver(host.url, body, 'first')).status).toBe(200);
		await until(() => host.stored.endings !== '');
		await handOver('task', body.task_id, 'second');
		host.restart();
		Object.assign(credentials, { apiKey: 'another' });
		expect((await deliver(host.url, { ...body, attempt: 2 }, 'second')).status).not.toBe(200);
	});
});
