import { isLoopback, isPublic } from './addresses';
import { startSimulator } from './index';
import { ask, AUDIO, simulatorForTests, startReceiver, until } from './testing-client';
import { sign } from './webhooks';

const simulator = simulatorForTests({ webhookRetries: 2, webhookRetrySeconds: 30 });
const { running } = simulator;

let receiver: Awaited<ReturnType<typeof startReceiver>>;
afterEach(async () => await receiver?.close());

async function finished(statuses: number[] = [], status = 'completed') {
	receiver = await startReceiver(statuses);
	const { body } = await simulator.ask('POST /transcribe', {
		file: AUDIO,
		form: { webhook_url: receiver.url },
	});
	running().finish(String(body['task_id']), { status });
	return { taskId: String(body['task_id']), secret: String(body['webhook_secret']) };
}

describe('The webhook of POST /transcribe', () => {
	it('carries the task_id, signed over the raw body with webhook_secret', async () => {
		const { taskId, secret } = await finished();
		await until(() => running().deliveries[0]?.status !== undefined);
		const [delivery] = receiver.received;
		expect(delivery?.body).toEqual({ task_id: taskId });
		expect(delivery?.headers['x-service-signature']).toBe(sign(delivery?.raw ?? '', secret));
		expect(running().deliveries).toMatchObject([{ url: receiver.url, attempt: 1, status: 200 }]);
	});

	it('is sent when the task has failed', async () => {
		await finished([], 'failed');
		await until(() => receiver.received.length === 1);
	});

	it('is not sent when the task was cancelled', async () => {
		await finished([], 'cancelled');
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(running().deliveries).toEqual([]);
	});

	it('carries the further fields of the shape', async () => {
		running().configure({
			shapes: { transcriptionWebhookFields: ['event', 'status', 'result_url'] },
		});
		const { taskId } = await finished();
		await until(() => receiver.received.length === 1);
		expect(receiver.received[0]?.body).toEqual({
			task_id: taskId,
			event: 'transcript.completed',
			status: 'completed',
			result_url: `/api/v1/tasks/${taskId}/result`,
		});
	});
});

describe('Delivery is retried after failures', () => {
	it('until it succeeds', async () => {
		await finished([503, 401]);
		await until(() => receiver.received.length === 3);
		const [first, , third] = receiver.received;
		expect(third?.raw).toBe(first?.raw);
		await until(() => running().deliveries[2]?.status === 200);
		expect(running().deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
			[1, 503],
			[2, 401],
			[3, 200],
		]);
	});

	it('as often as the option says, also after a redirect, which is not followed', async () => {
		await finished([302, 500, 500]);
		await until(() => running().deliveries[2]?.status === 500);
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(receiver.received).toHaveLength(3);
	});

	it('after a connection error', async () => {
		receiver = await startReceiver();
		await receiver.close();
		const { url } = receiver;
		const { body } = await simulator.ask('POST /transcribe', {
			file: AUDIO,
			form: { webhook_url: url },
		});
		running().finish(String(body['task_id']));
		await until(() => running().deliveries.length === 3);
		expect(running().deliveries[0]?.error).toContain('ECONNREFUSED');
	});
});

describe('Webhook faults', () => {
	it('lose: never arrives', async () => {
		running().fault({ match: { webhook: true }, action: { kind: 'lose' } });
		await finished();
		await new Promise((resolve) => setTimeout(resolve, 60));
		expect(receiver.received).toEqual([]);
		expect(running().deliveries).toMatchObject([{ fault: 'lose', error: 'lost' }]);
	});

	it('double: arrives twice', async () => {
		running().fault({ match: { webhook: true }, action: { kind: 'double' } });
		await finished();
		await until(() => receiver.received.length === 2);
		expect(receiver.received[0]?.raw).toBe(receiver.received[1]?.raw);
	});

	it('forge: a wrong signature, unsigned: none, and the repeat is right', async () => {
		running().fault({ match: { webhook: true }, action: { kind: 'forge' } });
		running().fault({ match: { webhook: true }, action: { kind: 'unsigned' } });
		const { secret } = await finished([401, 401]);
		await until(() => receiver.received.length === 3);
		const [forged, unsigned, right] = receiver.received;
		const good = sign(right?.raw ?? '', secret);
		expect(forged?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
		expect(forged?.headers['x-service-signature']).not.toBe(good);
		expect(unsigned?.headers).not.toHaveProperty('x-service-signature');
		expect(right?.headers['x-service-signature']).toBe(good);
	});

	it('delay: arrives later', async () => {
		running().fault({ match: { webhook: true }, action: { kind: 'delay', ms: 50 } });
		await finished();
		await until(() => receiver.received.length === 1);
		expect(running().deliveries).toMatchObject([{ fault: 'delay' }]);
	});

	it('a request fault does not fit a webhook', () => {
		const rule = { match: { webhook: true }, action: { kind: 'stall' as const } };
		expect(() => running().fault(rule)).toThrow('allows only');
	});
});

describe('webhook_url must be https and public', () => {
	it.each([
		'http://hooks.example.com/a',
		'https://10.1.2.3/a',
		'https://server.local/',
		'hook',
		'',
	])('400 invalid_webhook_url for "%s"', async (webhook_url) => {
		const { status, body } = await simulator.ask('POST /transcribe', {
			file: AUDIO,
			form: { webhook_url },
		});
		expect([status, body['detail']]).toEqual([
			400,
			{ error_code: 'invalid_webhook_url', message: expect.any(String) },
		]);
	});

	it('loopback passes only while the option allows it', async () => {
		const strict = await startSimulator({ allowLocalWebhooks: false });
		const json = { url: 'https://example.com/a.mp3', webhook_url: 'https://127.0.0.1/hook' };
		expect((await ask(strict, 'POST /transcribe-url', { json })).status).toBe(400);
		strict.configure({ allowLocalWebhooks: true });
		expect((await ask(strict, 'POST /transcribe-url', { json })).status).toBe(200);
		await strict.close();
	});

	it.each(['127.0.0.1', '[::1]', 'localhost', '[::ffff:7f00:1]', '::ffff:127.0.0.1'])(
		'%s is loopback, not public',
		(host) => expect([isLoopback(host), isPublic(host)]).toEqual([true, false]),
	);

	it.each(['192.168.0.1', '172.31.0.1', '[fe80::1]', 'host', 'db.internal', '0.0.0.0'])(
		'%s is not public',
		(host) => expect([isLoopback(host), isPublic(host)]).toEqual([false, false]),
	);

	it.each(['example.com', '8.8.8.8', '[2001:4860:4860::8888]', 'example.com.'])(
		'%s is public',
		(host) => expect(isPublic(host)).toBe(true),
	);

	it('nothing is delivered to other hosts unless the option says so', async () => {
		const { body } = await simulator.ask('POST /transcribe', {
			file: AUDIO,
			form: { webhook_url: 'https://hooks.example.com/a' },
		});
		running().finish(String(body['task_id']));
		expect(running().deliveries).toMatchObject([{ error: expect.stringContaining('not sent') }]);
	});
});
