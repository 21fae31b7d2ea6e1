/** The soak itself takes half an hour; whether it would report what grows is known at once. */
import { compared, tooLittle } from './bounds';
import {
	BUFFERS,
	DATA,
	HEAP,
	MAP,
	OPEN,
	OPEN_FILES,
	RESIDENT,
	SECRETS,
	TIMERS,
	TRIGGERS,
} from './measure';
import { missedOrRepeated } from './starts';

const CALM = {
	[HEAP]: 200,
	[RESIDENT]: 700,
	[BUFFERS]: 25,
	[OPEN_FILES]: 48,
	[TIMERS]: 130,
	[OPEN]: 0,
	[SECRETS]: 0,
	[TRIGGERS]: 20,
	[DATA]: 1_000,
	[`${MAP}rooms`]: 3,
	[`${MAP}triggerWorkflows`]: 10,
	[`${MAP}suspendedRuns`]: 0,
	[`${MAP}retriedSubmissions`]: 0,
	[`${MAP}pollTries`]: 0,
	[`${MAP}latestPollStates`]: 0,
};

const after = (acts: number, change: Record<string, number> = {}) => ({
	acts,
	values: { ...CALM, ...change },
});

const wrongAtTheEnd = (change: Record<string, number>) =>
	compared({ warm: after(50), halfway: after(75), end: after(100, change) }).wrong;

it('what stays as it is, or grows with what is still remembered, is within its bound', () => {
	const usual = { [HEAP]: 205, [DATA]: 9_000, [`${MAP}triggerWorkflows`]: 80 };
	expect(wrongAtTheEnd(usual)).toEqual([]);
});

it.each([
	[HEAP, 230],
	[TIMERS, 200],
	[OPEN, 1],
	[DATA, 50_000],
	[SECRETS, 4],
	[`${MAP}rooms`, 53],
	[`${MAP}triggerWorkflows`, 100],
	[`${MAP}suspendedRuns`, 61],
	[`${MAP}pollTries`, 36],
])('%s is reported when it has grown to %d', (name, value) => {
	expect(wrongAtTheEnd({ [name]: value })).toEqual([expect.stringContaining(`${name}: ${value}`)]);
});

it.each([NaN, undefined])('a value that was not measured (%s) is reported', (value) => {
	expect(wrongAtTheEnd({ [HEAP]: value as number })).toHaveLength(1);
});

it('a run that has measured nothing is reported', () => {
	const nothing = { acts: 10, values: {} };
	expect(compared({ warm: nothing, halfway: nothing, end: nothing }).wrong.length).toBeGreaterThan(
		10,
	);
});

it('a value without a bound is reported', () => {
	expect(wrongAtTheEnd({ 'Something new': 1 })).toHaveLength(1);
});

it('a run in which little has happened is reported', () => {
	const busy = { minutes: 30, acts: 155, worked: 135, accepted: 95, started: 154, outages: 4 };
	expect(tooLittle(busy)).toEqual([]);
	expect(tooLittle({ ...busy, acts: 20, worked: 20, accepted: 9, outages: 0 })).toHaveLength(2);
	expect(tooLittle({ ...busy, worked: 70, started: 30 })).toHaveLength(2);
	expect(tooLittle({ ...busy, accepted: 0 })).toHaveLength(1);
});

describe('a trigger that has started twice for a task', () => {
	const starts = [1_000, 60_000].map((at) => ({ taskId: 'task', at }));
	const wrongWith = (...kills: number[]) => missedOrRepeated('T', ['task'], starts, kills);

	it('is reported, unless n8n was killed just after the first start', () => {
		expect(wrongWith()).toEqual(['STARTED TWICE: T for task']);
		expect(wrongWith(1_500)).toEqual([]);
	});

	it('is reported if the kill came long after the first start, or before it', () => {
		expect(wrongWith(30_000, 500)).toEqual(['STARTED TWICE: T for task']);
	});
});

it('a start for a task that the service does not have is reported', () => {
	const starts = ['task', 'another', 'forged'].map((taskId) => ({ taskId, at: 1_000 }));
	expect(missedOrRepeated('T', ['task'], starts, [], ['another'])).toEqual([
		'STARTED: T for forged',
	]);
});

it('a trigger that has not started for a task is reported', () => {
	expect(missedOrRepeated('T', ['task'], [], [])).toEqual(['MISSED: T has not started for task']);
});
