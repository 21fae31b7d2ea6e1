/** Contract, "Trigger node": a bot of a trigger that is off is cancelled, and what ends that. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { IHookFunctions } from 'n8n-workflow';

import {
	CANCEL_BOT,
	GRACE,
	OTHER_ACCOUNT,
	callerOf,
	cancelBotWhenUnpublished,
	cancelUntilAccepted,
	isNew,
	isToBeCancelled,
	keepMeetingBot,
} from '../../nodes/TranscriberTrigger/cancelBotWhenUnpublished';
import { accountHash } from '../../nodes/TranscriberTrigger/sameMeetingBot';
import type { SentBot } from '../../nodes/TranscriberTrigger/triggerMemory';
import { contextsWith } from '../shared/n8nInternals/contexts';
import type { RequestFault } from '../simulator/index';
import { until } from '../simulator/testing-client';
import { captureLogs } from '../support/logs';
import { additionalDataFor } from '../support/n8n';
import { serviceForTests } from '../support/service';

const service = serviceForTests();
const AS_SHIPPED = { ...CANCEL_BOT };

let logs: ReturnType<typeof captureLogs>;
beforeEach(() => {
	for (const name of Object.keys(AS_SHIPPED) as Array<keyof typeof AS_SHIPPED>) {
		jest.replaceProperty(CANCEL_BOT, name, AS_SHIPPED[name]);
	}
	jest.replaceProperty(CANCEL_BOT, 'pauseMs', 10);
	// A busy machine may take longer for a look than the two seconds of a trigger.
	jest.replaceProperty(CANCEL_BOT, 'lookMs', 15_000);
	jest.replaceProperty(CANCEL_BOT, 'cancelledMs', 0);
	jest.replaceProperty(GRACE, 'ms', 50);
	logs = captureLogs();
});
afterEach(async () => {
	logs.release();
	// A DELETE that was given up may still be on its way, and would count in the next test.
	await service.ask('GET /account');
});

const NO_SUCH_BOT = { status: 404, body: { detail: 'No such bot' } };
const SAYS_NO = { status: 200, body: { success: false } };
const BUSY = { status: 503 };
const IN_MEETING = { status: 200, body: { bot_id: 'b1', status: 'recording' } };
const HAS_LEFT = { status: 200, body: { bot_id: 'b1', status: 'completed', task_id: 't1' } };
const DONE = { status: 200, body: { bot_id: 'b1', status: 'cancelled' } };

type Answer = { status: number; body?: object };

/** What the service answers to requests of a method, one after the other, and the last one from then on. */
function answers(method: 'GET' | 'DELETE', ...given: Answer[]): void {
	for (const [index, one] of given.entries()) {
		const action: RequestFault = { kind: 'respond', ...one };
		service
			.running()
			.fault({ match: { method }, times: index < given.length - 1 ? 1 : 999, action });
	}
}

const isAnsweredCancel = ({ method, status }: { method: string; status?: number }) =>
	method === 'DELETE' && status !== undefined;
const sent = () => service.lines().map((line) => line.split(' ')[0]);
const count = (method: string) => sent().filter((one) => one === method).length;
const hook = () => contextsWith(additionalDataFor(service.credentials())).hook as IHookFunctions;
const alarms = () => logs.lines.filter((line) => line.includes('bot b1 could not be cancelled'));

async function cancel(bot: object = {}, maySend?: () => boolean): Promise<void> {
	const context = hook();
	const all = { id: 'b1', sentAt: Date.now(), ...bot };
	await cancelUntilAccepted(context, await callerOf(context), all, maySend);
}

describe('A bot is cancelled', () => {
	it('with one DELETE that the service accepts', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', DONE);
		await cancel();
		expect(sent()).toEqual(['GET', 'DELETE']);
		expect(alarms()).toEqual([]);
	});

	it('at once also if the look before it fails, because every second of recording costs money', async () => {
		answers('GET', BUSY, IN_MEETING);
		answers('DELETE', DONE);
		await cancel();
		expect(sent()).toEqual(['GET', 'DELETE']);
	});

	it('again and again while the service is busy, in pauses that double, without a look in between', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', BUSY, BUSY, BUSY, BUSY, DONE);
		jest.replaceProperty(CANCEL_BOT, 'pauseMs', 11);
		const pauses: number[] = [];
		const start = globalThis.setTimeout;
		const spy = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((
			run: () => void,
			ms?: number,
		) => {
			if ([11, 22, 44, 88].includes(Number(ms))) pauses.push(Number(ms));
			return start(run, ms);
		}) as typeof start);
		await cancel();
		spy.mockRestore();
		expect(pauses).toEqual([11, 22, 44, 88]);
		expect(sent()).toEqual(['GET', ...Array<string>(5).fill('DELETE')]);
	});

	it('not if it has left before, because then a transcript is on its way', async () => {
		answers('GET', HAS_LEFT);
		await cancel();
		expect(count('DELETE')).toBe(0);
	});

	it('not any more once the caller says so', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', BUSY);
		let tries = 0;
		await cancel({}, () => ++tries <= 2);
		expect(count('DELETE')).toBe(2);
		expect(alarms()).toEqual([]);
	});
});

describe('A bot that the service does not know', () => {
	const isOld = { sentAt: 0 };

	it('is gone if it is old', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', NO_SUCH_BOT);
		await cancel(isOld);
		expect(count('DELETE')).toBe(1);
		expect(alarms()).toEqual([]);
	});

	it('may be there if it is new, as the service may not show it yet', async () => {
		answers('GET', NO_SUCH_BOT);
		answers('DELETE', NO_SUCH_BOT, NO_SUCH_BOT, DONE);
		await cancel();
		expect(count('DELETE')).toBe(3);
	});

	it('is gone, although new, after a DELETE whose answer was lost', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', { status: 502 }, NO_SUCH_BOT);
		await cancel();
		expect(count('DELETE')).toBe(2);
		expect(alarms()).toEqual([]);
	});

	it('is not gone after a DELETE that was answered with no', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', SAYS_NO, NO_SUCH_BOT, DONE);
		await cancel();
		expect(count('DELETE')).toBe(3);
	});

	it('is not gone after a DELETE that was refused', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', BUSY, NO_SUCH_BOT, DONE);
		await cancel();
		expect(count('DELETE')).toBe(3);
	});

	it('may be that of another account, and then the log says that it may go on', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', NO_SUCH_BOT);
		await cancel({ ...isOld, mayBeElsewhere: true });
		expect(count('DELETE')).toBe(1);
		expect(alarms()).toEqual([expect.stringContaining(OTHER_ACCOUNT)]);
	});
});

describe('After a no, the service is asked whether the bot has left meanwhile', () => {
	it.each([
		['a refusal', { status: 409 }],
		['a success that says no', SAYS_NO],
	])('%s', async (_what, no) => {
		answers('GET', IN_MEETING, HAS_LEFT);
		answers('DELETE', no);
		await cancel();
		expect(sent()).toEqual(['GET', 'DELETE', 'GET']);
		expect(alarms()).toEqual([]);
	});

	it('and a new bot that it does not show yet has not', async () => {
		answers('GET', IN_MEETING, NO_SUCH_BOT);
		answers('DELETE', { status: 409 }, DONE);
		await cancel();
		expect(count('DELETE')).toBe(2);
	});

	it('but an old bot that it does not show any more has', async () => {
		answers('GET', IN_MEETING, NO_SUCH_BOT);
		answers('DELETE', { status: 409 });
		await cancel({ sentAt: 0 });
		expect(sent()).toEqual(['GET', 'DELETE', 'GET']);
		expect(alarms()).toEqual([]);
	});
});

it('After its patience, the log says that the bot may go on, and why', async () => {
	jest.replaceProperty(CANCEL_BOT, 'patienceMs', 200);
	answers('GET', IN_MEETING);
	answers('DELETE', { status: 500 });
	await cancel();
	expect(alarms()).toHaveLength(1);
	expect(alarms()[0]).toMatch(/costs money\. Stop it with Meeting: Cancel or Stop/);
});

it('A bot counts as new for two minutes', () => {
	const clock = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
	expect(isNew({ id: 'b1', sentAt: 1_000_000 - 119_999 })).toBe(true);
	expect(isNew({ id: 'b1', sentAt: 1_000_000 - 120_000 })).toBe(false);
	expect(isNew({ id: 'b1' })).toBe(false);
	clock.mockRestore();
});

describe('A trigger that is switched off', () => {
	const BOT = { id: 'b1' };
	const switchOff = async (bot: Partial<SentBot> = {}, context = hook()) => {
		const all = { ...BOT, sentAt: Date.now(), ...bot } as SentBot;
		await cancelBotWhenUnpublished(context, all);
		return context;
	};
	const isOver = async (context: IHookFunctions) =>
		await until(() => !isToBeCancelled(context, BOT));

	it('cancels its bot after the grace, and not before', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', DONE);
		const context = await switchOff();
		expect(isToBeCancelled(context, BOT)).toBe(true);
		expect(sent()).toEqual([]);
		await isOver(context);
		expect(sent()).toEqual(['GET', 'DELETE']);
	});

	it('keeps it if the trigger is on again before that', async () => {
		const context = await switchOff();
		expect(keepMeetingBot(context, BOT)).toBe(true);
		expect(isToBeCancelled(context, BOT)).toBe(false);
		await sleep(3 * GRACE.ms);
		expect(sent()).toEqual([]);
	});

	it('does not keep it once a DELETE is sent', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', BUSY, BUSY, DONE);
		const context = await switchOff();
		await until(() => count('DELETE') > 0);
		expect(keepMeetingBot(context, BOT)).toBe(false);
		expect(isToBeCancelled(context, BOT)).toBe(true);
		await isOver(context);
		expect(count('DELETE')).toBe(3);
	});

	it('does not keep it either in the moment after, in which the service may still answer a launch with it', async () => {
		jest.replaceProperty(CANCEL_BOT, 'cancelledMs', 400);
		answers('GET', IN_MEETING);
		answers('DELETE', DONE);
		const context = await switchOff();
		await until(() => service.running().requests.some(isAnsweredCancel));
		expect(keepMeetingBot(context, BOT)).toBe(false);
		await isOver(context);
		expect(keepMeetingBot(context, BOT)).toBe(true);
	});

	it('keeps it when the service has not accepted a DELETE until its patience ends', async () => {
		jest.replaceProperty(CANCEL_BOT, 'patienceMs', 200);
		jest.replaceProperty(CANCEL_BOT, 'cancelledMs', 60_000);
		answers('GET', IN_MEETING);
		answers('DELETE', BUSY);
		const context = await switchOff();
		await isOver(context);
		expect(keepMeetingBot(context, BOT)).toBe(true);
	});

	it('counts its grace from the last switch-off', async () => {
		answers('GET', IN_MEETING);
		answers('DELETE', DONE);
		const context = await switchOff();
		await switchOff({}, context);
		await isOver(context);
		await sleep(2 * GRACE.ms);
		expect(count('DELETE')).toBe(1);
	});

	it('cancels its bot also if the cancellation of an earlier switch-off ends meanwhile', async () => {
		const slow: RequestFault = { kind: 'delay', ms: 200 };
		service.running().fault({ match: { method: 'GET' }, times: 1, action: slow });
		answers('GET', IN_MEETING);
		answers('DELETE', DONE);
		const context = await switchOff();
		await until(() => count('GET') === 1);
		expect(keepMeetingBot(context, BOT)).toBe(true);
		jest.replaceProperty(GRACE, 'ms', 600);
		await switchOff({}, context);
		await isOver(context);
		expect(count('DELETE')).toBe(1);
	});

	it('says in the log if its credential cannot be read, and that the bot may go on', async () => {
		const data = additionalDataFor(service.credentials());
		data.credentialsHelper.getDecrypted = async () => await Promise.reject(new Error('No key'));
		const context = await switchOff({}, contextsWith(data).hook as IHookFunctions);
		await isOver(context);
		expect(sent()).toEqual([]);
		expect(alarms()).toEqual([expect.stringContaining('No key')]);
	});

	it.each([
		['of its own account is gone if the service does not know it', true, 0],
		['of another account may go on', false, 1],
	])('and a bot %s', async (_what, isOwn, lines) => {
		answers('GET', IN_MEETING);
		answers('DELETE', NO_SUCH_BOT);
		const context = hook();
		const account = isOwn ? await accountHash(context) : 'another';
		await switchOff({ sentAt: 0, account }, context);
		await until(() => !isToBeCancelled(context, { ...BOT, account }));
		expect(count('DELETE')).toBe(1);
		expect(alarms()).toHaveLength(lines);
	});
});
