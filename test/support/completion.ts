/** The tests of 'Get the Transcript', shared by every operation that has this parameter. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { Transcriber } from '../../nodes/Transcriber/Transcriber.node';
import { until } from '../simulator/testing-client';
import type { Outcome } from './engine';
import { few, long } from './long';
import { failureOf, fileIn, type ServiceForTests } from './service';

interface Waiting {
	/** Known as soon as the service has the task. */
	taskId: string;
	/** Known once the node has ended. */
	outcome: Promise<Outcome>;
}

interface WaitingOperation {
	service: ServiceForTests;
	/** Lets the node wait for a task that is pending. */
	startWaiting: (waitOptions: INodeParameters) => Promise<Waiting>;
	/** The name of an exported file, without extension. */
	fileNameFor: (taskId: string) => string;
	/** Added to errors if the task alone does not show what was submitted. */
	acceptedNote?: () => string;
	/** Meetings are charged after recording, so their tasks never wait for balance. */
	mayAwaitBalance: boolean;
	/** Another operation shows the same in `npm test`. */
	isShownElsewhere?: boolean;
}

/** Fast enough for tests, in seconds. */
export const POLL_INTERVAL = 0.05;

/** 'Wait for the Transcript (Polling)', and task.wait. */
export function describeWaiting({
	service,
	startWaiting,
	fileNameFor,
	acceptedNote = () => '',
	mayAwaitBalance,
	isShownElsewhere = false,
}: WaitingOperation): void {
	const rule = isShownElsewhere ? long.it : it;
	const rows = isShownElsewhere ? few.it : it;
	const failure = (message: string) => failureOf(0, `${message}${acceptedNote()}`);
	const looks = (taskId: string) =>
		service.lines().filter((line) => line === `GET /api/v1/tasks/${taskId}`).length;
	const looked = async (taskId: string, times: number) => await until(() => looks(taskId) >= times);
	const start = async (waitOptions: INodeParameters = {}) =>
		await startWaiting({ pollInterval: POLL_INTERVAL, ...waitOptions });

	it('waits until the task has ended and outputs { ...result, task_id, status }', async () => {
		const { taskId, outcome } = await start();
		await looked(taskId, 2);
		service.running().finish(taskId);
		const { json, error } = await outcome;
		const { body: result } = await service.ask(`GET /tasks/${taskId}/result`);
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ ...result, task_id: taskId, status: 'completed' }]);
		expect(Object.keys(result)).toEqual(['text', 'segments', 'summary', 'speakers']);
	});

	rule(
		'with includeResult off outputs the state of the task and does not ask for the result',
		async () => {
			const { taskId, outcome } = await start({ includeResult: false });
			service.running().finish(taskId);
			expect((await outcome).json).toEqual([
				expect.objectContaining({ task_id: taskId, status: 'completed', progress: 100 }),
			]);
			expect(service.lines()).not.toContain(`GET /api/v1/tasks/${taskId}/result`);
		},
	);

	rule('outputs no file unless exportFormat asks for one', async () => {
		const { taskId, outcome } = await start();
		service.running().finish(taskId);
		expect((await outcome).items[0]?.binary).toBeUndefined();
		expect(service.lines()).not.toContain(`GET /api/v1/tasks/${taskId}/export`);
	});

	rows.each([
		['srt', 'application/x-subrip'],
		['vtt', 'text/vtt'],
		['txt', 'text/plain'],
		['json', 'application/json'],
	])('with exportFormat %s outputs that file beside the JSON', async (exportFormat, mimeType) => {
		const { taskId, outcome } = await start({ exportFormat });
		service.running().finish(taskId);
		const { items } = await outcome;
		const { body } = await service.ask(`GET /tasks/${taskId}/export?format=${exportFormat}`);
		expect(items[0]?.json).toMatchObject({ task_id: taskId, text: expect.any(String) });
		expect(fileIn(items[0])).toEqual({
			fileName: `${fileNameFor(taskId)}.${exportFormat}`,
			mimeType,
			content: body['content'],
		});
	});

	rule('puts the exported file into the field exportBinaryPropertyName', async () => {
		const { taskId, outcome } = await start({
			exportFormat: 'srt',
			exportBinaryPropertyName: 'subtitles',
			includeResult: false,
		});
		service.running().finish(taskId);
		const { items } = await outcome;
		expect(Object.keys(items[0]?.binary ?? {})).toEqual(['subtitles']);
	});

	it('a task that fails is an error that names the task and the reason of the service', async () => {
		const { taskId, outcome } = await start();
		service.running().finish(taskId, { status: 'failed', error: 'No speech was found' });
		const { error, items } = await outcome;
		expect(items).toEqual([]);
		expect(error).toMatchObject(failure(`Task ${taskId} failed: No speech was found`));
	});

	rule.each(['cancelled', 'canceled'])('a task that becomes %s is an error', async (status) => {
		const { taskId, outcome } = await start();
		service.running().finish(taskId, { status });
		expect((await outcome).error).toMatchObject(failure(`Task ${taskId} was cancelled`));
	});

	rule(
		'a task that outlives the timeout is an error that names the task and its state',
		async () => {
			const { taskId, outcome } = await start({ timeout: 0.04 });
			expect((await outcome).error).toMatchObject(
				failure(`Task ${taskId} has not ended within 0.04 minutes (status: pending)`),
			);
			expect(service.running().task(taskId).status).toBe('pending');
		},
	);

	rule('a status that the service document does not show means: not yet', async () => {
		const unknown = { kind: 'respond', status: 200, body: { status: 'on_hold' } } as const;
		const match = { method: 'GET', path: '/tasks/[^/]+$' };
		service.running().fault({ match, times: 3, action: unknown });
		const { taskId, outcome } = await start();
		await looked(taskId, 4);
		service.running().finish(taskId);
		expect((await outcome).json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
	});

	rule('looks once per pollInterval', async () => {
		const { taskId, outcome } = await start({ pollInterval: 0.5, timeout: 0.04 });
		await outcome;
		// 2.4 s: after 0.5, 1, 1.5, 2 and at the end; task.wait also at once. Fewer where the answers are slow.
		expect(looks(taskId)).toBeGreaterThanOrEqual(2);
		expect(looks(taskId)).toBeLessThanOrEqual(6);
	});

	rule('takes a timeout that is no whole number of milliseconds', async () => {
		const { taskId, outcome } = await start({ timeout: 0.3333333 });
		await looked(taskId, 2);
		service.running().finish(taskId);
		expect((await outcome).json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
	});

	rule('takes a pollInterval and a timeout that an expression gives as text', async () => {
		const { taskId, outcome } = await start({
			pollInterval: `={{ "${POLL_INTERVAL}" }}`,
			timeout: '={{ "1" }}',
		});
		service.running().finish(taskId);
		expect((await outcome).json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
	});

	if (!mayAwaitBalance) return;

	rule(
		'onInsufficientBalance keepWaiting (default): goes on when the balance was topped up',
		async () => {
			service.running().configure({ balance: 0 });
			const { taskId, outcome } = await start();
			await looked(taskId, 2);
			expect(service.running().task(taskId).awaitingBalance).toBe(true);
			service.running().topUp(500);
			await until(() => !service.running().task(taskId).awaitingBalance);
			service.running().finish(taskId);
			expect((await outcome).json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		},
	);

	rule(
		'onInsufficientBalance fail: an error that names the task, which needs no second upload',
		async () => {
			service.running().configure({ balance: 0 });
			const { taskId, outcome } = await start({ onInsufficientBalance: 'fail' });
			const { error } = await outcome;
			expect(error).toMatchObject(
				failureOf(0, `Task ${taskId} waits because the balance is too low`),
			);
			expect(error?.description).toContain('no second upload');
			expect(service.running().task(taskId).awaitingBalance).toBe(true);
		},
	);
}

interface SubmittingOperation {
	service: ServiceForTests;
	parameters: INodeParameters;
	item: () => INodeExecutionData;
	/** Another operation shows the same in `npm test`. */
	isShownElsewhere?: boolean;
}

/** What `onCompletion` offers, its default, and 'Call a URL When Ready'. */
export function describeWebhookTo({
	service,
	parameters,
	item,
	isShownElsewhere = false,
}: SubmittingOperation): void {
	const submit = async (webhookUrl: string, credentials = service.credentials()) =>
		await service.run(
			{ ...parameters, onCompletion: 'callUrl', webhookUrl },
			{ items: [item()], credentials },
		);

	it('offers the five values of the contract', () => {
		const field = new Transcriber().description.properties.find(
			({ name, displayOptions }) =>
				name === 'onCompletion' &&
				displayOptions?.show?.['resource']?.includes(String(parameters['resource'])) &&
				displayOptions.show['operation']?.includes(String(parameters['operation'])),
		);
		const values = field?.options?.map((option) => ('value' in option ? option.value : undefined));
		expect(values?.sort()).toEqual([
			'awaitWebhook',
			'callUrl',
			'notifyTrigger',
			'poll',
			'returnTask',
		]);
	});

	it('returnTask: one request, without webhook_url, and no secret', async () => {
		const returnTask = { ...parameters, onCompletion: 'returnTask' };
		const { json } = await service.run(returnTask, { items: [item()] });
		expect(service.sent().body).not.toHaveProperty('webhook_url');
		expect(json[0]).not.toHaveProperty('webhook_secret');
	});

	it('callUrl sends webhook_url, and the output keeps the webhook_secret for the receiver', async () => {
		const webhookUrl = 'https://hooks.example.com/transcripts?from=n8n';
		const { json } = await submit(webhookUrl);
		expect(service.sent().body).toMatchObject({ webhook_url: webhookUrl });
		const { tasks, bots } = service.running();
		expect(json).toEqual([
			expect.objectContaining({ webhook_secret: [...tasks(), ...bots()][0]?.webhookSecret }),
		]);
		expect(json[0]?.['webhook_secret']).toMatch(/^\w{20,}$/);
	});

	(isShownElsewhere ? few.it : it).each([
		'http://127.0.0.1:5678/hook',
		'http://localhost:5678/hook',
		'http://[::1]:5678/hook',
	])(
		'callUrl passes the loopback address %s, as the service itself is on loopback',
		async (webhookUrl) => {
			const { error } = await submit(webhookUrl);
			expect(error).toBeUndefined();
			expect(service.sent().body).toMatchObject({ webhook_url: webhookUrl });
		},
	);

	// The suite of publicAddress.ts shows each address.
	few.it.each([
		['http://hooks.example.com/a', 'does not start with https://'],
		['ftp://hooks.example.com/a', 'does not start with https://'],
		['hooks.example.com/a', 'is not a web address'],
		['https://192.168.1.5/a', 'is a local address that the service cannot reach'],
		['https://10.0.0.1/a', 'is a local address that the service cannot reach'],
		['https://172.20.0.1/a', 'is a local address that the service cannot reach'],
		['https://169.254.169.254/a', 'is a local address that the service cannot reach'],
		['https://[fd00::1]/a', 'is a local address that the service cannot reach'],
		['https://n8n/a', 'is a local address that the service cannot reach'],
		['https://n8n.local/a', 'is a local address that the service cannot reach'],
		['https://n8n.internal/a', 'is a local address that the service cannot reach'],
	])('callUrl refuses %s before anything is sent', async (webhookUrl, reason) => {
		const { error } = await submit(webhookUrl);
		expect(error).toMatchObject(failureOf(0, `'Webhook URL' ${reason}: '${webhookUrl}'`));
		expect(service.lines()).toEqual([]);
	});

	few.it.each([
		['http://127.0.0.1:5678/a', 'does not start with https://'],
		['https://127.0.0.1:5678/a', 'is a local address that the service cannot reach'],
		['https://localhost/a', 'is a local address that the service cannot reach'],
		['https://localhost./a', 'is a local address that the service cannot reach'],
		['https://[::1]/a', 'is a local address that the service cannot reach'],
	])('callUrl refuses %s when the service is not on loopback', async (webhookUrl, reason) => {
		// By this name the simulator is reached as well, but it is none of the loopback names.
		const baseUrl = service.running().url.replace('127.0.0.1', '0.0.0.0');
		const { error } = await submit(webhookUrl, service.credentials({ baseUrl }));
		expect(error).toMatchObject(failureOf(0, `'Webhook URL' ${reason}: '${webhookUrl}'`));
		expect(service.lines()).toEqual([]);
	});
}
