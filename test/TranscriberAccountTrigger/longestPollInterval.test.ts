/** A node that was not polled for longer than this was disabled meanwhile. */
import type { INode, INodeParameters } from 'n8n-workflow';

import { longestPause } from '../../nodes/TranscriberAccountTrigger/longestPollInterval';

const node: INode = {
	id: '1',
	name: 'Transcriber Account Trigger',
	type: 'n8n-nodes-transcriber.transcriberAccountTrigger',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
const hoursOf = (...item: INodeParameters[]) =>
	longestPause({ ...node, parameters: { pollTimes: { item } } }) / 3_600_000;
const at = { hour: 9, minute: 0 };
const cron = (cronExpression: string) => hoursOf({ mode: 'custom', cronExpression });

it('is an hour where no poll time is set, as n8n then polls every minute', () => {
	expect(longestPause(node)).toBe(3_600_000);
	expect(hoursOf()).toBe(1);
});

it.each<[string, number, number]>([
	['every minute', hoursOf({ mode: 'everyMinute' }), 1],
	['every hour', hoursOf({ mode: 'everyHour', minute: 0 }), 1],
	['every day', hoursOf({ mode: 'everyDay', ...at }), 24],
	['every week', hoursOf({ mode: 'everyWeek', ...at, weekday: '1' }), 7 * 24],
	['every month', hoursOf({ mode: 'everyMonth', ...at, dayOfMonth: 1 }), 31 * 24],
	['on a day that some months do not have', cron('0 9 31 * *'), 62 * 24],
	['on days that some months do not have', cron('0 9 29-31 * *'), 62 * 24],
	['on some days of each month', cron('0 9 1,15,30 * *'), 31 * 24],
	['in some months', cron('0 9 1 1,7 *'), 366 * 24],
	['every five minutes', cron('*/5 * * * *'), 1],
])('%s', (_times, hours, expected) => {
	expect(hours).toBe(expected);
});

it('is that of the shortest of several poll times', () => {
	const weekly = { mode: 'everyWeek', ...at, weekday: '1' };
	expect(hoursOf(weekly, { mode: 'everyHour', minute: 0 })).toBe(1);
	expect(hoursOf({ mode: 'everyHour', minute: 0 }, weekly)).toBe(1);
});
