import { AUDIO, rawUpload, simulatorForTests, until } from './testing-client';

const { running, ask } = simulatorForTests();
const MB = 1024 ** 2;
const upload = { file: AUDIO, headers: { 'Idempotency-Key': 'same' } };

it('respond: the document’s error body when none is given', async () => {
	running().fault({ match: {}, times: 2, action: { kind: 'respond', status: 503 } });
	const { status, body } = await ask('GET /account');
	expect([status, body]).toEqual([
		503,
		{ detail: { error_code: 'service_unavailable', message: expect.any(String) } },
	]);
	expect((await ask('GET /account')).status).toBe(503);
	expect((await ask('GET /account')).status).toBe(200);
	expect(running().requests.map((request) => request.status)).toEqual([503, 503, 200]);
});

it('respond: any status, headers and body, also one that is not JSON', async () => {
	running().fault({
		match: { method: 'get', path: '^/api/v1/tasks' },
		skip: 1,
		action: {
			kind: 'respond',
			status: 502,
			body: '<html>Bad gateway</html>',
			headers: { 'Content-Type': 'text/html', 'Retry-After': '3' },
		},
	});
	expect((await ask('GET /account')).status).toBe(200);
	expect((await ask('GET /tasks')).status).toBe(200);
	const { status, body, headers } = await ask('GET /tasks');
	expect([status, body]).toEqual([502, { text: '<html>Bad gateway</html>' }]);
	expect(headers.get('retry-after')).toBe('3');
});

it.each([
	[false, 'before'],
	[true, 'after'],
])('respond with readBody %s answers %s the body was read', async (readBody) => {
	running().fault({ match: {}, action: { kind: 'respond', status: 500, readBody } });
	expect((await rawUpload(running(), { fileBytes: 16 * MB })).status).toBe(500);
	const whole = (running().requests[0]?.bodyBytes ?? 0) > 16 * MB;
	expect(whole).toBe(readBody);
});

it('delay: answers later', async () => {
	running().fault({ match: {}, action: { kind: 'delay', ms: 80 } });
	const started = Date.now();
	expect((await ask('GET /account')).status).toBe(200);
	expect(Date.now() - started).toBeGreaterThanOrEqual(75);
});

it.each(['beforeBody', 'afterBody'] as const)('cut %s: nothing is processed', async (when) => {
	running().fault({ match: {}, action: { kind: 'cut', when } });
	await expect(ask('POST /transcribe', upload)).rejects.toThrow('fetch failed');
	expect(running().tasks()).toEqual([]);
	expect(running().requests[0]?.status).toBeUndefined();
	expect((await ask('POST /transcribe', upload)).status).toBe(200);
});

it('cut midBody: after so many bytes', async () => {
	running().fault({ match: {}, action: { kind: 'cut', when: 'midBody', afterBytes: 5 * MB } });
	await expect(rawUpload(running(), { fileBytes: 16 * MB })).rejects.toThrow();
	expect(running().requests[0]?.bodyBytes).toBeGreaterThanOrEqual(5 * MB);
	expect(running().requests[0]?.bodyBytes).toBeLessThan(6 * MB);
	expect(running().tasks()).toEqual([]);
});

it('cut midBody in a body that is shorter', async () => {
	running().fault({ match: {}, action: { kind: 'cut', when: 'midBody', afterBytes: 5 * MB } });
	await expect(ask('POST /transcribe', upload)).rejects.toThrow('fetch failed');
	expect(running().tasks()).toEqual([]);
});

it('cut afterProcessing: accepted, and the repeat gets the same task', async () => {
	running().fault({ match: {}, action: { kind: 'cut', when: 'afterProcessing' } });
	await expect(ask('POST /transcribe', upload)).rejects.toThrow('fetch failed');
	const [task] = running().tasks();
	expect((await ask('POST /transcribe', upload)).body['task_id']).toBe(task?.id);
	expect(running().tasks()).toHaveLength(1);
});

it('stall: never answers', async () => {
	running().fault({ match: {}, action: { kind: 'stall' } });
	const asked = fetch(`${running().url}/api/v1/account`, { signal: AbortSignal.timeout(100) });
	await expect(asked).rejects.toThrow('timeout');
});

it('slowRead: takes its time for the body', async () => {
	const bytesPerSecond = 10 * MB;
	running().fault({ match: {}, action: { kind: 'slowRead', bytesPerSecond } });
	const started = Date.now();
	expect((await rawUpload(running(), { fileBytes: 2 * MB })).status).toBe(200);
	expect(Date.now() - started).toBeGreaterThanOrEqual(190);
});

it('redirect: points elsewhere', async () => {
	const location = 'http://127.0.0.1:1/elsewhere';
	running().fault({ match: {}, action: { kind: 'redirect', location, status: 307 } });
	const { status, headers } = await ask('GET /account');
	expect([status, headers.get('location')]).toEqual([307, location]);
});

it('an action that does not fit its match is refused', () => {
	expect(() => running().fault({ match: {}, action: { kind: 'forge' } })).toThrow('allows only');
});

it('cut midAnswer: accepted, and the connection breaks in the middle of the answer', async () => {
	running().fault({ match: {}, action: { kind: 'cut', when: 'midAnswer', afterBytes: 9 } });
	await expect(ask('POST /transcribe', upload)).rejects.toThrow();
	expect(running().tasks()).toHaveLength(1);
});

it('garble: accepted, and a whole message holds the beginning of the answer, or something else', async () => {
	running().fault({ match: {}, action: { kind: 'garble', keepBytes: 12 } });
	const response = await fetch(`${running().url}/api/v1/account`, {
		headers: { 'X-API-Key': running().apiKey },
	});
	expect([response.status, await response.text()]).toEqual([200, '{"account_id']);
	running().fault({ match: {}, action: { kind: 'garble', body: '' } });
	const { status, body } = await ask('POST /transcribe', upload);
	expect([status, body, running().tasks().length]).toEqual([200, { text: '' }, 1]);
	running().fault({ match: {}, action: { kind: 'garble', body: '', status: 502 } });
	expect((await ask('POST /transcribe', upload)).status).toBe(502);
});

it('delay with processed: the service has done it before it answers', async () => {
	running().fault({ match: {}, action: { kind: 'delay', ms: 300, processed: true } });
	const answer = ask('POST /transcribe', upload);
	await until(() => running().tasks().length === 1);
	expect(running().requests[0]?.status).toBeUndefined();
	expect((await answer).status).toBe(200);
});

it('down: the request is answered, then connections are refused for a while, and nothing is lost', async () => {
	running().fault({ match: {}, action: { kind: 'down', ms: 2_000 } });
	expect((await ask('POST /transcribe', upload)).status).toBe(200);
	await expect(ask('GET /account')).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
	const isBack = async () => (await ask('GET /account')).status === 200;
	await until(async () => await isBack().catch(() => false));
	expect(running().tasks()).toHaveLength(1);
});

it('forMs: holds from the first request that meets it', async () => {
	running().fault({ match: {}, forMs: 2_000, action: { kind: 'respond', status: 503 } });
	expect((await ask('GET /account')).status).toBe(503);
	expect((await ask('GET /account')).status).toBe(503);
	await until(async () => (await ask('GET /account')).status === 200);
});

it('clockAheadSeconds: the header Date shows the wrong time', async () => {
	running().configure({ clockAheadSeconds: 3600 });
	const { headers } = await ask('GET /account');
	const ahead = Date.parse(headers.get('date') ?? '') - Date.now();
	expect(Math.round(ahead / 60_000)).toBe(60);
});
