import { createHash } from 'node:crypto';

import { AUDIO, simulatorForTests, until } from './testing-client';
import { wavSeconds } from './upload';

const { running, ask, submit } = simulatorForTests();

/** The header of a WAV file with 1000 bytes per second. */
function wavHeader(dataBytes: number): Buffer {
	const header = Buffer.alloc(44);
	header.write('RIFF', 0);
	header.write('WAVEfmt ', 8);
	header.writeUInt32LE(16, 16);
	header.writeUInt32LE(1000, 28);
	header.write('data', 36);
	header.writeUInt32LE(dataBytes, 40);
	return header;
}

describe('POST /transcribe', () => {
	it('returns task_id and status pending immediately', async () => {
		const { status, body } = await ask('POST /transcribe', { file: AUDIO });
		expect(status).toBe(200);
		expect(body).toEqual({ task_id: expect.any(String), status: 'pending' });
	});

	it('returns webhook_secret when webhook_url was given', async () => {
		const { body } = await ask('POST /transcribe', {
			file: AUDIO,
			form: { webhook_url: 'https://hooks.example.com/a' },
		});
		expect(body['webhook_secret']).toMatch(/^[0-9a-f]{48}$/);
	});

	it('logs the fields and the SHA-256 of the file', async () => {
		await submit({
			form: { language: 'en', prompt: 'Ünïcode' },
			file: { ...AUDIO, name: 'é.mp3' },
		});
		expect(running().requests[0]).toMatchObject({
			method: 'POST',
			path: '/api/v1/transcribe',
			status: 200,
			body: { language: 'en', prompt: 'Ünïcode' },
			file: {
				field: 'file',
				name: 'é.mp3',
				size: AUDIO.bytes.length,
				sha256: createHash('sha256').update(AUDIO.bytes).digest('hex'),
			},
		});
	});

	it.each([
		['num_speakers', '0'],
		['num_speakers', '7'],
		['num_speakers', '2.5'],
		['num_speakers', ''],
		['domain', 'sports'],
		['language', 'Russian'],
		['summary_template', ''],
	])('422 when %s is "%s"', async (name, value) => {
		const answer = await ask('POST /transcribe', { file: AUDIO, form: { [name]: value } });
		expect(answer.status).toBe(422);
		expect(running().tasks()).toEqual([]);
	});

	it.each(['1', '6'])('takes num_speakers %s', async (speakers) => {
		const taskId = await submit({ form: { num_speakers: speakers } });
		running().finish(taskId);
		expect(running().task(taskId).transcript?.speakers).toHaveLength(Number(speakers));
	});

	it.each(['legal', 'medical', 'tech'])('takes domain %s', async (domain) => {
		expect(running().task(await submit({ form: { domain } })).parameters.domain).toBe(domain);
	});

	it('has the defaults language ru and summary_template general', async () => {
		expect(running().task(await submit()).parameters).toMatchObject({
			language: 'ru',
			summaryTemplate: 'general',
		});
	});

	it.each([
		['a form without a file', { form: { language: 'ru' } }],
		['a file in another field', { file: { ...AUDIO, field: 'data' } }],
		['an empty file', { file: { name: 'a.mp3', bytes: Buffer.alloc(0) } }],
		['a body that is no form', { json: { file: 'a.mp3' } }],
	])('422 for %s', async (_case, request) => {
		expect((await ask('POST /transcribe', request)).status).toBe(422);
	});

	it('413 audio_too_long_api_balance for a recording longer than 4 hours', async () => {
		const file = { name: 'day.wav', bytes: wavHeader(4 * 3600 * 1000 + 1000) };
		const { status, body } = await ask('POST /transcribe', { file });
		expect(status).toBe(413);
		expect(body).toEqual({
			detail: { error_code: 'audio_too_long_api_balance', message: expect.any(String) },
		});
	});

	it('takes a recording of exactly 4 hours', async () => {
		const bytes = wavHeader(4 * 3600 * 1000);
		expect(running().task(await submit({ file: { name: 'a.wav', bytes } })).seconds).toBe(14_400);
	});

	it('takes the length of a WAV that was written as a stream from its size', () => {
		expect(wavSeconds(wavHeader(0xffffffff), 44 + 5000)).toBe(5);
		expect(wavSeconds(Buffer.from('ID3 something'), 1000)).toBeUndefined();
	});
});

describe('Idempotency-Key', () => {
	const keyed = { file: AUDIO, headers: { 'Idempotency-Key': 'once' } };

	it('a repeated request returns the same task_id and webhook_secret, not a second task', async () => {
		const form = { webhook_url: 'https://hooks.example.com/a' };
		const first = await ask('POST /transcribe', { ...keyed, form });
		const second = await ask('POST /transcribe', { ...keyed, form });
		expect(second.body).toEqual(first.body);
		expect(running().tasks()).toHaveLength(1);
	});

	it('a parallel request gets 409 while the first is still running', async () => {
		running().fault({
			match: { path: 'transcribe$' },
			action: { kind: 'slowRead', bytesPerSecond: 2000 },
		});
		const first = ask('POST /transcribe', keyed);
		await until(() => running().requests.length === 1);
		const second = await ask('POST /transcribe', keyed);
		expect(second.status).toBe(409);
		expect(second.body).toEqual({ detail: { message: expect.any(String) } });
		expect((await first).status).toBe(200);
		expect((await ask('POST /transcribe', keyed)).body).toEqual((await first).body);
	});

	it('a refused request does not use the key up', async () => {
		const refused = await ask('POST /transcribe', { ...keyed, form: { num_speakers: '9' } });
		expect(refused.status).toBe(422);
		expect((await ask('POST /transcribe', keyed)).status).toBe(200);
	});

	it('a repeat is answered even when 20 tasks are in progress', async () => {
		const first = await ask('POST /transcribe', keyed);
		running().configure({ tasksInProgress: 1 });
		expect((await ask('POST /transcribe', keyed)).body).toEqual(first.body);
	});
});

describe('POST /transcribe-url', () => {
	it('transcribes from a link', async () => {
		const url = 'https://files.example.com/talk.mp3';
		const { body } = await ask('POST /transcribe-url', { json: { url, num_speakers: 2 } });
		expect(body).toEqual({ task_id: expect.any(String), status: 'pending' });
		expect(running().task(String(body['task_id']))).toMatchObject({ name: url });
	});

	it.each([{}, { url: 'talk.mp3' }, { url: 'ftp://example.com/a' }, { url: 5 }])(
		'422 for the body %j',
		async (json) => expect((await ask('POST /transcribe-url', { json })).status).toBe(422),
	);

	it('reads the link from the field that the shape names', async () => {
		running().configure({ shapes: { urlField: 'link' } });
		const json = { link: 'https://files.example.com/a.mp3' };
		expect((await ask('POST /transcribe-url', { json })).status).toBe(200);
	});
});

describe('Task status', () => {
	it('pending has queue_position and queue_total', async () => {
		await submit();
		const { body } = await ask(`GET /tasks/${await submit()}`);
		expect(body).toEqual({
			task_id: expect.any(String),
			status: 'pending',
			progress: 0,
			queue_position: 2,
			queue_total: 2,
			queue_state: 'queued',
			awaiting_balance: false,
		});
	});

	it('processing has progress and stage', async () => {
		running().configure({ queueSeconds: 0, processingSeconds: 10_000 });
		const taskId = await submit();
		await until(() => running().task(taskId).status === 'processing');
		await new Promise((resolve) => setTimeout(resolve, 200));
		const { body } = await ask(`GET /tasks/${taskId}`);
		expect(body).toMatchObject({
			status: 'processing',
			stage: expect.any(String),
			queue_state: 'working',
		});
		expect(body['progress']).toBeGreaterThan(0);
		expect(body['progress']).toBeLessThan(100);
		expect(body).not.toHaveProperty('queue_position');
	});

	it('completed has progress 100', async () => {
		running().configure({ queueSeconds: 1 });
		const taskId = await submit();
		await until(() => running().task(taskId).status === 'completed');
		const { body } = await ask(`GET /tasks/${taskId}`);
		expect(body).toMatchObject({ status: 'completed', progress: 100, queue_state: 'done' });
	});

	it('failed has the reason in error', async () => {
		running().configure({
			queueSeconds: 1,
			script: [{ name: 'broken', seconds: 10, segments: [], summary: '', fail: 'No audio track' }],
		});
		const taskId = await submit({ file: { ...AUDIO, name: 'broken.mp4' } });
		await until(() => running().task(taskId).status === 'failed');
		const { body } = await ask(`GET /tasks/${taskId}`);
		expect(body).toMatchObject({ status: 'failed', error: 'No audio track' });
	});

	it('404 for an unknown task', async () => {
		for (const path of ['', '/result', '/export']) {
			expect((await ask(`GET /tasks/nobody${path}`)).status).toBe(404);
		}
	});

	it.each([
		[60, 30],
		[600, 90],
		[3600, 420],
		[7200, 780],
	])('a recording of %d s is processed in %d s', async (seconds, processingSeconds) => {
		running().configure({ defaultRecordingSeconds: seconds });
		expect(running().task(await submit())).toMatchObject({ processingSeconds });
	});
});

describe('GET /tasks', () => {
	it('lists the newest first, with limit, offset and status', async () => {
		const [first, second, third] = [await submit(), await submit(), await submit()];
		running().finish(second);
		const ids = async (query: string) => {
			const { body } = await ask(`GET /tasks?${query}`);
			return (body['tasks'] as Array<{ task_id: string }>).map((task) => task.task_id);
		};
		expect(await ids('')).toEqual([third, second, first]);
		expect(await ids('limit=1&offset=1')).toEqual([second]);
		expect(await ids('status=completed')).toEqual([second]);
		running().configure({ shapes: { taskListMaximum: 2 } });
		expect(await ids('limit=100')).toEqual([third, second]);
	});

	it.each(['limit=0', 'limit=x', 'offset=-1', 'status=gone'])('422 for %s', async (query) => {
		expect((await ask(`GET /tasks?${query}`)).status).toBe(422);
	});

	it.each(['array', 'tasks', 'items', 'data', 'results'] as const)('shape %s', async (taskList) => {
		running().configure({ shapes: { taskList } });
		await submit();
		const { body } = await ask('GET /tasks');
		expect(taskList === 'array' ? body : body[taskList]).toHaveLength(1);
	});
});

describe('GET /tasks/{id}/result', () => {
	it('returns text, segments, summary and speakers', async () => {
		const taskId = await submit();
		running().finish(taskId);
		const { body } = await ask(`GET /tasks/${taskId}/result`);
		expect(body).toEqual({
			text: expect.stringContaining('simulated'),
			segments: expect.arrayContaining([
				{ start: 0, end: expect.any(Number), speaker: 'Speaker 1', text: expect.any(String) },
			]),
			summary: expect.stringContaining('scripted'),
			speakers: [
				{ id: 1, name: 'Speaker 1' },
				{ id: 2, name: 'Speaker 2' },
			],
		});
	});

	it('400 for a task that is not completed', async () => {
		expect((await ask(`GET /tasks/${await submit()}/result`)).status).toBe(400);
	});

	it('a known recording is recognised by its SHA-256, not by its name', async () => {
		const sha256 = createHash('sha256').update(AUDIO.bytes).digest('hex');
		const segments = [{ start: 0, end: 1, speaker: 'Ann', text: 'Known.' }];
		running().configure({ script: [{ sha256, seconds: 7, segments, summary: 'Known summary' }] });
		const taskId = await submit({ file: { ...AUDIO, name: 'renamed.bin' } });
		running().finish(taskId);
		const { body } = await ask(`GET /tasks/${taskId}/result`);
		expect(body).toMatchObject({ text: 'Known.', segments, summary: 'Known summary' });
		expect(running().task(taskId).seconds).toBe(7);
	});
});

describe('GET /tasks/{id}/export', () => {
	async function exported(query: string) {
		const segments = [
			{ start: 0, end: 1.5, speaker: 'Ann', text: 'a < b' },
			{ start: 3661.042, end: 3662, speaker: 'Bob', text: 'Two\nlines' },
		];
		running().configure({ script: [{ name: '.', seconds: 4000, segments, summary: 'S' }] });
		const taskId = await submit();
		running().finish(taskId);
		return (await ask(`GET /tasks/${taskId}/export${query}`)).body;
	}

	it('txt', async () => {
		expect(await exported('?format=txt')).toEqual({
			format: 'txt',
			content: 'Ann: a < b\nBob: Two\nlines\n',
		});
	});

	it('srt: numbered cues with times written as HH:MM:SS,mmm --> HH:MM:SS,mmm', async () => {
		expect((await exported('?format=srt'))['content']).toBe(
			'1\n00:00:00,000 --> 00:00:01,500\nAnn: a < b\n\n' +
				'2\n01:01:01,042 --> 01:01:02,000\nBob: Two lines\n',
		);
	});

	it('vtt', async () => {
		expect((await exported('?format=vtt'))['content']).toBe(
			'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Ann>a &lt; b\n\n' +
				'01:01:01.042 --> 01:01:02.000\n<v Bob>Two lines\n',
		);
	});

	it('json', async () => {
		const { content } = await exported('?format=json');
		expect(JSON.parse(String(content))).toMatchObject({ text: 'a < b Two\nlines', summary: 'S' });
	});

	it('txt when format is omitted, 422 for another one', async () => {
		expect(await exported('')).toMatchObject({ format: 'txt' });
		expect(await exported('?format=docx')).toHaveProperty('detail');
	});
});

describe('POST /tasks/{id}/cancel', () => {
	it('cancels a pending task for good, without a charge', async () => {
		running().configure({ queueSeconds: 1_000 });
		const taskId = await submit();
		const { body } = await ask(`POST /tasks/${taskId}/cancel`);
		expect(body).toMatchObject({
			task_id: taskId,
			status: 'cancelled',
			queue_state: 'not_started',
		});
		await new Promise((resolve) => setTimeout(resolve, 1_100));
		expect(running().task(taskId).status).toBe('cancelled');
		expect(running().balance).toBe(1000);
	});

	it('409 for a task that has ended, and the status that the shape names', async () => {
		running().configure({ shapes: { cancelledStatus: 'canceled', cancelAnswer: 'message' } });
		const taskId = await submit();
		expect((await ask(`POST /tasks/${taskId}/cancel`)).body).toEqual({ message: 'Done' });
		expect((await ask(`GET /tasks/${taskId}`)).body['status']).toBe('canceled');
		expect((await ask(`POST /tasks/${taskId}/cancel`)).status).toBe(409);
	});
});

describe('Summary regeneration', () => {
	it('404 as long as no method and path are given', async () => {
		expect((await ask(`POST /tasks/${await submit()}/summary`)).status).toBe(404);
	});

	it('regenerates where the shape says', async () => {
		running().configure({
			shapes: {
				regenerateSummary: { method: 'POST', path: '/api/v1/tasks/{taskId}/summary' },
			},
		});
		const taskId = await submit();
		expect((await ask(`POST /tasks/${taskId}/summary`)).status).toBe(400);
		running().finish(taskId);
		const json = { summary_template: 'lecture' };
		const { body } = await ask(`POST /tasks/${taskId}/summary`, { json });
		expect(body).toEqual({ task_id: taskId, summary: expect.stringContaining('lecture') });
		expect((await ask(`GET /tasks/${taskId}/result`)).body['summary']).toBe(body['summary']);
	});
});
