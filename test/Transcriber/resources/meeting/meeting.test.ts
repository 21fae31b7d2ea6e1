// Also covers index.ts, cancel.ts, get.ts, sendBot.ts, wait.ts, nodes/shared/parameters/meetingLaunch.ts,
// nodes/shared/parameters/recordingLink.ts.

import { CALLED_OFF } from '../../../../nodes/shared/api/calledOffBot';
import { describeWaiting, describeWebhookTo } from '../../../support/completion';
import { failureOf, itemsOf, serviceForTests } from '../../../support/service';
import { workflowWith } from '../../../support/suspended';
import { giveUpSoon, shortenRetries } from '../../../support/scale';
import { few, long } from '../../../support/long';
import { until } from '../../../simulator/testing-client';

const service = serviceForTests();

const MEETING_URL = 'https://meet.example.com/abc-defg-hij';
const BOT = {
	resource: 'meeting',
	operation: 'sendBot',
	meetingUrl: MEETING_URL,
	consentAcknowledged: true,
};
const HOUR_MS = 3600 * 1000;

/** So many hours from now, with the offset of Moscow. */
function inHours(hours: number): string {
	const local = new Date(Date.now() + (hours + 3) * HOUR_MS).toISOString();
	return local.replace(/\.\d+Z$/, '+03:00');
}

function run(operation: string, parameters = {}, more = {}) {
	return service.run({ resource: 'meeting', operation, ...parameters }, more);
}

describe('meeting.sendBot', () => {
	it('sends POST /meeting with link and consent in a JSON body, and nothing else', async () => {
		await service.run(BOT);
		const request = service.sent();
		expect(request).toMatchObject({ method: 'POST', path: '/api/v1/meeting', query: {} });
		expect(request.body).toEqual({ meeting_url: MEETING_URL, consent_acknowledged: true });
		expect(request.headers['content-type']).toMatch(/^application\/json\b/);
		expect(request.headers['x-api-key']).toBe('test-api-key');
		expect(request.headers).not.toHaveProperty('idempotency-key');
	});

	it('outputs bot_id and status joining, paired', async () => {
		const { items } = await service.run(BOT);
		const [bot] = service.running().bots();
		expect(items).toEqual([
			{ json: { bot_id: bot?.id, status: 'joining' }, pairedItem: { item: 0 } },
		]);
	});

	it('startAt is sent as start_at with its offset; the output has scheduled_start_at', async () => {
		const startAt = inHours(2);
		const { json, error } = await service.run({ ...BOT, startAt });
		expect(error).toBeUndefined();
		expect(service.sent().body).toEqual({
			meeting_url: MEETING_URL,
			consent_acknowledged: true,
			start_at: startAt,
		});
		expect(json).toEqual([
			{
				bot_id: expect.any(String),
				status: 'scheduled',
				scheduled_start_at: new Date(startAt).toISOString(),
			},
		]);
	});

	it.each(["={{ $now.plus(1, 'hour').toISO() }}", "={{ $now.plus(1, 'hour').toUTC().toISO() }}"])(
		'startAt may be %s',
		async (startAt) => {
			const { json, error } = await service.run({ ...BOT, startAt });
			expect(error).toBeUndefined();
			expect(json).toMatchObject([{ status: 'scheduled' }]);
		},
	);

	it('startAt may be a date and time object of n8n itself', async () => {
		const { json, error } = await service.run({
			...BOT,
			startAt: "={{ $now.plus(1, 'hour') }}",
		});
		expect(error).toBeUndefined();
		expect(json).toMatchObject([{ status: 'scheduled' }]);
	});

	it('consent that is a blank text counts as none', async () => {
		const { error } = await service.run({ ...BOT, consentAcknowledged: '={{ " " }}' });
		expect(error).toMatchObject(failureOf(0, "'Consent Acknowledged' is off, so no bot was sent"));
		expect(service.lines()).toEqual([]);
	});

	it('startAt left empty means now', async () => {
		await service.run({ ...BOT, startAt: '' });
		expect(service.sent().body).not.toHaveProperty('start_at');
	});

	it('takes link, consent and start from expressions per item', async () => {
		const start = inHours(1);
		const later = inHours(2);
		await service.run(
			{
				...BOT,
				meetingUrl: '={{ $json.link }}',
				consentAcknowledged: '={{ $json.consent }}',
				startAt: '={{ $json.start }}',
			},
			{
				items: itemsOf(
					{ link: 'https://meet.example.com/a', consent: true, start: later },
					{ link: 'https://zoom.example.com/b', consent: true, start },
				),
			},
		);
		const bodies = service.running().requests.map(({ body }) => body);
		expect(bodies).toHaveLength(2);
		expect(bodies).toEqual(
			expect.arrayContaining([
				{
					meeting_url: 'https://meet.example.com/a',
					consent_acknowledged: true,
					start_at: later,
				},
				{
					meeting_url: 'https://zoom.example.com/b',
					consent_acknowledged: true,
					start_at: start,
				},
			]),
		);
	});

	it('402 api_balance_exhausted is an error that says that no bot was sent', async () => {
		service.running().configure({ balance: 0 });
		const { error } = await service.run(BOT);
		expect(error).toMatchObject(failureOf(0, 'The balance is empty, so no bot was sent'));
		expect(error?.httpCode).toBe('402');
		expect(service.lines()).toHaveLength(1);
	});

	it('400 invalid_meeting_url is an error that names the parameter', async () => {
		const { error } = await service.run({ ...BOT, meetingUrl: 'https://example.com/abc' });
		expect(error).toMatchObject(
			failureOf(0, "The service does not accept the link in 'Meeting URL'"),
		);
	});

	describe('onCompletion', () => {
		describeWebhookTo({
			service,
			parameters: BOT,
			item: () => ({ json: {} }),
			isShownElsewhere: true,
		});
	});

	describe('onCompletion poll', () => {
		const waitFor = (waitOptions = {}) =>
			service.run({
				...BOT,
				onCompletion: 'poll',
				waitOptions: { pollInterval: 0.05, ...waitOptions },
			});
		const botIn = async (phase: string) => {
			await until(() => service.running().bots()[0]?.phase === phase);
			return service.running().bots()[0]?.id ?? '';
		};
		const looks = (botId: string) =>
			service.lines().filter((line) => line === `GET /api/v1/meeting/${botId}`).length;

		it.each(['null', 'emptyString', 'absent'] as const)(
			'asks for the bot until its recording has a task (task_id before: %s)',
			async (emptyTaskId) => {
				service.running().configure({ shapes: { emptyTaskId } });
				const outcome = waitFor({ includeResult: false });
				const botId = await botIn('recording');
				await until(() => looks(botId) >= 2);
				service.running().endMeeting(botId);
				const taskId = service.running().bot(botId).taskId ?? '';
				service.running().finish(taskId);
				expect((await outcome).json).toEqual([
					expect.objectContaining({ task_id: taskId, status: 'completed' }),
				]);
			},
		);

		it('a bot that is cancelled before there is a recording is an error that names it', async () => {
			const outcome = waitFor();
			const botId = await botIn('recording');
			service.running().configure({ shapes: { stoppedRecording: 'discarded' } });
			await service.ask(`DELETE /meeting/${botId}`);
			const { error } = await outcome;
			expect(error).toMatchObject(failureOf(0, `Meeting bot ${botId} was cancelled`));
			expect(error?.description).toMatch(/If it had recorded.*Meeting: Get/);
			expect(error?.description).not.toContain('charged');
		});

		it('a bot whose recording was stopped is waited for although it is cancelled at first', async () => {
			const outcome = waitFor();
			const botId = await botIn('recording');
			service.running().fault({
				match: { method: 'GET', path: `/meeting/${botId}$` },
				times: 3,
				action: { kind: 'respond', status: 200, body: { bot_id: botId, status: 'cancelled' } },
			});
			await service.ask(`DELETE /meeting/${botId}`);
			const taskId = service.running().bot(botId).taskId ?? '';
			service.running().finish(taskId);
			expect((await outcome).json).toMatchObject([{ task_id: taskId, status: 'completed' }]);
		});

		few.it.each([
			['for some looks', 180, {}],
			['for some time', 180, { looks: 1e6, mayGetTaskMs: 200 }],
			["until 'Timeout'", 0.01, { looks: 1e6 }],
		])('a bot that stays cancelled is waited for only %s', async (_what, timeout, limits) => {
			for (const [name, value] of Object.entries(limits)) {
				jest.replaceProperty(CALLED_OFF, name as keyof typeof CALLED_OFF, value as number);
			}
			service.running().configure({ shapes: { stoppedRecording: 'discarded' } });
			const botId = await service.bot();
			await service.ask(`DELETE /meeting/${botId}`);
			const { error } = await run('wait', {
				botId,
				waitOptions: { pollInterval: 0.02, timeout },
			});
			expect(error).toMatchObject(failureOf(0, `Meeting bot ${botId} was cancelled`));
			expect(looks(botId)).toBeGreaterThan(2);
		});

		long.it(
			"'Timeout' counts from the start of a scheduled bot, although the first look fails",
			async () => {
				giveUpSoon();
				const start = Date.now() + 3_000;
				const botId = await service.bot({ start_at: new Date(start).toISOString() });
				service.running().fault({
					match: { method: 'GET', path: `/meeting/${botId}$` },
					times: 1,
					action: { kind: 'respond', status: 500 },
				});
				const waitOptions = { timeout: 0.01, pollInterval: 0.05 };
				expect((await run('wait', { botId, waitOptions })).error).toBeDefined();
				expect(Date.now()).toBeGreaterThan(start);
			},
		);

		it('a bot that outlives the timeout is an error that names it', async () => {
			const outcome = waitFor({ timeout: 0.04 });
			const botId = await botIn('recording');
			const { error } = await outcome;
			expect(error?.message).toContain(`bot ${botId}`);
			expect(error?.message).toContain('0.04 minutes (status: recording)');
		});

		describeWaiting({
			service,
			startWaiting: async (waitOptions) => {
				const outcome = waitFor(waitOptions);
				const botId = await botIn('recording');
				service.running().endMeeting(botId);
				return { taskId: service.running().bot(botId).taskId ?? '', outcome };
			},
			fileNameFor: (taskId) => taskId,
			acceptedNote: () => ` (bot ${service.running().bots()[0]?.id} was accepted by the service)`,
			mayAwaitBalance: false,
			isShownElsewhere: true,
		});
	});
});

describe('meeting.get', () => {
	it('sends GET /meeting/{bot_id} without query or body', async () => {
		const botId = await service.bot();
		await run('get', { botId });
		expect(service.sent()).toMatchObject({
			method: 'GET',
			path: `/api/v1/meeting/${botId}`,
			query: {},
			bodyBytes: 0,
		});
	});

	it('outputs the bot with the names of the service, with the task once there is one', async () => {
		const botId = await service.bot();
		const { items } = await run('get', { botId });
		expect(items).toEqual([
			{
				json: { bot_id: botId, status: expect.any(String), task_id: null },
				pairedItem: { item: 0 },
			},
		]);
		service.running().endMeeting(botId);
		const { taskId } = service.running().bot(botId);
		const { json } = await run('get', { botId });
		expect(json).toEqual([{ bot_id: botId, status: 'processing', task_id: taskId }]);
	});

	it('outputs scheduled_start_at of a scheduled bot', async () => {
		const start_at = new Date(Date.now() + HOUR_MS).toISOString();
		const botId = await service.bot({ start_at });
		const { json } = await run('get', { botId });
		expect(json).toMatchObject([{ status: 'scheduled', scheduled_start_at: start_at }]);
	});

	it('takes the bot from an expression per item', async () => {
		const ids = [await service.bot(), await service.bot()];
		const { json } = await run(
			'get',
			{ botId: '={{ $json.bot_id }}' },
			{ items: itemsOf({ bot_id: ids[1] }, { bot_id: ids[0] }) },
		);
		expect(json.map(({ bot_id: id }) => id)).toEqual([ids[1], ids[0]]);
	});

	it('a bot that the service does not know is an error that names the parameter', async () => {
		const { error } = await run('get', { botId: 'nobody' });
		expect(error).toMatchObject(failureOf(0, 'The service has no meeting bot with this ID'));
		expect(error?.description).toContain("'Bot ID'");
		expect(error?.httpCode).toBe('404');
	});
});

describe('meeting.cancel', () => {
	it('sends DELETE /meeting/{bot_id} without query or body', async () => {
		const botId = await service.bot();
		await run('cancel', { botId });
		expect(service.sent()).toMatchObject({
			method: 'DELETE',
			path: `/api/v1/meeting/${botId}`,
			query: {},
			bodyBytes: 0,
		});
	});

	it('cancels a scheduled bot and outputs what the service answers, paired', async () => {
		const start_at = new Date(Date.now() + HOUR_MS).toISOString();
		const botId = await service.bot({ start_at });
		const { items } = await run('cancel', { botId });
		expect(service.running().bot(botId).phase).toBe('cancelled');
		expect(items).toEqual([
			{
				json: expect.objectContaining({ bot_id: botId, status: 'cancelled' }),
				pairedItem: { item: 0 },
			},
		]);
	});

	it('stops a running recording', async () => {
		const botId = await service.bot();
		await until(() => service.running().bot(botId).phase === 'recording');
		const { json } = await run('cancel', { botId });
		const { taskId } = service.running().bot(botId);
		expect(json).toMatchObject([{ bot_id: botId, task_id: taskId }]);
	});

	few.it.each([
		['message', { message: 'Done' }],
		['empty', {}],
	] as const)('reads the answer in the shape "%s"', async (cancelBotAnswer, json) => {
		service.running().configure({ shapes: { cancelBotAnswer } });
		const { items } = await run('cancel', { botId: await service.bot() });
		expect(items).toEqual([{ json, pairedItem: { item: 0 } }]);
	});

	it('takes the bot from an expression per item', async () => {
		const ids = [await service.bot(), await service.bot()];
		const { json } = await run(
			'cancel',
			{ botId: '={{ $json.bot_id }}' },
			{ items: itemsOf({ bot_id: ids[1] }, { bot_id: ids[0] }) },
		);
		expect(json.map(({ bot_id: id }) => id)).toEqual([ids[1], ids[0]]);
	});

	it('says that the bot may go on if a gateway loses its connection, and then its route', async () => {
		const botId = await service.bot();
		const lose = (method: string, status: number, body: string) =>
			service.running().fault({
				match: { method, path: '/meeting/[^/]+$' },
				times: method === 'DELETE' && status === 503 ? 1 : 99,
				action: { kind: 'respond', status, body, headers: { 'content-type': 'text/plain' } },
			});
		lose('DELETE', 503, 'upstream connect error or disconnect/reset before headers');
		lose('DELETE', 404, '');
		lose('GET', 404, '');
		const { json, error } = await run('cancel', { botId });
		expect(json).toEqual([]);
		expect(error).toMatchObject(
			failureOf(0, 'It is not certain that the meeting bot is cancelled'),
		);
		expect(error?.description).toMatch(/Look at its status.*costs money.*HTTP 404/);
		expect(service.running().bot(botId).phase).not.toBe('cancelled');
	});

	it.each([400, 409])(
		'a first DELETE that is refused (%d) is no success, although the service does not know the bot then',
		async (status) => {
			const body = { detail: 'Not now' };
			const action = { kind: 'respond', status, body } as const;
			service.running().fault({ match: { method: 'DELETE' }, action });
			const { json, error } = await run('cancel', { botId: 'nobody' });
			expect(json).toEqual([]);
			expect(error?.httpCode).toBe(String(status));
			expect(service.lines()).toEqual([
				'DELETE /api/v1/meeting/nobody',
				'GET /api/v1/meeting/nobody',
			]);
		},
	);

	it('a bot that the service does not know is an error that names the parameter', async () => {
		const { error } = await run('cancel', { botId: 'nobody' });
		expect(error).toMatchObject(failureOf(0, 'The service has no meeting bot with this ID'));
	});
});

describe('meeting.wait', () => {
	it('looks at the bot until it has a task, then at the task, and outputs its result', async () => {
		const botId = await service.bot();
		const outcome = run('wait', { botId, waitOptions: { pollInterval: 0.05 } });
		const looks = () => service.lines().filter((line) => line.endsWith(`/meeting/${botId}`));
		await until(() => looks().length > 1);
		service.running().endMeeting(botId);
		const taskId = String(service.running().bot(botId).taskId);
		service.running().finish(taskId);
		const { items, error } = await outcome;
		expect(error).toBeUndefined();
		expect(items).toEqual([
			{
				json: expect.objectContaining({ task_id: taskId, bot_id: botId, status: 'completed' }),
				pairedItem: { item: 0 },
			},
		]);
		expect(items[0]?.json).toHaveProperty('text');
		expect(service.lines().every((line) => line.startsWith('GET '))).toBe(true);
	});

	it('a bot that the service does not know is an error that names the parameter', async () => {
		const { error } = await run('wait', { botId: 'nobody' });
		expect(error).toMatchObject(failureOf(0, 'The service has no meeting bot with this ID'));
		expect(error?.description).toContain("'Bot ID'");
	});
});

few.describe.each(['Europe/Moscow', 'UTC', 'America/New_York'])(
	'a scheduled bot whose start is answered in UTC without an offset, in %s',
	(zone) => {
		const before = process.env['TZ'];
		beforeEach(() => void (process.env['TZ'] = zone));
		afterEach(() => {
			if (before === undefined) delete process.env['TZ'];
			else process.env['TZ'] = before;
		});
		const answered = (start: number, line: { method: string; path: string }) =>
			service.running().fault({
				match: line,
				times: 1e6,
				action: {
					kind: 'respond',
					status: 200,
					readBody: true,
					body: {
						bot_id: 'b1',
						status: 'scheduled',
						scheduled_start_at: new Date(start).toISOString().slice(0, -1),
					},
				},
			});
		const waitOptions = { pollInterval: 0.05, timeout: 0.01 };
		const GET = { method: 'GET', path: '/meeting/' };

		few.it.each(['sent', 'answered'])(
			'is polled until Timeout after the later start: %s',
			async (later) => {
				const start = Date.now() + 1500;
				const earlier = start - 1000;
				answered(later === 'sent' ? earlier : start, { method: 'POST', path: '/meeting$' });
				answered(earlier, GET);
				const startAt = new Date(later === 'sent' ? start : earlier).toISOString();
				const { error } = await service.run({ ...BOT, startAt, onCompletion: 'poll', waitOptions });
				expect(error?.message).toMatch(/has not ended within/);
				expect(Date.now()).toBeGreaterThanOrEqual(start + 600);
				expect(Date.now()).toBeLessThan(start + 30_000);
			},
		);

		it('is slept for until Timeout after its start', async () => {
			const start = Date.now() + 4 * HOUR_MS;
			answered(start, { method: 'POST', path: '/meeting$' });
			const parameters = { ...BOT, startAt: new Date(start).toISOString() };
			const workflow = workflowWith(
				{ ...parameters, onCompletion: 'awaitWebhook', waitOptions },
				service.credentials(),
			);
			const { data } = await workflow.start(itemsOf({}));
			const until = new Date(String(data.waitTill)).getTime();
			expect(Math.abs(until - start - 600)).toBeLessThan(2000);
		});

		long.it('is not given up by meeting.wait before its start', async () => {
			const start = Date.now() + HOUR_MS;
			answered(start, GET);
			let isOver = false;
			const began = Date.now();
			const outcome = run(
				'wait',
				{ botId: 'b1', waitOptions },
				{ cancelWhen: () => (isOver ||= Date.now() - began > 1500) },
			);
			const { error } = await outcome;
			expect(isOver).toBe(true);
			expect(error?.message ?? '').not.toMatch(/has not ended/);
		});
	},
);

few.it.each([
	['zoommtg://meet.example.com/join', 'is not a web address'],
	['mailto:host@example.com', 'is not a web address'],
	['https://meet.example.com/abc Passcode: 1', 'has a blank or a line break in it'],
	[
		'https://meet.example.com/abc\nhttps://meet.example.com/def',
		'has a blank or a line break in it',
	],
])('a meeting link that is none is refused before anything is sent: %j', async (url, reason) => {
	const { error } = await service.run(
		{
			resource: 'meeting',
			operation: 'sendBot',
			meetingUrl: '={{ $json.url }}',
			consentAcknowledged: true,
		},
		{ items: [{ json: { url } }] },
	);
	expect(error?.message).toBe(`'Meeting URL' ${reason}: '${url}' [item 0]`);
	expect(service.lines()).toEqual([]);
});

it('a bot whose start has passed while it waited for its turn is not sent: it could come late, and be charged', async () => {
	shortenRetries(1);
	const match = { method: 'POST', path: '/meeting$' };
	const headers = { 'Retry-After': '2' };
	const body = { detail: 'Too many bots today' };
	service
		.running()
		.fault({ match, times: 1, action: { kind: 'respond', status: 429, headers, body } });
	const startAt = new Date(Date.now() + 1_500).toISOString();
	const failed = await service.run({ ...BOT, startAt });
	// The last look of a wait that an earlier test has stopped may still come in.
	const launches = service.lines().filter((line) => line.startsWith('POST'));
	expect(launches).toEqual(['POST /api/v1/meeting']);
	expect(failed.error?.message).toMatch(/^'Start At' has passed before the service took/);
	expect(failed.error?.description).toContain('Choose a later time');
	expect(failed.error?.description).toContain('Too many bots today');
	// Nothing is remembered as sent, so the next run sends it.
	const again = await service.run(BOT, { executionId: '2' });
	expect(again.error).toBeUndefined();
});
