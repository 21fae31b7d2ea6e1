import { createHash } from 'node:crypto';

import { AUDIO, rawUpload, simulatorForTests, until } from './testing-client';
import { long } from '../support/long';

const { running, ask, submit } = simulatorForTests();

const JSON_URL = { json: { url: 'https://files.example.com/a.mp3' } };
const BOT = { json: { meeting_url: 'https://zoom.example.com/1', consent_acknowledged: true } };
const MB = 1024 ** 2;

describe('Requests per minute per key', () => {
	beforeEach(() => running().configure({ rateLimits: true, clockRate: 1, tasksInProgress: 100 }));

	it('10 of POST /transcribe, with POST /transcribe-url', async () => {
		for (let count = 0; count < 5; count++) {
			await submit();
			expect((await ask('POST /transcribe-url', JSON_URL)).status).toBe(200);
		}
		expect((await ask('POST /transcribe', { file: AUDIO })).status).toBe(429);
		expect((await ask('POST /transcribe-url', JSON_URL)).status).toBe(429);
		expect((await ask('GET /account')).status).toBe(200);
	});

	long.it('20 of POST /meeting', async () => {
		for (let count = 0; count < 20; count++) {
			expect((await ask('POST /meeting', BOT)).status).toBe(200);
		}
		expect((await ask('POST /meeting', BOT)).status).toBe(429);
	});

	it('5 of summary regeneration', async () => {
		const regenerateSummary = { method: 'POST', path: '/tasks/{taskId}/summary' };
		running().configure({ shapes: { regenerateSummary } });
		const taskId = await submit();
		running().finish(taskId);
		for (let count = 0; count < 5; count++) await ask(`POST /tasks/${taskId}/summary`);
		expect((await ask(`POST /tasks/${taskId}/summary`)).status).toBe(429);
	});

	it('60 of all others together; the body has no error_code and there is no Retry-After', async () => {
		const paths = ['GET /account', 'GET /tasks', 'GET /dictionary'];
		for (let count = 0; count < 20; count++) for (const path of paths) await ask(path);
		const { status, body, headers } = await ask('GET /account');
		expect(status).toBe(429);
		expect(body).toEqual({ detail: { message: expect.any(String) } });
		expect(headers.get('retry-after')).toBeNull();
	});

	it('is a sliding window, in which refused requests do not count', async () => {
		for (let count = 0; count < 20; count++) await ask('POST /meeting', BOT);
		expect((await ask('POST /meeting', BOT)).status).toBe(429);
		running().configure({ clockRate: 200 });
		await new Promise((resolve) => setTimeout(resolve, 320));
		expect((await ask('POST /meeting', BOT)).status).toBe(200);
	});

	it('Retry-After in seconds or as a date where the shape says so', async () => {
		for (let count = 0; count < 20; count++) await ask('POST /meeting', BOT);
		running().configure({ shapes: { retryAfter: 'seconds' } });
		const seconds = (await ask('POST /meeting', BOT)).headers.get('retry-after');
		expect(Number(seconds)).toBeGreaterThan(50);
		expect(Number(seconds)).toBeLessThanOrEqual(60);
		running().configure({ shapes: { retryAfter: 'date' } });
		const date = (await ask('POST /meeting', BOT)).headers.get('retry-after') ?? '';
		expect(Date.parse(date)).toBeGreaterThan(Date.now() + 50_000);
	});

	long.it('a new key has a new window', async () => {
		for (let count = 0; count < 60; count++) await ask('GET /account');
		expect((await ask('POST /api-key/generate')).status).toBe(429);
		running().configure({ apiKey: 'another' });
		expect((await ask('GET /account')).status).toBe(200);
	});
});

describe('Tasks in progress', () => {
	it('429 when more than 20 tasks are in progress', async () => {
		for (let count = 0; count < 20; count++) await submit();
		expect((await ask('POST /transcribe', { file: AUDIO })).status).toBe(429);
		expect((await ask('POST /transcribe-url', JSON_URL)).status).toBe(429);
		const [newest] = running().tasks();
		running().finish(newest?.id ?? '');
		expect((await ask('POST /transcribe', { file: AUDIO })).status).toBe(200);
	});

	it('parallel uploads cannot pass the limit together', async () => {
		running().configure({ tasksInProgress: 2 });
		running().fault({ match: {}, times: 4, action: { kind: 'slowRead', bytesPerSecond: 2000 } });
		const answers = await Promise.all(
			[1, 2, 3, 4].map(async () => await ask('POST /transcribe', { file: AUDIO })),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
		expect(running().uploadsAtOnce).toBeGreaterThan(1);
	});
});

describe('File size', () => {
	it('413 as soon as the announced length is above 8 GB', async () => {
		const { status } = await rawUpload(running(), { fileBytes: 8 * 1024 ** 3 + 2 * MB });
		expect(status).toBe(413);
		expect(running().requests[0]?.bodyBytes).toBeLessThan(1024 ** 3);
	});

	it('413 without error_code as soon as the bytes are too many, when no length was announced', async () => {
		running().configure({ maxFileBytes: 4 * MB });
		const { status, body } = await rawUpload(running(), { fileBytes: 64 * MB, chunked: true });
		expect(status).toBe(413);
		expect(JSON.parse(body)).toEqual({ detail: { message: expect.any(String) } });
		expect(running().tasks()).toEqual([]);
	});

	it('a file of exactly the limit is taken', async () => {
		running().configure({ maxFileBytes: MB });
		expect((await rawUpload(running(), { fileBytes: MB })).status).toBe(200);
		expect((await rawUpload(running(), { fileBytes: MB + 1 })).status).toBe(413);
	});

	long.it('an upload is hashed while it passes and not held', async () => {
		const before = process.memoryUsage().rss;
		expect((await rawUpload(running(), { fileBytes: 128 * MB })).status).toBe(200);
		expect(process.memoryUsage().rss - before).toBeLessThan(96 * MB);
		const block = Buffer.alloc(64 * 1024, 'simulated');
		const hash = createHash('sha256');
		for (let count = 0; count < 2048; count++) hash.update(block);
		expect(running().requests[0]?.file).toMatchObject({
			size: 128 * MB,
			sha256: hash.digest('hex'),
		});
	});

	it('an upload that is cut creates no task', async () => {
		const cut = rawUpload(running(), { fileBytes: 8 * MB, hangUpAfter: MB });
		await expect(cut).rejects.toThrow('hung up');
		await until(() => (running().requests[0]?.bodyBytes ?? 0) > 0);
		await new Promise((resolve) => setTimeout(resolve, 30));
		expect(running().tasks()).toEqual([]);
		expect(running().requests[0]?.status).toBeUndefined();
	});

	it('a form without its end creates no task', async () => {
		const headers = { 'Content-Type': 'multipart/form-data; boundary=another' };
		expect((await rawUpload(running(), { fileBytes: 1000, headers })).status).toBe(422);
		expect(running().tasks()).toEqual([]);
	});
});

describe('Errors', () => {
	it.each([
		['object', { message: expect.any(String) }],
		['string', expect.any(String)],
		['list', [expect.objectContaining({ msg: expect.any(String) })]],
	] as const)('detail without error_code in the shape %s', async (errorDetail, detail) => {
		running().configure({ shapes: { errorDetail } });
		expect((await ask('GET /tasks/nobody')).body).toEqual({ detail });
	});

	it('404 for an unknown path, 405 for an unknown method', async () => {
		for (const path of ['/nothing', '/tasks/', '/tasks/a/b', '/account/']) {
			expect((await ask(`GET ${path}`)).status).toBe(404);
		}
		expect((await ask('DELETE /account')).status).toBe(405);
	});

	it('an encoded id stays one segment', async () => {
		expect((await ask('GET /tasks/..%2Faccount')).status).toBe(404);
		expect((await ask('GET /tasks/%E0%A4%A')).status).toBe(404);
		expect(running().requests[0]?.path).toBe('/api/v1/tasks/..%2Faccount');
	});

	it.each(['early', 'afterBody'] as const)('a refused upload is answered %s', async (shape) => {
		running().configure({ tasksInProgress: 0, shapes: { refuseUploads: shape } });
		const { status } = await rawUpload(running(), { fileBytes: 16 * MB });
		expect(status).toBe(429);
		const arrived = running().requests[0]?.bodyBytes ?? 0;
		if (shape === 'early') expect(arrived).toBeLessThan(16 * MB);
		else expect(arrived).toBeGreaterThan(16 * MB);
	});
});
