/** Contract, "Trigger node", source `meeting`: when the bot that was sent before counts as the one of this publication. */
import type { INodeParameters } from 'n8n-workflow';

import { ACTIVATION } from '../../nodes/TranscriberTrigger/launchBot';
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import type { RequestFault } from '../simulator/index';
import { until } from '../simulator/testing-client';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { pastGrace, withinGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();
const { running, lines } = service;

let host: TriggerHost;
let logs: ReturnType<typeof captureLogs>;
/** The bot that the trigger has sent before. */
let id: string;

beforeEach(async () => {
	jest.replaceProperty(GRACE, 'ms', 150);
	jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
	jest.replaceProperty(ACTIVATION, 'lookMs', 10_000);
	const parameters: INodeParameters = {
		source: 'meeting',
		meetingUrl: 'https://meet.example.com/weekly',
		consentAcknowledged: true,
	};
	host = await new TriggerHost({ credentials: service.credentials(), parameters }).open();
	await host.activate();
	id = String(host.stored.bot?.['id']);
	running().requests.splice(0);
	logs = captureLogs();
});
afterEach(async () => {
	logs.release();
	await pastGrace(service);
	await host.close();
});

const asked = () => lines().map((line) => line.replace(` /api/v1/meeting/${id}`, '').slice(0, 21));
const LOOK = 'GET';
const LAUNCH = 'POST /api/v1/meeting';
const CANCEL = 'DELETE';
const warnings = () => logs.of(host.node.name).join('\n');
const storedRelease = () => host.stored.bot?.['releasedAt'];
const answer = (action: RequestFault, times = 1) =>
	running().fault({ match: { method: 'GET' }, times, action });

const UNKNOWN: RequestFault = { kind: 'respond', status: 404, body: { detail: 'No such bot' } };
const BUSY: RequestFault = { kind: 'respond', status: 503 };
const SLOW: RequestFault = { kind: 'delay', ms: 300 };
const hasLeft = () => running().endMeeting(id);
const LONG_AGO = { releasedAt: 1, sentAt: 1 };
const BY_OTHER_N8N = { address: 'another', sender: 'another', sentAt: 1 };
const FROM_OTHER_ADDRESS = { address: 'another', sentAt: 1 };

it('The end of listening for a test event asks nothing, says nothing, and stores nothing', async () => {
	host.restartWith(LONG_AGO);
	const { saved } = host;
	await host.listenForTest();
	expect([asked(), warnings(), host.saved]).toEqual([[], '', saved]);
});

describe('A start of n8n', () => {
	it('asks nothing about the bot of a trigger that was on, and stores nothing: another process may know more', async () => {
		host.restartWith({ sentAt: 1 });
		const { saved } = host;
		await host.activate('init');
		expect([asked(), warnings(), host.saved]).toEqual([[], '', saved]);
	});

	it('asks nothing about the bot of a trigger that was off for no longer than it waits with the cancellation', async () => {
		const now = Date.now();
		host.restartWith({ releasedAt: now - GRACE.ms, sentAt: 1 });
		const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
		await host.activate('init');
		clock.mockRestore();
		expect([asked(), storedRelease(), warnings()]).toEqual([[], undefined, '']);
	});

	it('asks for the bot of a trigger that was off for longer, and keeps the bot', async () => {
		host.restartWith(LONG_AGO);
		await host.activate('init');
		expect([asked(), storedRelease(), warnings()]).toEqual([[LOOK], undefined, '']);
	});

	it('says that no bot is there if it has left since', async () => {
		hasLeft();
		host.restartWith(LONG_AGO);
		await host.activate('init');
		expect(asked()).toEqual([LOOK]);
		expect(warnings()).toContain('has no meeting bot, because it was off meanwhile');
	});

	it('keeps the bot if the service cannot be asked for as long as an activation may take', async () => {
		jest.replaceProperty(ACTIVATION, 'lookMs', 100);
		answer(BUSY, 999);
		host.restartWith(LONG_AGO);
		await host.activate('init');
		expect(storedRelease()).toBeUndefined();
		expect(warnings()).toContain('does not say whether the meeting bot');
	});

	it('leaves a trigger off that is switched off while the service is asked', async () => {
		answer(SLOW);
		host.restartWith(LONG_AGO);
		hasLeft();
		const start = host.activate('init');
		await until(() => asked().length === 1);
		await withinGrace(async () => {
			await host.deactivate();
			await start;
			expect(warnings()).toBe('');
			// A trigger that counted as on would publish a new version, which sends no bot for the next meeting.
			await host.activate('activate');
		});
		expect(asked()).toEqual([LOOK, LOOK, LAUNCH]);
	});
});

describe('A bot whose trigger is on', () => {
	it('is not asked for when n8n 2.41 adds the workflow again, as one of its other triggers has failed', async () => {
		hasLeft();
		await host.activate('update');
		expect([asked(), warnings()]).toEqual([[], '']);
	});

	it('is not replaced when n8n 1 or 2.30 does that, but the log says so: n8n 1 may have switched the trigger off unheard', async () => {
		hasLeft();
		await host.activate('activate');
		expect([asked(), warnings()]).toEqual([
			[LOOK],
			expect.stringMatching(/sends no other one now/),
		]);
	});

	it('is asked for after another main process has switched the trigger off, and is kept', async () => {
		const { saved } = host;
		const { changedAt } = host.stored.bot ?? {};
		const released = JSON.stringify({ releasedAt: Date.now(), changedAt: Number(changedAt) + 1 });
		host.saved = saved.replace(`"changedAt":${String(changedAt)}`, released.slice(1, -1));
		expect(storedRelease()).toBeDefined();
		await host.activate('update');
		expect([asked(), storedRelease(), warnings()]).toEqual([[LOOK], undefined, '']);
	});
});

it('A bot is kept by a new version although n8n cannot read the credential at that moment', async () => {
	await withinGrace(async () => {
		await host.deactivate();
		host.settings.credentials.apiKey = '';
		await host.activate('update');
	});
	await pastGrace(service);
	expect(asked()).toEqual([]);
	expect(storedRelease()).toBeUndefined();
	expect(warnings()).toContain('does not say whether the meeting bot');
});

describe('The bot of another n8n, or of this one at another address,', () => {
	it.each([
		['that it left', hasLeft],
		['that it is unknown, long after it was sent', () => answer(UNKNOWN)],
	])(
		'does not keep a trigger from sending its own when the service says %s',
		async (_, happens) => {
			happens();
			host.restartWith(BY_OTHER_N8N);
			// n8n publishes again after a failure: then a bot of its own would count, although it has left.
			await host.activate('update');
			expect(asked()).toEqual([LOOK, LAUNCH]);
		},
	);

	it('counts as there when a new version is published, if this n8n sent it', async () => {
		hasLeft();
		host.restartWith(FROM_OTHER_ADDRESS);
		await host.activate('update');
		expect(asked()).toEqual([LOOK, LOOK]);
		expect(warnings()).toContain('has the address that n8n had when the bot was sent');
	});

	const SAYS = (status: number, body: object | string): RequestFault => ({
		kind: 'respond',
		status,
		body,
	});

	it.each<[string, RequestFault]>([
		['has a status that the service does not document', SAYS(200, { status: 'left' })],
		['is not found, in words of the service', SAYS(404, { message: 'Bot not found' })],
		['is not shown to this account', SAYS(403, { detail: { message: 'Of another account' } })],
		['has no id of this service', SAYS(422, { detail: 'bot_id' })],
	])(
		'is not in the way for ever if its n8n has switched it off long ago and it %s',
		async (_, given) => {
			answer(given, 9);
			host.restartWith({ ...BY_OTHER_N8N, releasedAt: 1 });
			await host.activate();
			expect(asked()).toEqual([LOOK, LAUNCH]);
		},
	);

	it.each<[string, RequestFault, object]>([
		['clearly records', SAYS(200, { status: 'recording' }), { releasedAt: 1 }],
		['has a status that the service does not document', SAYS(200, { status: 'left' }), {}],
		[
			'has such a status a moment after its n8n has switched it off',
			SAYS(200, { status: 'in_call' }),
			{ releasedAt: Date.now() - 60_000 },
		],
		[
			'has such a status before its meeting',
			SAYS(200, { status: 'waiting' }),
			{ releasedAt: 1, startsAt: Date.now() + 60_000 },
		],
	])('is in the way while it %s', async (_, given, state) => {
		answer(given, 9);
		host.restartWith({ ...BY_OTHER_N8N, ...state });
		await expect(host.activate()).rejects.toThrow('No second bot was sent.');
	});

	it('is not in the way if it has reported its end', async () => {
		answer(SAYS(403, {}), 9);
		host.restartWith({ ...BY_OTHER_N8N, hasDelivered: true });
		await host.activate();
		expect(asked()).toEqual([LAUNCH]);
	});

	it('is in the way while it may be too new for the service to know it', async () => {
		answer(UNKNOWN);
		host.restartWith({ ...BY_OTHER_N8N, sentAt: Date.now() });
		await expect(host.activate()).rejects.toThrow('No second bot was sent.');
		expect(asked()).toEqual([LOOK]);
	});

	it('is in the way while the service cannot be asked, for as long as an activation may take', async () => {
		jest.replaceProperty(ACTIVATION, 'lookMs', 100);
		answer(BUSY, 999);
		host.restartWith(BY_OTHER_N8N);
		await expect(host.activate()).rejects.toThrow(/503|did not answer in time/);
		expect(asked()).not.toContain(LAUNCH);
	});
});

it('A bot that has reported its end gives way to a new one, whatever the service says of it since', async () => {
	answer({ kind: 'respond', status: 200, body: { bot_id: id, status: 'not_admitted' } }, 9);
	host.restartWith({ releasedAt: Date.now(), hasDelivered: true });
	await withinGrace(async () => await host.activate());
	await pastGrace(service);
	expect(asked()).toEqual([LAUNCH]);
});

describe('A bot that the service does not know any more', () => {
	it('gives way to a new one, and is not cancelled if the trigger was never switched off', async () => {
		answer(UNKNOWN, 9);
		host.restartWith({ sentAt: 1 });
		await host.activate();
		await pastGrace(service);
		expect(asked()).toEqual([LOOK, LAUNCH]);
	});

	it('gives way to a new one, and is cancelled a little later if the trigger was just switched off', async () => {
		answer(UNKNOWN, 9);
		await withinGrace(async () => {
			host.restartWith({ sentAt: 1, releasedAt: Date.now() });
			await host.activate();
		});
		expect(asked()).toEqual([LOOK, LAUNCH]);
		await until(() => asked().includes(CANCEL));
	});

	it('is stored as one that was just released, if the trigger is switched off while the service is asked', async () => {
		answer(SLOW);
		answer(UNKNOWN);
		const before = Date.now();
		host.restartWith({ sentAt: 1, releasedAt: before });
		await withinGrace(async () => {
			const publication = host.activate();
			await until(() => asked().length === 1);
			await host.deactivate();
			await publication;
		});
		expect(storedRelease()).toBeGreaterThanOrEqual(before);
		expect(asked()).toEqual([LOOK]);
	});
});
