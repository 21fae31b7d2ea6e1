/** Contract, "Trigger node", source `meeting`: what becomes of the bot before when a trigger sends a new one. */
// Also covers sendBotWhenPublished.ts, sameMeetingBot.ts.
import { CANCEL_BOT, GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import type { RequestFault } from '../simulator/index';
import { until } from '../simulator/testing-client';
import { ACTIVATION } from '../../nodes/TranscriberTrigger/launchBot';
import { captureLogs } from '../support/logs';
import { serviceForTests } from '../support/service';
import { pastGrace, withinGrace } from './grace';
import { TriggerHost } from './host';

const service = serviceForTests();
/** Another account, at a service that has other bots. */
const other = serviceForTests();

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

let host: TriggerHost;
let logs: ReturnType<typeof captureLogs>;
/** The bot that the trigger has sent before. */
let id: string;

beforeEach(() => {
	jest.replaceProperty(GRACE, 'ms', 150);
	jest.replaceProperty(CANCEL_BOT, 'pauseMs', 20);
	jest.replaceProperty(CANCEL_BOT, 'newMs', CANCEL_BOT.newMs);
	jest.replaceProperty(CANCEL_BOT, 'cancelledMs', 1_000);
});
afterEach(async () => {
	logs.release();
	for (const one of [service, other]) await pastGrace(one);
	await host.close();
});

async function sendBot(startAt = ''): Promise<void> {
	host = await new TriggerHost({
		credentials: service.credentials(),
		parameters: {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
			startAt,
		},
	}).open();
	await host.activate();
	id = String(host.stored.bot?.['id']);
	for (const { running } of [service, other]) running().requests.splice(0);
	logs = captureLogs();
}

const launches = ({ lines } = service) =>
	lines().filter((line) => line === 'POST /api/v1/meeting').length;
const cancelled = ({ running } = service) =>
	running()
		.requests.filter(({ method }) => method === 'DELETE')
		.map(({ path }) => path.replace('/api/v1/meeting/', ''));
const warnings = () => logs.of(host.node.name).join('\n');
const meet = (name: string) =>
	(host.node.parameters['meetingUrl'] = `https://meet.example.com/${name}`);
const ofOtherN8n = { address: 'another', sender: 'another', sentAt: 1 };
const answer = (method: string, action: RequestFault, { running } = service) =>
	running().fault({ match: { method }, times: 9, action });

describe('The bot before, for another meeting,', () => {
	it('is cancelled if n8n was killed after the trigger was switched off', async () => {
		await sendBot();
		host.restartWith({ releasedAt: 1 });
		meet('second');
		await host.activate();
		await until(() => cancelled().length === 1);
		expect([launches(), cancelled(), warnings()]).toEqual([1, [id], '']);
	});

	it('is left alone without a word if another n8n sent it and switched it off', async () => {
		await sendBot();
		host.restartWith({ ...ofOtherN8n, releasedAt: 1 });
		meet('second');
		await host.activate();
		await pastGrace(service);
		expect([launches(), cancelled(), warnings()]).toEqual([1, [], '']);
	});

	it('is left alone, and named in the log, if another n8n may still wait for it', async () => {
		await sendBot();
		host.restartWith(ofOtherN8n);
		meet('second');
		await host.activate();
		await pastGrace(service);
		expect([launches(), cancelled()]).toEqual([1, []]);
		expect(warnings()).toContain(`meeting bot ${id} is not cancelled`);
	});

	it('is left alone if it has delivered its transcript', async () => {
		await sendBot();
		host.restartWith({ releasedAt: 1, hasDelivered: true });
		meet('second');
		await host.activate();
		await pastGrace(service);
		expect([launches(), cancelled(), warnings()]).toEqual([1, [], '']);
	});
});

describe('The bot before, for the same meeting,', () => {
	it('is cancelled if the meeting has another time now, because the workflow has another time zone', async () => {
		await sendBot(inHours(72).slice(0, 19));
		host.restartWith({ sentAt: 1 });
		host.timezone = 'Asia/Tokyo';
		await host.activate();
		await until(() => cancelled().length === 1);
		expect([launches(), cancelled()]).toEqual([1, [id]]);
	});

	it('is not cancelled if the service does not know it any more and nobody switched the trigger off', async () => {
		await sendBot();
		answer('GET', { kind: 'respond', status: 404, body: { detail: 'No such bot' } });
		host.restartWith({ sentAt: 1 });
		await host.activate();
		await pastGrace(service);
		expect([launches(), cancelled(), warnings()]).toEqual([1, [], '']);
	});

	it('does not stop its new one when the meeting is still to come', async () => {
		const startAt = inHours(1);
		await sendBot(startAt);
		answer('GET', { kind: 'respond', status: 404, body: { detail: 'No such bot' } });
		host.restartWith({ sentAt: 1 });
		await host.activate();
		expect(launches()).toBe(1);
		expect(host.stored.bot).toMatchObject({ startsAt: Date.parse(startAt) });
		expect(host.stored.bot?.['id']).not.toBe(id);
	});
});

describe('The bot before, of another account,', () => {
	const withSameId = () => {
		const body = { bot_id: id, status: 'joining', webhook_secret: 'its own secret' };
		answer('POST', { kind: 'respond', status: 200, body }, other);
	};

	it('is named in the log if nothing else cancels it, even if the new bot has the same id', async () => {
		await sendBot();
		host.restartWith({ releasedAt: 1, account: 'another' });
		Object.assign(host.settings.credentials, other.credentials());
		withSameId();
		await host.activate();
		await pastGrace(other);
		expect([launches(other), cancelled(other)]).toEqual([1, []]);
		expect(warnings()).toMatch(`meeting bot ${id} could not be cancelled`);
	});

	it('is cancelled there although the new bot has the same id', async () => {
		await sendBot();
		await withinGrace(async () => {
			await host.deactivate();
			Object.assign(host.settings.credentials, other.credentials());
			withSameId();
			await host.activate('update');
		});
		await until(() => cancelled().length === 1);
		expect([launches(other), cancelled(), cancelled(other)]).toEqual([1, [id], []]);
	});
});

it('A publication ends when the new bot is sent, although the service does not cancel the former one yet', async () => {
	await sendBot();
	// The command line of n8n has switched the workflow off, without a hook.
	host.restartWith({});
	meet('second');
	service.running().fault({
		match: { method: 'DELETE' },
		times: 2,
		action: { kind: 'respond', status: 503 },
	});
	await host.activate();
	// The user waits for the publication in the editor, for no longer than its own requests take.
	expect(cancelled().length).toBeLessThan(2);
	await until(() => cancelled().length === 3);
});

const NO_BALANCE: RequestFault = {
	kind: 'respond',
	status: 402,
	body: { detail: { error_code: 'api_balance_exhausted' } },
};
const words = () =>
	`Bot ${id}, which was sent before, is to leave its meeting. If the workflow is still not published`;

describe.each([
	['a slip', { meetingUrl: 'meet.example' }],
	['a refusal of the service', { meetingUrl: 'https://meet.example.com/other' }],
])('A publication that fails for %s', (_why, change) => {
	it('says what becomes of the former bot, once, before its cancellation and after it', async () => {
		await sendBot();
		answer('POST', NO_BALANCE);
		jest.replaceProperty(ACTIVATION, 'slowMs', 0);
		await host.deactivate();
		Object.assign(host.node.parameters, change);
		const tries = [await host.activate('update').then(String, String)];
		await until(() => cancelled().length === 1);
		await pastGrace(service);
		tries.push(await host.activate('update').then(String, String));
		for (const failure of tries) expect(failure.split(words())).toHaveLength(2);
		expect(cancelled()).toEqual([id]);
	});

	it.each<[string, object]>([
		['was released long ago', { releasedAt: 1 }],
		['has delivered its transcript', { releasedAt: Date.now(), hasDelivered: true }],
	])('says nothing of a former bot that %s', async (_what, state) => {
		await sendBot();
		answer('POST', NO_BALANCE);
		host.restartWith(state);
		Object.assign(host.node.parameters, change);
		const failure = await host.activate().then(String, String);
		expect(failure).not.toBe('undefined');
		expect(failure).not.toContain('which was sent before');
	});
});

it('A publication that fails says nothing of a former bot that has left its meeting', async () => {
	await sendBot();
	answer('GET', {
		kind: 'respond',
		status: 200,
		body: { bot_id: id, status: 'completed', task_id: 't1' },
	});
	answer('POST', NO_BALANCE);
	let failure = '';
	await withinGrace(async () => {
		await host.deactivate();
		failure = await host.activate().then(String, String);
	});
	await pastGrace(service);
	expect([failure.includes('which was sent before'), cancelled()]).toEqual([false, []]);
});

it('A former bot that waits for its cancellation is cancelled although the service answers a launch with it as failed', async () => {
	await sendBot();
	const secret = 'whsec_0123456789abcdef';
	const error = `Already in this meeting, reported with ${secret}`;
	const body = { bot_id: id, status: 'failed', error, webhook_secret: secret };
	answer('POST', { kind: 'respond', status: 200, body });
	await host.deactivate();
	meet('second');
	const failure = await host.activate('update').then(String, String);
	expect(failure).toContain('Already in this meeting');
	expect(failure).not.toContain(secret);
	await until(() => cancelled().length === 1);
});

it('A former bot whose cancellation is under way is not kept if the service answers a launch with it', async () => {
	await sendBot();
	host.restartWith({ releasedAt: 1 });
	meet('second');
	service.running().fault({ match: { method: 'DELETE' }, action: { kind: 'delay', ms: 600 } });
	await host.activate();
	await until(() => cancelled().length === 1);
	answer('POST', { kind: 'respond', status: 200, body: { bot_id: id, status: 'joining' } });
	meet('third');
	await host.deactivate();
	expect(await host.activate().then(String, String)).toContain(`bot ${id}, which this trigger`);
});

describe('A former bot whose cancellation was accepted a moment ago', () => {
	const answerWithFormerBot = async () => {
		await sendBot();
		host.restartWith({ releasedAt: 1 });
		meet('second');
		await host.activate();
		await until(() => cancelled().length === 1);
		await pastGrace(service);
		answer('POST', { kind: 'respond', status: 200, body: { bot_id: id, status: 'recording' } });
		meet('third');
		await host.deactivate();
		return await host.activate().then(String, String);
	};
	const cancellations = () => cancelled().filter((one) => one === id).length;

	it('is not kept if the service answers a launch with it', async () => {
		expect(await answerWithFormerBot()).toContain(`bot ${id}, which this trigger`);
		await pastGrace(service);
		expect(cancellations()).toBe(1);
	});

	it('is cancelled again if that has sent it to the meeting', async () => {
		answer('GET', { kind: 'respond', status: 200, body: { bot_id: id, status: 'recording' } });
		expect(await answerWithFormerBot()).toContain('no bot joins the meeting');
		await until(() => cancellations() > 1);
	});

	it('may be kept after that moment', async () => {
		jest.replaceProperty(CANCEL_BOT, 'cancelledMs', 0);
		expect(await answerWithFormerBot()).toBe('undefined');
		expect(host.stored.bot).toMatchObject({ id });
	});
});

it('A former bot that the key at the switch-off cannot cancel is cancelled with the key of the next publication', async () => {
	await sendBot();
	const { credentials } = host.settings;
	const { apiKey } = credentials;
	for (const meeting of ['second', 'third']) {
		credentials.apiKey = 'an old key';
		await host.deactivate();
		await until(() => cancelled().length > 0);
		credentials.apiKey = String(apiKey);
		meet(meeting);
		await host.activate();
		const isDone = ({ method, status }: { method: string; status?: number }) =>
			method === 'DELETE' && status === 200;
		await until(() => service.running().requests.some(isDone));
		service.running().requests.splice(0);
	}
});

it('A former bot is taken back by a launch that is answered with it, although an older version stored no account', async () => {
	await sendBot();
	host.restartWith({ account: undefined });
	meet('second');
	const body = { bot_id: id, status: 'joining', webhook_secret: 'another' };
	answer('POST', { kind: 'respond', status: 200, body });
	await withinGrace(async () => {
		await host.deactivate();
		await host.activate('update');
	});
	await pastGrace(service);
	expect([host.stored.bot?.['id'], cancelled()]).toEqual([id, []]);
});

it('A bot that its account is cancelling is not kept although the bot stored before is of another account', async () => {
	await sendBot();
	Object.assign(host.settings.credentials, other.credentials());
	answer('DELETE', { kind: 'delay', ms: 600 }, other);
	answer('POST', { kind: 'delay', ms: 300 }, other);
	meet('second');
	const first = host.activate().then(String, String);
	await until(() => launches(other) === 1);
	await host.deactivate();
	expect(await first).toContain('which is now cancelled');
	const known = other.running().bots().at(-1)?.id;
	await until(() => cancelled(other).includes(String(known)));
	other.running().clearFaults();
	answer('POST', { kind: 'respond', status: 200, body: { bot_id: known } }, other);
	expect(await host.activate().then(String, String)).toContain(`bot ${known}, which this trigger`);
});

it.each<[string, RequestFault[]]>([
	['does not know it', [{ kind: 'respond', status: 404, body: { detail: 'No such bot' } }]],
	['refuses to cancel it', [{ kind: 'respond', status: 403 }]],
])('A former bot is cancelled at its account although another one %s', async (_what, [refusal]) => {
	await sendBot();
	host.restartWith({ sentAt: 1 });
	const { credentials } = host.settings;
	const own = { ...credentials };
	Object.assign(credentials, other.credentials());
	if (refusal) answer('DELETE', refusal, other);
	await host.deactivate();
	await until(() => cancelled(other).length > 0);
	Object.assign(credentials, own);
	meet('second');
	await host.activate();
	await until(() => cancelled().length === 1);
	expect(cancelled()).toEqual([id]);
});

it('A bot of a launch that was switched off is kept if the next launch is answered with it before its DELETE', async () => {
	await sendBot();
	host.restartWith({ releasedAt: 1 });
	const late = (method: string, ms: number) =>
		service.running().fault({ match: { method }, action: { kind: 'delay', ms } });
	late('POST', 300);
	late('GET', 600);
	meet('second');
	const first = host.activate().then(String, String);
	await until(() => launches() === 1);
	await host.deactivate();
	expect(await first).toContain('which is now cancelled');
	const known = service.running().bots().at(-1)?.id;
	const body = { bot_id: known, status: 'joining', webhook_secret: 'its own secret' };
	answer('POST', { kind: 'respond', status: 200, body });
	await host.activate();
	await pastGrace(service);
	expect(host.stored.bot).toMatchObject({ id: known });
	expect(cancelled()).not.toContain(known);
});
