/** Contract, "Trigger node", source `meeting`: activating the workflow sends the bot. */
// Also covers cancelBotWhenUnpublished.ts, nodes/shared/webhook/backgroundCaller.ts, launchBot.ts.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { Expression, type INodeParameters, type WorkflowActivateMode } from 'n8n-workflow';

import { LIMITS } from '../../nodes/shared/api/rateLimits';
import { queueFor } from '../../nodes/shared/api/waitForTurn';
import { ACTIVATION } from '../../nodes/TranscriberTrigger/launchBot';
import { STORE } from '../../nodes/TranscriberTrigger/triggerMemory';
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import type { RequestFault, SimulatorOptions } from '../simulator/index';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { FAULTS_IN_SUCCESS } from '../support/faultsInSuccess';
import { few, long } from '../support/long';
import { until } from '../simulator/testing-client';
import { deliver } from './client';
import { pastGrace as afterGrace, withinGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();
const MEETING_URL = 'https://meet.example.com/weekly';
const GRACE_MS = 150;
/** As shipped. */
const CANCELS = { ...CANCEL_BOT };

let host: TriggerHost;
beforeEach(async () => {
	jest.replaceProperty(GRACE, 'ms', GRACE_MS);
	for (const name of Object.keys(CANCELS) as Array<keyof typeof CANCELS>) {
		jest.replaceProperty(CANCEL_BOT, name, CANCELS[name]);
	}
	await open();
});
afterEach(async () => {
	// A cancellation goes on after its hook, so it would come in the next test.
	if (launches() > 1 || host.stored.bot?.releasedAt !== undefined) await pastGrace();
	await host.close();
	// It would be repeated in the next test if it were cut here.
	const isOpen = () => service.running().requests.some((request) => isUnansweredCancel(request));
	for (let tries = 0; tries < 50 && isOpen(); tries++) await sleep(10);
});

function isUnansweredCancel({ method, status }: { method: string; status?: number }): boolean {
	return method === 'DELETE' && status === undefined;
}

async function open(parameters: INodeParameters = {}, baseUrl = service.running().url) {
	await host?.close();
	host = await new TriggerHost({
		credentials: service.credentials({ baseUrl }),
		parameters: {
			source: 'meeting',
			meetingUrl: MEETING_URL,
			consentAcknowledged: true,
			...parameters,
		},
	}).open();
}

const BUSY: RequestFault = { kind: 'respond', status: 429, headers: { 'retry-after': '30' } };

const launches = () => service.lines().filter((line) => line === 'POST /api/v1/meeting').length;
const bots = () => service.running().bots();
const calledBack = () =>
	service
		.lines()
		.filter((line) => line.startsWith('DELETE'))
		.map((line) => line.replace('DELETE /api/v1/meeting/', ''));
const theBot = () => {
	const [bot, ...others] = bots();
	if (!bot || others.length > 0) throw new Error(`Not one bot, but ${bots().length}`);
	return bot;
};
const pastGrace = async () => await afterGrace(service, GRACE_MS);

/** What n8n does when a new version of an active workflow is published. */
async function publish(mode: WorkflowActivateMode = 'update') {
	await withinGrace(async () => {
		await host.deactivate();
		await host.activate(mode);
	});
}

const PAGE = '<html><h1>404 Not Found</h1></html>';
const gatewayAnswer = (body: string | object): RequestFault => ({
	kind: 'respond',
	status: 404,
	body,
	...(typeof body === 'string' && { headers: { 'content-type': 'text/plain' } }),
});
/** None of them is the word of the service. */
const GATEWAY_404: Array<[string, RequestFault]> = [
	['the 404 of a proxy', { kind: 'respond', status: 404, body: PAGE }],
	['the 404 of Traefik', gatewayAnswer('404 page not found\n')],
	['the 404 of Envoy', gatewayAnswer('')],
	['the 404 of Kubernetes', gatewayAnswer('default backend - 404')],
	['the 404 of Kong', gatewayAnswer({ message: 'no Route matched with those values' })],
];

describe('Activation', () => {
	it("sends the bot with this trigger's address as its webhook", async () => {
		// Whole seconds, because the node leaves out `.000`.
		const startAt = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '');
		await open({ startAt });
		await host.activate();
		expect(service.sent()).toMatchObject({
			method: 'POST',
			path: '/api/v1/meeting',
			body: {
				meeting_url: MEETING_URL,
				consent_acknowledged: true,
				start_at: startAt,
				webhook_url: host.url,
			},
		});
	});

	it('stores its id and its start in the clear, and its meeting only as a hash', async () => {
		const startAt = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19);
		await open({ startAt });
		await host.activate();
		expect(host.stored.bot).toEqual({
			id: theBot().id,
			startsAt: Date.parse(`${startAt}Z`),
			zone: 'UTC',
			fingerprint: expect.stringMatching(/^[\w-]{22}$/),
			account: expect.stringMatching(/^[\w-]{22}$/),
			address: expect.stringMatching(/^[\w-]{22}$/),
			sender: expect.stringMatching(/^[\w-]{22}$/),
			sentAt: expect.any(Number),
			changedAt: expect.any(Number),
		});
		for (const text of [MEETING_URL, host.url]) expect(host.saved).not.toContain(text);
	});

	it('without a start time sends none, and stores none', async () => {
		await host.activate();
		expect(service.sent().body).not.toHaveProperty('start_at');
		expect(host.stored.bot).not.toHaveProperty('startsAt');
	});

	it('keeps bot id and secret: the delivery starts the workflow, also after a restart', async () => {
		await host.activate();
		host.restart();
		const { id, webhookSecret = '' } = theBot();
		service.running().endMeeting(id);
		service.running().finish(String(theBot().taskId));
		await until(() => host.executions.length === 1);
		expect(host.executions[0]?.[0]?.json).toMatchObject({ bot_id: id, status: 'completed' });
		expect(host.saved).not.toContain(webhookSecret);
		const forged = { event: 'meeting.transcript.completed', bot_id: id, status: 'failed' };
		expect((await deliver(host.url, forged, 'another')).status).toBe(401);
	});

	few.it.each<[string, INodeParameters, string]>([
		[
			'no consent',
			{ consentAcknowledged: false },
			"'Consent Acknowledged' is off, so no bot was sent",
		],
		['no link', { meetingUrl: ' ' }, "'Meeting URL' is empty"],
		['what is no link', { meetingUrl: 'weekly' }, "'Meeting URL' is not a web address: 'weekly'"],
		[
			'a link with a missing value in it',
			{ meetingUrl: '={{ "https://meet.example.com/" + $vars.room }}' },
			"'Meeting URL' has 'undefined' in it",
		],
		['a start in the past', { startAt: '2020-01-01T10:00:00Z' }, "'Start At' is in the past"],
		[
			'a start more than 30 days ahead',
			{ startAt: '2099-01-01T10:00:00Z' },
			"'Start At' is more than 30 days ahead",
		],
	])('refuses %s before anything is sent', async (_, parameters, message) => {
		await open(parameters);
		await expect(host.activate()).rejects.toThrow(message);
		expect(service.lines()).toEqual([]);
	});

	it.each<[string, INodeParameters, string]>([
		['Trigger On without an event', { events: [] }, "'Trigger On' names no event of a meeting"],
		[
			'Trigger On from an expression that gives nothing',
			{ events: '={{ undefined }}' },
			"'Trigger On' names no event of a meeting",
		],
		[
			'events that no bot makes',
			{ events: ['transcriptionCompleted'] },
			"'Trigger On' names no event of a meeting",
		],
		['names of the panel', { events: ['Meeting Completed'] }, "'Trigger On' has to be"],
		[
			'a format that the service does not know',
			{ options: { exportFormat: 'pdf' } },
			"'Export Format' has to be",
		],
	])('refuses %s before a bot is paid for', async (_, parameters, message) => {
		await open(parameters);
		await expect(host.activate()).rejects.toThrow(message);
		expect(service.lines()).toEqual([]);
	});

	it('without a webhook secret in the answer the word of the service decides on each delivery', async () => {
		await open({ options: { includeResult: false } });
		const id = await service.bot();
		const body = { bot_id: id, status: 'joining' };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/meeting$' }, action });
		const logs = captureLogs();
		await host.activate();
		logs.release();
		expect(logs.of(host.node.name).join()).toContain(`no webhook secret for meeting bot ${id}`);
		service.running().endMeeting(id);
		const taskId = String(service.running().bot(id).taskId);
		service.running().finish(taskId);
		const event = { event: 'meeting.transcript.completed', bot_id: id, task_id: taskId };
		const delivery = { ...event, status: 'completed', note: 'not from the service' };
		expect((await deliver(host.url, delivery, 'a secret that nobody knows')).status).toBe(200);
		expect(host.executions).toEqual([
			[{ json: { bot_id: id, task_id: taskId, status: 'completed' } }],
		]);
	});

	it('the message itself says what to do next: n8n shows nothing else on publishing', async () => {
		await open({ consentAcknowledged: false });
		await expect(host.activate()).rejects.toThrow('Turn it on once the participants know');
		await open({}, service.running().url.replace('127.0.0.1', '0.0.0.0'));
		await expect(host.activate()).rejects.toThrow('Set the public https address of n8n');
		await open();
		service.running().configure({ balance: 0 });
		await expect(host.activate()).rejects.toThrow(/so no bot was sent\. \w/);
	});

	few.it.each(FAULTS_IN_SUCCESS)('a launch that is answered %j is not repeated', async (body) => {
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/meeting$' }, action, times: 2 });
		await expect(host.activate()).rejects.toThrow(/without the id of a bot, and says: \w/);
		await expect(host.activate()).rejects.toThrow('does not send another one');
		expect(launches()).toBe(1);
	});

	it.each([
		['no id', { status: 'joining' }],
		['an id that JavaScript has rounded', { bot_id: 2 ** 53 + 2, status: 'joining' }],
	])('a bot with %s in the answer is an error, and is not sent once more', async (_what, body) => {
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'respond', status: 200, body } });
		await expect(host.activate()).rejects.toThrow('without an id');
		await expect(host.activate()).rejects.toThrow(
			/does not send another one\. .*The launch ended like this: .* without an id/,
		);
		expect(launches()).toBe(1);
	});

	it.each([
		['in an envelope', (bot: object) => ({ data: bot })],
		['in a list', (bot: object) => [bot]],
		['in a list under its name', (bot: object) => ({ bots: [bot] })],
	])('takes a bot %s, with its secret', async (_, wrapped) => {
		const secret = 'secret-of-this-bot';
		const body = wrapped({ bot_id: 'b-77', status: 'joining', webhook_secret: secret });
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'respond', status: 200, body } });
		await open({ options: { includeResult: false } });
		await host.activate();
		expect(host.stored.bot).toMatchObject({ id: 'b-77' });
		expect(host.saved).not.toContain(secret);
		const delivery = { bot_id: 'b-77', task_id: 't-77', status: 'completed' };
		expect((await deliver(host.url, delivery, secret)).status).toBe(200);
		expect(host.executions).toHaveLength(1);
	});

	it.each<[unknown, string]>([
		[
			{ accepted: { reference: 'b-77' }, webhook_secret: 'secret-of-this-bot' },
			'{"accepted":{"reference":"b-77"}}',
		],
		[
			JSON.stringify('reference=b-77&webhook_secret=secret-of-this-bot'),
			'{"value":"reference=b-77&webhook_secret=***"}',
		],
		[
			{ note: 'Verify with secret-of-this-bot', webhook_secret: 'secret-of-this-bot' },
			'{"note":"Verify with ***"}',
		],
	])('shows an answer without an id, but no secret: %j', async (body, shown) => {
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'respond', status: 200, body } });
		const failure: unknown = await host.activate().catch((error: unknown) => error);
		expect(String(failure)).toContain(shown);
		expect(String(failure)).not.toContain('secret-of-this-bot');
	});

	it('refuses an address of n8n that the service cannot reach, and says what to set', async () => {
		// By this name the simulator is reached as well, but it is none of the loopback names.
		await open({}, service.running().url.replace('127.0.0.1', '0.0.0.0'));
		const failure = host.activate();
		await expect(failure).rejects.toThrow('The webhook address of this n8n');
		await expect(failure).rejects.toMatchObject({
			description: expect.stringContaining('N8N_WEBHOOK_URL'),
		});
		expect(service.lines()).toEqual([]);
	});

	it.each([[{ bot: 'b1' }], [{ data: 'b1' }], [[{ value: 'b1' }]]])(
		'knows its bot, so that it can be cancelled, by an id without a name: %j',
		async (body) => {
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { path: '/meeting$' }, action });
			await host.activate();
			expect(host.stored.bot?.['id']).toBe('b1');
		},
	);

	it('fails with the reason of the service when it refuses the bot', async () => {
		service.running().configure({ balance: 0 });
		await expect(host.activate()).rejects.toThrow('The balance is empty, so no bot was sent');
	});

	it('source submissions sends nothing', async () => {
		await open({ source: 'submissions' });
		await host.activate();
		await host.deactivate();
		await pastGrace();
		expect(service.lines()).toEqual([]);
	});

	it('listening for a test event sends nothing: a bot would cost, and outlast the listening', async () => {
		await host.listenForTest();
		expect(service.lines()).toEqual([]);
	});
});

it('A launch that is under way goes on when another trigger is switched off', async () => {
	const { settings } = host;
	const other = await new TriggerHost({ ...settings, workflowId: 'workflow-3' }).open();
	service.running().fault({ match: { path: '/meeting$' }, action: { kind: 'delay', ms: 400 } });
	const launch = host.activate();
	await until(() => launches() === 1);
	await other.deactivate();
	await launch;
	await other.close();
	expect([launches(), calledBack()]).toEqual([1, []]);
});

it('A launch without an id in its answer, which comes after a switch-off, leaves nothing to cancel', async () => {
	const calls: string[] = [];
	let answer = () => {};
	const server = createServer((request, response) => {
		calls.push(`${request.method} ${request.url}`);
		request.resume();
		const headers = { 'content-type': 'application/json' };
		answer = () => void response.writeHead(200, headers).end('{"status":"joining"}');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	await open({}, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
	const launch = host.activate().catch((error: Error) => error.message);
	await until(() => calls.length === 1);
	await host.deactivate();
	answer();
	expect(await launch).toContain('without an id');
	await pastGrace();
	server.close();
	server.closeAllConnections();
	expect(calls).toEqual(['POST /api/v1/meeting']);
});

describe('The end of listening for a test event', () => {
	few.it.each([
		['', () => {}],
		[', also after a restart of n8n', () => host.restart()],
	])('leaves the bot of the published workflow alone%s', async (_, before) => {
		await host.activate();
		before();
		const { saved } = host;
		await host.listenForTest();
		await pastGrace();
		expect([service.lines(), host.saved]).toEqual([['POST /api/v1/meeting'], saved]);
		await publish();
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});

	it('does not end a launch of the published workflow that is under way', async () => {
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'delay', ms: 400 } });
		const launch = host.activate();
		await until(() => launches() === 1);
		await host.listenForTest();
		await launch;
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});

	it('does not keep a bot that is about to be cancelled', async () => {
		await host.activate();
		await host.deactivate();
		await host.listenForTest();
		await until(() => calledBack().length === 1);
		expect(calledBack()).toEqual([theBot().id]);
	});
});

describe('No second bot', () => {
	few.it.each(['init', 'leadershipChange'] as const)('on %s', async (activation) => {
		await host.activate();
		host.restart();
		await host.activate(activation);
		expect(launches()).toBe(1);
	});

	it('on a start of n8n that has lost what it knew', async () => {
		await host.activate('init');
		expect(launches()).toBe(0);
	});

	it('when a new version of the workflow is published; the first bot stays', async () => {
		await host.activate();
		await publish();
		await publish();
		await pastGrace();
		expect(launches()).toBe(1);
		expect(calledBack()).toEqual([]);
	});

	it('when the node is renamed', async () => {
		await host.activate();
		await withinGrace(async () => {
			await host.deactivate();
			host.node.name = 'Renamed';
			await host.activate('update');
		});
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});

	few.it.each(['completed', 'failed'])('after the meeting has %s', async (status) => {
		await host.activate();
		service.running().endMeeting(theBot().id);
		service.running().finish(String(theBot().taskId), { status });
		await publish();
		await pastGrace();
		expect(launches()).toBe(1);
	});

	few.it.each([false, true])(
		'after the meeting, when the service has removed the bot; only switched off and on the trigger sends another (Emit Duplicates: %s)',
		async (emitDuplicates) => {
			await open({ options: { emitDuplicates } });
			await host.activate();
			service.running().endMeeting(theBot().id);
			service.running().finish(String(theBot().taskId));
			await until(() => host.executions.length === 1);
			service
				.running()
				.fault({ match: { method: 'GET' }, times: 9, action: { kind: 'respond', status: 404 } });
			await publish();
			expect(launches()).toBe(1);
			await host.deactivate();
			await pastGrace();
			await host.activate();
			expect(launches()).toBe(2);
		},
	);

	long.it(
		'after a transcript that was fetched slowly (Emit Duplicates), a restart of n8n, and when the service has removed the bot',
		async () => {
			const times = (['mayWaitMs', 'safeAfterMs'] as const).map((name) =>
				jest.replaceProperty(STORE, name, 20),
			);
			await open({ options: { emitDuplicates: true } });
			await host.activate();
			const slow = { kind: 'delay', ms: 60 } as const;
			service.running().fault({ match: { path: '/result$' }, action: slow });
			service.running().endMeeting(theBot().id);
			service.running().finish(String(theBot().taskId));
			await until(() => host.executions.length === 1);
			await until(() => host.stored.bot?.hasDelivered === true);
			for (const one of times) one.restore();
			host.restart();
			// The bot was sent long ago.
			host.saved = host.saved.replace(/"sentAt":\d+/, '"sentAt":1');
			service
				.running()
				.fault({ match: { method: 'GET' }, times: 9, action: { kind: 'respond', status: 404 } });
			await publish();
			expect(launches()).toBe(1);
		},
	);

	it('when nobody knows whether the first was sent, however often n8n tries to activate', async () => {
		service.running().fault({
			match: { path: '/meeting$' },
			action: { kind: 'cut', when: 'afterProcessing' },
		});
		for (let tries = 0; tries < 5; tries++) {
			await expect(host.activate()).rejects.toThrow('It is not known whether');
		}
		expect(bots()).toHaveLength(1);
	});

	it('in the ten minutes after a launch whose answer was lost', async () => {
		const action = { kind: 'cut', when: 'afterProcessing' } as const;
		service.running().fault({ match: { path: '/meeting$' }, action });
		const { now } = Date;
		const began = now();
		await expect(host.activate()).rejects.toThrow(/^It is not known whether.* in ten minutes\.$/);
		const clock = jest.spyOn(Date, 'now').mockReturnValue(began + 599_000);
		await expect(host.activate()).rejects.toThrow(
			/does not send another one.* ended like this.*\w\.$/,
		);
		host.restart();
		await expect(host.activate()).rejects.toThrow(/does not send another one.* in ten minutes\.$/);
		clock.mockImplementation(() => now() + 600_000);
		await host.activate();
		clock.mockRestore();
		expect(launches()).toBe(2);
	});

	it('while a later launch is under way, and does not say how the launch before it ended', async () => {
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'cut', when: 'afterProcessing' } });
		await expect(host.activate()).rejects.toThrow('It is not known whether');
		const { now } = Date;
		const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
		service.running().fault({ match, action: { kind: 'delay', ms: 400 } });
		const launch = host.activate();
		await until(() => launches() === 2);
		const failure: unknown = await host.activate('update').catch((error: unknown) => error);
		clock.mockRestore();
		await launch.catch(() => undefined);
		expect(String(failure)).toContain('does not send another one');
		expect(String(failure)).not.toContain('ended like this');
	});

	few.it.each<[string, RequestFault, string]>([
		[
			'the words of the service',
			{ kind: 'respond', status: 500, readBody: true, body: { detail: 'The disk is full' } },
			'HTTP 500: “The disk is full”',
		],
		['the beginning of a half answer', { kind: 'garble', keepBytes: 20 }, '{"bot_id":"'],
		[
			'the advice about the address, after a redirect',
			{ kind: 'redirect', status: 301, location: 'https://other.example.com/' },
			"Check the 'Base URL'",
		],
	])('and says it together with %s, also in the tries that n8n adds', async (_, action, words) => {
		service.running().fault({ match: { path: '/meeting$' }, action });
		for (let tries = 0; tries < 2; tries++) {
			const title = await host.activate().catch((error: Error) => error.message);
			expect(title).toContain('It is not known whether the service has sent the bot');
			expect(title).toMatch(/If it is, .* sends, and charges, a second bot: stop the first with/);
			expect(title).toContain(words);
			if (tries > 0) expect(title).toContain('so the trigger does not send another one');
		}
		expect(launches()).toBe(1);
	});

	it('and takes the bot that was sent from a list in which another one was refused', async () => {
		const sent = { bot_id: 'b1', status: 'joining', webhook_secret: 'whsec_1' };
		const body = [{ status: 'error', message: 'Room is full' }, sent];
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { path: '/meeting$' }, action });
		await host.activate();
		await host.activate();
		expect(launches()).toBe(1);
	});

	it('but another try when the Base URL was no web address', async () => {
		await open({}, 'ftp://127.0.0.1');
		await expect(host.activate()).rejects.toThrow("Check the 'Base URL'");
		host.settings.credentials = service.credentials();
		await host.activate();
		expect(bots()).toHaveLength(1);
	});

	it('but another try when the service has refused the first', async () => {
		service.running().configure({ balance: 0 });
		await expect(host.activate()).rejects.toThrow('so no bot was sent');
		service.running().topUp(500);
		await host.activate();
		expect(bots()).toHaveLength(1);
	});

	long.it(
		'although other nodes refuse to start, and n8n tries again and again: only the last switch-off counts',
		async () => {
			jest.replaceProperty(GRACE, 'ms', 1_000);
			await host.activate();
			for (const pause of [100, 200, 400, 800]) {
				await host.deactivate();
				await sleep(pause);
				await host.activate('update');
			}
			await sleep(1_200);
			expect([launches(), calledBack()]).toEqual([1, []]);
		},
	);

	it('when the service cannot be asked for the first', async () => {
		await host.activate();
		service.running().fault({
			match: { method: 'GET' },
			times: 9,
			action: { kind: 'respond', status: 500 },
		});
		await publish();
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});
});

describe('A new bot', () => {
	it('for another meeting, and the old one is cancelled', async () => {
		await host.activate();
		const first = theBot();
		await host.deactivate();
		host.node.parameters.meetingUrl = 'https://meet.example.com/another';
		await host.activate('update');
		await until(() => calledBack().length === 1);
		expect(launches()).toBe(2);
		expect(calledBack()).toEqual([first.id]);
	});

	describe('when the service does not know the first any more', () => {
		beforeEach(async () => {
			await host.activate();
			jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
			const action = { kind: 'respond', status: 404 } as const;
			service.running().fault({ match: { method: 'GET' }, times: 9, action });
		});

		it('if the workflow is switched off and on', async () => {
			await publish('activate');
			expect(launches()).toBe(2);
			await until(() => calledBack().length === 1);
		});

		it('but not with a new version: a user may have stopped the first. The log says how to send one', async () => {
			const logs = captureLogs();
			await publish();
			await pastGrace();
			logs.release();
			expect(launches()).toBe(1);
			expect(host.stored.bot).toMatchObject({ id: theBot().id });
			expect(logs.of(host.node.name).join()).toMatch(/does not know meeting bot .*unpublish/);
		});

		it('nor if the service says that the first was cancelled', async () => {
			service.running().clearFaults();
			await service.ask(`DELETE /meeting/${theBot().id}`);
			const logs = captureLogs();
			await publish();
			await pastGrace();
			logs.release();
			expect(launches()).toBe(1);
			expect(logs.of(host.node.name).join()).toMatch(/does not record any more .*unpublish/);
		});
	});

	it('but not in the first two minutes, in which the service may not show the bot yet', async () => {
		await host.activate();
		service.running().fault({ match: { method: 'GET' }, action: { kind: 'respond', status: 404 } });
		await publish();
		await pastGrace();
		expect(launches()).toBe(1);
		expect(calledBack()).toEqual([]);
	});

	few.it.each<[string, RequestFault]>([
		...GATEWAY_404,
		['the 410 of a proxy', { kind: 'respond', status: 410, body: PAGE }],
		['400', { kind: 'respond', status: 400 }],
		['422', { kind: 'respond', status: 422 }],
	])('but not when the look at the first is answered with %s', async (_, action) => {
		await host.activate();
		service.running().fault({ match: { method: 'GET' }, action });
		await publish();
		expect(launches()).toBe(1);
	});

	it('is waited for, although the service gives it the id of the last one', async () => {
		// The simulator knows no bot 7.
		jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
		await open({ options: { includeResult: false } });
		for (const [secret, ended] of [
			['first', 1],
			['second', 2],
			['third', 3],
		] as const) {
			service.running().fault({
				match: { method: 'POST' },
				action: { kind: 'respond', status: 200, body: { bot_id: 7, webhook_secret: secret } },
			});
			await host.activate();
			const done = { event: 'meeting.transcript.completed', bot_id: 7, status: 'completed' };
			expect((await deliver(host.url, { ...done, ended }, secret)).status).toBe(200);
			expect(host.executions).toHaveLength(ended);
			await host.deactivate();
			await pastGrace();
		}
	});

	it('is not sent to a meeting that is over: the error names the bot that was there', async () => {
		const startAt = new Date(Date.now() + 2_000).toISOString();
		await open({ startAt });
		await host.activate();
		const { id } = theBot();
		await sleep(Date.parse(startAt) - Date.now());
		service.running().endMeeting(id);
		await host.deactivate();
		await pastGrace();
		await expect(host.activate()).rejects.toThrow(
			`Bot ${id} was sent to this meeting. If the bot has recorded it, fetch the transcript`,
		);
		host.node.parameters.meetingUrl = 'https://meet.example.com/another';
		await expect(host.activate()).rejects.not.toThrow('was sent to this meeting');
		expect(launches()).toBe(1);
	});

	long.it(
		'is kept when it has the id of the last one, and the service cannot be asked about it',
		async () => {
			jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
			await open({ options: { includeResult: false } });
			const launch = (secret: string) =>
				service.running().fault({
					match: { method: 'POST' },
					action: { kind: 'respond', status: 200, body: { bot_id: 7, webhook_secret: secret } },
				});
			launch('first');
			await host.activate();
			const done = { event: 'meeting.transcript.completed', bot_id: 7, status: 'completed' };
			expect((await deliver(host.url, done, 'first')).status).toBe(200);
			await host.deactivate();
			await pastGrace();
			launch('second');
			await host.activate();
			const broken = { kind: 'respond', status: 500 } as const;
			service.running().fault({ match: { method: 'GET' }, times: 999, action: broken });
			await withinGrace(async () => {
				await host.deactivate();
				await host.activate();
			});
			expect(launches()).toBe(2);
		},
	);

	it('when the workflow was off for a while', async () => {
		await host.activate();
		await host.deactivate();
		await until(() => calledBack().length === 1);
		await pastGrace();
		await host.activate();
		expect(launches()).toBe(2);
	});
});

it.each([
	['failed', /joins no meeting \(status: failed\): The link is not valid/],
	['cancelled', /joins no meeting \(status: cancelled\)/],
])('A launch answered with a bot that is %s is refused, with its reason', async (status, words) => {
	const body = { bot_id: 'b77', status, error: 'The link is not valid', webhook_secret: 'a' };
	const action: RequestFault = { kind: 'respond', status: 200, body };
	service.running().fault({ match: { method: 'POST', path: '/meeting$' }, action });
	expect(await host.activate().then(String, String)).toMatch(words);
	expect(host.stored.bot).toBeUndefined();
	// The next try sends one.
	await host.activate();
	expect(host.stored.bot?.id).toBe(theBot().id);
});

describe('A service that answers a launch with the bot that it already has for the link', () => {
	const answerWith = (id: string) =>
		service.running().fault({
			match: { method: 'POST', path: '/meeting$' },
			action: {
				kind: 'respond',
				status: 200,
				body: { bot_id: id, status: 'joining', webhook_secret: 'another' },
			},
		});

	long.it('keeps this bot when a new version has another start', async () => {
		await host.activate();
		const { id } = theBot();
		answerWith(id);
		await host.deactivate();
		host.node.parameters.startAt = new Date(Date.now() + 3_600_000).toISOString();
		await host.activate('update');
		await pastGrace();
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([2, []]);
		await host.deactivate();
		await until(() => calledBack().length === 1);
	});

	it('does not keep this bot while its DELETE is under way, and says when to publish again', async () => {
		await host.activate();
		const { id } = theBot();
		const slow = { kind: 'delay', ms: 600 } as const;
		service.running().fault({ match: { method: 'DELETE' }, action: slow });
		await host.deactivate();
		await until(() => calledBack().length === 1);
		answerWith(id);
		host.node.parameters.startAt = new Date(Date.now() + 3_600_000).toISOString();
		const failure = await host.activate().then(String, String);
		expect(failure).toMatch(`bot ${id}, which this trigger is cancelling`);
		await until(() => !service.running().requests.some(isUnansweredCancel));
		await host.activate();
		expect(host.stored.bot?.id).not.toBe(id);
	});

	long.it('keeps this bot after a time when n8n was down', async () => {
		await host.activate();
		const { id } = theBot();
		host.restart();
		const saved = JSON.parse(host.saved) as { global: Record<string, { bot: object }> };
		const mine = saved.global[`transcriberTrigger:${host.node.id}`];
		Object.assign(mine?.bot ?? {}, { releasedAt: Date.now() - 60_000 });
		host.saved = JSON.stringify(saved);
		answerWith(id);
		await host.activate();
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([2, []]);
	});
});

it("The poll of another trigger takes n8n's expression sandbox away while the bot is launched: one bot, which is known", async () => {
	const startAt = `={{ '${new Date(Date.now() + 3_600_000).toISOString()}' }}`;
	await open({ startAt });
	const { resolveSimpleParameterValue: resolve } = Expression.prototype;
	const expressions = jest.spyOn(Expression.prototype, 'resolveSimpleParameterValue');
	expressions.mockImplementation(function (this: Expression, ...given) {
		const isExpression = typeof given[0] === 'string' && given[0].startsWith('=');
		if (isExpression && launches() > 0) throw new Error('No bridge acquired for this context.');
		return resolve.apply(this, given);
	});
	await host.activate();
	expressions.mockRestore();
	expect(host.stored.bot?.id).toBe(theBot().id);
});

describe('A new version after the time zone of the workflow was corrected', () => {
	const inThreeDays = new Date(Date.now() + 3 * 86_400_000).toISOString();
	const asPicked = inThreeDays.slice(0, 19);

	async function publishInMoscow(startAt: string) {
		await open({ startAt });
		host.timezone = 'America/New_York';
		await host.activate();
		host.timezone = 'Europe/Moscow';
		await publish();
		await pastGrace();
	}

	few.it.each([
		['as the date picker writes it', asPicked],
		['from an expression that gives no offset', `={{ "${asPicked}" }}`],
	])(
		'sends a bot at the time that is meant, and cancels the other: Start At %s',
		async (_, start) => {
			await publishInMoscow(start);
			const starts = service
				.running()
				.requests.filter(({ method }) => method === 'POST')
				.map(({ body }) => (body as { start_at?: string }).start_at);
			expect(starts).toEqual([
				expect.stringMatching(/^\S{19}-0[45]:00$/),
				expect.stringMatching(/^\S{19}\+03:00$/),
			]);
			expect(calledBack()).toEqual([bots()[0]?.id]);
			// The next version keeps it.
			await publish();
			await pastGrace();
			expect([launches(), calledBack()]).toEqual([2, [bots()[0]?.id]]);
		},
	);

	few.it.each([
		['has an offset', inThreeDays],
		['has an offset, and comes from an expression', "={{ $now.plus(3, 'days') }}"],
		['is empty', ''],
	])('keeps the bot: Start At %s', async (_, start) => {
		await publishInMoscow(start);
		expect([launches(), calledBack()]).toEqual([1, []]);
	});

	it('keeps a bot that has started, and a bot of an older version, of which the zone is not known', async () => {
		await open({ startAt: asPicked });
		await host.activate();
		const ahead = Date.now() + 3_600_000;
		for (const change of [{ startsAt: 1 }, { startsAt: ahead, zone: undefined }]) {
			const saved = JSON.parse(host.saved) as { global: Record<string, { bot?: object }> };
			Object.assign(saved.global[`transcriberTrigger:${host.node.id}`]?.bot ?? {}, change);
			host.saved = JSON.stringify(saved);
			host.restart();
			host.timezone = 'Asia/Tokyo';
			await publish();
		}
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});
});

describe('A recurring meeting', () => {
	few.it.each<[string, (bot: { id: string; taskId?: string }) => void]>([
		['is being transcribed', () => {}],
		['was delivered', ({ taskId }) => service.running().finish(String(taskId))],
		['failed', ({ taskId }) => service.running().finish(String(taskId), { status: 'failed' })],
	])(
		'gets its bot when the trigger is switched off and on at once, and the last one %s',
		async (_, end) => {
			await host.activate();
			const { id } = theBot();
			service.running().endMeeting(id);
			end(service.running().bot(id));
			await withinGrace(async () => {
				await host.deactivate();
				await host.activate();
				expect(launches()).toBe(2);
				expect(host.stored.bot).not.toMatchObject({ id });
			});
			// By its delivery, or the look at the end of this time, the trigger knows that the bot has left.
			await pastGrace();
			expect(calledBack()).toEqual([]);
		},
	);

	it('gets its bot at once after the last one has delivered, although the service cannot be asked for it', async () => {
		await host.activate();
		service.running().endMeeting(theBot().id);
		service.running().finish(String(theBot().taskId));
		await until(() => host.executions.length === 1);
		const action = { kind: 'respond', status: 500 } as const;
		service.running().fault({ match: { method: 'GET', path: '/meeting/' }, times: 9, action });
		await withinGrace(async () => {
			await host.deactivate();
			await host.activate();
		});
		expect(launches()).toBe(2);
	});

	it('is not published without a bot, however often n8n tries, if the service refuses the new one', async () => {
		await host.activate();
		service.running().endMeeting(theBot().id);
		await withinGrace(async () => {
			await host.deactivate();
			service.running().configure({ balance: 0 });
			// From 2.41, only the first of n8n's tries has the mode of a switch-on.
			for (const mode of ['activate', 'update', 'update'] as const) {
				await expect(host.activate(mode)).rejects.toThrow('so no bot was sent');
				await host.deactivate();
			}
		});
	});

	it('gets no second bot when the trigger is switched off and on during the meeting', async () => {
		await host.activate();
		await withinGrace(async () => {
			await host.deactivate();
			await host.activate();
		});
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
	});

	long.it(
		'gets its bot although a slow delivery of the last one ended while the trigger was off',
		async () => {
			await open({ events: ['meetingCompleted', 'meetingFailed'] });
			await host.activate();
			const { id, webhookSecret = '' } = theBot();
			const task = await service.completedTask();
			service.running().fault({ match: { path: '/result$' }, action: { kind: 'delay', ms: 800 } });
			const body = { event: 'meeting.transcript.completed', bot_id: id, task_id: task };
			const delivering = deliver(host.url, { ...body, status: 'completed' }, webhookSecret);
			await sleep(100);
			await host.deactivate();
			expect((await delivering).status).toBe(200);
			expect(host.stored.bot).toMatchObject({ id, releasedAt: expect.any(Number) });
			await pastGrace();
			await host.activate();
			expect(launches()).toBe(2);
		},
	);

	it('and a bot that nobody cancelled, as n8n was killed at that time, is cancelled then', async () => {
		await host.activate();
		const first = theBot();
		host.restart();
		// What is in the database after the trigger was switched off, long ago.
		const saved = JSON.parse(host.saved) as { global: Record<string, { bot: object }> };
		const mine = saved.global[`transcriberTrigger:${host.node.id}`];
		Object.assign(mine?.bot ?? {}, { releasedAt: Date.now() - 60_000 });
		host.saved = JSON.stringify(saved);
		await host.activate();
		expect(launches()).toBe(2);
		await until(() => calledBack().length === 1);
		expect(calledBack()).toEqual([first.id]);
	});
});

it('A bot whose activation n8n 2.41 had given up before the service answered is saved by the next publication', async () => {
	await host.activate();
	const { id } = theBot();
	// n8n saved before the answer came.
	host.saved = '{}';
	await host.activate('update');
	expect(host.stored.bot).toMatchObject({ id });
	expect(launches()).toBe(1);
});

it('A launch that is sent before its time is over gets its answer after it, because only the answer names the bot', async () => {
	jest.replaceProperty(ACTIVATION, 'sendMs', 400);
	const match = { path: '/meeting$' };
	service.running().fault({ match, action: { kind: 'delay', ms: 600, processed: true } });
	await host.activate();
	expect(host.stored.bot?.id).toBe(bots()[0]?.id);
});

describe('A launch that was refused for long', () => {
	const refused = async () => {
		jest.replaceProperty(ACTIVATION, 'slowMs', 0);
		const action = { kind: 'respond', status: 422 } as const;
		service.running().fault({ match: { path: '/meeting$' }, times: 9, action });
		return await host.activate().catch(String);
	};

	it('is refused at once in the repeats of n8n 2.41, with the same reason', async () => {
		const reason = await refused();
		for (let n = 0; n < 4; n++) expect(await host.activate('update').catch(String)).toBe(reason);
		expect(launches()).toBe(1);
	});

	it('is not one that was refused at once, which the repeats try again', async () => {
		jest.replaceProperty(ACTIVATION, 'slowMs', 10_000);
		const action = { kind: 'respond', status: 422 } as const;
		service.running().fault({ match: { path: '/meeting$' }, action });
		await expect(host.activate()).rejects.toThrow('422');
		await host.activate('update');
		expect(bots()).toHaveLength(1);
	});

	it.each([
		['when the user tries again on n8n 1', 'activate', () => {}],
		['when a parameter was corrected', 'update', () => (host.node.parameters.meetingUrl += '2')],
		['later', 'update', () => jest.replaceProperty(ACTIVATION, 'repeatedMs', 0)],
	] as const)('is tried again %s', async (when, mode, change) => {
		if (when === 'later') change();
		await refused();
		service.running().clearFaults();
		if (when !== 'later') change();
		await host.activate(mode);
		expect(bots()).toHaveLength(1);
	});

	it('is not one that the user has switched off', async () => {
		jest.replaceProperty(ACTIVATION, 'slowMs', 0);
		const action = { kind: 'respond', status: 429, headers: { 'retry-after': '2' } } as const;
		service.running().fault({ match: { path: '/meeting$' }, action });
		const failure = expect(host.activate()).rejects.toThrow('switched off');
		await until(() => launches() === 1);
		await host.deactivate();
		await failure;
		await host.activate('update');
		expect(bots()).toHaveLength(1);
	});
});

describe('Deactivation', () => {
	it('cancels the bot, a little later, as publishing looks the same at first', async () => {
		await host.activate();
		await host.deactivate();
		expect(calledBack()).toEqual([]);
		await until(() => calledBack().length === 1);
	});

	it('cancels the bot also where its state shows its own id as "id"', async () => {
		await host.activate();
		const body = { id: theBot().id, bot_id: '', status: 'recording' };
		const action = { kind: 'respond', status: 200, body } as const;
		service.running().fault({ match: { method: 'GET', path: '/meeting/' }, times: 9, action });
		await host.deactivate();
		await until(() => calledBack().length === 1);
	});

	it('cancels the bot where the service is back sooner than it asks to wait', async () => {
		jest.replaceProperty(CANCEL_BOT, 'patienceMs', 4_000);
		jest.replaceProperty(CANCEL_BOT, 'attemptMs', 2_500);
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		await host.activate();
		const headers = { 'retry-after': '120' };
		const action = { kind: 'respond', status: 503, headers } as const;
		service.running().fault({ match: { method: 'DELETE' }, action });
		await host.deactivate();
		await until(() => calledBack().length === 2);
		await until(() => service.running().bots()[0]?.phase !== 'recording');
	});

	it('also one that was sent after the clock of the machine was set back', async () => {
		const now = Date.now;
		const ahead = jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
		await host.activate();
		await host.deactivate();
		await until(() => calledBack().length === 1);
		ahead.mockRestore();
		host.node.parameters.meetingUrl = 'https://meet.example.com/another';
		await host.activate();
		await host.deactivate();
		await until(() => calledBack().length === 2);
		expect(new Set(calledBack()).size).toBe(2);
	});

	it('cancels the bot once', async () => {
		await host.activate();
		await host.deactivate();
		await host.deactivate();
		await until(() => calledBack().length > 0);
		await pastGrace();
		expect(calledBack()).toEqual([theBot().id]);
	});

	few.it.each<[string, Partial<SimulatorOptions>]>([
		['', {}],
		[', also where the service nests the state of its bot', { dialect: 'stateUnderData' }],
	])(
		'leaves a meeting that is over alone: its transcript is on its way%s',
		async (_where, config) => {
			await host.activate();
			service.running().endMeeting(theBot().id);
			service.running().configure(config);
			await host.deactivate();
			await pastGrace();
			expect(calledBack()).toEqual([]);
		},
	);

	long.it(
		'leaves a meeting that is over alone, also while other requests use up the rate limit',
		async () => {
			await host.activate();
			service.running().endMeeting(theBot().id);
			const queue = queueFor(service.credentials().apiKey, 'other');
			const places = Array.from({ length: LIMITS.other - LIMITS.keptForUrgent });
			const leaves = await Promise.all(places.map(async () => await queue.take()));
			await host.deactivate();
			await until(() => service.lines().length > 1);
			for (const leave of leaves) leave();
			await pastGrace();
			expect(calledBack()).toEqual([]);
		},
	);

	it('sends DELETE again while the service may not show the new bot yet', async () => {
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		await host.activate();
		const action = { kind: 'respond', status: 404 } as const;
		service.running().fault({ match: { path: '/meeting/' }, times: 5, action });
		await host.deactivate();
		await until(() => theBot().phase !== 'recording' && calledBack().length > 1);
	});

	it('cancels a bot of an aborted launch although the service does not show it yet', async () => {
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		const action = { kind: 'respond', status: 404 } as const;
		service.running().fault({ match: { path: '/meeting/' }, times: 3, action });
		service.running().fault({
			match: { path: '/meeting$' },
			action: { kind: 'delay', ms: 300, processed: true },
		});
		const launch = host.activate().catch(() => undefined);
		await until(() => bots().length === 1);
		await host.deactivate();
		await launch;
		await until(() => theBot().phase !== 'recording' && calledBack().length > 1);
	});

	long.it(
		'is given up after its patience if an older bot is answered 404 without a body',
		async () => {
			jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
			jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
			const patience = jest.replaceProperty(CANCEL_BOT, 'patienceMs', 300);
			await host.activate();
			const action = gatewayAnswer('');
			service.running().fault({ match: { path: '/meeting/' }, times: 1000, action });
			await host.deactivate();
			await until(() => calledBack().length > 1);
			await sleep(2 * CANCEL_BOT.patienceMs);
			const sent = calledBack().length;
			patience.restore();
			await pastGrace();
			expect(calledBack()).toHaveLength(sent);
		},
	);

	it('sends one DELETE for an older bot that the service does not know', async () => {
		jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
		await host.activate();
		service.running().fault({ match: {}, action: { kind: 'respond', status: 404 } });
		await host.deactivate();
		await until(() => calledBack().length === 1);
		await pastGrace();
		expect(calledBack()).toHaveLength(1);
	});

	it('asks for no cancellation of a bot that has reported its end, whatever the service says of it since', async () => {
		const logs = captureLogs();
		await host.activate();
		service.running().endMeeting(theBot().id);
		service.running().finish(String(theBot().taskId));
		await until(() => host.executions.length === 1);
		service.running().requests.splice(0);
		service.running().fault({ match: { path: '/meeting/' }, action: gatewayAnswer('') });
		await host.deactivate();
		await pastGrace();
		expect(service.lines().filter((line) => line.includes('/meeting/'))).toEqual([]);
		expect(logs.lines.join()).not.toContain('could not be cancelled');
		logs.release();
	});

	few.it.each<[string, RequestFault]>([
		['answers 500', { kind: 'respond', status: 500 }],
		['answers with a web page', { kind: 'respond', status: 200, body: '<html>' }],
		['answers 401', { kind: 'respond', status: 401 }],
		...GATEWAY_404.map(([by, fault]): [string, RequestFault] => [`gets ${by}`, fault]),
		['answers 429 and asks for half a minute', BUSY],
		['is cut', { kind: 'cut', when: 'beforeBody' }],
		['answers 404, because it does not show the bot yet', { kind: 'respond', status: 404 }],
	])('cancels the bot although the look before it %s', async (_, action) => {
		await host.activate();
		service.running().fault({ match: { method: 'GET', path: '/meeting/' }, action });
		await host.deactivate();
		await until(() => calledBack().length === 1);
		expect(calledBack()).toEqual([theBot().id]);
	});

	few.it.each<[string, RequestFault]>([['500', { kind: 'respond', status: 500 }], ...GATEWAY_404])(
		'repeats until the service has taken it, after %s',
		async (_, action) => {
			jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
			await host.activate();
			service.running().fault({ match: { method: 'DELETE' }, times: 2, action });
			await host.deactivate();
			await until(() => calledBack().length === 3);
			await pastGrace();
			expect(calledBack()).toHaveLength(3);
		},
	);

	few.it.each([
		{ success: false },
		{ data: { cancelled: false } },
		{ error: 'The bot is recording' },
		{ status: 'error', message: 'The bot is recording' },
	])(
		'repeats after a success that says that the bot is not stopped, until it is: %j',
		async (body) => {
			jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
			await host.activate();
			const action = { kind: 'respond', status: 200, body } as const;
			service.running().fault({ match: { method: 'DELETE' }, times: 2, action });
			await host.deactivate();
			await until(() => theBot().phase !== 'recording' && calledBack().length === 3);
		},
	);

	it('does not repeat it if the bot has left meanwhile', async () => {
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		await host.activate();
		const action = { kind: 'respond', status: 200, body: { success: false } } as const;
		service.running().fault({ match: { method: 'GET', path: '/meeting/' }, times: 1, action });
		service.running().fault({ match: { method: 'DELETE' }, times: 99, action });
		service.running().endMeeting(theBot().id);
		await host.deactivate();
		await until(() => calledBack().length === 1);
		await pastGrace();
		expect(calledBack()).toHaveLength(1);
	});

	it('cancels the bot before all other requests that wait for the rate limit', async () => {
		await host.activate();
		jest.replaceProperty(GRACE, 'ms', 10);
		const limits = [
			jest.replaceProperty(CANCEL_BOT, 'lookMs', 20),
			jest.replaceProperty(LIMITS, 'other', 1),
			jest.replaceProperty(LIMITS, 'windowMs', 50),
		];
		const queue = queueFor(service.credentials().apiKey, 'other');
		let served = 0;
		const others = Array.from({ length: 15 }, async () => {
			const leave = await queue.take();
			served += 1;
			leave();
		});
		await host.deactivate();
		await until(() => calledBack().length === 1);
		expect(served).toBeLessThan(15);
		await Promise.all(others);
		for (const limit of limits) limit.restore();
		// Not the minute of before `serviceForTests`, in which twenty launches would use up the rate limit.
		jest.replaceProperty(LIMITS, 'windowMs', 0);
	});

	it('repeats a cancellation that gets no answer within its time', async () => {
		const time = jest.replaceProperty(CANCEL_BOT, 'attemptMs', 100);
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
		await host.activate();
		service.running().fault({ match: { method: 'DELETE' }, times: 1, action: { kind: 'stall' } });
		await host.deactivate();
		await until(() => calledBack().length === 1);
		// The next one gets its answer, however long that takes.
		time.restore();
		await until(() => calledBack().length === 2);
	});

	it('ends a launch that the service still refuses, and no bot is sent', async () => {
		const match = { path: '/meeting$' };
		const action = { kind: 'respond', status: 429, headers: { 'retry-after': '2' } } as const;
		service.running().fault({ match, action });
		const launch = host.activate();
		const failure = expect(launch).rejects.toThrow('switched off before the meeting bot was sent');
		await until(() => launches() === 1);
		await host.deactivate();
		await failure;
		expect(bots()).toEqual([]);
		await host.activate();
		expect(bots()).toHaveLength(1);
	});

	long.it(
		'ends a launch that the service refuses only after the workflow was switched off',
		async () => {
			const refusals: Array<() => void> = [];
			const server = createServer((_request, response) => {
				refusals.push(() => response.writeHead(429).end());
			});
			await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
			await open({}, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
			// Nothing was sent, so the next activation tries again.
			for (const times of [1, 2]) {
				const launch = host.activate();
				const failure = expect(launch).rejects.toThrow(
					'switched off before the meeting bot was sent',
				);
				await until(() => refusals.length === times);
				await host.deactivate();
				refusals.at(-1)?.();
				await failure;
			}
			server.close();
		},
	);

	it('cancels a bot that is sent while the workflow is switched off', async () => {
		const match = { path: '/meeting$' };
		service.running().fault({ match, action: { kind: 'delay', ms: 400 } });
		const launch = host.activate();
		const failure = launch.then(String, String);
		await until(() => launches() === 1);
		await host.deactivate();
		await until(() => calledBack().length === 1);
		expect(calledBack()).toEqual([theBot().id]);
		expect(await failure).toContain(
			`The service has sent bot ${theBot().id}, which is now cancelled`,
		);
	});

	it('while a launch goes on whose answer has no id: nobody knows whether a bot was sent', async () => {
		let answerLaunch = () => {};
		const lines: string[] = [];
		const server = createServer(({ method, url }, response) => {
			lines.push(`${method} ${url}`);
			const answer = () => response.end('{"status":"joining"}');
			if (lines.length === 1) answerLaunch = answer;
			else answer();
		});
		await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
		await open({}, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
		const launch = host.activate().catch(String);
		await until(() => lines.length === 1);
		await host.deactivate();
		answerLaunch();
		const outcomes = [await launch, await host.activate().catch(String)];
		server.close();
		expect(outcomes).toEqual([
			expect.stringContaining('without an id'),
			expect.stringContaining('does not send another one'),
		]);
		expect(lines).toEqual(['POST /api/v1/meeting']);
	});

	long.it('cancels a bot that was sent a moment before the workflow is switched off', async () => {
		host.credentialMs = 100;
		const launch = host.activate();
		await until(() => bots().length === 1);
		await sleep(20);
		host.credentialMs = 0;
		await host.deactivate();
		await launch.catch(() => {});
		await until(() => calledBack().length === 1);
		expect(calledBack()).toEqual([theBot().id]);
	});

	it('also when consent is withdrawn in a new version, which is refused', async () => {
		await host.activate();
		await host.deactivate();
		host.node.parameters.consentAcknowledged = false;
		await expect(host.activate('update')).rejects.toThrow("'Consent Acknowledged' is off");
		await until(() => calledBack().length === 1);
		expect([launches(), calledBack()]).toEqual([1, [theBot().id]]);
	});

	long.it(
		'also when a new bot is refused, because the service seemed not to know the first',
		async () => {
			await host.activate();
			const { id } = theBot();
			await host.deactivate();
			service.running().configure({ balance: 0 });
			jest.replaceProperty(CANCEL_BOT, 'newMs', 0);
			service
				.running()
				.fault({ match: { method: 'GET' }, times: 1, action: { kind: 'respond', status: 404 } });
			await expect(host.activate()).rejects.toThrow('so no bot was sent');
			await until(() => calledBack().length === 1);
			expect(calledBack()).toEqual([id]);
		},
	);

	it('goes on when the trigger is on again after a DELETE: then the trigger has a new bot', async () => {
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 300);
		await host.activate();
		const { id } = theBot();
		const action = { kind: 'respond', status: 503 } as const;
		service.running().fault({ match: { method: 'DELETE' }, times: 1, action });
		await host.deactivate();
		await until(() => calledBack().length === 1);
		jest.replaceProperty(GRACE, 'ms', 10_000);
		await host.activate('update');
		expect(launches()).toBe(2);
		expect(host.stored.bot).not.toMatchObject({ id });
		await until(() => calledBack().length === 2);
		expect(calledBack()).toEqual([id, id]);
	});

	long.it(
		'goes on when the time ends while n8n reads the credential: then the trigger has a new bot',
		async () => {
			await host.activate();
			const { id } = theBot();
			await host.deactivate();
			await sleep(GRACE_MS / 2);
			host.credentialMs = 2 * GRACE_MS;
			await host.activate('update');
			await until(() => calledBack().length === 1);
			expect([launches(), calledBack()]).toEqual([2, [id]]);
			expect(host.stored.bot).not.toMatchObject({ id });
		},
	);

	it('stops before the first DELETE when the trigger is on again', async () => {
		await host.activate();
		const look = { method: 'GET', path: '/meeting/' };
		service.running().fault({ match: look, times: 1, action: { kind: 'delay', ms: 1_000 } });
		const { length } = service.lines();
		await host.deactivate();
		await until(() => service.lines().length > length);
		await host.activate('init');
		await until(() => service.running().requests[length]?.status !== undefined);
		await pastGrace();
		expect([launches(), calledBack()]).toEqual([1, []]);
		expect(host.stored.bot).not.toHaveProperty('releasedAt');
	});

	it('also when the node no longer says Meeting', async () => {
		await host.activate();
		host.node.parameters.source = 'submissions';
		await host.deactivate();
		await host.activate('update');
		await until(() => calledBack().length === 1);
	});
});

describe('Switching off while the publication before still goes on, as n8n 1 and 2.30 allow', () => {
	/** Only bots of this test: a cancellation of an earlier one may go on. */
	const isOfThisTest = (line: string) => bots().some(({ id }) => line.endsWith(id));
	const cancelled = () => calledBack().filter(isOfThisTest);
	const looks = () =>
		service.lines().filter((line) => line.startsWith('GET') && isOfThisTest(line)).length;
	/** Publishes while the service is slow to answer the look at the bot. */
	async function publishSlowly(mode: 'activate' | 'update' | 'init') {
		service
			.running()
			.fault({ match: { method: 'GET', path: theBot().id }, action: { kind: 'delay', ms: 250 } });
		const publication = host.activate(mode);
		await until(() => looks() > 0);
		return { publication };
	}

	few.it.each(['update', 'activate'] as const)(
		'cancels the bot at which the publication looks (%s)',
		async (mode) => {
			await host.activate();
			await withinGrace(async () => {
				await host.deactivate();
				const { publication } = await publishSlowly(mode);
				await host.deactivate();
				await publication;
			});
			expect(host.stored.bot).toHaveProperty('releasedAt');
			await until(() => cancelled().length === 1);
			await pastGrace();
			expect([launches(), cancelled()]).toEqual([1, [theBot().id]]);
		},
	);

	long.it('also if n8n itself has added the workflow again', async () => {
		await host.activate();
		const { bot } = host.stored;
		const released = JSON.stringify({ ...bot, releasedAt: 1 });
		host.saved = host.saved.replace(JSON.stringify(bot), released);
		host.restart();
		const { publication } = await publishSlowly('init');
		await host.deactivate();
		await publication;
		await until(() => cancelled().length === 1);
	});

	it('sends no bot for the next meeting', async () => {
		await host.activate();
		const { id } = theBot();
		service.running().endMeeting(id);
		await withinGrace(async () => {
			await host.deactivate();
			const { publication } = await publishSlowly('activate');
			await host.deactivate();
			await publication;
		});
		await pastGrace();
		expect([launches(), cancelled()]).toEqual([1, []]);
	});

	long.it('sends no bot either while n8n reads the credential for the launch', async () => {
		host.credentialMs = 100;
		const failure = expect(host.activate()).rejects.toThrow(
			'switched off before the meeting bot was sent',
		);
		await sleep(20);
		await host.deactivate();
		await failure;
		expect(launches()).toBe(0);
		// Nothing was sent, so the next one does not have to wait.
		await host.activate();
		expect(launches()).toBe(1);
	});

	it('and on again keeps the bot, which the next switch-off cancels', async () => {
		await host.activate();
		await withinGrace(async () => {
			await host.deactivate();
			const { publication } = await publishSlowly('update');
			await host.deactivate();
			await host.activate('update');
			await publication;
		});
		await pastGrace();
		expect([launches(), cancelled()]).toEqual([1, []]);
		await host.deactivate();
		await until(() => cancelled().length === 1);
	});
});
