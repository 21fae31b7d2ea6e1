import { simulatorForTests, startReceiver, until } from './testing-client';

const { running, ask } = simulatorForTests();

const LAUNCH = { meeting_url: 'https://meet.example.com/abc', consent_acknowledged: true };
const HOUR_MS = 3600 * 1000;

function fromNow(ms: number): string {
	return new Date(Date.now() + ms).toISOString();
}

async function launch(more: Record<string, unknown> = {}): Promise<string> {
	const { body } = await ask('POST /meeting', { json: { ...LAUNCH, ...more } });
	return String(body['bot_id']);
}

describe('POST /meeting', () => {
	it('returns bot_id and status joining on immediate start', async () => {
		const { status, body } = await ask('POST /meeting', { json: LAUNCH });
		expect(status).toBe(200);
		expect(body).toEqual({ bot_id: expect.any(String), status: 'joining' });
	});

	it('returns scheduled_start_at when the start is scheduled, webhook_secret when asked', async () => {
		const start_at = fromNow(HOUR_MS);
		const json = { ...LAUNCH, start_at, webhook_url: 'https://hooks.example.com/a' };
		expect((await ask('POST /meeting', { json })).body).toEqual({
			bot_id: expect.any(String),
			status: 'scheduled',
			scheduled_start_at: start_at,
			webhook_secret: expect.any(String),
		});
	});

	it.each([{}, { consent_acknowledged: false }, { consent_acknowledged: 'true' }])(
		'400 consent_required for %j in JSON',
		async (consent) => {
			const json = { meeting_url: LAUNCH.meeting_url, ...consent };
			const { status, body } = await ask('POST /meeting', { json });
			expect([status, body['detail']]).toEqual([
				400,
				{ error_code: 'consent_required', message: expect.any(String) },
			]);
		},
	);

	it('takes form data', async () => {
		const form = { ...LAUNCH, consent_acknowledged: 'true' };
		expect((await ask('POST /meeting', { form })).status).toBe(200);
		const refused = await ask('POST /meeting', { form: { ...form, consent_acknowledged: 'no' } });
		expect(refused.status).toBe(400);
	});

	it.each(['https://example.com/abc', 'http://meet.example.com/abc', 'abc', ''])(
		'400 invalid_meeting_url for "%s"',
		async (meeting_url) => {
			const { status, body } = await ask('POST /meeting', { json: { ...LAUNCH, meeting_url } });
			expect([status, body['detail']]).toEqual([
				400,
				{ error_code: 'invalid_meeting_url', message: expect.any(String) },
			]);
		},
	);

	it.each([
		['in the past', fromNow(-1000)],
		['more than 30 days ahead', fromNow(30 * 24 * HOUR_MS + 60_000)],
		['without offset', fromNow(HOUR_MS).replace('Z', '')],
		['no timestamp', 'tomorrow'],
	])('422 when start_at is %s', async (_case, start_at) => {
		expect((await ask('POST /meeting', { json: { ...LAUNCH, start_at } })).status).toBe(422);
	});

	it('takes start_at 30 days ahead', async () => {
		const start_at = fromNow(30 * 24 * HOUR_MS - 1000);
		expect((await ask('POST /meeting', { json: { ...LAUNCH, start_at } })).status).toBe(200);
	});

	it('402 api_balance_exhausted when the balance is empty, and no bot is sent', async () => {
		running().configure({ balance: 0 });
		const { status, body } = await ask('POST /meeting', { json: LAUNCH });
		expect([status, body['detail']]).toEqual([
			402,
			{ error_code: 'api_balance_exhausted', message: expect.any(String) },
		]);
		expect(running().bots()).toEqual([]);
	});
});

describe('GET /meeting/{bot_id}', () => {
	it('task_id is empty until the recording is ready', async () => {
		const botId = await launch();
		expect((await ask(`GET /meeting/${botId}`)).body['task_id']).toBeNull();
		running().endMeeting(botId);
		const { body } = await ask(`GET /meeting/${botId}`);
		const task = await ask(`GET /tasks/${String(body['task_id'])}`);
		expect(task.body).toMatchObject({ status: 'pending' });
	});

	it('joins, records, is transcribed and charged', async () => {
		running().configure({ meetingSeconds: 60, queueSeconds: 1 });
		const botId = await launch();
		await until(() => running().bot(botId).phase === 'completed');
		const { seconds } = running().task(String(running().bot(botId).taskId));
		expect(seconds).toBeGreaterThanOrEqual(60);
		expect(running().balance).toBeLessThan(1000);
	});

	it('a scheduled bot joins at its time', async () => {
		const botId = await launch({ start_at: fromNow(1_500_000) });
		expect((await ask(`GET /meeting/${botId}`)).body['status']).toBe('scheduled');
		await until(() => running().bot(botId).phase !== 'scheduled');
	});

	it('404 for an unknown bot', async () => {
		expect((await ask('GET /meeting/nobody')).status).toBe(404);
		expect((await ask('DELETE /meeting/nobody')).status).toBe(404);
	});

	it.each([
		['null', null],
		['emptyString', ''],
		['absent', undefined],
	] as const)('an empty task_id in the shape %s', async (emptyTaskId, expected) => {
		running().configure({ shapes: { emptyTaskId } });
		expect((await ask(`GET /meeting/${await launch()}`)).body['task_id']).toBe(expected);
	});
});

describe('DELETE /meeting/{bot_id}', () => {
	it('cancels a scheduled bot', async () => {
		const botId = await launch({ start_at: fromNow(HOUR_MS) });
		expect((await ask(`DELETE /meeting/${botId}`)).body).toMatchObject({ status: 'cancelled' });
	});

	it.each(['transcribed', 'discarded'] as const)(
		'stops a running recording, which is %s',
		async (stoppedRecording) => {
			running().configure({ shapes: { stoppedRecording } });
			const botId = await launch();
			await until(() => running().bot(botId).phase === 'recording');
			await ask(`DELETE /meeting/${botId}`);
			const transcribed = stoppedRecording === 'transcribed';
			expect(running().bot(botId).phase).toBe(transcribed ? 'processing' : 'cancelled');
			expect(running().tasks()).toHaveLength(transcribed ? 1 : 0);
		},
	);
});

describe('The webhook meeting.transcript.completed', () => {
	it.each(['completed', 'failed'])('is sent on %s', async (status) => {
		const receiver = await startReceiver();
		const botId = await launch({ webhook_url: receiver.url });
		running().endMeeting(botId);
		const taskId = String(running().bot(botId).taskId);
		running().finish(taskId, { status });
		await until(() => receiver.received.length === 1);
		await receiver.close();
		expect(receiver.received[0]?.body).toEqual({
			event: 'meeting.transcript.completed',
			bot_id: botId,
			task_id: taskId,
			status,
			result_url: `/api/v1/tasks/${taskId}/result`,
		});
		expect(running().bot(botId).phase).toBe(status);
	});
});
