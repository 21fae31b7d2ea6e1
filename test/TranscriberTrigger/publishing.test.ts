/** Source `meeting`: what identifies a launch, however often n8n tries to publish the workflow. */
// Also covers sameMeetingBot.ts, isBotThere.ts.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { INodeParameters } from 'n8n-workflow';

import { GRACE } from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { serviceForTests } from '../support/service';
import { captureLogs } from '../support/logs';
import { few, long } from '../support/long';
import { until } from '../simulator/testing-client';
import { pastGrace, withinGrace } from './grace';
import { TriggerHost, newProcess } from './host';

const service = serviceForTests();
const IN_AN_HOUR = "={{ $now.plus(1, 'hour') }}";
/** 'Start At' is sent in whole seconds. */
const ANOTHER_SECOND = 1_050;

let host: TriggerHost;
beforeEach(() => jest.replaceProperty(GRACE, 'ms', 150));
afterEach(async () => await host.close());

async function open(parameters: INodeParameters) {
	host = await new TriggerHost({
		credentials: service.credentials(),
		parameters: {
			source: 'meeting',
			meetingUrl: 'https://meet.example.com/weekly',
			consentAcknowledged: true,
			...parameters,
		},
	}).open();
}

const bots = () => service.running().bots().length;
const launches = () => service.lines().filter((line) => line === 'POST /api/v1/meeting').length;
const calledBack = () => service.lines().filter((line) => line.startsWith('DELETE'));
const loseTheAnswer = () =>
	service.running().fault({
		match: { path: '/meeting$' },
		times: 9,
		action: { kind: 'cut', when: 'afterProcessing' },
	});

async function publish(mode: 'update' | 'init' = 'update') {
	await withinGrace(async () => {
		await host.deactivate();
		await host.activate(mode);
	});
}

const STARTS: Array<[string, INodeParameters]> = [
	['at once', {}],
	['at a fixed time', { startAt: new Date(Date.now() + 3_600_000).toISOString() }],
	['at a time from an expression', { startAt: IN_AN_HOUR }],
];

few.describe.each(STARTS)('A bot that starts %s', (_, start) => {
	it('is sent once by one click on Publish, although n8n tries five times to get an answer', async () => {
		await open(start);
		loseTheAnswer();
		await expect(host.activate()).rejects.toThrow();
		for (let tries = 0; tries < 4; tries++) {
			await sleep(ANOTHER_SECOND / 3);
			await expect(host.activate()).rejects.toThrow('It is not known whether');
		}
		expect(bots()).toBe(1);
	});

	it.each(['activate', 'update'] as const)(
		'is not sent again after a lost answer, a restart of n8n, and another click (%s)',
		async (mode) => {
			await open(start);
			loseTheAnswer();
			await expect(host.activate()).rejects.toThrow();
			host.restart();
			await host.activate('init');
			await expect(host.activate(mode)).rejects.toThrow('It is not known whether');
			expect(bots()).toBe(1);
		},
	);

	it('stays when a new version of the workflow is published', async () => {
		await open(start);
		await host.activate();
		for (let version = 0; version < 2; version++) {
			await sleep(ANOTHER_SECOND / 2);
			await publish();
		}
		await pastGrace(service);
		expect([launches(), calledBack()]).toEqual([1, []]);
	});
});

it('A link from an expression does not send a second bot either', async () => {
	await open({ meetingUrl: '={{ "https://meet.example.com/weekly?at=" + $now.toMillis() }}' });
	await host.activate();
	await publish();
	await pastGrace(service);
	expect([launches(), calledBack()]).toEqual([1, []]);
});

it('After a lost answer, another meeting sends no bot either: the first may be on its way', async () => {
	await open({});
	loseTheAnswer();
	await expect(host.activate()).rejects.toThrow();
	host.node.parameters.meetingUrl = 'https://meet.example.com/another';
	await expect(host.activate()).rejects.toThrow('It is not known whether');
	expect(bots()).toBe(1);
});

it('A lost answer in one workflow does not stop the same node in a copy of the workflow', async () => {
	await open({});
	loseTheAnswer();
	await expect(host.activate()).rejects.toThrow();
	service.running().reset();
	const copy = await new TriggerHost({
		credentials: service.credentials(),
		parameters: host.node.parameters,
		workflowId: 'workflow-copy',
	}).open();
	copy.node.id = host.node.id;
	await copy.activate().finally(async () => await copy.close());
	expect(bots()).toBe(1);
});

long.it(
	'A bot that version 0.1.0 has sent stays when a new version of the workflow is published',
	async () => {
		const [meetingUrl, time] = ['https://meet.example.com/weekly', '2099-01-31T10:00:00'];
		await open({ meetingUrl });
		await host.activate();
		// 0.1.0 stored a hash of what the parameters gave.
		const hash = createHash('sha256').update(`${meetingUrl} ${time}Z`).digest('base64url');
		const saved = JSON.parse(host.saved) as { global: Record<string, { bot: object }> };
		const mine = saved.global[`transcriberTrigger:${host.node.id}`];
		Object.assign(mine?.bot ?? {}, { fingerprint: hash.slice(0, 22) });
		host.saved = JSON.stringify(saved);
		host.node.parameters.startAt = `={{ "${time}.000Z" }}`;
		// The new process counts the time from the switch-off by the clock, also on a busy machine.
		const grace = jest.replaceProperty(GRACE, 'ms', 1_500);
		host.restart();
		await publish();
		await sleep(GRACE.ms + 500);
		grace.restore();
		expect([launches(), calledBack()]).toEqual([1, []]);
	},
);

describe('n8n 1 and 2.30 add a workflow again when one of its other triggers fails', () => {
	const endTheMeeting = () => {
		for (const { id } of service.running().bots()) service.running().endMeeting(id);
	};

	it.each(['activate', 'update', 'init'] as const)(
		'while it runs (%s): the bot that has left is not replaced, because nobody switched the trigger off',
		async (mode) => {
			await open({});
			await host.activate();
			const { saved } = host;
			endTheMeeting();
			// n8n uses the static data that it loaded before the activation.
			host.saved = '{}';
			await host.activate(mode);
			host.saved = saved;
			await host.activate(mode);
			expect([launches(), calledBack()]).toEqual([1, []]);
		},
	);

	it('while it starts: the bot stays, and is cancelled when the user switches the trigger off', async () => {
		await open({});
		await host.activate();
		host.restart();
		await host.activate('init');
		await publish('init');
		await pastGrace(service);
		expect([launches(), calledBack()]).toEqual([1, []]);
		await host.deactivate();
		await until(() => calledBack().length > 0);
		await pastGrace(service);
		expect(calledBack()).toHaveLength(1);
	});

	it('also if n8n was killed between the two: the bot stays, and is cancelled at the next switch-off', async () => {
		await open({});
		await host.activate();
		host.restart();
		const released = JSON.parse(host.saved) as { global: Record<string, { bot: object }> };
		const mine = released.global[`transcriberTrigger:${host.node.id}`];
		Object.assign(mine?.bot ?? {}, { releasedAt: Date.now() - 60_000 });
		host.saved = JSON.stringify(released);
		await host.activate('init');
		await pastGrace(service);
		expect(calledBack()).toEqual([]);
		await host.deactivate();
		await until(() => calledBack().length === 1);
		expect(launches()).toBe(1);
	});

	it('A workflow that was switched off while n8n was down sends a bot for the next meeting', async () => {
		await open({});
		await host.activate();
		endTheMeeting();
		host.restart();
		await host.activate();
		expect(launches()).toBe(2);
	});

	describe('A bot of a workflow that the command line of n8n has switched off, without a hook,', () => {
		let id: unknown;
		const deleted = () => calledBack().includes(`DELETE /api/v1/meeting/${String(id)}`);
		const publishAnother = async (change: () => void) => {
			await open({});
			await host.activate();
			id = host.stored.bot?.id;
			host.restart();
			change();
			const logs = captureLogs();
			await host.activate('activate');
			await pastGrace(service);
			logs.release();
			expect(launches()).toBe(2);
			return logs.of(host.node.name);
		};

		it('is cancelled when the bot for another meeting is sent', async () => {
			const lines = await publishAnother(() => {
				host.node.parameters.meetingUrl = 'https://meet.example.com/second';
			});
			expect([deleted(), lines]).toEqual([true, []]);
		});

		it('is named in the log when another account sends a bot', async () => {
			const lines = await publishAnother(() => {
				host.node.credentials = { transcriberApi: { id: '2', name: 'Another' } };
			});
			expect(deleted()).toBe(false);
			expect(lines.join()).toMatch(/could not be cancelled.*It may belong to another account/);
		});

		it('is left alone, and named in the log, when another n8n may have sent it', async () => {
			const lines = await publishAnother(() => {
				host.node.parameters.meetingUrl = 'https://meet.example.com/second';
				const bot = host.stored.bot;
				host.saved = host.saved.replace(String(bot?.address), 'another address');
			});
			expect([deleted(), lines]).toEqual([
				false,
				[
					expect.stringMatching(
						`${String(id)} is not cancelled.*no other n8n waits for its transcript`,
					),
				],
			]);
		});

		it('is not cancelled when it has left the same meeting: its transcript is on its way', async () => {
			const lines = await publishAnother(() => endTheMeeting());
			expect([deleted(), lines]).toEqual([false, []]);
		});
	});

	it('n8n 1 with two main processes: a new version sends no second bot after the meeting', async () => {
		await open({});
		host.processes = [newProcess(), newProcess()];
		jest.replaceProperty(GRACE, 'ms', 5_000);
		await host.activate();
		endTheMeeting();
		await host.deactivate();
		await host.activate();
		expect(launches()).toBe(1);
	});
});

/** The same workflow, with its static data, in an n8n with another address. */
describe('A workflow whose bot was sent from another address', () => {
	const OTHER_N8N = 'moved';
	const SAME_KEY = undefined;
	let moved: TriggerHost;
	beforeEach(async () => {
		await open({ startAt: new Date(Date.now() + 3_600_000).toISOString() });
		await host.activate();
	});
	afterEach(async () => await moved.close());

	async function move(workflowId?: string) {
		const { credentials, parameters } = host.settings;
		moved = await new TriggerHost({ credentials, parameters, workflowId }).open();
		Object.assign(moved.node, host.node);
		moved.saved = host.saved;
		moved.processes = [newProcess()];
	}
	const addresses = () =>
		service
			.running()
			.requests.filter(({ method }) => method === 'POST')
			.map(({ body }) => (body as { webhook_url?: string }).webhook_url);
	/** Only bots of this test: a cancellation of an earlier one may go on. */
	const cancelled = () =>
		calledBack().filter((line) =>
			service
				.running()
				.bots()
				.some(({ id }) => line.endsWith(id)),
		);
	const theBot = () => String(service.running().bots()[0]?.id);
	/** Also by the hook for switching off, which n8n calls after each refusal. */
	async function expectLeftAlone() {
		await moved.deactivate();
		await pastGrace(service);
		expect([launches(), cancelled()]).toEqual([1, []]);
	}

	it('keeps no address in the static data', () => {
		moved = host;
		expect(host.saved).not.toContain(new URL(host.url).host);
	});

	few.it.each([
		['another n8n', OTHER_N8N],
		['an n8n with the same key, as after a change of the own address', SAME_KEY],
	])(
		'is not published in %s while the bot is there: a second one would cost, and the transcript of this one be lost',
		async (_, workflowId) => {
			await move(workflowId);
			for (const mode of ['activate', 'update'] as const) {
				await expect(moved.activate(mode)).rejects.toThrow(
					`The transcript of bot ${theBot()}, which was sent to this meeting, does not come to this trigger`,
				);
			}
			await expectLeftAlone();
		},
	);

	few.it.each([
		['another n8n', OTHER_N8N],
		['with the same key', SAME_KEY],
	])(
		'sends a new bot once that bot is gone, and cancels only the new one (%s)',
		async (_, workflowId) => {
			await move(workflowId);
			await host.deactivate();
			await until(() => cancelled().length === 1);
			await moved.activate();
			expect(addresses()).toEqual([host.url, moved.url]);
			await moved.deactivate();
			await until(() => cancelled().length === 2);
			expect(new Set(cancelled()).size).toBe(2);
		},
	);

	few.it.each([
		['with the same key', SAME_KEY],
		['another n8n', OTHER_N8N],
	])(
		'says that the service cannot be asked about the bot, if that is why it is not published, and leaves the bot alone (%s)',
		async (_, workflowId) => {
			await move(workflowId);
			const action = { kind: 'respond', status: 401 } as const;
			service.running().fault({ match: { method: 'GET' }, times: 9, action });
			await expect(moved.activate()).rejects.toThrow('API key');
			await expectLeftAlone();
		},
	);

	it('is left alone when a copy of the n8n cannot publish the workflow for another meeting', async () => {
		await move(SAME_KEY);
		moved.node.parameters.meetingUrl = 'no link';
		await expect(moved.activate()).rejects.toThrow('Meeting URL');
		await expectLeftAlone();
	});

	it('is left alone when a copy of the n8n has published the workflow with another Source', async () => {
		await move(SAME_KEY);
		moved.node.parameters = { ...moved.node.parameters, source: 'submissions' };
		await moved.activate();
		await expectLeftAlone();
	});

	it('is cancelled when n8n 2.41, which calls no hook at its start, has got another address and unpublishes it', async () => {
		await move(SAME_KEY);
		await moved.deactivate();
		await until(() => cancelled().length === 1);
		await moved.activate();
		expect(addresses()).toEqual([host.url, moved.url]);
	});

	it('sends a bot to another meeting, and does not cancel that of the other n8n, even if it was off there', async () => {
		const { bot } = host.stored;
		const released = JSON.stringify({ ...bot, releasedAt: 1 });
		host.saved = host.saved.replace(JSON.stringify(bot), released);
		await move(OTHER_N8N);
		moved.node.parameters.meetingUrl = 'https://meet.example.com/another';
		await moved.activate();
		await pastGrace(service);
		expect([launches(), cancelled()]).toEqual([2, []]);
	});

	it('says at a start of the other n8n that it did not send the bot', async () => {
		await move(OTHER_N8N);
		const logs = captureLogs();
		await moved.activate('init');
		await moved.deactivate();
		logs.release();
		await pastGrace(service);
		expect(logs.lines.join()).toContain('did not send a meeting bot');
		expect(logs.lines.join()).toContain(`meeting bot ${theBot()} is not cancelled`);
		expect(cancelled()).toEqual([]);
	});

	it('says so at a start of n8n and in a new version, as the own address may have changed; publishing afresh sends another bot', async () => {
		await move(SAME_KEY);
		const logs = captureLogs();
		await moved.activate('init');
		await withinGrace(async () => {
			await moved.deactivate();
			await moved.activate('update');
		});
		logs.release();
		const said = logs.lines.filter((line) => line.includes('does not start the workflow'));
		expect(said).toHaveLength(2);
		await pastGrace(service);
		expect([launches(), cancelled()]).toEqual([1, []]);
		await moved.deactivate();
		await until(() => cancelled().length === 1);
		await moved.activate();
		expect(addresses()).toEqual([host.url, moved.url]);
	});

	it('goes on as before if an older version of this package has sent the bot', async () => {
		host.saved = host.saved.replace(/"(address|sender)":"[^"]*",/g, '');
		await move(OTHER_N8N);
		await moved.activate();
		expect(launches()).toBe(1);
		await moved.deactivate();
		await until(() => cancelled().length === 1);
	});
});
